"""Measured poses of real arms: errors at poses that were not fitted to, verdicts, no false alarms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.calibration.poses import Poses
from armdyn.errors import ignore_warnings
from armdyn.model.arm import Arm

# Set -> description, options of `load`, largest held-out mean [mm], verdict.
SETS: dict[str, tuple[str, dict[str, Any], float, str]] = {
    "irb120_wu": ("irb120.urdf", {}, 0.19, "calibrated"),
    "fanuc_r2000": ("fanuc_r2000ic_165f.urdf", {}, 0.24, "calibrated"),
    "talos_left": (
        "talos_full_v2.urdf",
        {"base": "base_link", "tip": "gripper_left_base_link"},
        0.59,
        "calibrated",
    ),
    "tiago_qualisys": ("../../models/tiago/tiago_no_hand.urdf", {"tip": "arm_7_link"}, 3.8, "noise-limited"),
    "ur10e_mocap": ("ur10e.xml", {}, 3.8, "noise-limited"),
    "motoman_left": ("motoman_dh.json", {}, 0.078, "calibrated"),
}


def load(path: Path, options: dict[str, Any]) -> Arm:
    if path.suffix == ".json":
        table = json.loads(path.read_text())
        return armdyn.Arm.from_dh(table["rows"], convention=table["convention"])
    with ignore_warnings():  # of inertias, which are not used
        return armdyn.load(path, **options)


@pytest.mark.parametrize("name", SETS)
def test_errors_and_verdicts(shared: Path, name: str) -> None:
    folder = shared / "data" / "calibration"
    if not folder.is_dir():
        pytest.skip("no measured poses beside the repository")
    model, options, most, verdict = SETS[name]
    if model.endswith(".xml"):
        pytest.importorskip("mujoco")
    arm = load(folder / model, options)
    poses = armdyn.read_poses(folder / f"{name}.csv", arm)
    assert armdyn.check_poses(arm, poses, sisters=False).ok
    calibration = armdyn.calibrate(arm, poses)
    assert calibration.converged
    assert 1e3 * calibration.held_out.full.mean < most
    assert calibration.verdict == verdict
    assert (calibration.arm is arm) == (verdict == "noise-limited")
    if poses.points is None:
        frames = np.array(poses.poses)
        frames[11, 0, 3] += 0.03
        wrong = Poses(poses.q, poses=frames)
    else:
        wrong = Poses(poses.q, poses.points + 0.03 * np.eye(3)[0] * (np.arange(len(poses)) == 11)[:, None, None])
    assert armdyn.calibrate(arm, wrong).doubtful[0] == 11


def test_the_wrong_sister_is_named(shared: Path) -> None:
    """The measured arm is a UR10e; its source describes it as a UR10."""
    path = shared / "data" / "calibration" / "ur10e_mocap.csv"
    if not path.is_file():
        pytest.skip("no measured poses beside the repository")
    arm = armdyn.arms.ur10()
    assert [m.arm for m in armdyn.check_poses(arm, armdyn.read_poses(path, arm)).mistakes] == ["ur10e"]
