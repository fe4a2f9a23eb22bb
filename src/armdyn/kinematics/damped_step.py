"""One Levenberg-Marquardt step on SE(3) as a formula, so that a kernel takes it for many poses at once.

References
----------
Sugihara (2011), Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method, IEEE
Transactions on Robotics 27(5): damping in proportion to the remaining error.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from armdyn.frozen import compute_once
from armdyn.kinematics.error import error_sizes, pose_error, task_rows
from armdyn.kinematics.forward import tip_frame
from armdyn.kinematics.jacobian import jacobian
from armdyn.model.arm import Arm
from armdyn.model.quantities import Pose, Q, Vec
from armdyn.precision import SOLUTION_ERROR
from armdyn.trace.formula import Array, Symbol, Vector, ca, traced

# An orientation error of 1 rad counts as much as this many metres, or units of length of a tiny or huge arm.
LENGTH_PER_RAD = 0.5
# Damping per unit of squared error; found best between 1e-3 and 1 on the Panda.
DAMPING_PER_SQUARED_ERROR = 0.05
# Largest self-motion in a step [rad or m]: the tip's path is curved.
MAX_SELF_MOTION = 0.2


@compute_once
def magnitude(arm: Arm) -> float:
    """Unit of length that suits an arm [m]: 1 from a decimetre to ten metres, beyond that its power of ten.

    Its length is that of the way from its first joint to the tip, from frame to frame; where all frames coincide
    (joints that slide alone) nothing is known, and it is 1.
    """
    steps = [joint.after for joint in arm.joints] + [joint.before for joint in arm.joints[1:]] + [arm.tool_pose]
    length = sum(float(np.linalg.norm(T[:3, 3])) for T in steps)
    exponent = np.log10(length) if 0 < length < np.inf else 0.0
    return 10.0 ** round(exponent) if abs(exponent) > 1 else 1.0


class DampedStep(NamedTuple):
    """Joint positions after a step, and the distance and the angle of the tip from the pose."""

    q: Vector
    error: Annotated[Array, "2"]


@traced()
def damped_step(
    arm: Arm,
    q: Q,
    pose: Pose,
    wish: Vec = None,
    task: str = "pose",
    careful: bool = False,
    *,
    lower: Vec = None,
    upper: Vec = None,
) -> DampedStep:
    """One step towards a pose, within joint limits, and the error (distance, angle) before it.

    dq = wish + (J'W J + damping)⁻¹ J'W (e - J wish): the wish acts as far as it does not move the tip, in
    steps of limited size. Joints at a limit that the error would push further out are held. A careful step
    is damped so much that it settles at the nearest configuration where the pose is out of reach.
    """
    R, p = tip_frame(arm, q)
    e = pose_error(R, p, pose, task)
    J = task_rows(task, R, jacobian(arm, q))
    weights = ca.vertcat(*[magnitude(arm) ** -2] * 3, *[LENGTH_PER_RAD**2] * (e.shape[0] - 3))
    squared = ca.dot(weights * e, e)
    # Far from the pose the tip's path is curved: what J neglects is up to |e| times an arm's length.
    # The last term keeps the equations solvable at a singular solution, where the error alone damps nothing.
    damping = (ca.sqrt(squared) if careful else DAMPING_PER_SQUARED_ERROR / 2 * squared) + SOLUTION_ERROR
    downhill = ca.mtimes(J.T, weights * e)
    held = ca.logic_or(ca.logic_and(q <= lower, downhill < 0), ca.logic_and(q >= upper, downhill > 0))
    if wish is None:
        dq = damped_correction(J, weights, 1 - held, damping, e)
    else:
        dq = _wish(J, weights, 1 - held, damping, e, wish, (lower - q, upper - q))
    return DampedStep(ca.fmin(ca.fmax(q + dq, lower), upper), error_sizes(R, p, pose, task))


@traced()
def damped_steps(
    arm: Arm, q: Q, pose: Pose, task: str = "pose", steps: int = 4, *, lower: Vec = None, upper: Vec = None
) -> DampedStep:
    """Several steps at once (a call costs as much as many steps), and the error (distance, angle) after them."""
    for _ in range(steps):
        q = damped_step(arm, q, pose, task=task, lower=lower, upper=upper).q
    return DampedStep(q, error_sizes(*tip_frame(arm, q), pose, task))


def damped_correction(J: Symbol, weights: Symbol, free: Symbol, damping: Symbol, e: Symbol) -> Symbol:
    """The motion of the free joints that removes the error e: (J'W J + damping) dq = J'W e."""
    J = J * ca.repmat(free.T, J.shape[0], 1)
    WJ = J * ca.repmat(weights, 1, J.shape[1])
    D, Lt, order = ca.ldl(ca.mtimes(WJ.T, J) + damping * ca.SX.eye(J.shape[1]), False)
    return ca.ldl_solve(ca.mtimes(WJ.T, e), D, Lt, order)


def _wish(
    J: Symbol, weights: Symbol, free: Symbol, damping: Symbol, e: Symbol, wish: Symbol, room: tuple[Symbol, Symbol]
) -> Symbol:
    """The part of the wish that leaves the tip at rest, and the correction.

    Joints that this takes beyond a limit go to the limit, and the others make up for it.
    """
    still = free * wish
    still = still + damped_correction(J, weights, free, damping, -ca.mtimes(J, still))
    still = still * (MAX_SELF_MOTION / ca.fmax(ca.sqrt(ca.dot(still, still)), MAX_SELF_MOTION))
    dq = still + damped_correction(J, weights, free, damping, e)
    stopped = ca.logic_or(dq < room[0], dq > room[1])
    moved = ca.if_else(stopped, ca.fmin(ca.fmax(dq, room[0]), room[1]), still)
    return moved + damped_correction(J, weights, free * (1 - stopped), damping, e - ca.mtimes(J, moved))


@traced(returns={"error": "2"})
def tip_error(arm: Arm, q: Q, pose: Pose, task: str = "pose") -> Array:
    """Distance [m] and angle [rad] between the tip and a pose."""
    distance, sine = ca.vertsplit(error_sizes(*tip_frame(arm, q), pose, task))
    return ca.vertcat(distance, 2 * ca.asin(ca.fmin(sine / 2, 1)))
