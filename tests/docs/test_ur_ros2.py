"""The page on UR arms: its commands turn a bag of currents into torques."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import armdyn
from armdyn.cli.app import app

PAGE = (Path(__file__).parents[2] / "docs" / "ur-ros2.md").read_text()
COMMANDS = re.findall(r"^    armdyn (.+)$", PAGE, re.MULTILINE)
GAINS = np.array([12.0, 12.5, 12.2, 9.0, 9.1, 9.2])  # [N m/A] at the joint, as large as those of such arms


def run(line: str):
    done = CliRunner().invoke(app, line.split(), catch_exceptions=False, env={"COLUMNS": "160"})
    assert done.exit_code == 0, f"{line}: {done.output}"
    return done.stdout


@pytest.fixture
def folder(tmp_path, monkeypatch, write_bag):
    monkeypatch.chdir(tmp_path)
    arm = armdyn.arms.ur5e()
    arm.save("ur.urdf")
    t = np.arange(0, 12, 0.01)
    w = np.array([1.1, 1.7, 2.3, 1.3, 2.9, 3.1])
    a = w * t[:, None]
    q, qd, qdd = np.sin(a), w * np.cos(a), -(w**2) * np.sin(a)
    noise = np.random.default_rng(0).normal(size=q.shape)
    for name, body in (("bag", arm), ("bag_with_load", arm.with_payload(4.2, [0.05, 0.0, 0.08]))):
        tau = armdyn.joint_torque(body, q, qd, qdd) + 0.05 * noise
        write_bag(tmp_path / name, list(arm.joint_names), t, q, qd, tau / GAINS)
    return tmp_path


def test_the_commands_of_the_page(folder):
    convert, gains, check, identify = COMMANDS
    assert convert.startswith("convert ur.urdf.xacro ur.urdf")  # tests/docs/test_xacro.py runs its like
    found = json.loads(run(gains + " --json"))["gains"]
    np.testing.assert_allclose(found, GAINS, rtol=0.05)
    listed = ",".join(f"{g:.4f}" for g in found)
    run(check.replace("GAINS", listed))  # exit code 1 would say that the log cannot be used
    assert identify.replace("--out identified.urdf --report report.html", "--check") == check
