"""The sixteen-parameter regressor in closed form, from link Lagrangians (Lu and Meng 1993, section III).

For a link with Jacobians J_v, J_w of its origin and rotation R, all in base axes, the momentum is
dk/dqd = [W1 W2] theta and the torque Y = d/dt [W1 W2] - dk/dq + du/dq. Nothing of the Newton-Euler
recursion enters; the partial derivatives of the Jacobians are taken by differentiating the graph.
"""

from __future__ import annotations

from armdyn.dynamics.link_jacobians import LinkJacobian, link_jacobians
from armdyn.model.arm import Arm
from armdyn.trace.symbols import Symbol, ca, on_symbols


def closed_form(arm: Arm, q: Symbol, qd: Symbol, qdd: Symbol, load: bool, gravity: Symbol) -> Symbol:
    """(47): Y of all links, and of the load in the tip frame where asked for."""

    def blocks(x: Symbol, v: Symbol) -> list[Symbol]:
        return [link_block(link, x, v, qdd, gravity) for link in link_jacobians(arm, x, load)]

    return ca.horzcat(*on_symbols(blocks, q, qd))


def link_block(link: LinkJacobian, q: Symbol, qd: Symbol, qdd: Symbol, gravity: Symbol) -> Symbol:
    """(47): the sixteen columns of one link."""
    W = momentum_columns(link, qd)
    W_dot = ca.jtimes(W, ca.vertcat(q, qd), ca.vertcat(qd, qdd))
    return W_dot + kinetic_columns(link, q, qd) + gravity_columns(link, gravity)


def momentum_columns(link: LinkJacobian, qd: Symbol) -> Symbol:
    """(30): dk/dqd = [W1 W2] theta."""
    J_v, J_w, R = link
    v, w = ca.mtimes(J_v, qd), ca.mtimes(J_w, qd)
    d = ca.mtimes(R.T, w)  # (28)
    first = ca.mtimes((cross_columns(J_v, w) - cross_columns(J_w, v)).T, R)
    # (127)-(129): |p|² J_w' w - (p.d) J_w' R p
    second = spread(ca.mtimes(J_w.T, w)) - quadratic_rows(J_w, R, d)
    W2 = ca.mtimes(ca.mtimes(J_w.T, R), products_matrix(d))  # (29)
    return ca.horzcat(ca.mtimes(J_v.T, v), first, second, W2)


def kinetic_columns(link: LinkJacobian, q: Symbol, qd: Symbol) -> Symbol:
    """(33)-(42) with errata 4 and 5: -dk/dq."""
    J_v, J_w, R = link
    v, w = ca.mtimes(J_v, qd), ca.mtimes(J_w, qd)
    d = ca.mtimes(R.T, w)
    D_v, D_w, D_d = ca.jacobian(v, q), ca.jacobian(w, q), ca.jacobian(d, q)  # (37)
    Y11 = -ca.mtimes(D_v.T, v)  # (34)
    Y12 = -ca.mtimes((cross_columns(D_v, w) - cross_columns(D_w, v)).T, R)  # (35)
    Y13 = -ca.mtimes(D_w.T, w)  # (36), multiplies m |p|²
    Y14 = quadratic_rows(D_w, R, d)  # (40), first part: (R'w) (dw/dq_j)' R
    spin = ca.dot(w, w) * ca.SX.eye(3) - ca.mtimes(w, w.T)
    for j in range(q.shape[0]):
        dR = ca.reshape(ca.jacobian(ca.vec(R), q[j]), 3, 3)
        Y12[j, :] -= ca.mtimes(ca.cross(v, w).T, dR)  # (38)
        Y14[j, :] -= monomial_row(ca.mtimes(ca.mtimes(dR.T, spin), R))  # (40), second part
    Y2 = -ca.mtimes(D_d.T, products_matrix(d))  # (42)
    return ca.horzcat(Y11, Y12, Y14 + spread(Y13), Y2)


def gravity_columns(link: LinkJacobian, gravity: Symbol) -> Symbol:
    """(44)-(46), erratum 3: du/dq = [-J_v'g, (J_w x g)' R] [m, m p]."""
    J_v, J_w, R = link
    n = J_v.shape[1]
    return ca.horzcat(-ca.mtimes(J_v.T, gravity), ca.mtimes(cross_columns(J_w, gravity).T, R), ca.SX(n, 12))


def cross_columns(A: Symbol, b: Symbol) -> Symbol:
    """(121): [A_1 x b ... A_n x b]."""
    return ca.horzcat(*(ca.cross(column, b) for column in ca.horzsplit(A)))


def spread(column: Symbol) -> Symbol:
    """Columns for m [px² py² pz² ...] of a term that multiplies m |p|²."""
    return ca.horzcat(column, column, column, ca.SX(column.shape[0], 3))


def monomial_row(E: Symbol) -> Symbol:
    """p'E p as a row over [px² py² pz² px py, px pz, py pz]."""
    return ca.horzcat(E[0, 0], E[1, 1], E[2, 2], E[0, 1] + E[1, 0], E[0, 2] + E[2, 0], E[1, 2] + E[2, 1])


def quadratic_rows(J: Symbol, R: Symbol, d: Symbol) -> Symbol:
    """(129): rows of (p.d) (J_j' R p) over the monomials."""
    return ca.vertcat(*(monomial_row(ca.mtimes(d, ca.mtimes(column.T, R))) for column in ca.horzsplit(J)))


def products_matrix(d: Symbol) -> Symbol:
    """(108): I d = B(d) [Ixx Iyy Izz Ixy Ixz Iyz]' with products of inertia."""
    return ca.blockcat(
        [
            [d[0], 0, 0, -d[1], -d[2], 0],
            [0, d[1], 0, -d[0], 0, -d[2]],
            [0, 0, d[2], 0, -d[0], -d[1]],
        ]
    )
