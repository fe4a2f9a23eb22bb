"""Poses chosen for a calibration: within limits, apart, and better than random ones."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.calibration.conftest import Truth, make_truth, measure
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError
from armdyn.model.arm import Arm
from armdyn.shapes.bodies import bodies_of
from armdyn.shapes.obstacles import HalfSpace, mounting_plane
from armdyn.trajectory.excitation.clearance import Clearance, random_poses


def clearance(arm: Arm, *obstacles: HalfSpace) -> Clearance:
    return Clearance(bodies_of(arm), (*obstacles, mounting_plane(arm)))


def free_poses(arm: Arm, count: int) -> NDArray:
    q = random_poses(arm, 10 * count, seed=5)
    return q[clearance(arm).slack((q, q, q)).min(axis=1) > 0][:count]


def error(truth: Truth, q: NDArray, test: NDArray) -> float:
    """Root mean square at other poses after a calibration by these [m]."""
    found = armdyn.calibrate(truth.arm, measure(truth, q, 1e-4, np.random.default_rng(0)))
    return float(np.sqrt(np.mean(np.sum((found.points(test) - truth.points(test)) ** 2, axis=-1))))


@pytest.mark.parametrize("name", ["puma560", "ur10", "stanford"])
def test_chosen_poses_calibrate_better_than_random_ones(name: str) -> None:
    """Twelve poses, eight arms with other errors each: less error, measured 0.67 to 0.89 of it over 24 arms."""
    arm = getattr(armdyn.arms, name)()
    chosen, pool = armdyn.calibration_poses(arm, 12), free_poses(arm, 600)
    ratios = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        truth, test = make_truth(arm, rng), rng.permutation(pool)[:100]
        ratios.append(error(truth, chosen, test) / error(truth, rng.permutation(pool)[:12], test))
    assert np.exp(np.mean(np.log(ratios))) < 0.9


def test_chosen_poses_keep_limits_and_distances(arm: Arm) -> None:
    wall = HalfSpace((-1.0, 0, 0), -0.5, "wall")  # x > 0.5 m
    q = armdyn.calibration_poses(arm, 15, obstacles=[wall])
    low, high = arm.position_limits
    assert q.shape == (15, 6)
    assert len(np.unique(q, axis=0)) == 15
    assert ((q >= low) & (q <= high)).all()
    assert clearance(arm, wall).slack((q, q, q)).min() > 0.019
    free = armdyn.calibration_poses(arm, 15)
    assert clearance(arm, wall).slack((free, free, free)).min() < 0
    # The order is short: much less way than in the order of random poses.
    way = np.abs(np.diff(free, axis=0)).max(axis=1).sum()
    assert way < 0.9 * np.abs(np.diff(np.random.default_rng(0).permutation(free), axis=0)).max(axis=1).sum()


def test_candidates_are_taken_as_they_are(arm: Arm) -> None:
    candidates = np.random.default_rng(1).uniform(-0.5, 0.5, (40, 6))
    q = armdyn.calibration_poses(arm, 10, candidates=candidates)
    assert all((candidates == row).all(axis=1).any() for row in q)


def test_bad_input_is_named(arm: Arm) -> None:
    with raises(ArmdynError, expected="at least 4 poses", got="2"):
        armdyn.calibration_poses(arm, 2)
    with raises(ArmdynError, cause="calibration_poses: expected at least 10 candidates, got 5"):
        armdyn.calibration_poses(arm, 10, candidates=np.zeros((5, 6)))
    with raises(
        ArmdynError,
        cause=(
            "calibration_poses: 0 of the random poses are free of collisions, fewer than 10; give "
            "candidates, or fewer obstacles"
        ),
    ):
        armdyn.calibration_poses(arm, 10, obstacles=[HalfSpace((0, 0, 1.0), 5.0, "flood")])
