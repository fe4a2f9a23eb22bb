"""Motions as functions of time: positions, velocities and accelerations are exact."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Motion = Callable[[NDArray], tuple[NDArray, NDArray, NDArray]]
KINDS = ("fourier", "random", "points", "teach")


def make_motion(kind: str, reach: NDArray, speed: NDArray, duration: float, rng: np.random.Generator) -> Motion:
    """A motion within +- `reach` about some pose, at most about as fast as `speed` (both (n,))."""
    about = reach * rng.uniform(-0.5, 0.5, len(reach))
    if kind == "fourier":
        return _fourier(about, reach, speed, rng)
    if kind == "random":
        return _random(about, reach, speed, duration, rng)
    return _points(about, reach, speed, duration, rng, alone=kind == "teach")


def _fourier(about: NDArray, reach: NDArray, speed: NDArray, rng: np.random.Generator) -> Motion:
    n, harmonics = len(reach), np.arange(1, 6)
    base = 2 * np.pi * rng.uniform(0.05, 0.12)
    a, b = rng.normal(size=(2, 5, n)) / harmonics[:, None]
    t = np.linspace(0, 2 * np.pi / base, 400)[:, None, None]
    w = base * harmonics[:, None]
    size = np.abs((a * np.sin(w * t) + b * np.cos(w * t)).sum(1)).max(0)
    fast = np.abs((w * a * np.cos(w * t) - w * b * np.sin(w * t)).sum(1)).max(0)
    scale = np.minimum(reach / size, speed / fast)
    a, b = a * scale, b * scale

    def motion(t: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        s, c = np.sin(np.multiply.outer(t, w[:, 0])), np.cos(np.multiply.outer(t, w[:, 0]))
        return about + s @ a + c @ b, c @ (w * a) - s @ (w * b), -s @ (w * w * a) - c @ (w * w * b)

    return motion


def _random(about: NDArray, reach: NDArray, speed: NDArray, duration: float, rng: np.random.Generator) -> Motion:
    """A smooth curve through random points."""
    from scipy.interpolate import make_interp_spline

    step = float(np.clip(1.5 * np.median(reach / speed), 0.4, 4.0))
    knots = np.arange(-3 * step, duration + 4 * step, step)
    curve = make_interp_spline(knots, about + reach * rng.uniform(-0.7, 0.7, (len(knots), len(reach))), k=5)
    return lambda t: (curve(t), curve(t, 1), curve(t, 2))


def _points(
    about: NDArray, reach: NDArray, speed: NDArray, duration: float, rng: np.random.Generator, *, alone: bool
) -> Motion:
    """From point to point with rests between, least jerk on the way; `alone`: one or two joints at a time."""
    n, starts, lengths, points = len(reach), [0.0], [], [about]
    while starts[-1] < duration + 1:
        goal = about + reach * rng.uniform(-1, 1, n)
        if alone:
            moved = rng.permutation(n)[: 1 + int(rng.random() < 0.5)]
            goal = np.where(np.isin(np.arange(n), moved), goal, points[-1])
        lengths.append(max(1.9 * float(np.max(np.abs(goal - points[-1]) / speed)), 0.4))
        starts.append(starts[-1] + lengths[-1] + rng.uniform(*((0.4, 1.5) if alone else (0.0, 0.6))))
        points.append(goal)
    start, length, way = np.array(starts[:-1]), np.array(lengths)[:, None], np.array(points)

    def motion(t: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        k = np.clip(np.searchsorted(start, t, side="right") - 1, 0, len(start) - 1)
        T, step = length[k], way[k + 1] - way[k]
        s = np.clip((t - start[k])[:, None] / T, 0, 1)
        return (
            way[k] + step * s**3 * (10 - 15 * s + 6 * s**2),
            step / T * 30 * s**2 * (1 - s) ** 2,
            step / T**2 * 60 * s * (1 - s) * (1 - 2 * s),
        )

    return motion
