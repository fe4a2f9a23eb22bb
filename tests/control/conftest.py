"""References and arms that the tests of control laws share."""

from typing import Any

import numpy as np
import pytest

import armdyn


class Swing:
    """Joints that swing smoothly from rest: q = a (1 - cos w t) + start, one frequency per joint."""

    def __init__(self, amplitude: Any, frequency: Any, duration: float, start: Any = 0.0) -> None:
        self.amplitude, self.duration = np.atleast_1d(np.asarray(amplitude, float)), duration
        self.n = len(self.amplitude)
        self.w, self.start = 2 * np.pi * np.asarray(frequency, float), start

    def __call__(self, t: Any) -> Any:
        t = np.asarray(t, float)[..., None]
        a, w = self.amplitude, self.w
        return (
            self.start + a * (1 - np.cos(w * t)),
            a * w * np.sin(w * t),
            a * w**2 * np.cos(w * t),
        )


@pytest.fixture(scope="session")
def swing() -> type[Swing]:
    return Swing


@pytest.fixture(scope="session")
def planar() -> armdyn.Arm:
    return armdyn.arms.planar2()
