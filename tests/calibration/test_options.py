"""Options of a calibration: harmonics, the side of approach, compliance with known masses."""

from __future__ import annotations

import dataclasses

import numpy as np
from tests.calibration.conftest import Truth, make_truth, random_positions
from tests.raising import raises

import armdyn
from armdyn.calibration.poses import Poses
from armdyn.errors import ArmdynError, MissingInertiaError
from armdyn.model.arm import Arm

NOISE = 2e-5


def measured(truth: Truth, q: np.ndarray, at: np.ndarray, rng: np.random.Generator) -> Poses:
    """Poses read as q while the joints are elsewhere."""
    points = truth.points(at)
    return Poses(q, points + NOISE * rng.normal(size=points.shape))


def error(found: armdyn.Calibration, truth: Truth, q: np.ndarray, at: np.ndarray) -> float:
    return float(np.linalg.norm(found.points(q) - truth.points(at), axis=-1).mean())


def test_harmonics_are_found_and_used(arm: Arm) -> None:
    rng = np.random.default_rng(1)
    truth, q = make_truth(arm, rng), random_positions(arm, 60, rng)
    amplitudes = 5e-4 * rng.normal(size=(6, 2))
    poses = measured(truth, q, q + amplitudes[:, 0] * np.sin(q) + amplitudes[:, 1] * np.cos(q), rng)
    new = random_positions(arm, 100, rng)
    there = new + amplitudes[:, 0] * np.sin(new) + amplitudes[:, 1] * np.cos(new)
    plain, found = armdyn.calibrate(arm, poses), armdyn.calibrate(arm, poses, harmonics=True)
    assert error(found, truth, new, there) < 0.3 * error(plain, truth, new, there)
    # Those of the second joint cannot be told from its deflection, those of the first and last hardly from the base.
    np.testing.assert_allclose(found.harmonics[2:5], amplitudes[2:5], atol=1e-4)
    target = found.pose(q[:5])
    np.testing.assert_allclose(found.pose(found.command(target, q[:5])), target, atol=1e-9)
    assert any("not of written files" in note for note in found.notes)
    assert not plain.harmonics.any()
    with raises(ArmdynError, cause="harmonics and play are not part of the C code", remedy="calibrate without them"):
        found.c_code("nowhere")


def test_the_side_of_approach_is_found(arm: Arm) -> None:
    rng = np.random.default_rng(2)
    truth, q = make_truth(arm, rng), random_positions(arm, 60, rng)
    play = np.array([5e-4, -3e-4, 4e-4, 2e-4, -5e-4, 3e-4])
    sides = np.sign(np.diff(q, axis=0, prepend=q[:1]))
    poses = measured(truth, q, q + play * sides, rng)
    np.testing.assert_array_equal(poses.sides, sides)
    np.testing.assert_array_equal(poses.select([5, 3]).sides, sides[[5, 3]])
    plain, found = armdyn.calibrate(arm, poses), armdyn.calibrate(arm, poses, approach=True)
    np.testing.assert_allclose(found.approach, play, atol=1e-4)
    assert found.held_out.full.mean < 0.5 * plain.held_out.full.mean
    new = random_positions(arm, 100, rng)
    assert error(found, truth, new, new) < 0.7 * error(plain, truth, new, new)
    assert found.points_covariance(new[:3]).shape == (3, 3, 3, 3)


def test_known_masses_leave_a_compliance_a_joint() -> None:
    arm, rng = armdyn.arms.ur10(), np.random.default_rng(3)
    truth = make_truth(arm, rng)
    moments = np.asarray(arm.theta).reshape(arm.n, -1)[:, :4]
    compliance = 1e-5 * rng.uniform(0.5, 2, arm.n)
    beyond = np.arange(arm.n)[:, None] >= np.arange(arm.n)[:, None, None]
    rows = np.where(beyond, compliance[:, None, None] * moments, 0.0).reshape(arm.n, -1)
    truth = truth._replace(deflection=rows)
    q = random_positions(arm, 15, rng)
    poses = measured(truth, q, q, rng)
    found = armdyn.calibrate(arm, poses, gravity="masses")
    assert len(found.fit.state.gravity) == arm.n
    new = random_positions(arm, 100, rng)
    assert error(found, truth, new, new) < error(armdyn.calibrate(arm, poses), truth, new, new)
    # The second joint carries most: its compliance is found.
    np.testing.assert_allclose(found.deflection[1], rows[1], rtol=0.3, atol=1e-5)
    with raises(MissingInertiaError, names=arm.link_names):
        armdyn.calibrate(arm.with_theta(np.full(60, np.nan)), poses, gravity="masses")
    with raises(ArmdynError, expected="gravity True, False or 'masses'", got="'weights'"):
        armdyn.calibrate(arm, poses, gravity="weights")  # type: ignore[arg-type]


def test_poses_keep_their_sides(poses: Poses) -> None:
    assert dataclasses.replace(poses, name="again").sides is not None
