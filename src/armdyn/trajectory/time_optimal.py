"""The fastest motion along a path that the arm's torques, speeds and accelerations allow.

On a path q(s) with s' = sqrt(x) and s'' = u the torques are linear in u and nearly so in x:

    tau = (M q') u + (M q'' + C(q, q') q') x + g + friction(q, q' sqrt(x)) + ...

The largest x from which the end can be reached is found backwards along a grid, the largest u that stays below it
forwards (Pham and Pham 2018, TOPP-RA; limits hold at both ends of every interval). Friction and what else is not linear
is taken linear about the last solution, until solutions agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.dynamics.full import joint_torque
from armdyn.errors import LimitError, ShapeError, expect
from armdyn.model.arm import Arm
from armdyn.precision import NEGLIGIBLE
from armdyn.trajectory.motion_limits import MotionLimits
from armdyn.trajectory.protocol import HoldAtEnds, JointMotion

# Samples of a motion's path, and what two of them may be apart that still are one place (part of the path's length).
PATH_SAMPLES, SAME_PLACE_RATIO = 400, 1e-9
# Velocity below which dry friction fades out [rad/s or m/s], and how far from where a joint reverses, in steps of the
# grid, limits are looked at on both sides: friction has its full size there.
FRICTION_WIDTH, BESIDE_REVERSAL_STEPS = 1e-6, 1e-3
# Rounds of linearisation, change of x (part of its largest) at which they agree, and the step of differences.
MAX_ROUNDS, CONVERGED_CHANGE, DIFFERENCE_STEP = 30, 1e-4, 1e-6


@dataclass(frozen=True, eq=False)
class JointPath:
    """A twice differentiable curve through joint positions, by its length s from 0 to `length`.

    Parameters
    ----------
    curves : tuple of callables
        Positions (..., n) of s, and their first two derivatives.
    length : float
        Length of the polygon through the waypoints.
    """

    curves: tuple[Any, Any, Any]
    length: float

    @classmethod
    def through(cls, waypoints: ArrayLike) -> JointPath:
        """The cubic spline through waypoints (K, n), straight at its ends."""
        from scipy.interpolate import CubicSpline

        q = np.asarray(waypoints, float)
        fits = q.ndim == 2 and len(q) >= 2 and np.isfinite(q).all()
        expect(fits, "time_optimal", "at least two finite waypoints (K, n)", waypoints)
        steps = np.linalg.norm(np.diff(q, axis=0), axis=1)
        keep = np.concatenate([[True], steps > SAME_PLACE_RATIO * steps.sum()])
        q, s = q[keep], np.cumsum(np.concatenate([[0.0], steps]))[keep]
        if len(q) < 2:
            raise ShapeError("all waypoints are the same", where="time_optimal", expected="at least two different ones")
        curve = CubicSpline(s, q, bc_type="natural")
        return cls((curve, curve.derivative(), curve.derivative(2)), float(s[-1]))

    def __call__(self, s: ArrayLike) -> tuple[NDArray, NDArray, NDArray]:
        """q, dq/ds and d²q/ds² at s."""
        q, slope, bend = (np.asarray(curve(s)) for curve in self.curves)
        return q, slope, bend


@dataclass(frozen=True, eq=False)
class TimeOptimal(HoldAtEnds):
    """A motion along a path in which s'' is constant between the grid's places; a `Trajectory`.

    Attributes
    ----------
    s, x : ndarray, shape (N + 1,)
        Places on the path and squared speeds s'² there.
    t : ndarray, shape (N + 1,)
        When they are reached [s].
    """

    path: JointPath
    s: NDArray
    x: NDArray

    @property
    def t(self) -> NDArray:
        """Times of the grid's places."""
        v = np.sqrt(self.x)
        return np.concatenate([[0.0], np.cumsum(2 * np.diff(self.s) / (v[1:] + v[:-1]))])

    @property
    def duration(self) -> float:
        """[s]."""
        return float(self.t[-1])

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.path(0.0)[0])

    def inside(self, t: NDArray) -> JointMotion:
        """Joint motion at times from 0 to `duration`."""
        knots, v = self.t, np.sqrt(self.x)
        k = np.clip(np.searchsorted(knots, t, side="right") - 1, 0, len(knots) - 2)
        u = (self.x[k + 1] - self.x[k]) / (2 * (self.s[k + 1] - self.s[k]))
        since = t - knots[k]
        share = since / (knots[k + 1] - knots[k])
        speed = (1 - share) * v[k] + share * v[k + 1]  # exact at both ends: rest is rest
        q, slope, bend = self.path(np.clip(self.s[k] + (v[k] + speed) / 2 * since, 0.0, self.path.length))
        return JointMotion(q, slope * speed[..., None], slope * u[..., None] + bend * speed[..., None] ** 2)


def time_optimal(
    arm: Arm,
    path: Any,
    *,
    effort: ArrayLike | None = None,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike = np.inf,
    points: int = 500,
) -> TimeOptimal:
    """The fastest motion from rest to rest along a path within the limits of torque, speed and acceleration.

    The whole model counts: payload, rotors, springs, friction. Bad news is said: paths outside of position limits, and
    poses that the drives cannot hold.

    Parameters
    ----------
    arm : Arm
        The model, with its limits.
    path : array_like, shape (K, n), Trajectory or JointPath
        Waypoints, through which a spline is laid, or a motion whose path is kept and whose timing is not, such as
        `joint_trajectory` makes of a path of the tip.
    effort, velocity, acceleration : array_like, shape (n,), optional
        Tighter limits than the arm's [N m, rad/s, rad/s²].
    points : int
        Intervals of the grid.

    References
    ----------
    Bobrow, Dubowsky and Gibson (1985), Time-optimal control of robotic manipulators along specified paths; Pham and
    Pham (2018), A new approach to time-optimal path parameterization based on reachability analysis.
    """
    line = _path(path)
    limits = MotionLimits.of(arm, acceleration=acceleration, velocity=velocity, effort=effort)
    s = _grid(line, points)
    rows = _Rows(arm, s, line(s), limits)
    x, u = rows.first_guess()
    for _ in range(MAX_ROUNDS):
        limited = rows.linear(x, u)
        later = _fastest(s, limited, rows.fastest)
        change = np.abs(later - x).max() / later.max()
        x, u = later, np.append(np.diff(later) / (2 * np.diff(s)), 0.0)
        if change < CONVERGED_CHANGE:
            break
    return TimeOptimal(line, s, x)


def _grid(path: JointPath, points: int) -> NDArray:
    """Equal steps along a path, and places on both sides of where joints reverse."""
    expect(isinstance(points, int) and points > 1, "time_optimal: points", "an integer > 1", points)
    s = np.linspace(0.0, path.length, points + 1)
    slope = path(s)[1]
    k, j = np.nonzero(slope[1:] * slope[:-1] < 0)
    step, part = s[1], slope[k, j] / (slope[k, j] - slope[k + 1, j])
    near = [s[k] + (part + side * BESIDE_REVERSAL_STEPS) * step for side in (-1, 1)]
    return np.unique(np.clip(np.concatenate([s, *near]), 0.0, path.length))


def _path(path: Any) -> JointPath:
    if isinstance(path, JointPath):
        return path
    if callable(path) and hasattr(path, "duration"):
        return JointPath.through(path(np.linspace(0.0, path.duration, PATH_SAMPLES))[0])
    return JointPath.through(path)


class Constraints(NamedTuple):
    """Rows a u + b x <= c at every place of the grid, each (N + 1, m)."""

    a: NDArray
    b: NDArray
    c: NDArray


class _Rows:
    """The limits along a path as rows that are linear in (u, x)."""

    def __init__(self, arm: Arm, s: NDArray, curve: tuple[NDArray, NDArray, NDArray], limits: MotionLimits) -> None:
        self.arm, self.s, self.limits = arm, s, limits
        self.q, self.slope, self.bend = curve
        outside = (self.q < limits.lower - 1e-9) | (self.q > limits.upper + 1e-9)
        if outside.any():
            k, j = np.argwhere(outside)[0]
            cause = (
                f"joint '{arm.coordinate_names[j]}' is at {self.q[k, j]:.3g} on the path, outside of "
                f"[{limits.lower[j]:g}, {limits.upper[j]:g}]"
            )
            raise LimitError(cause, where="time_optimal", remedy="change the path", names=(arm.coordinate_names[j],))
        held = np.abs(joint_torque(arm, self.q, 0 * self.q, 0 * self.q, width=FRICTION_WIDTH))
        if (held > limits.effort).any():
            k, j = np.argwhere(held > limits.effort)[0]
            cause = (
                f"joint '{arm.coordinate_names[j]}' cannot be held on the path: it takes {held[k, j]:.3g} of "
                f"{limits.effort[j]:.3g} {'N m' if arm.coordinate_joints[j].kind == 'revolute' else 'N'}"
            )
            remedy = "lighten the load or change the path"
            raise LimitError(cause, where="time_optimal", remedy=remedy, names=(arm.coordinate_names[j],))
        with np.errstate(divide="ignore"):
            self.fastest = (limits.velocity / np.abs(self.slope)).min(1) ** 2  # by speeds alone
        if arm.G is not None:
            self._limit_followers(arm.G, arm.b)

    def _limit_followers(self, G: NDArray, b: NDArray | None) -> None:
        """Take limits of the joints that follow others into account: linear in those of the coordinates."""
        at, rate = self.q @ G.T + b, np.abs(self.slope @ G.T)
        for j, joint in enumerate(self.arm.joints):
            lower, upper = joint.limits.lower - 1e-9, joint.limits.upper + 1e-9
            if joint.follows and not ((at[:, j] > lower) & (at[:, j] < upper)).all():
                cause = (
                    f"joint '{joint.name}', which follows others, goes from {at[:, j].min():.3g} to "
                    f"{at[:, j].max():.3g} on the path, outside of [{joint.limits.lower:g}, {joint.limits.upper:g}]"
                )
                raise LimitError(cause, where="time_optimal", remedy="change the path", names=(joint.name,))
        with np.errstate(divide="ignore"):
            speeds = np.array([joint.limits.velocity for joint in self.arm.joints])
            self.fastest = np.minimum(self.fastest, (speeds / rate).min(1) ** 2)

    def torque(self, x: NDArray, u: NDArray) -> NDArray:
        """The full model's torques (N + 1, n)."""
        qd, qdd = self.slope * np.sqrt(x)[:, None], self.slope * u[:, None] + self.bend * x[:, None]
        return np.asarray(joint_torque(self.arm, self.q, qd, qdd, width=FRICTION_WIDTH))

    def first_guess(self) -> tuple[NDArray, NDArray]:
        """A speed at which the path takes a second, or what speeds allow."""
        return np.minimum(np.full(len(self.s), self.s[-1] ** 2), self.fastest), np.zeros(len(self.s))

    def linear(self, x: NDArray, u: NDArray) -> Constraints:
        """Rows of torque about (x, u), and of acceleration, which are linear, at both ends of the intervals."""
        typical = self.s[-1] ** 2
        x = np.maximum(x, 1e-4 * x.max())  # at rest friction's rate in x is infinite
        tau, dx, du = self.torque(x, u), DIFFERENCE_STEP * np.maximum(x, 1e-3 * typical), DIFFERENCE_STEP * typical
        rate_x = (self.torque(x + dx, u) - tau) / dx[:, None]
        rate_u = (self.torque(x, u + du) - tau) / du
        rest = tau - rate_x * x[:, None] - rate_u * u[:, None]
        still = rest.copy()  # where the arm stands, friction may be gone
        still[[0, -1]] = (self.torque(0 * x, u) - rate_u * u[:, None])[[0, -1]]
        effort, acceleration = self.limits.effort, self.limits.acceleration
        kinds = [(rate_u, rate_x, (rest, still), effort), (self.slope, self.bend, (0 * rest,), acceleration)]
        signed = [
            (sign * a[:, finite], sign * b[:, finite], (most - np.max([sign * part for part in c], 0))[:, finite])
            for a, b, c, most in kinds
            for finite in [np.isfinite(most)]
            for sign in (1, -1)
        ]
        a, b, c = (np.concatenate(parts, 1) for parts in zip(*signed, strict=True))
        # At the end of the interval x is x + 2 step u; the last place has none.
        step = np.append(np.diff(self.s), 0.0)[:, None]
        ahead = [np.concatenate([rows[1:], rows[-1:]]) for rows in (a, b, c)]
        later = ahead[0] + 2 * step * ahead[1], ahead[1], ahead[2]
        return Constraints(*(np.concatenate(pair, 1) for pair in zip((a, b, c), later, strict=True)))


def _fastest(s: NDArray, rows: Constraints, fastest: NDArray) -> NDArray:
    """Squared speeds (N + 1,): the largest from which the end can be reached, followed from rest."""
    a, b, c = rows
    count, step = len(s), np.diff(s)
    unlimited = 1e12 * (s[-1] ** 2 + 1)
    extra = np.stack([np.zeros(count), np.zeros(count)], 1), np.tile([1.0, -1.0], (count, 1))
    a, b = np.concatenate([a, extra[0]], 1), np.concatenate([b, extra[1]], 1)
    c = np.concatenate([c, np.stack([np.minimum(fastest, unlimited), np.zeros(count)], 1)], 1)
    size = np.sqrt(a**2 + b**2)
    a, b, c = a / size, b / size, c / size
    vertices = _Vertices(a, b, c)
    most = np.zeros(count)
    for i in range(count - 2, -1, -1):
        most[i] = vertices.largest(i, 2 * step[i], most[i + 1])
    if not (most[:-1] > 0).all():
        place = s[np.argmin(most[:-1])] / s[-1]
        cause = f"the drives are too weak to go on at {place:.0%} of the path"
        raise LimitError(cause, where="time_optimal", remedy="lighten the load")
    if most.max() >= 0.5 * unlimited:
        remedy = "give effort, velocity or acceleration"
        raise LimitError("nothing limits the motion", where="time_optimal", remedy=remedy)
    x = np.zeros(count)
    for i in range(count - 1):
        x[i + 1] = min(x[i] + 2 * step[i] * _largest_u(a[i], b[i], c[i], x[i]), most[i + 1])
        x[i + 1] = max(x[i + 1], 0.0)
    return x


def _largest_u(a: NDArray, b: NDArray, c: NDArray, x: float) -> float:
    """The largest u that rows allow at x."""
    up = a > 1e-12
    return float(((c - b * x)[up] / a[up]).min()) if up.any() else np.inf


class _Vertices:
    """Corners of the polygons a u + b x <= c, one polygon a place; found for all places at once."""

    def __init__(self, a: NDArray, b: NDArray, c: NDArray) -> None:
        self.a, self.b, self.c = a, b, c
        i, j = np.triu_indices(a.shape[1], 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            cross = a[:, i] * b[:, j] - a[:, j] * b[:, i]
            self.u = (c[:, i] * b[:, j] - c[:, j] * b[:, i]) / cross
            self.x = (a[:, i] * c[:, j] - a[:, j] * c[:, i]) / cross
        for k in range(len(a)):
            u, x = self.u[k], self.x[k]
            fits = self._inside(k, u, x) & np.isfinite(u) & np.isfinite(x)
            self.u[k], self.x[k] = np.where(fits, u, np.nan), np.where(fits, x, np.nan)

    def _inside(self, k: int, u: NDArray, x: NDArray) -> NDArray:
        a, b, c = self.a[k], self.b[k], self.c[k]
        with np.errstate(invalid="ignore"):
            size = np.abs(np.outer(u, a)) + np.abs(np.outer(x, b)) + np.abs(c)
            return np.asarray((np.outer(u, a) + np.outer(x, b) - c <= NEGLIGIBLE * size).all(1))

    def largest(self, k: int, step: float, most: float) -> float:
        """The largest x from which 0 <= x + step u <= most is reached within the limits; -1 if none."""
        u, x = self.u[k], self.x[k]
        with np.errstate(invalid="ignore"):
            reached = x + step * u
            feasible = x[(reached <= most * (1 + NEGLIGIBLE) + 1e-300) & (reached >= -NEGLIGIBLE * np.abs(x))]
        best = float(feasible.max()) if len(feasible) else -1.0
        for end in (most, 0.0):  # corners on the line x + step u = end
            a, b, c = self.a[k], self.b[k], self.c[k]
            with np.errstate(divide="ignore", invalid="ignore"):
                edge = (c - a * end / step) / (b - a / step)
            edge = edge[np.isfinite(edge)]
            fits = self._inside(k, (end - edge) / step, edge)
            best = max(best, float(edge[fits].max(initial=-1.0)))
        return best
