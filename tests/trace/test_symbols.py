"""The lazy door to CasADi."""

import operator
import sys
import types

import casadi
import numpy as np
import pytest

from armdyn.trace.symbols import diagonal, is_symbol


def test_symbols_are_told_from_numbers():
    assert is_symbol(casadi.SX.sym("x"))
    assert is_symbol(casadi.MX.sym("x"))
    assert not is_symbol(1.0)


def test_nothing_is_a_symbol_while_another_thread_imports_casadi(monkeypatch):
    monkeypatch.setitem(sys.modules, "casadi", types.ModuleType("casadi"))
    assert not is_symbol(1.0)


@pytest.mark.usefixtures("quick_symbols")
@pytest.mark.parametrize("other", [2, 0.5, np.float64(0.5), casadi.DM([3.0]), casadi.DM([1, 2, 3]), np.arange(3.0)])
def test_operators_of_other_tests_are_casadis_own(other):
    """They are quicker than those of CasADi; shapes, and what the operators reject, are the same."""
    x, y, s = casadi.SX.sym("x", 3), casadi.SX.sym("y", 3), casadi.SX.sym("s")
    for quick, general in (
        (operator.add, casadi.plus),
        (operator.sub, casadi.minus),
        (operator.mul, casadi.times),
        (operator.truediv, casadi.rdivide),
    ):
        for a, b in ((x, y), (s, x), (x, s), (x, other), (casadi.DM([1, 2, 3]), x)):
            assert str(quick(a, b)) == str(general(a, b))
        if not isinstance(other, np.ndarray):  # NumPy's operators come first
            assert str(quick(other, x)) == str(general(other, x))
        with pytest.raises(RuntimeError, match=r"[Dd]imension"):
            quick(x, casadi.SX.sym("z", 2))


@pytest.mark.parametrize("n", [1, 2, 4, 6])
def test_eigenvalues_and_vectors(n):
    A = casadi.SX.sym("A", n, n)
    values, V = diagonal(A, 7)
    found = casadi.Function("found", [A], [casadi.vertcat(*values), V])
    rng = np.random.default_rng(n)
    spread = rng.normal(size=(n, n))
    for matrix in (spread + spread.T, np.diag(np.arange(n) + 0.0), np.ones((n, n)), np.zeros((n, n))):
        w, v = (np.asarray(part) for part in found(matrix))
        np.testing.assert_allclose(np.sort(w[:, 0]), np.linalg.eigvalsh(matrix), atol=1e-12)
        np.testing.assert_allclose(v.T @ v, np.eye(n), atol=1e-13)
        np.testing.assert_allclose(v @ np.diag(w[:, 0]) @ v.T, matrix, atol=1e-12)
