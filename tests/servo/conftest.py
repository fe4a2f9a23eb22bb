"""The arm of these tests, and one fit that several look at."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("mujoco", reason="logs are made by MuJoCo")

from tests.servo import truth

import armdyn
from armdyn.servo.identify import identify_servo
from armdyn.servo.log import ServoLog
from armdyn.servo.result import ServoFit


class Case(NamedTuple):
    """A log of known servos, and what was identified from it."""

    servo: truth.Truth
    log: ServoLog
    floor: NDArray  # (n,): the truth's own replay error, in MuJoCo
    fit: ServoFit
    warnings: list[str]


@pytest.fixture(scope="session")
def arm(tmp_path_factory: pytest.TempPathFactory) -> armdyn.Arm:
    """The printed arm as its MJCF describes it."""
    path = Path(tmp_path_factory.mktemp("servo")) / "arm.xml"
    path.write_text(truth.XML)
    return armdyn.load(path)


def recorded(seed: int, duration: float = 20.0, payload: float = 0.0, **more: float) -> tuple[truth.Truth, ServoLog]:
    """Servos and a log of them at 50 Hz."""
    rng = np.random.default_rng(seed)
    servo = truth.truth(rng, **more)
    t = np.arange(0, duration, 0.02)
    command = truth.commands(rng, t)
    return servo, ServoLog(t, truth.record(servo, t, command, payload=payload), command)


def identified(arm: armdyn.Arm, seed: int, **more: float) -> Case:
    """A fit to a log of known servos."""
    servo, log = recorded(seed, **more)
    exact = truth.record(servo, log.t, log.command, tick=0.0)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        fit = identify_servo(arm, log)
    return Case(servo, log, np.sqrt(((log.q - exact) ** 2).mean(0)), fit, [str(w.message) for w in told])


@pytest.fixture(scope="session")
def plain(arm: armdyn.Arm) -> Case:
    """Servos as the model has them."""
    return identified(arm, 0)


@pytest.fixture(scope="session")
def slack(arm: armdyn.Arm) -> Case:
    """Servos with a dead band of 3 mrad."""
    return identified(arm, 1, dead_band=0.003)
