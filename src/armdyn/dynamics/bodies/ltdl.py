"""The factors of a mass matrix, M = L' D L, which meet the joints from the tip as composite bodies do.

Featherstone (2008), section 6.5. No pivoting: M is positive definite. Where M has structural zeros, so
has L, and the graph holds no operation for them.
"""

from __future__ import annotations

from typing import NamedTuple

from armdyn.trace.symbols import Symbol, ca


class Factors(NamedTuple):
    """L, of which only the entries below the diagonal are kept (the diagonal is 1), and 1 / D."""

    L: list[list[Symbol]]
    inverse_d: list[Symbol]

    def solve(self, b: Symbol) -> Symbol:
        """The vector x with M x = b."""
        x = self.half_solve(b)
        for k in range(len(x)):
            x[k] = x[k] * self.inverse_d[k]
            for i in range(k):
                x[k] = x[k] - self.L[k][i] * x[i]
        return ca.vertcat(*x)

    def half_solve(self, b: Symbol) -> list[Symbol]:
        """The vector y with L' y = b, so that b' M^-1 b = y' D^-1 y."""
        x = [b[i] for i in range(len(self.L))]
        for k in reversed(range(len(x))):
            for i in range(k):
                x[i] = x[i] - self.L[k][i] * x[k]
        return x

    def inverse(self) -> Symbol:
        """The inverse of M, symmetric to the last bit: W D^-1 W' with W = L^-1."""
        n = len(self.L)
        W = [[ca.SX(i == j) for j in range(n)] for i in range(n)]
        for i in range(n):
            for j in range(i):
                W[i][j] = -sum((self.L[i][k] * W[k][j] for k in range(j + 1, i)), self.L[i][j])
        out = ca.SX.zeros(n, n)
        for j in range(n):
            scaled = [W[j][k] * self.inverse_d[k] for k in range(j + 1)]
            for i in range(j, n):
                out[i, j] = out[j, i] = sum(W[i][k] * scaled[k] for k in range(j + 1))
        return out


def factorize(M: Symbol) -> Factors:
    """The factors of M; only its lower half is read."""
    n = M.shape[0]
    A = [[M[i, j] for j in range(i + 1)] for i in range(n)]
    inverse_d = [ca.SX(0)] * n
    for k in reversed(range(n)):
        inverse_d[k] = 1 / A[k][k]
        for i in reversed(range(k)):
            a = A[k][i] * inverse_d[k]
            for j in range(i + 1):
                A[i][j] = A[i][j] - a * A[k][j]
            A[k][i] = a
    return Factors([row[:i] for i, row in enumerate(A)], inverse_d)
