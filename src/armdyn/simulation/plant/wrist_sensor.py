"""A force and torque sensor at the wrist, as it is: with a tool on it, a bias and noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import row_of
from armdyn.control.wrist import NO_TOOL, Tool
from armdyn.errors import ModelError, expect


@dataclass(frozen=True, eq=False)
class WristSensor:
    """Reading of a wrist sensor: forces beyond the wrist, the weight of the tool, the bias, and noise.

    The tool's inertia forces are left out. All runs of a batch see the same noise.

    Parameters
    ----------
    tool : Tool
        On the sensor, with its bias; the arm's own model must carry it too if it is heavy.
    noise : array_like, shape (6,)
        Standard deviation of readings [N, N m].
    seed : int
    """

    tool: Tool = NO_TOOL
    noise: ArrayLike = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        expect(isinstance(self.tool, Tool), "WristSensor: tool", "Tool(...)", self.tool, ModelError)
        object.__setattr__(self, "noise", row_of(self.noise, 6, "WristSensor: noise", ModelError, sign=">="))

    def errors(self, clock: Any) -> NDArray:
        """Bias and noise at the steps of a run, (steps, 6): one draw per sample."""
        rng = np.random.default_rng(self.seed)
        drawn = self.tool.numbers[4:] + np.asarray(self.noise) * rng.standard_normal((clock.samples, 6))
        return np.repeat(drawn, clock.substeps, axis=0)
