"""Friction before sliding: after a reversal Coulomb friction builds up over a short travel (Dahl 1968).

It is LuGre's model (`dynamics.lugre`) without damping and Stribeck effect, with bristles of stiffness
coulomb / travel. As it depends on the path alone, it is known in closed form along a measured motion.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def built_up(q: NDArray, travel: NDArray) -> NDArray:
    """Share (N, n) of Coulomb friction along a motion, between -1 and 1; its sign lags that of the velocity.

    From one reversal to the next, at distance s from the reversal, it is d - (d - z0) exp(-s / travel) with d
    the direction. At the start the joint is taken to slide already.

    Parameters
    ----------
    q : ndarray, shape (N, n)
        Positions [rad or m].
    travel : ndarray, shape (..., n)
        Over which 63 % build up [rad or m]; the result is (..., N, n).
    """
    share = np.empty((q.shape[1], *travel.shape[:-1], len(q)))
    for joint, path in enumerate(np.ascontiguousarray(q.T)):
        steps = np.sign(np.diff(path, append=path[-1]))
        moving = np.flatnonzero(steps)
        if not len(moving):
            share[joint] = 0.0
            continue
        # A pause continues the direction before it.
        directions = steps[np.maximum.accumulate(np.where(steps != 0, np.arange(len(steps)), moving[0]))]
        starts = np.flatnonzero(np.diff(directions, prepend=-directions[0]))
        z = directions[0]
        for first, last in zip(starts, [*starts[1:], len(path) - 1], strict=True):
            d = directions[first]
            run = slice(first, last + 1)
            gone = np.abs(path[run] - path[first]) / travel[..., joint, None]
            share[joint, ..., run] = d - (d - z) * np.exp(-gone)
            z = share[joint, ..., last, None]
    return np.moveaxis(share, 0, -1)
