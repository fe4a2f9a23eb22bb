"""The same path in more or less time, so that limits hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import check_positive, row_of
from armdyn.dynamics.full import joint_torque
from armdyn.errors import LimitError
from armdyn.frozen import PartOf
from armdyn.model.arm import Arm
from armdyn.precision import NEGLIGIBLE
from armdyn.trajectory.protocol import JointMotion, Trajectory, times

# Values between the steps of the grid may be larger than those on it by this part.
LIMIT_MARGIN = 1e-6
GRID_SAMPLES = 20_000  # of a motion, at which it is looked at first
FINER_STEPS = 100  # steps for one, where the acceleration seems to jump


@dataclass(frozen=True, eq=False)
class Retimed:
    """`q(t / factor)`: a factor above 1 is slower."""

    motion: Trajectory
    factor: float

    def __post_init__(self) -> None:
        check_positive("Retimed", factor=self.factor)

    @property
    def duration(self) -> float:
        """[s]."""
        return self.motion.duration * self.factor

    n = PartOf[int]("motion.n", "Number of joints.")

    def __call__(self, t: ArrayLike) -> JointMotion:
        """Joint motion at times t [s]."""
        t = times(t, "Retimed")
        # Within round-off of the end the motion is not over.
        scaled = np.where(t == self.duration, self.motion.duration, t / self.factor)
        q, qd, qdd = self.motion(scaled)
        return JointMotion(q, qd / self.factor, qdd / self.factor**2)


def scale_to_limits(
    motion: Trajectory,
    *,
    velocity: ArrayLike = np.inf,
    acceleration: ArrayLike = np.inf,
    jerk: ArrayLike = np.inf,
    arm: Arm | None = None,
    torque: ArrayLike | None = None,
) -> Retimed:
    """The motion as fast as the limits allow, on the same path with the same relative speeds.

    Parameters
    ----------
    motion : Trajectory
    velocity, acceleration, jerk : float or array_like, shape (n,)
        Largest values of the joints.
    arm : Arm, optional
        To keep torque limits too.
    torque : float or array_like, shape (n,), optional
        Largest torques, by the whole model with friction and drives; default the arm's own [N m or N].

    Raises
    ------
    LimitError
        If nothing holds the motion back, if weight and dry friction alone exceed a torque limit, or if the jerk is
        to be limited of a motion whose acceleration jumps on the way. That of a cubic begins and ends with a jump,
        which counts for no jerk.
    """
    t = np.linspace(0.0, motion.duration, GRID_SAMPLES + 1)
    q, qd, qdd = motion(t)
    change = np.diff(qdd, axis=0)
    if np.isfinite(jerk).any():
        _check_no_jump(motion, t, change)
    factor = max(
        _largest(qd, velocity, "velocity"),
        np.sqrt(_largest(qdd, acceleration, "acceleration")),
        np.cbrt(_largest(_peaks(change / t[1]), jerk, "jerk")),
    )
    if arm is not None:
        limit = [joint.limits.effort for joint in arm.coordinate_joints] if torque is None else torque
        factor = _torque_factor(arm, _row(limit, arm.n, "torque"), t, JointMotion(q, qd, qdd), factor)
    factor *= 1 + LIMIT_MARGIN
    if not factor > 0:
        remedy = "give velocity, acceleration, jerk or an arm"
        raise LimitError("nothing limits the motion", where="scale_to_limits", remedy=remedy)
    return Retimed(motion, float(factor))


def _row(limit: ArrayLike, n: int, what: str) -> NDArray:
    """A limit for each of n joints."""
    return row_of(limit, n, f"scale_to_limits: {what}", LimitError, sign=">")


def _largest(values: NDArray, limit: ArrayLike, what: str) -> float:
    return float((np.abs(values) / _row(limit, values.shape[-1], what)).max())


def _peaks(means: NDArray) -> NDArray:
    """Largest absolute values within steps of which the means are given: straight lines, but for knots at steps."""
    rise = np.abs(np.diff(means, axis=0))
    rise = np.minimum(np.vstack([rise[:1], rise]), np.vstack([rise, rise[-1:]]))
    return np.abs(means) + rise / 2


def _check_no_jump(motion: Trajectory, t: NDArray, change: NDArray) -> None:
    """Reject accelerations that change within a step as much as within a part of it: no speed limits their jerk."""
    k, i = np.unravel_index(np.abs(change).argmax(), change.shape)
    within = np.diff(motion(np.linspace(t[k], t[k + 1], FINER_STEPS + 1)).qdd[:, i])
    if np.abs(within).max() > np.abs(change[k, i]) / 2 > 0:
        cause = f"the acceleration of joint {i + 1} jumps at t = {t[k]:.4g} s, so that no speed limits its jerk"
        raise LimitError(cause, where="scale_to_limits", expected="a quintic, an S-curve or a spline")


def _torque_factor(arm: Arm, limit: NDArray, t: NDArray, motion: JointMotion, least: float) -> float:
    """The smallest factor, `least` or larger, with which the arm's torques keep to their limits at all steps."""
    from scipy.optimize import brentq

    q, qd, qdd = motion
    held = joint_torque(arm, q, NEGLIGIBLE * qd, 0 * qdd)  # dry friction is all that is left of it
    over = np.abs(held) >= limit
    if over.any():
        k, i = (int(x[0]) for x in np.nonzero(over))
        cause = (
            f"at t = {t[k]:.4g} s joint {i + 1} '{arm.coordinate_names[i]}' needs {held[k, i]:.4g} "
            f"against weight and dry friction alone, its limit is {limit[i]:.4g}; no speed is slow enough"
        )
        raise LimitError(cause, where="scale_to_limits", names=(arm.coordinate_names[i],))

    def excess(log_factor: float) -> float:
        # As a logarithm, which is nearly straight.
        factor = np.exp(log_factor)
        largest = (np.abs(joint_torque(arm, q, qd / factor, qdd / factor**2)) / limit).max()
        return float(np.log(max(largest, np.finfo(float).tiny)))

    fast, span = np.log(least) if least > 0 else 0.0, -np.log(np.finfo(float).eps)
    if excess(fast) > 0:
        return float(np.exp(brentq(excess, fast, fast + span, xtol=LIMIT_MARGIN / 10)))
    if least > 0:
        return least
    if not excess(fast - span) > 0:
        return 0.0  # massless: nothing limits it
    return float(np.exp(brentq(excess, fast - span, fast, xtol=LIMIT_MARGIN / 10)))
