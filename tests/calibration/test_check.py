"""Mistakes in measured poses are named, and none where there is none."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable

import numpy as np
import pytest
from tests.calibration.conftest import make_truth, measure, random_positions
from tests.raising import raises

import armdyn
from armdyn.calibration.check import PoseMistake
from armdyn.calibration.poses import Poses
from armdyn.model.arm import Arm
from armdyn.model.library.sisters import ur_arm
from armdyn.spatial.rotation import from_quaternion, to_quaternion
from armdyn.spatial.transform import inverse


@pytest.fixture(scope="module")
def frames(arm: Arm) -> Poses:
    rng = np.random.default_rng(11)
    return measure(make_truth(arm, rng, markers=0), random_positions(arm, 40, rng), 1e-4, rng)


def of_points(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Poses], Poses]:
    return lambda p: dataclasses.replace(p, points=change(np.array(p.points)))


def of_frames(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Poses], Poses]:
    return lambda p: dataclasses.replace(p, poses=change(np.array(p.poses)))


def of_joints(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Poses], Poses]:
    return lambda p: dataclasses.replace(p, q=change(np.array(p.q)))


def shifted(p: Poses) -> Poses:
    return Poses(p.q[1:], p.points[:-1])  # type: ignore[index]


def with_axes(T: np.ndarray) -> np.ndarray:
    T[:, :3, 3] = T[:, [1, 0, 2], 3]
    return T


def scalar_first(T: np.ndarray) -> np.ndarray:
    T[:, :3, :3] = from_quaternion(to_quaternion(T[:, :3, :3])[:, [3, 0, 1, 2]])
    return T


POINTS = {
    "degrees": ("degrees", of_joints(np.degrees)),
    "millimetres": ("millimetres", of_points(lambda x: 1e3 * x)),
    "mirror": ("mirrored", of_points(lambda x: x * (1, -1, 1))),
    "two axes": ("mirrored", of_points(lambda x: x[..., [0, 2, 1]])),
    "sign": ("sign", of_joints(lambda q: q * (1, 1, -1, 1, 1, 1))),
    "exchange": ("exchange", of_joints(lambda q: q[:, [0, 2, 1, 3, 4, 5]])),
    "shift": ("shift", shifted),
}
FRAMES = {
    "inverse": ("inverse", of_frames(inverse)),
    "axes": ("axes", of_frames(with_axes)),
    "quaternion": ("quaternion", of_frames(scalar_first)),
    "millimetres": ("millimetres", of_frames(lambda T: T * np.array([[1, 1, 1, 1e3]] * 3 + [[1, 1, 1, 1]]))),
}


@pytest.mark.parametrize("case", POINTS)
def test_mistakes_in_points_are_named_and_mended(arm: Arm, poses: Poses, case: str) -> None:
    kind, spoil = POINTS[case]
    check = armdyn.check_poses(arm, spoil(poses))
    assert [mistake.kind for mistake in check.mistakes] == [kind]
    assert not check.ok
    assert check.mended_rms < 0.1 * check.rms
    assert armdyn.calibrate(arm, check.mended).fitted_errors.mean < 1e-3


@pytest.mark.parametrize("case", FRAMES)
def test_mistakes_in_frames_are_named(arm: Arm, frames: Poses, case: str) -> None:
    kind, spoil = FRAMES[case]
    check = armdyn.check_poses(arm, spoil(frames))
    assert [mistake.kind for mistake in check.mistakes] == [kind]


def test_two_mistakes_are_named_together(arm: Arm, poses: Poses) -> None:
    spoiled = POINTS["degrees"][1](POINTS["millimetres"][1](poses))
    assert {mistake.kind for mistake in armdyn.check_poses(arm, spoiled).mistakes} == {"degrees", "millimetres"}


def test_clean_poses_raise_no_alarm(arm: Arm, poses: Poses, frames: Poses) -> None:
    assert armdyn.check_poses(arm, poses).ok
    assert armdyn.check_poses(arm, frames).ok


def test_poses_of_a_sister_arm_are_named() -> None:
    rng = np.random.default_rng(2)
    arm = armdyn.arms.ur10()
    poses = measure(make_truth(arm, rng), random_positions(arm, 40, rng), 1e-4, rng)
    (mistake,) = armdyn.check_poses(armdyn.arms.ur5(), poses).mistakes
    assert mistake.kind == "arm"
    assert mistake.arm == "ur10"


def test_the_remedy_follows_the_mistake() -> None:
    assert "'ur10e'" in PoseMistake("arm", arm="ur10e").remedy
    assert "angle='deg'" in PoseMistake("degrees").remedy
    assert "length='mm'" in PoseMistake("millimetres").remedy
    assert "columns" in PoseMistake("exchange", (1, 2)).remedy
    assert "sign" in PoseMistake("sign", (1,)).remedy


def test_calibrate_names_the_mistake(arm: Arm, poses: Poses) -> None:
    with raises(armdyn.ArmdynError, cause=re.compile("joint positions are in degrees")):
        armdyn.calibrate(arm, POINTS["degrees"][1](poses))


def test_a_sister_of_the_arm_is_named() -> None:
    """Poses of a UR10e, described as a UR10: 20 mm differences of lengths, of which the fit could hide most."""
    rng = np.random.default_rng(2)
    poses = measure(make_truth(ur_arm("ur10e"), rng, markers=0, scale=0.3), rng.uniform(-2, 2, (25, 6)), 1e-3, rng)
    arm = armdyn.arms.ur10()
    (mistake,) = armdyn.check_poses(arm, poses).mistakes
    assert mistake.arm == "ur10e"
    assert mistake.text == "the poses fit 'ur10e', not the description"
    assert any("is it of this arm? 'ur10e' fits far better" in note for note in armdyn.calibrate(arm, poses).notes)
    assert armdyn.check_poses(ur_arm("ur10e"), poses).ok
