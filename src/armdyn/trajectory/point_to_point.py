"""Joint motions along a straight line from one configuration to another, all joints in step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import row_of
from armdyn.errors import ArmdynError, LimitError, ShapeError, check_choice
from armdyn.frozen import PartOf
from armdyn.trajectory.protocol import JointMotion
from armdyn.trajectory.timing import Cubic, Quintic, SCurve, Timing, Trapezoid

KINDS = ("cubic", "quintic", "trapezoid", "s-curve")


@dataclass(frozen=True, eq=False)
class PointToPoint:
    """`q = start + (end - start) s(t)`.

    Parameters
    ----------
    start, end : ndarray, shape (n,)
        Configurations [rad or m].
    timing : Timing
        Law s(t) from 0 to 1.
    """

    start: NDArray
    end: NDArray
    timing: Timing

    duration = PartOf[float]("timing.duration", "[s].")

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.start)

    def __call__(self, t: ArrayLike) -> JointMotion:
        """Joint motion at times t [s]."""
        s, sd, sdd = (np.asarray(x)[..., None] for x in self.timing(t))
        way = self.end - self.start
        return JointMotion(self.start + s * way, sd * way, sdd * way)


def point_to_point(
    start: ArrayLike,
    end: ArrayLike,
    *,
    kind: str = "quintic",
    duration: float | None = None,
    velocity: ArrayLike = np.inf,
    acceleration: ArrayLike = np.inf,
    jerk: ArrayLike = np.inf,
) -> PointToPoint:
    """Move from rest to rest, as fast as the limits allow or in a given time.

    Parameters
    ----------
    start, end : array_like, shape (n,)
        Configurations [rad or m].
    kind : {"cubic", "quintic", "trapezoid", "s-curve"}
        Law of motion.
    duration : float, optional
        [s], for cubic and quintic; otherwise as fast as the limits allow.
    velocity, acceleration, jerk : float or array_like, shape (n,)
        Largest values of the joints; jerk for the S-curve alone.

    Examples
    --------
    >>> motion = armdyn.point_to_point([0.0, 0.0], [0.5, -0.3], duration=2.0)
    >>> motion(2.0).q
    array([ 0.5, -0.3])
    """
    q0, q1 = (np.array(q, float, ndmin=1) for q in (start, end))
    if q0.shape != q1.shape or q0.ndim != 1 or not (np.isfinite(q0).all() and np.isfinite(q1).all()):
        raise ShapeError(where="point_to_point", expected="two configurations (n,)", got=f"{q0.shape} and {q1.shape}")
    check_choice("point_to_point", "kind", kind, KINDS)
    if np.array_equal(q0, q1):
        raise ArmdynError("start and end are the same; there is nothing to move", where="point_to_point")
    return PointToPoint(q0, q1, _timing(kind, duration, *(_along(q1 - q0, x) for x in (velocity, acceleration, jerk))))


def _timing(kind: str, duration: float | None, velocity: float, acceleration: float, jerk: float) -> Timing:
    """The law over a unit length."""
    if duration is not None:
        if kind not in ("cubic", "quintic"):
            raise ArmdynError(f"a {kind} follows from its limits", where="point_to_point", remedy="give no duration")
        return (Cubic if kind == "cubic" else Quintic)(1.0, duration)
    needed = {"velocity": velocity, "acceleration": acceleration} | ({"jerk": jerk} if kind == "s-curve" else {})
    for name, value in needed.items():
        if not np.isfinite(value):
            cause = f"a {kind} needs a {name} limit (or a duration, if cubic or quintic)"
            raise LimitError(cause, where="point_to_point")
    if kind == "s-curve":
        return SCurve(1.0, velocity, acceleration, jerk)
    if kind == "trapezoid":
        return Trapezoid(1.0, velocity, acceleration)
    return (Cubic if kind == "cubic" else Quintic).within(1.0, velocity, acceleration)


def _along(way: NDArray, limit: ArrayLike) -> float:
    """The joints' limit as one of the progress along the way."""
    row = row_of(limit, len(way), "point_to_point: limits", LimitError, sign=">")
    moving = way != 0
    return float((row[moving] / np.abs(way[moving])).min())
