"""DIDIM: parameters with which a simulation of the controlled arm needs the torques that were measured.

The regressor is taken along the simulated motion, so that measured positions are used for nothing: neither their
noise nor their derivatives matter (Gautier, Janot, Vandanjon 2013). As the simulation has the real controller and
reference, it stays near the measured motion even for poor parameters, and a few rounds are enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import ArmdynError
from armdyn.identification.estimators.data import Data, Estimate
from armdyn.identification.estimators.least_squares import LeastSquares, noise, solve_weighted


@dataclass(frozen=True, eq=False)
class Didim:
    """Direct and inverse dynamic identification of the output error.

    `simulate(x)` gives the regressor (N, n, p) along the motion of the simulated, controlled arm with parameters x.
    `start` are the first parameters, as of a description; left out, those of least squares. A round that makes
    the residual worse is retried with half the step.
    """

    simulate: Callable[[NDArray], NDArray]
    start: ArrayLike | None = None
    rounds: int = 15
    tolerance: float = 1e-4  # relative change of the residual's norm at which to end

    def fit(self, data: Data) -> Estimate:
        """The estimate; `data.Y` serves for the first parameters alone, `data.tau` is what is explained."""
        x = LeastSquares().fit(data).x if self.start is None else np.asarray(self.start, float)
        if x.shape != data.Y.shape[2:]:
            expected = f"{data.Y.shape[2]} parameters to start with"
            raise ArmdynError(where="Didim", expected=expected, got=f"shape {x.shape}")
        along = Data(self.simulate(x), data.tau)
        weights = 1 / noise(along.residuals(x))
        error = _size(along, x, weights)
        for _ in range(self.rounds):
            step = solve_weighted(along, weights).x - x
            length, before = 1.0, error
            while length > 0.05:
                trial = x + length * step
                ahead = Data(self.simulate(trial), data.tau)
                error = _size(ahead, trial, weights)
                if error <= before * (1 + 1e-9):
                    break
                length /= 2
            else:
                break
            x, along = trial, ahead
            done = before - error <= self.tolerance * before
            weights = 1 / noise(along.residuals(x))
            error = _size(along, x, weights)
            if done:
                break
        estimate = solve_weighted(along, weights)
        return estimate._replace(x=x, rms=np.sqrt(np.mean(along.residuals(x) ** 2, axis=0)))


def _size(data: Data, x: NDArray, weights: NDArray) -> float:
    """Norm of the weighted residuals."""
    return float(np.linalg.norm(data.residuals(x) * weights))
