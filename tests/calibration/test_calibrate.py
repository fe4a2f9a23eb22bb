"""Calibration of arms whose errors are known: found again, as sure as said, and of use."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest
from tests.calibration.conftest import Truth, make_truth, measure, random_positions
from tests.raising import raises

import armdyn
from armdyn.calibration.kinematics import calibrated_kinematics
from armdyn.calibration.poses import Poses
from armdyn.errors import ArmdynError, DataError, ShapeError
from armdyn.model.arm import Arm
from armdyn.report.calibration import doubtful_text
from armdyn.spatial.inertia import Inertia


@pytest.fixture(scope="module")
def calibration(arm: Arm, poses: Poses) -> armdyn.Calibration:
    return armdyn.calibrate(arm, poses)


def test_predicts_new_poses_better_than_simpler_models(calibration: armdyn.Calibration, truth: Truth) -> None:
    q = random_positions(truth.arm, 200, np.random.default_rng(9))
    error = np.linalg.norm(calibration.points(q) - truth.points(q), axis=-1).mean()
    held_out = calibration.held_out
    assert error < 1e-4  # twice the instrument's noise
    assert held_out.full is not None
    assert held_out.offsets is not None
    assert held_out.full.mean < 0.5 * held_out.offsets.mean < 0.5 * held_out.base_and_tool.mean
    assert calibration.verdict == "calibrated"
    assert calibration.converged


def test_arm_holds_frames_and_deflection(calibration: armdyn.Calibration) -> None:
    q = calibration.poses.q[:5]
    tips = calibration.base_pose @ calibrated_kinematics(calibration.arm, q)
    np.testing.assert_allclose(tips @ calibration.tool_pose, calibration.pose(q), atol=1e-12)
    assert np.abs(tips - calibration.base_pose @ armdyn.forward_kinematics(calibration.arm, q)).max() > 1e-5


def test_predicted_intervals_hold_what_they_say(arm: Arm) -> None:
    """95 % intervals of new measurements, over arms whose errors are a third to three times the typical ones."""
    inside, without = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        truth = make_truth(arm, rng, scale=3 ** rng.uniform(-1, 1))
        calibration = armdyn.calibrate(arm, measure(truth, random_positions(arm, 40, rng), 1e-4, rng))
        q = random_positions(arm, 100, rng)
        error = calibration.points(q) - truth.points(q)
        noisy = error + 1e-4 * rng.normal(size=error.shape)
        for rows, e, noise in ((inside, noisy, True), (without, error, False)):
            std = np.sqrt(np.diagonal(calibration.points_covariance(q, noise=noise), axis1=-2, axis2=-1))
            rows.append(np.mean(np.abs(e) < 1.96 * std))
    # Twelve arms: the mean of their shares is known to about 0.01.
    assert 0.92 < np.mean(inside) < 0.97
    assert 0.90 < np.mean(without) < 0.98


def test_frames_are_calibrated_as_points_are(arm: Arm) -> None:
    rng = np.random.default_rng(6)
    truth = make_truth(arm, rng, markers=0)
    calibration = armdyn.calibrate(arm, measure(truth, random_positions(arm, 40, rng), 5e-5, rng))
    q = random_positions(arm, 50, rng)
    np.testing.assert_allclose(calibration.pose(q)[:, :3, 3], (truth.tips(q) @ truth.tool)[:, :3, 3], atol=5e-4)
    assert calibration.residuals.shape == (40, 6)
    assert calibration.pose_covariance(q).shape == (50, 6, 6)
    assert calibration.points(q).shape == (50, 1, 3)


def test_hand_eye_is_exact_without_noise(arm: Arm) -> None:
    """Base and tool alone, from five poses, without a guess."""
    rng = np.random.default_rng(7)
    truth = make_truth(arm, rng, markers=0, scale=0.0)
    calibration = armdyn.calibrate(arm, measure(truth, random_positions(arm, 5, rng), 0.0, rng), geometry=False)
    np.testing.assert_allclose(calibration.base_pose, truth.base, atol=1e-8)
    np.testing.assert_allclose(calibration.tool_pose, truth.tool, atol=1e-8)
    assert calibration.verdict == "base and tool"
    assert calibration.arm is arm


def test_known_base_and_tool_stay(arm: Arm, truth: Truth, poses: Poses) -> None:
    calibration = armdyn.calibrate(arm, poses, base=truth.base, tool=truth.tool)
    np.testing.assert_array_equal(calibration.base_pose, truth.base)
    np.testing.assert_array_equal(calibration.markers, truth.tool)
    assert calibration.fit.unknowns.n_flat == 0


def test_noise_keeps_the_nominal_frames(arm: Arm) -> None:
    rng = np.random.default_rng(8)
    truth = make_truth(arm, rng)
    calibration = armdyn.calibrate(arm, measure(truth, random_positions(arm, 30, rng), 0.02, rng))
    assert calibration.verdict == "noise-limited"
    assert str(calibration.verdict) == "noise-limited"
    assert calibration.arm is arm


def test_a_wrong_pose_is_named_and_does_no_harm(arm: Arm, truth: Truth, poses: Poses) -> None:
    q = random_positions(arm, 100, np.random.default_rng(9))
    clean = np.linalg.norm(armdyn.calibrate(arm, poses).points(q) - truth.points(q), axis=-1).mean()
    points = np.array(poses.points)
    points[17] += 0.03 / np.sqrt(3)
    calibration = armdyn.calibrate(arm, Poses(poses.q, points))
    assert calibration.doubtful[0] == 17
    assert doubtful_text(calibration)[0].split(" mm off")[0].startswith(("pose 18 (", "poses 18 ("))
    assert np.linalg.norm(calibration.points(q) - truth.points(q), axis=-1).mean() < 1.1 * clean


def test_commands_reach_targets(calibration: armdyn.Calibration) -> None:
    q = calibration.poses.q[:8]
    target = calibration.pose(q)
    found = calibration.command(target, q)
    np.testing.assert_allclose(calibration.pose(found), target, atol=1e-8)
    place = calibration.points(q[0])[0]
    np.testing.assert_allclose(calibration.points(calibration.command(place, q[0]))[0], place, atol=1e-8)
    with raises(ArmdynError, cause="target 1 of 1 is out of reach", remedy="move it, or give another start q0"):
        calibration.command(np.array([9.0, 9.0, 9.0]))
    with raises(ShapeError, expected="poses (..., 4, 4) or positions (..., 3)", got="shape (5,)"):
        calibration.command(np.zeros(5))


def test_planar_arms_keep_what_no_pose_shows() -> None:
    """The height of a planar arm and that of its marker cannot be told apart; predictions do not mind."""
    arm, rng = armdyn.arms.planar2(), np.random.default_rng(1)
    truth = make_truth(arm, rng, markers=1)
    calibration = armdyn.calibrate(arm, measure(truth, rng.uniform(-2.5, 2.5, (30, 2)), 1e-5, rng))
    q = rng.uniform(-2, 2, (20, 2))
    np.testing.assert_allclose(calibration.points(q), truth.points(q), atol=2e-4)
    assert calibration.fit.unknowns.start()[1].rms < 0.01


def test_poses_without_noise_or_error_are_exact() -> None:
    arm, rng = armdyn.arms.planar2(), np.random.default_rng(1)
    truth = make_truth(arm, rng, markers=1, scale=0.0)
    calibration = armdyn.calibrate(arm, measure(truth, rng.uniform(-2.5, 2.5, (30, 2)), 0.0, rng))
    assert calibration.fitted_errors.max < 1e-7
    assert calibration.verdict == "noise-limited"


def test_a_joint_that_never_moves_is_told_and_stays_nominal(arm: Arm) -> None:
    rng = np.random.default_rng(5)
    truth, q = make_truth(arm, rng), random_positions(arm, 40, rng)
    q[:, 2] = 0.4
    calibration = armdyn.calibrate(arm, measure(truth, q, 5e-5, rng))
    assert any("never moved" in note for note in calibration.notes)
    q[:, 2] = rng.uniform(-2, 2, len(q))
    moving = armdyn.calibrate(arm, measure(truth, q, 5e-5, rng))
    assert calibration.determined[2].sum() < moving.determined[2].sum()
    assert len(calibration.undetermined) > len(moving.undetermined)


def test_markers_on_a_line_are_told(arm: Arm) -> None:
    rng = np.random.default_rng(5)
    truth = make_truth(arm, rng)._replace(tool=np.array([[0, 0, 0.1], [0, 0, 0.2], [0, 0, 0.35]]))
    calibration = armdyn.calibrate(arm, measure(truth, random_positions(arm, 30, rng), 5e-5, rng))
    assert any("on one line" in note for note in calibration.notes)


def test_unseen_markers_and_missing_rows_are_left_out(arm: Arm, truth: Truth, poses: Poses) -> None:
    points, q = np.array(poses.points), np.array(poses.q)
    points[3, 1], points[5], q[7, 2] = np.nan, np.nan, np.nan
    calibration = armdyn.calibrate(arm, Poses(q, points))
    assert len(calibration.poses) == 38
    assert "2 of 40 poses lack" in calibration.notes[0]
    new = random_positions(arm, 50, np.random.default_rng(9))
    np.testing.assert_allclose(calibration.points(new), truth.points(new), atol=1e-3)


BAD = {
    "two poses": (
        lambda p: p.select([0, 1]),
        {
            "cause": "2 poses cannot determine base and tool",
            "remedy": "measure at least 4 poses, better 30, in which every joint moves",
        },
    ),
    "no motion": (
        lambda p: dataclasses.replace(p, q=0 * p.q),
        {"cause": "all poses are the same", "remedy": "measure poses in which every joint moves"},
    ),
    "nothing measured": (
        lambda p: dataclasses.replace(p, points=np.full_like(p.points, np.nan)),
        {"cause": "no row has both joint positions and a measurement"},
    ),
    "another arm": (
        lambda p: dataclasses.replace(p, q=p.q[:, ::-1].copy() ** 2),
        {"cause": re.compile("do not fit arm|for ")},
    ),
    "other count": (
        lambda p: dataclasses.replace(p, q=p.q[:, :5]),
        {"cause": "the poses have 5 joints, but arm 'puma560' has 6"},
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence_with_a_remedy(arm: Arm, poses: Poses, case: str) -> None:
    change, parts = BAD[case]
    with raises(DataError, **parts) as error:
        armdyn.calibrate(arm, change(poses))
    assert "\n" not in str(error.value)
    assert ";" in str(error.value)


def with_bodies(calibration: armdyn.Calibration, suffix: str) -> armdyn.Calibration:
    """For MuJoCo, which needs a mass and an inertia of every body."""
    if suffix != ".xml":
        return calibration
    pytest.importorskip("mujoco")
    body = Inertia.from_com(1.0, (0, 0, 0.1), 0.01 * np.eye(3)).theta
    return armdyn.calibrate(calibration.nominal.with_theta(np.tile(body, 6)), calibration.poses)


@pytest.mark.parametrize("suffix", [".urdf", ".toml", ".xml"])
def test_written_files_have_the_same_tip(calibration: armdyn.Calibration, tmp_path: Path, suffix: str) -> None:
    calibration = with_bodies(calibration, suffix)
    calibration.save(tmp_path / f"arm{suffix}")
    again = armdyn.load(tmp_path / f"arm{suffix}")
    q = calibration.poses.q
    expected = armdyn.forward_kinematics(calibration.arm, q)
    np.testing.assert_allclose(armdyn.forward_kinematics(again, q), expected, atol=1e-9)
    if suffix != ".xml":  # which has no place for deflections
        np.testing.assert_array_equal(again.deflection, calibration.arm.deflection)


@pytest.mark.parametrize("suffix", [".urdf", ".xml"])
def test_frames_move_in_an_existing_file(calibration: armdyn.Calibration, tmp_path: Path, suffix: str) -> None:
    calibration = with_bodies(calibration, suffix)
    old, new = tmp_path / f"old{suffix}", tmp_path / f"new{suffix}"
    calibration.nominal.save(old)
    read = armdyn.load(old)
    again_calibrated = armdyn.calibrate(read, calibration.poses)
    again_calibrated.save(new, onto=old)
    q = calibration.poses.q
    expected = armdyn.forward_kinematics(again_calibrated.arm, q)
    np.testing.assert_allclose(armdyn.forward_kinematics(armdyn.load(new), q), expected, atol=1e-9)
    assert np.abs(expected - armdyn.forward_kinematics(read, q)).max() > 1e-4


def test_offsets_go_to_the_file_or_to_the_controller(calibration: armdyn.Calibration, tmp_path: Path) -> None:
    calibration.save(tmp_path / "arm.urdf", offsets=tmp_path / "offsets.yaml")
    lines = (tmp_path / "offsets.yaml").read_text().splitlines()[1:]
    offsets = np.array([float(line.split(": ")[1]) for line in lines])
    q, arm = calibration.poses.q, armdyn.load(tmp_path / "arm.urdf")
    expected = armdyn.forward_kinematics(calibration.arm, q)
    np.testing.assert_allclose(armdyn.forward_kinematics(arm, q + offsets), expected, atol=1e-7)
    with raises(ArmdynError, cause=re.compile("^a DH table cannot hold"), names=(str(tmp_path / "arm.csv"),)):
        calibration.save(tmp_path / "arm.csv")
