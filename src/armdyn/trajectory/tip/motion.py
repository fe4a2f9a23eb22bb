"""Motion of the tip over time: a path and how far along it at which time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import ShapeError
from armdyn.frozen import PartOf
from armdyn.spatial.transform import check_transform
from armdyn.trajectory.timing import ConstantAcceleration, Timing
from armdyn.trajectory.tip.path import Line, TipPath


class TipState(NamedTuple):
    """Pose (..., 4, 4), velocity [v, w] and acceleration [a, wd] (..., 6) of the tip in base axes."""

    pose: NDArray
    velocity: NDArray
    acceleration: NDArray


@dataclass(frozen=True, eq=False)
class TipMotion:
    """`pose, velocity, acceleration = motion(t)`.

    Parameters
    ----------
    path : TipPath
        Such as `Line` or `Circle`.
    timing : Timing
        Such as `Quintic(path.length, duration)`.
    """

    path: TipPath
    timing: Timing

    def __post_init__(self) -> None:
        # The last digits of a length may differ by the way it was computed.
        if not np.isclose(self.path.length, self.timing.length, rtol=1e-9):
            cause = f"the timing covers {self.timing.length:g}, the path is {self.path.length:g} long"
            raise ShapeError(cause, where="TipMotion", remedy="give the timing path.length")

    duration = PartOf[float]("timing.duration", "[s].")
    breaks = PartOf[tuple[float, ...]]("timing.breaks", "Times between which the acceleration is smooth [s].")

    def __call__(self, t: ArrayLike) -> TipState:
        """Pose, velocity and acceleration at times t [s]."""
        s, sd, sdd = (np.asarray(x)[..., None] for x in self.timing(t))
        pose, tangent, bend = self.path(s[..., 0])
        return TipState(pose, tangent * sd, bend * sd**2 + tangent * sdd)


def lift(
    start: ArrayLike, acceleration: float = 2.0, duration: float = 1.0, up: ArrayLike = (0.0, 0.0, 1.0)
) -> TipMotion:
    """The tip straight up from rest with constant acceleration, its orientation kept.

    The functional movement of Vukobratovic and Potkonjak: 2 m/s² for 1 s. It does not end at rest.

    Parameters
    ----------
    start : array_like, shape (4, 4)
        Pose to start from, in base axes.
    acceleration : float
        [m/s²].
    duration : float
        [s].
    up : array_like, shape (3,)
        Direction, in base axes.
    """
    timing = ConstantAcceleration(acceleration, duration)
    direction = np.asarray(up, float)
    begin = check_transform(start, "lift: start")
    end = begin.copy()
    end[:3, 3] += direction / np.linalg.norm(direction) * timing.length
    return TipMotion(Line(begin, end), timing)
