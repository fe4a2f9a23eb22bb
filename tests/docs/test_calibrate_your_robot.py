"""The page on calibration, followed literally: its commands, on a stand-in for a measured arm."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.calibration.conftest import make_truth

import armdyn

PAGE = (Path(__file__).parents[2] / "docs" / "calibrate-your-robot.md").read_text()
COMMANDS = re.findall(r"^    armdyn (.+)$", PAGE, re.MULTILINE)


def run(line: str) -> str:
    done = subprocess.run([sys.executable, "-m", "armdyn", *line.split()], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def fill_in(path: Path, arm: armdyn.Arm) -> None:
    """Measure one point at every pose, with noise of 0.05 mm."""
    rng = np.random.default_rng(3)
    truth = make_truth(arm, rng, markers=1)
    head, *rows = path.read_text().splitlines()
    assert head.split(",")[-3:] == ["x", "y", "z"]
    q = np.array([[float(x) for x in row.split(",")[: arm.n]] for row in rows])
    points = truth.points(q)[:, 0] + 5e-5 * rng.normal(size=(len(q), 3))
    table = np.column_stack([q, points])
    path.write_text("\n".join([head, *(",".join(map(repr, map(float, row))) for row in table)]) + "\n")


@pytest.mark.journey
def test_the_commands_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    armdyn.arms.puma560().save("robot.urdf")
    arm = armdyn.load("robot.urdf")
    design, calibrate = COMMANDS
    assert "--design 30" in design
    assert "written: design.csv" in run(design)
    Path("design.csv").rename("poses.csv")
    assert len(Path("poses.csv").read_text().splitlines()) == 31
    fill_in(Path("poses.csv"), arm)
    printed = run(calibrate)
    assert "Calibrated: the result has new frames and deflections." in printed
    found = armdyn.load("calibrated.urdf")
    assert found.deflection.any()
    assert np.abs(found.joints[1].before - arm.joints[1].before).max() > 1e-5
    assert "Error at held-out poses" in Path("calibration.html").read_text()
