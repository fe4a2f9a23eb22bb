"""What a run shall follow, from what users give: a trajectory, any function of time, or a position to hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.arrays import as_floats, is_number
from armdyn.errors import ShapeError, expect, quote
from armdyn.simulation.plant.step_length import N_EXAMPLES
from armdyn.trajectory.protocol import JointMotion


def make_reference(
    reference: Any, duration: float | None, hold: bool, n: int
) -> tuple[Callable[[NDArray], JointMotion], float]:
    """The reference as a function of times (T,), and the duration of the run."""
    if not callable(reference):
        return _set_point(reference, n), _require(duration, "the reference is a position, which has no duration")
    natural = getattr(reference, "duration", None)
    if duration is None:
        duration = _require(natural, "the reference has no duration of its own")
    elif natural is not None and is_number(duration) and duration > natural * (1 + 1e-9) and not hold:
        cause = f"the reference ends at {natural:g} s, before the run of {duration:g} s"
        remedy = "shorten the run, or let the reference rest at its end with hold=True"
        raise ShapeError(cause, where="simulate", remedy=remedy)

    def motion(t: NDArray) -> JointMotion:
        sample = reference(t if natural is None else np.minimum(t, natural))
        rows = [np.asarray(x, float) for x in sample] if isinstance(sample, Iterable) else []
        if len(rows) != 3 or any(x.shape != (len(t), n) for x in rows):
            shapes = ", ".join(str(x.shape) for x in rows) or quote(sample)
            raise ShapeError(where="simulate", expected=f"a reference with q, qd, qdd of shape (T, {n})", got=shapes)
        if natural is not None:
            over = t > natural * (1 + 1e-9)
            if over.any():
                rows[1:] = [np.where(over[:, None], 0.0, x) for x in rows[1:]]
        if not all(np.isfinite(x).all() for x in rows):
            raise ShapeError("the reference has values that are not finite numbers", where="simulate")
        return JointMotion(*rows)

    return motion, duration


def some_poses(motion: Callable[[NDArray], JointMotion], duration: float) -> NDArray:
    """Positions (N_EXAMPLES, n) along the reference."""
    return motion(np.sort(scatter(N_EXAMPLES)) * duration).q


def scatter(count: int) -> NDArray:
    """Numbers from 0 to 1 spread by the golden section: even spacing may meet a periodic motion always at rest."""
    return np.arange(count) * (5**0.5 - 1) / 2 % 1.0


def _require(duration: float | None, why: str) -> float:
    if duration is None:
        raise ShapeError(where="simulate", expected=f"a duration, as {why}")
    return duration


def _set_point(position: Any, n: int) -> Callable[[NDArray], JointMotion]:
    q = as_floats(position)
    fits = q.shape == (n,) and np.isfinite(q).all()
    expect(fits, "simulate", f"a trajectory, or {n} finite positions to hold", position)
    return lambda t: JointMotion(np.tile(q, (len(t), 1)), *np.zeros((2, len(t), n)))
