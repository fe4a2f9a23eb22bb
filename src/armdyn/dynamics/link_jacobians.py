"""The terms of the equations of motion from link Jacobians and partial derivatives, as in textbooks.

These are the documented alternatives of Eindhoven (1987), section 3.2, and ECE470 (2019), section 2: plain
to read, and with a cost that grows with the third and fourth power of n. `mass_matrix`, `coriolis_matrix`
and `gravity_torque` give the same numbers by recursion.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from armdyn.dynamics.bodies.body import Body, link_theta
from armdyn.kinematics.forward import at_tip, link_frames
from armdyn.kinematics.jacobian import point_jacobian
from armdyn.kinematics.motion import motions, path
from armdyn.model.arm import Arm
from armdyn.model.quantities import Gravity, Q, Theta
from armdyn.trace.formula import Array, Symbol, ca, traced


class LinkJacobian(NamedTuple):
    """Jacobians (3, n) of a link's origin and of its turning, and its axes, all in base axes."""

    linear: Symbol
    angular: Symbol
    R: Symbol


def link_jacobians(arm: Arm, q: Symbol, load: bool = False) -> list[LinkJacobian]:
    """One per link, and one of the tip for a load."""
    frames, joints = link_frames(arm, q), motions(arm, q)
    points = list(enumerate(frames))
    jacobians = []
    for i, (R, p) in [*points, (arm.tip_index, at_tip(arm, frames))] if load else points:
        J = point_jacobian(arm, {k: (joints[k], frames[k]) for k in path(joints, i)}, p)
        jacobians.append(LinkJacobian(J[:3, :], J[3:, :], R))
    return jacobians


@traced(returns={"M": "n, n"})
def mass_matrix_jacobians(arm: Arm, q: Q, *, theta: Theta = None) -> Array:
    """The mass matrix from link Jacobians; see `mass_matrix` for the one to use.

    References
    ----------
    Eindhoven (1987), equation (14): H = sum of m Jl' Jl + Ja' I Ja at the mass centres; here about link
    origins, which adds the terms in the first moments.
    """
    M = ca.SX.zeros(arm.n, arm.n)
    for i, (Jl, Ja, R) in enumerate(link_jacobians(arm, q)):
        m, first, I = Body.of(link_theta(theta, i))
        h = ca.mtimes(R, first)
        turned = ca.mtimes(R.T, Ja)
        mixed = ca.mtimes(Jl.T, ca.mtimes(ca.skew(h), Ja))  # velocities of the mass centre are v - c x w
        M += m * ca.mtimes(Jl.T, Jl) - mixed - mixed.T
        M += ca.mtimes(turned.T, ca.mtimes(I, turned))
    return M


@traced(returns={"tau": "n"})
def gravity_torque_jacobians(arm: Arm, q: Q, *, theta: Theta = None, gravity: Gravity = None) -> Array:
    """Gravity torques from link Jacobians; see `gravity_torque` for the one to use.

    References
    ----------
    Eindhoven (1987), equation (19) with erratum 2: G = minus the sum of m Jl' g.
    """
    tau = ca.SX.zeros(arm.n)
    for i, (Jl, Ja, R) in enumerate(link_jacobians(arm, q)):
        m, first, _ = Body.of(link_theta(theta, i))
        h = ca.mtimes(R, first)
        tau -= m * ca.mtimes(Jl.T, gravity) + ca.mtimes(Ja.T, ca.cross(h, gravity))
    return tau


def mass_matrix_gradient(arm: Arm, q: Symbol, theta: Symbol) -> list[Symbol]:
    """dM/dq_k for every k, by differentiation of `mass_matrix_jacobians`."""
    n = arm.n
    M = mass_matrix_jacobians(arm, q, theta=theta)
    gradient = ca.jacobian(ca.vec(M), q)
    return [ca.reshape(gradient[:, k], n, n) for k in range(n)]


@traced(returns={"h": "n, n, n"})
def coriolis_coefficients(arm: Arm, q: Q, *, theta: Theta = None) -> Array:
    """The coefficients h_ijk whose sum over j, k with qd_j qd_k is the Coriolis and centrifugal torque.

    They are not the Christoffel symbols: a matrix formed from them does not make dM/dt - 2 C skew; see
    `christoffel_symbols`.

    Returns
    -------
    h
        h_ijk = dM_ij/dq_k - dM_jk/dq_i / 2. Symbols give a list of matrices over i.

    References
    ----------
    Eindhoven (1987), equation (18), and its erratum 11.
    """
    dM, n = mass_matrix_gradient(arm, q, theta), arm.n
    h: Any = [ca.blockcat([[dM[k][i, j] - dM[i][j, k] / 2 for k in range(n)] for j in range(n)]) for i in range(n)]
    return h


@traced(returns={"Gamma": "n, n, n"})
def christoffel_symbols(arm: Arm, q: Q, *, theta: Theta = None) -> Array:
    """Christoffel symbols of the first kind of the mass matrix: C_ij = sum over k of Gamma_ijk qd_k.

    Returns
    -------
    Gamma
        (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2. Symbols give a list of matrices over i.

    References
    ----------
    ECE470 (2019), section 2, equation (7).
    """
    dM, n = mass_matrix_gradient(arm, q, theta), arm.n
    Gamma: Any = [
        ca.blockcat([[(dM[k][i, j] + dM[j][i, k] - dM[i][j, k]) / 2 for k in range(n)] for j in range(n)])
        for i in range(n)
    ]
    return Gamma
