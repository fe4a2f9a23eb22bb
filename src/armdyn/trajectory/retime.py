"""The same path in more or less time, so that limits hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.dynamics.gravity import gravity_torque
from armdyn.dynamics.newton_euler import inverse_dynamics
from armdyn.errors import LimitError, ShapeError
from armdyn.model.arm import Arm
from armdyn.trajectory.protocol import JointMotion, Trajectory, times

GRID = 20_000  # steps at which limits are looked at
# Values between the steps of the grid may be larger than those on it by this part.
MARGIN = 1e-6


@dataclass(frozen=True, eq=False)
class Retimed:
    """`q(t / factor)`: a factor above 1 is slower."""

    motion: Trajectory
    factor: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.factor) and self.factor > 0):
            raise ShapeError(f"Retimed: expected a factor > 0, got {self.factor!r}")

    @property
    def duration(self) -> float:
        """[s]."""
        return self.motion.duration * self.factor

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.motion.n

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
        Largest torques; default the arm's own [N m or N]. Friction is not counted.

    Raises
    ------
    LimitError
        If nothing holds the motion back, or if the arm's weight alone exceeds a torque limit.
    """
    t = np.linspace(0.0, motion.duration, GRID + 1)
    q, qd, qdd = motion(t)
    h = t[1]
    # Between steps the jerk is the mean one; at jumps of the acceleration it is as large as the grid is fine.
    factors = [
        _largest(qd, velocity),
        np.sqrt(_largest(qdd, acceleration)),
        np.cbrt(_largest(np.diff(qdd, axis=0) / h, jerk)),
    ]
    if arm is not None:
        limit = np.array([j.limits.effort for j in arm.joints]) if torque is None else np.asarray(torque, float)
        factors.append(_torque_factor(arm, np.broadcast_to(limit, (arm.n,)), t, q, qd, qdd))
    factor = max(factors) * (1 + MARGIN)
    if not factor > 0:
        raise LimitError("scale_to_limits: nothing limits the motion; give velocity, acceleration, jerk or an arm")
    return Retimed(motion, float(factor))


def _largest(values: NDArray, limit: ArrayLike) -> float:
    row = np.broadcast_to(np.asarray(limit, float), values.shape[-1:])
    if not (row > 0).all():
        raise LimitError(f"scale_to_limits: expected limits > 0, got {row.min():g}")
    return float((np.abs(values) / row).max())


def _torque_factor(arm: Arm, limit: NDArray, t: NDArray, q: NDArray, qd: NDArray, qdd: NDArray) -> float:
    """The least factor f with `|tau_g + (tau - tau_g) / f²| <= limit` at all steps."""
    weight = gravity_torque(arm, q)
    over = np.abs(weight) >= limit
    if over.any():
        k, i = (int(x[0]) for x in np.nonzero(over))
        raise LimitError(
            f"scale_to_limits: at t = {t[k]:.4g} s joint {i + 1} '{arm.joint_names[i]}' needs {weight[k, i]:.4g} "
            f"against the weight alone, its limit is {limit[i]:.4g}; no speed is slow enough"
        )
    moving = inverse_dynamics(arm, q, qd, qdd) - weight
    return float(np.sqrt((np.abs(moving) / (limit - np.sign(moving) * weight)).max()))
