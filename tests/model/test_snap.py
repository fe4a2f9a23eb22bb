"""Frames with rounded angles, turned to the right angles that were meant."""

from __future__ import annotations

import numpy as np
import pytest
from tests.raising import raises

from armdyn import Arm, Inertia, Joint, Link, load
from armdyn.errors import ArmdynWarning, ModelError
from armdyn.model.snap import snap_frames
from armdyn.spatial.rotation import from_rpy, rotation_x, rotation_z
from armdyn.spatial.transform import transform

ROUNDED = 1.5708  # as URDFs carry pi/2: off by 3.7e-6


def arm_with(before, axis=(0, 0, 1)):
    joint = Joint("j", axis=axis, before=before)
    return Arm((joint,), (Link("l", Inertia.from_com(1.0, (0.1, 0.2, 0.3))),))


def test_rounded_right_angles_become_exact_and_are_reported():
    arm = arm_with(transform(from_rpy((ROUNDED, 0, -ROUNDED)), (0.1, 0.2, 0.3)))
    with pytest.warns(ArmdynWarning, match=r"snap turned 1 .* at most by \d.\de-06 rad \(joint 'j': before\)"):
        exact = snap_frames(arm, 1e-4)
    R = exact.joints[0].before[:3, :3]
    np.testing.assert_array_equal(np.sort(np.abs(R), axis=None), [0] * 6 + [1] * 3)
    np.testing.assert_array_equal(exact.joints[0].before[:3, 3], (0.1, 0.2, 0.3))
    np.testing.assert_array_equal(exact.theta, arm.theta)
    assert exact.notes == ("snap: joint 'j': before turned by 5.2e-06 rad",)


def test_other_angles_keep_their_value():
    R = rotation_x(ROUNDED) @ rotation_z(0.5)
    with pytest.warns(ArmdynWarning):
        exact = snap_frames(arm_with(transform(R)), 1e-4)
    np.testing.assert_allclose(
        exact.joints[0].before[:3, :3], rotation_x(np.pi / 2) @ rotation_z(0.5), rtol=0, atol=1e-11
    )
    assert (exact.joints[0].before == 0.0).sum() == 10  # four of them in the rotation: every structural zero


def test_axes_are_snapped_too():
    with pytest.warns(ArmdynWarning, match="axis"):
        exact = snap_frames(arm_with(np.eye(4), (1e-6, 0, 1)), 1e-4)
    np.testing.assert_array_equal(exact.joints[0].axis, (0, 0, 1))


def test_exact_arms_stay_as_they_are():
    arm = Arm.from_dh([{"kind": "R", "alpha": np.pi / 2, "theta": 0.3}])
    assert snap_frames(arm, 1e-4).fingerprint == arm.fingerprint


def test_snap_is_an_option_of_load(tmp_path):
    arm_with(transform(rotation_x(ROUNDED))).save(tmp_path / "arm.toml")
    assert load(tmp_path / "arm.toml").joints[0].before[1, 1] != 0.0
    with pytest.warns(ArmdynWarning, match="snap"):
        assert load(tmp_path / "arm.toml", snap=1e-4).joints[0].before[1, 1] == 0.0


@pytest.mark.parametrize("angle", [0.0, -1e-4, 0.1, np.nan, "all"])
def test_only_small_angles_are_snapped(angle):
    with raises(ModelError, expected="0 < snap <= 0.01 rad"):
        snap_frames(arm_with(np.eye(4)), angle)
