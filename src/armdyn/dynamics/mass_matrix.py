"""The mass matrix by composite bodies."""

from __future__ import annotations

from armdyn.dynamics.bodies.body import Body
from armdyn.dynamics.bodies.composite import carry, composites
from armdyn.dynamics.bodies.regroup import regroup
from armdyn.kinematics.dependents import coordinate_matrix
from armdyn.kinematics.motion import Motion, ancestors, motions
from armdyn.model.arm import Arm
from armdyn.model.quantities import Q, Theta
from armdyn.trace.formula import Array, Symbol, ca, traced


def unit_wrench(m: Motion, body: Body) -> tuple[Symbol, Symbol]:
    """Force and moment at the joint's point that give a resting `body` a unit acceleration of the joint."""
    if m.is_revolute:
        return ca.vertcat(-body.h[1], body.h[0], 0), body.I[:, 2]  # z x h, I z
    return ca.vertcat(0, 0, body.m), ca.vertcat(body.h[1], -body.h[0], 0)  # m z, h x z


def along_joint(m: Motion, f: Symbol, n: Symbol) -> Symbol:
    """Return the component along the joint of a force and a moment at its point, in joint axes."""
    return n[2] if m.is_revolute else f[2]


def mass_matrix_from(joints: list[Motion], bodies: list[Body]) -> Symbol:
    """M from the composite bodies: M_ij is what joint i feels of a unit acceleration of joint j."""
    n = len(joints)
    M = ca.SX.zeros(n, n)
    for j in range(n):
        f, moment = unit_wrench(joints[j], bodies[j])
        M[j, j] = along_joint(joints[j], f, moment)
        for child, i in ancestors(joints, j):
            f, moment = carry(joints[child], joints[i], f, moment)
            M[i, j] = M[j, i] = along_joint(joints[i], f, moment)
    return M


@traced(returns={"M": "n, n"}, redescribable=True)
def mass_matrix(arm: Arm, q: Q, *, theta: Theta = None) -> Array:
    """Mass matrix M(q) of the rigid arm, symmetric to the last bit.

    Kinetic energy is qd' M qd / 2. Rotors are not included; see `drive_inertia`.

    Returns
    -------
    M
        [kg m² for two revolute joints, kg for two prismatic ones, kg m for one of each]

    References
    ----------
    Walker and Orin (1982), method 3; the matrix H of Eindhoven (1987), equation (14).

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> armdyn.mass_matrix(arm, [0.0, 0.5]).round(3)  # kg m²
    array([[2.736, 0.378],
           [0.378, 0.104]])
    """
    joints = motions(arm, q)
    return coordinate_matrix(arm, mass_matrix_from(joints, composites(joints, regroup(arm, theta))))
