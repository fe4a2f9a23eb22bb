"""Trials of a repeated motion on a plant, each learning from the last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.arrays import is_whole
from armdyn.control.protocol import Law
from armdyn.control.robust.learning import IterativeLearning, Learnt
from armdyn.errors import ArmdynError, expect
from armdyn.model.arm import Arm
from armdyn.simulation.plant.plant import Plant
from armdyn.simulation.result import SimulationResult
from armdyn.simulation.simulate import simulate


@dataclass(frozen=True, eq=False)
class Learning:
    """Trials, their errors, and the law with the learnt torques."""

    trials: tuple[SimulationResult, ...]
    law: Learnt

    @property
    def errors(self) -> NDArray:
        """RMS error of every trial [rad or m]."""
        return np.array([np.sqrt((run.error**2).mean()) for run in self.trials])

    def __str__(self) -> str:
        lines = [f"trial {k}: RMS error {error:.2e}" for k, error in enumerate(self.errors, 1)]
        return "\n".join(lines)


def learn(
    plant: Plant | Arm,
    law: Law,
    reference: Any,
    rate: float = 1000.0,
    trials: int = 6,
    *,
    caution: float = 0.03,
    **options: Any,
) -> Learning:
    """Repeat a motion and learn torques that remove its errors; see `IterativeLearning`.

    Parameters
    ----------
    plant : Plant or Arm
        The arm as it is.
    law : Law
        The feedback law, without state, whose model need not be the plant.
    reference : Trajectory
    rate : float
        [Hz]
    trials : int
    caution : float
        See `IterativeLearning`.
    **options
        Further options of `simulate`.
    """
    expect(is_whole(trials, least=1), "learn: trials", "an integer > 0", trials, ArmdynError)
    method = IterativeLearning(law, reference, rate, caution)
    runs, torque = [], np.zeros((method.samples, law.arm.n))
    for k in range(trials):
        runs.append(simulate(plant, method.trial(torque), reference, rate=rate, check=False, **options))
        if not runs[-1].complete:
            remedy = "give a larger caution, or a stiffer law"
            raise ArmdynError(f"trial {k + 1} diverged", where="learn", remedy=remedy)
        torque = method.improved(torque, runs[-1].error)
    return Learning(tuple(runs), method.trial(torque))
