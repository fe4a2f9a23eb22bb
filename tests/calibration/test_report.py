"""The page of a calibration, and the command."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

import armdyn
from armdyn.calibration.poses import Poses
from armdyn.cli.app import app
from armdyn.model.arm import Arm


def spoiled(poses: Poses) -> Poses:
    points = np.array(poses.points)
    points[17] += 0.02
    points[4, 1] = np.nan
    return Poses(poses.q, points)


def test_the_page_holds_what_was_found(arm: Arm, poses: Poses, tmp_path: Path) -> None:
    calibration = armdyn.calibrate(arm, spoiled(poses))
    text = calibration.report(tmp_path / "c.html").read_text()
    assert "Calibrated: the result has new frames and deflections." in text
    assert re.search(r"Pose 18 \([\d.]+ mm off\), counted from 1, disagrees with the others", text)
    assert f"{1e3 * calibration.held_out.full.mean:.3g}" in text
    assert text.count("<svg") == 1
    assert 'src="http' not in text
    assert "<script" not in text
    assert "Calibrated" in calibration._repr_html_()


def test_a_page_says_what_becomes_of_the_zeros(arm: Arm, poses: Poses, tmp_path: Path) -> None:
    noisy = Poses(poses.q, poses.points + np.random.default_rng(0).normal(0, 0.02, (len(poses), 1, 3)))
    for measured, sentence in ((poses, "the written frames contain them"), (noisy, "They are not written: do not add")):
        page = armdyn.calibrate(arm, measured).report(tmp_path / "c.html").read_text()
        assert sentence in page
        assert "+0.000? mrad" in page  # of the first joint: it is the base's turn


def test_the_command_writes_and_names_mistakes(arm: Arm, poses: Poses, tmp_path: Path) -> None:
    for name, q in (("good", poses.q), ("bad", np.degrees(poses.q))):
        names = ",".join([f"q{k + 1}" for k in range(6)] + [f"{a}{m}" for m in (1, 2, 3) for a in "xyz"])
        table = np.column_stack([q, poses.points.reshape(len(q), -1)])
        np.savetxt(tmp_path / f"{name}.csv", table, delimiter=",", header=names, comments="")
    out, offsets = tmp_path / "c.urdf", tmp_path / "o.yaml"
    files = ["--out", str(out), "--offsets", str(offsets), "--placed", "--code", str(tmp_path / "code")]
    done = CliRunner().invoke(app, ["calibrate", "puma560", str(tmp_path / "good.csv"), *files])
    assert done.exit_code == 0
    assert "full model" in done.stdout
    assert "Calibrated" in done.stdout
    assert armdyn.load(out).deflection.any()
    assert len(offsets.read_text().splitlines()) == 7
    assert not np.allclose(armdyn.load(out).tool_pose, arm.tool_pose)
    assert (tmp_path / "code" / "puma560.c").stat().st_size > 1e4
    done = CliRunner().invoke(app, ["calibrate", "puma560", str(tmp_path / "bad.csv")])
    assert done.exit_code != 0
    assert "joint positions are in degrees" in str(done.exception)


def test_the_command_writes_poses_to_measure(arm: Arm, tmp_path: Path) -> None:
    path = tmp_path / "new.csv"
    done = CliRunner().invoke(app, ["calibrate", "puma560", str(path), "--design", "8", "--degrees"])
    assert done.exit_code == 0, done.exception
    rows = [line.split(",") for line in path.read_text().splitlines()]
    assert rows[0] == [*(f"{name}_deg" for name in arm.joint_names), "x", "y", "z"]
    q = np.radians([[float(x) for x in row[:6]] for row in rows[1:]])
    np.testing.assert_allclose(q, armdyn.calibration_poses(arm, 8), atol=1e-7)
    again = CliRunner().invoke(app, ["calibrate", "puma560", str(path), "--design", "8"])
    assert "expected POSES as a new file" in str(again.exception)
