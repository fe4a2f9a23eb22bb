"""The posture in which an arm is shown first, and to which it returns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from armdyn.model.arm import Arm
from armdyn.studio.state import rest_posture, slider_range
from armdyn.trajectory.excitation.clearance import TOUCHING_DISTANCE_M


def home_posture(arm: Arm, free_distance: Callable[[NDArray], float]) -> NDArray:
    """Return the rest posture (n,), or where bodies touch in it, what turns of single joints make of it.

    A turn is a quarter of a circle, or of a range that is less; of those that free the bodies it is the first from the
    base on.
    """
    lower, upper = slider_range(arm)
    turns = (
        np.minimum((upper - lower) / 4, np.pi / 2)[:, None, None] * np.array([1, -1])[:, None] * np.eye(arm.n)[:, None]
    )
    q = rest_posture(arm)
    free = free_distance(q)
    for _ in range(arm.n):
        others = [x for x in q + turns.reshape(-1, arm.n) if (lower <= x).all() and (x <= upper).all()]
        distances = [min(free_distance(x), TOUCHING_DISTANCE_M) for x in others]
        if free >= TOUCHING_DISTANCE_M or max(distances, default=free) <= free:
            break
        free = max(distances)
        q = others[distances.index(free)]
    return q
