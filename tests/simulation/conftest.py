"""Small arms whose motion is known in closed form."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn import Arm, Drive, Friction, Inertia, Joint, Link


@pytest.fixture(scope="session")
def block() -> Callable[..., Arm]:
    """`block(mass=2.0, friction=Friction(...))`: a mass on a horizontal slide."""

    def build(mass: float = 2.0, friction: Friction | None = None, drive: Drive | None = None) -> Arm:
        joint = Joint(
            "slide", "prismatic", np.array([1.0, 0, 0]), friction=friction or Friction(), drive=drive or Drive()
        )
        return Arm((joint,), (Link("block", Inertia.from_com(mass, (0, 0, 0), 0.01 * np.eye(3))),), name="block")

    return build


@pytest.fixture(scope="session")
def planar() -> Arm:
    return armdyn.arms.planar2()


class Ramp:
    """A reference that moves at constant speed."""

    def __init__(self, speed: Any, duration: float) -> None:
        self.speed, self.duration = np.atleast_1d(speed), duration
        self.n = len(self.speed)

    def __call__(self, t: Any) -> Any:
        t = np.asarray(t, float)[..., None]
        return t * self.speed, np.ones_like(t) * self.speed, 0 * t * self.speed


@pytest.fixture(scope="session")
def ramp() -> type:
    return Ramp


@pytest.fixture(scope="session")
def swing() -> Any:
    """A smooth periodic reference for two joints."""

    class Swing:
        duration, n = 1.0, 2

        def __call__(self, t: Any) -> Any:
            t = np.asarray(t, float)[..., None]
            w, a = 2 * np.pi, np.array([0.4, -0.3])
            return a * (1 - np.cos(w * t)), a * w * np.sin(w * t), a * w**2 * np.cos(w * t)

    return Swing()
