"""Forward dynamics: the accelerations that torques produce."""

from __future__ import annotations

from armdyn.dynamics.bodies.articulated import articulated_acceleration
from armdyn.dynamics.bodies.body import link_theta
from armdyn.dynamics.bodies.composite import composites
from armdyn.dynamics.bodies.ltdl import factorize
from armdyn.dynamics.bodies.regroup import regroup
from armdyn.dynamics.mass_matrix import mass_matrix_from
from armdyn.dynamics.movable import require_movable
from armdyn.dynamics.newton_euler import base_link_motion, inertial_wrench, inward, outward, tip_wrench
from armdyn.errors import ModelError, check_choice
from armdyn.kinematics.dependents import coordinate_matrix, coordinate_torques, joint_rates
from armdyn.kinematics.motion import motions
from armdyn.model.arm import Arm
from armdyn.model.quantities import Gravity, Q, Qd, Tau, Theta, TipWrench
from armdyn.trace.formula import Array, Symbol, ca, traced

METHODS = ("auto", "composite", "articulated")
# Up to this many joints factorising M takes fewer operations than articulated bodies.
COMPOSITE_UP_TO = 12


def accelerations(
    arm: Arm, q: Symbol, qd: Symbol, tau: Symbol, wrench: Symbol | None, theta: Symbol, gravity: Symbol,
    rotors: Symbol | None = None, method: str = "auto",
) -> Symbol:  # fmt: skip
    """Joint accelerations; `rotors` (n,) or coupled (n, n) add to the mass matrix."""
    theta = regroup(arm, theta)
    joints = motions(arm, q)
    links = outward(joints, joint_rates(arm, qd), ca.SX.zeros(arm.n_joints), base_link_motion(gravity, None))
    wrenches = [inertial_wrench(link_theta(theta, i), link) for i, link in enumerate(links)]
    tip = tip_wrench(arm, wrench)
    coupled = rotors is not None and rotors.shape[1] > 1
    if method == "articulated" and arm.G is not None:
        cause = (
            f"articulated bodies are for joints that move by themselves, and arm '{arm.name}' has some "
            "that follow others"
        )
        raise ModelError(cause, where="forward_dynamics", remedy="use method='composite'")
    free = arm.G is None and not coupled
    if method == "articulated" or (method == "auto" and arm.n > COMPOSITE_UP_TO and free):
        return articulated_acceleration(joints, theta, wrenches, tip, tau, rotors)
    M = coordinate_matrix(arm, mass_matrix_from(joints, composites(joints, theta)))
    if rotors is not None:
        M = M + (rotors if coupled else ca.diag(rotors))
    return factorize(M).solve(tau - coordinate_torques(arm, ca.vertcat(*inward(joints, wrenches, tip))))


@traced(returns={"qdd": "n"}, check=require_movable, redescribable=True)
def forward_dynamics(
    arm: Arm, q: Q, qd: Qd, tau: Tau, wrench: TipWrench = None, method: str = "auto", *,
    theta: Theta = None, gravity: Gravity = None,
) -> Array:  # fmt: skip
    """Joint accelerations that the torques `tau` produce.

    Solves M(q) qdd = tau - C(q, qd) qd - g(q) + J' w. The rigid arm only: `joint_acceleration` adds
    friction and drives.

    Parameters
    ----------
    method : {"auto", "composite", "articulated"}
        Composite bodies and a factorised mass matrix, or articulated bodies, whose cost grows only with
        n; "auto" takes the former up to 12 joints.

    Returns
    -------
    qdd
        Joint accelerations [rad/s² or m/s²]; infinite or NaN where a given `theta` makes M singular.

    Raises
    ------
    ModelError
        If no inertia of the arm resists some joint; see `massless_joints`.

    References
    ----------
    Walker and Orin (1982), method 3; Featherstone (2008), section 7.3.

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> q, qd = np.zeros((2, 2))
    >>> tau = armdyn.inverse_dynamics(arm, q, qd, [1.0, -1.0])
    >>> armdyn.forward_dynamics(arm, q, qd, tau).round(6)
    array([ 1., -1.])
    """
    check_choice("forward_dynamics", "method", method, METHODS)
    return accelerations(arm, q, qd, tau, wrench, theta, gravity, method=method)
