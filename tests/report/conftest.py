"""Results that several pages' tests share."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.servo.log import ServoLog
from armdyn.servo.parameters import ROWS, ParameterLayout
from armdyn.servo.result import ServoFit


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
    return ServoFit(
        arm, arm, space.vector(table), 0.9 * table, np.where(table == 0.02, np.inf, 1.1 * table),
        tuple(map(tuple, words)), "plain", "description", 1.0, np.array([4e-4, 5e-4]), 3e-4, np.array([4e-4, 5e-4]),
        np.array([0.1, 0.1]), (log,), ("1/kp of joint 2 is not determined",), log.notes, 1.0, (("plain", 4.5e-4),),
    )  # fmt: skip
