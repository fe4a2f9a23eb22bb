"""The page on MJCF: its commands, from a URDF to an identified model of MuJoCo."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import armdyn
from armdyn.cli.app import app

mujoco = pytest.importorskip("mujoco")
COMMANDS = re.findall(
    r"^    armdyn (.+)$", (Path(__file__).parents[2] / "docs" / "formats-mjcf.md").read_text(), re.MULTILINE
)


def test_the_commands_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arm = armdyn.arms.planar2()
    arm = arm.with_theta(arm.theta + np.tile(0.01 * (np.arange(10) == 4), 2))  # MuJoCo takes no rods without thickness
    arm.with_theta(0.8 * arm.theta).save("robot.urdf")
    t = np.arange(0, 12, 0.01)[:, None]
    w = np.array([1.7, 2.9])
    q, qd, qdd = np.sin(w * t), w * np.cos(w * t), -(w**2) * np.sin(w * t)
    tau = armdyn.joint_torque(arm, q, qd, qdd) + 0.05 * np.random.default_rng(0).normal(size=q.shape)
    names = [f"{x}{i}" for x in ("q", "tau") for i in (1, 2)]
    np.savetxt("log.csv", np.hstack([t, q, tau]), delimiter=",", header=",".join(["t", *names]), comments="")
    assert [line.split()[0] for line in COMMANDS] == ["convert", "info", "identify"]
    for line in COMMANDS:
        done = CliRunner().invoke(app, line.split(), catch_exceptions=False)
        assert done.exit_code == 0, done.output
    model = mujoco.MjModel.from_xml_path("identified.xml")
    data = mujoco.MjData(model)
    data.qpos[:] = pose = [0.3, 0.4]
    mujoco.mj_inverse(model, data)
    before = armdyn.gravity_torque(armdyn.load("robot.urdf"), pose)
    truth = armdyn.gravity_torque(arm, pose)
    assert np.abs(before - truth).max() > 0.1 * np.abs(truth).max()
    np.testing.assert_allclose(data.qfrc_inverse, truth, atol=0.01 * np.abs(truth).max())
