"""Stand-ins for measured poses: an arm with errors of known size, gravity and an instrument's noise."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import armdyn
from armdyn.calibration.fit import TYPICAL
from armdyn.calibration.kinematics import calibrated_kinematics
from armdyn.calibration.poses import Poses
from armdyn.calibration.unknowns import deflection_functions
from armdyn.model.arm import Arm
from armdyn.spatial.rotation import from_rpy
from armdyn.spatial.transform import transform


class Truth(NamedTuple):
    arm: Arm
    base: NDArray
    tool: NDArray  # (M, 3) or (4, 4)
    geometry: NDArray
    deflection: NDArray

    def tips(self, q: NDArray) -> NDArray:
        T = calibrated_kinematics(self.arm, q, geometry=self.geometry, deflection=self.deflection)
        return self.base @ np.asarray(T)

    def points(self, q: NDArray) -> NDArray:
        T = self.tips(q)
        return T[:, None, :3, 3] + np.einsum("kab,mb->kma", T[:, :3, :3], self.tool)


def random_positions(arm: Arm, count: int, rng: np.random.Generator) -> NDArray:
    low, high = (np.clip(x, -2.5, 2.5) for x in arm.position_limits)
    return rng.uniform(low, high, (count, arm.n))


def make_truth(arm: Arm, rng: np.random.Generator, *, markers: int = 3, scale: float = 1.0) -> Truth:
    """An arm whose errors are of typical size; no marker: the tool's frame is measured."""
    sizes = np.array([*[TYPICAL["translation"]] * 3, *[TYPICAL["rotation"]] * 2, TYPICAL["offset"]])
    functions = deflection_functions(arm)
    coefficients = scale * TYPICAL["gravity"] * rng.normal(size=len(functions.joints))
    base = transform(from_rpy(rng.uniform(-3, 3, 3)), rng.uniform(-2, 2, 3))
    tool = rng.uniform(-0.1, 0.1, (markers, 3)) if markers else transform(from_rpy((0.3, -0.2, 1.0)), (0.05, 0, 0.1))
    geometry = scale * sizes * rng.normal(size=(arm.n, 6))
    return Truth(arm, base, tool, geometry, functions.matrix(coefficients, arm.n))


def measure(truth: Truth, q: NDArray, noise: float, rng: np.random.Generator) -> Poses:
    if truth.tool.shape != (4, 4) or not np.array_equal(truth.tool[3], (0, 0, 0, 1)):
        points = truth.points(q)
        return Poses(q, points + noise * rng.normal(size=points.shape))
    T = truth.tips(q) @ truth.tool
    T[:, :3, 3] += noise * rng.normal(size=(len(q), 3))
    T[:, :3, :3] = from_rpy(noise / 0.1 * rng.normal(size=(len(q), 3))) @ T[:, :3, :3]
    return Poses(q, poses=T)


@pytest.fixture(scope="session")
def arm() -> Arm:
    return armdyn.arms.puma560()


@pytest.fixture(scope="session")
def truth(arm: Arm) -> Truth:
    return make_truth(arm, np.random.default_rng(3))


@pytest.fixture(scope="session")
def poses(truth: Truth) -> Poses:
    rng = np.random.default_rng(4)
    return measure(truth, random_positions(truth.arm, 40, rng), 5e-5, rng)
