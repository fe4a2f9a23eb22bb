"""Logs that the tests make themselves: a known arm on a known motion, measured with noise."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn import Friction
from armdyn.identification.logs.log import Log


def with_friction(arm: armdyn.Arm, share: float = 1.0) -> armdyn.Arm:
    """The arm with friction of a size that its torques make plausible, and no rotors."""
    viscous = np.linspace(4.0, 1.0, arm.n) * share
    coulomb = np.linspace(6.0, 1.0, arm.n) * share
    joints = [
        dataclasses.replace(j, friction=Friction(v, c, 0.1 * c), drive=armdyn.Drive(), limits=armdyn.Limits())
        for j, v, c in zip(arm.joints, viscous, coulomb, strict=True)
    ]
    return arm.with_joints(joints)


def fourier(n: int, duration: float, rate: float, seed: int, amplitude: float = 0.9, base: float = 0.1) -> tuple:
    """A periodic motion of five harmonics: t, q, qd, qdd."""
    rng = np.random.default_rng(seed)
    t = np.arange(0, duration, 1 / rate)
    q, qd, qdd = (np.zeros((len(t), n)) for _ in range(3))
    for k in range(1, 6):
        w = 2 * np.pi * base * k
        a, b = rng.normal(size=(2, n)) * amplitude / np.sqrt(k) / 2
        c, s = np.cos(w * t)[:, None], np.sin(w * t)[:, None]
        q += a * s - b * c
        qd += w * (a * c + b * s)
        qdd += w**2 * (-a * s + b * c)
    return t, q, qd, qdd


@pytest.fixture(scope="session")
def make_log() -> Callable[..., Log]:
    """`make_log(arm, duration=20, seed=0)`: a log of the arm with torque noise and encoder noise."""

    def build(
        arm: Any, duration: float = 20.0, rate: float = 200.0, seed: int = 0, noise: float = 0.3,
        encoder: float = 2e-5, motion: int = 0, amplitude: float = 0.9, base: float = 0.1,
    ) -> Log:  # fmt: skip
        rng = np.random.default_rng(1000 + seed)
        t, q, qd, qdd = fourier(arm.n, duration, rate, motion, amplitude, base)
        tau = armdyn.joint_torque(arm, q, qd, qdd)
        return Log(t, q + encoder * rng.normal(size=q.shape), tau + noise * rng.normal(size=q.shape), name="simulated")

    return build


@pytest.fixture(scope="session")
def with_rubbing() -> Callable[[armdyn.Arm], armdyn.Arm]:
    """`with_rubbing(arm)`: the arm with friction and without limits."""
    return with_friction


@pytest.fixture(scope="session")
def puma() -> armdyn.Arm:
    """A PUMA 560 with friction."""
    return with_friction(armdyn.arms.puma560())


@pytest.fixture(scope="session")
def two() -> armdyn.Arm:
    """A planar arm of two joints with friction: small and quick."""
    return with_friction(armdyn.arms.planar2(), 0.05)
