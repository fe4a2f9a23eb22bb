"""Joint trajectories that move the tip along a path."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import PathError, ShapeError, check_choice
from armdyn.kinematics.damped_step import damped_step, magnitude, tip_error
from armdyn.kinematics.diagnosis import DIAGNOSIS_RESTARTS
from armdyn.kinematics.error import TASKS, axis_of, task_rows
from armdyn.kinematics.forward import forward_kinematics
from armdyn.kinematics.inverse import inverse_kinematics
from armdyn.kinematics.jacobian import jacobian, jacobian_rate
from armdyn.kinematics.manipulability import SINGULAR_RATIO
from armdyn.kinematics.numeric import no_limits
from armdyn.model.arm import Arm
from armdyn.precision import MAX_ITERATIONS, NEGLIGIBLE, ROUND_OFF
from armdyn.spatial.rotation import skew
from armdyn.trajectory.piecewise import PiecewiseQuintic
from armdyn.trajectory.protocol import JointMotion
from armdyn.trajectory.tip.motion import TipMotion, TipState

# Knots a second to begin with, but no more than this many a metre (or an arm's unit of length) if the motion is slow;
# doubled until the tip stays on the path.
KNOTS_PER_SECOND = 50
KNOTS_PER_METRE = 500
MIN_KNOTS, MAX_KNOTS = 500, 1_000_000  # of which so many are always allowed, and ever
MAX_DOUBLINGS = 8
# The last step starts this near to the path [m, rad] and squares that.
ON_PATH = math.sqrt(ROUND_OFF)
# A joint further than this from where it was predicted has jumped to another branch [rad or m].
MIN_JUMP = 0.5
# Later times at which reach is checked to tell a singular configuration from the workspace's edge.
LOOK_AHEAD = 50


def joint_trajectory(
    arm: Arm, motion: TipMotion, q0: ArrayLike | None = None, *, task: str = "pose", tolerance: float = 1e-8
) -> PiecewiseQuintic:
    """The joint motion that moves the tip as given, velocities and accelerations by the Jacobian and its rate.

    Redundant arms move with the least joint velocity.

    Parameters
    ----------
    arm : Arm
    motion : TipMotion
    q0 : array_like, shape (n,), optional
        Start from the solution nearest to it; default: from the first solution from which the
        whole path can be followed.
    task : {"pose", "position", "position+x", "position+y", "position+z"}
        What is to follow, as of `inverse_kinematics`.
    tolerance : float
        Largest distance [m] and angle [rad] of the tip from the path at any time.

    Returns
    -------
    trajectory : PiecewiseQuintic
        `q, qd, qdd = trajectory(t)`, `trajectory.duration`.

    Raises
    ------
    PathError
        Where the path leaves the workspace, meets a joint limit or a singular configuration; it tells
        the time and the pose.
    """
    check_choice("joint_trajectory", "task", task, TASKS, ShapeError)
    first: PathError | None = None
    for q in _starts(arm, motion, q0, task):
        try:
            return _follow(arm, motion, q, task, tolerance)
        except PathError as error:
            first = first or error
    assert first is not None
    raise first


def _starts(arm: Arm, motion: TipMotion, q0: ArrayLike | None, task: str) -> NDArray:
    """Configurations (k, n) at the path's start."""
    pose = motion(0.0).pose
    solution = inverse_kinematics(arm, pose, q0, task=task)
    if not solution.success:
        cause = f"the path's start cannot be reached: {solution.message}"
        raise PathError(cause, 0.0, pose, str(solution.reason), where="joint_trajectory")
    if q0 is not None:
        return solution.q[None]
    others = solution.all_solutions[solution.within_limits]
    nearest = np.argsort(((others - solution.q) ** 2).sum(-1), kind="stable")
    return others[nearest]


def _follow(arm: Arm, motion: TipMotion, q: NDArray, task: str, tolerance: float) -> PiecewiseQuintic:
    """The joint motion from a start, with as many knots as the tolerance needs."""
    allowed = np.clip(KNOTS_PER_METRE * motion.path.length / magnitude(arm), MIN_KNOTS, MAX_KNOTS)
    rate = min(KNOTS_PER_SECOND, allowed / motion.duration)
    count = np.maximum(2, np.ceil(np.diff(motion.breaks) * rate)).astype(int)
    for _ in range(MAX_DOUBLINGS):
        trajectory = _through_knots(arm, motion, q, task, count)
        middle = (trajectory.knots[1:] + trajectory.knots[:-1]) / 2
        if tip_error(arm, trajectory(middle).q, motion(middle).pose, task=task).max() <= tolerance:
            return trajectory
        count = 2 * count
    raise PathError(
        f"{count.sum() // 2} knots do not keep the tip within {tolerance:g} of the path", 0.0, motion(0.0).pose,
        "tolerance", where="joint_trajectory", expected="a slower path or a larger tolerance",
    )  # fmt: skip


def _through_knots(arm: Arm, motion: TipMotion, q: NDArray, task: str, count: NDArray) -> PiecewiseQuintic:
    """March from knot to knot; each smooth part of the motion is sampled up to its own ends."""
    follower = Follower(arm, motion, task)
    knots, starts, ends = [0.0], [], []
    for (begin, end), pieces in zip(pairwise(motion.breaks), count, strict=True):
        t = np.linspace(begin, end, pieces + 1)
        # Accelerations just inside the part are those of this side of a jump.
        margin = NEGLIGIBLE * (end - begin)
        states = motion(t)._replace(acceleration=motion(np.clip(t, begin + margin, end - margin)).acceleration)
        motions = [follower.motion(q, states, 0, t[0])]
        for k in range(1, pieces + 1):
            q = follower.advance(motions[-1], t[k] - t[k - 1], states.pose[k], t[k])
            motions.append(follower.motion(q, states, k, t[k]))
        starts += motions[:-1]
        ends += motions[1:]
        knots.extend(t[1:])
    return PiecewiseQuintic.through(np.array(knots), _stack(starts), _stack(ends))


class Follower:
    """Moves an arm along a path step by step and rejects where it cannot follow."""

    def __init__(self, arm: Arm, path: TipMotion, task: str) -> None:
        self.arm, self.path, self.task = arm, path, task
        # Of tip velocities: metres per second, or what suits a tiny or huge arm, and radians per second.
        self.units = np.repeat([magnitude(arm), 1.0], 3)[:, None]
        self.handedness = 0.0  # sign of the Jacobian's determinant at the knot before

    def advance(self, at: JointMotion, h: float, pose: NDArray, t: float) -> NDArray:
        """The configuration at the next knot, found from a prediction by iteration."""
        predicted = q = at.q + h * at.qd + h**2 / 2 * at.qdd
        lower, upper = no_limits(self.arm)
        for _ in range(MAX_ITERATIONS):
            q, error = damped_step(self.arm, q, pose, task=self.task, lower=lower, upper=upper)
            if error.max() <= ON_PATH:
                break
        if error.max() > ON_PATH or np.abs(q - predicted).max() > MIN_JUMP:
            self.reject(t)
        self._check_limits(q, t)
        return q

    def motion(self, q: NDArray, states: TipState, k: int, t: float) -> JointMotion:
        """Velocities and accelerations of least size that move the tip as asked at knot k."""
        R = forward_kinematics(self.arm, q)[:3, :3]
        whole = jacobian(self.arm, q) / self.units
        J = task_rows(self.task, R, whole)
        U, s, Vt = np.linalg.svd(J, full_matrices=False)
        handedness = np.sign(np.linalg.det(J)) if J.shape[0] == J.shape[1] else 0.0
        if s[-1] < SINGULAR_RATIO * s[0] or handedness * self.handedness < 0:
            self.reject(t)
        self.handedness = handedness
        velocity, acceleration = (x[k][:, None] / self.units for x in (states.velocity, states.acceleration))
        # qd = J⁺ v
        x = (U.T @ task_rows(self.task, R, velocity)[:, 0]) / s
        qd = Vt.T @ x
        # With J = P Jw and P turning with the tip:  J qdd = P (a - Jw' qd) + P' (v - Jw qd)
        whole_rate = jacobian_rate(self.arm, q, qd) / self.units
        turning = skew((whole @ qd)[3:]) @ R
        J_rate = task_rows(self.task, R, whole_rate) + self._turned(turning, whole)
        wanted = task_rows(self.task, R, acceleration) + self._turned(turning, velocity)
        qdd = Vt.T @ ((U.T @ (wanted[:, 0] - J_rate @ qd)) / s)
        # A redundant arm's qd = J'(J J')⁻¹ v also turns within the freedom left: + (1 - J⁺J) Jd'(J J')⁻¹ v
        drift = J_rate.T @ (U @ (x / s))
        return JointMotion(q, qd, qdd + drift - Vt.T @ (Vt @ drift))

    def _turned(self, R_rate: NDArray, columns: NDArray) -> NDArray:
        """P' times columns (6, k): the rows of P that turn with the tip are those of a directed axis."""
        rows = task_rows(self.task, R_rate, columns)
        if axis_of(self.task) is None:
            return np.zeros_like(rows)
        rows[:3] = 0.0
        return np.asarray(rows)

    def reject(self, t: float) -> None:
        """Raise: the path leaves the workspace at or after t, or the arm is singular there."""
        later = np.linspace(t, self.path.duration, LOOK_AHEAD)
        solutions = inverse_kinematics(self.arm, self.path(later).pose, task=self.task, restarts=DIAGNOSIS_RESTARTS)
        lost = np.flatnonzero(solutions.reason == "reach")
        if len(lost):
            t, gap = later[lost[0]], solutions.shortfall[lost].max(0)
            by = " and ".join(f"{x:.3g} {unit}" for x, unit in zip(gap, ("m", "rad"), strict=True) if x > 0)
            raise self._error(f"leaves the workspace (by up to {by})", t, "reach")
        raise self._error("meets a singular configuration", t, "singular")

    def _check_limits(self, q: NDArray, t: float) -> None:
        lower, upper = self.arm.position_limits
        for i in np.flatnonzero((q < lower - NEGLIGIBLE) | (q > upper + NEGLIGIBLE)):
            joint = f"joint {i + 1} '{self.arm.coordinate_names[i]}'"
            raise self._error(f"takes {joint} to {q[i]:.4g}, outside [{lower[i]:.4g}, {upper[i]:.4g}],", t, "limit")

    def _error(self, what: str, t: float, reason: str) -> PathError:
        pose = self.path(t).pose
        place = ", ".join(f"{x:.4g}" for x in pose[:3, 3])
        return PathError(
            f"the path {what} at t = {t:.4g} s, tip at ({place}) m", t, pose, reason, where="joint_trajectory"
        )


def _stack(motions: list[JointMotion]) -> JointMotion:
    return JointMotion(*(np.array(column) for column in zip(*motions, strict=True)))
