"""Results that several pages' tests share."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.servo.findings import ServoFinding, ServoFindingKind
from armdyn.servo.log import ServoLog
from armdyn.servo.parameters import ROWS, ParameterLayout
from armdyn.servo.result import ReplayErrors, ServoEstimates, ServoFit


@pytest.fixture(scope="session")
def servo_fit() -> ServoFit:
    """Numbers of nobody's servos, one of them not determined."""
    arm = armdyn.arms.planar2()
    space = ParameterLayout(arm, arm.trace_data("theta"))
    table = np.zeros((ROWS, 2))
    table[:5] = [[0.01, 0.02], [1e-3, 2e-3], [0.1, 0.1], [5e-3, 5e-3], [0.02, 0.02]]
    words = [["left out"] * 2 if k >= 5 else ["determined"] * 2 for k in range(ROWS)]
    words[0][1] = "not determined"
    t = np.arange(0, 4, 0.02)
    wave = 0.3 * np.sin(2 * np.pi * 0.5 * t[:, None] + np.arange(2))
    log = ServoLog(t, np.roll(wave, 3, axis=0), wave, notes=("commands: <a> .. b",))
    high = np.where(table == 0.02, np.inf, 1.1 * table)
    errors = np.array([4e-4, 5e-4])
    finding = ServoFinding(ServoFindingKind.UNDETERMINED, ("2",), "compliance", harmless=True)
    return ServoFit(
        arm, arm, ServoEstimates(space.vector(table), 0.9 * table, high, tuple(map(tuple, words)), "description"),
        (("plain", 4.5e-4),), ReplayErrors(errors, 3e-4, errors, np.array([0.1, 0.1])), (log,),
        (finding,), log.notes, 1.0,
    )  # fmt: skip
