"""Commands on trees and on arms with joints that follow others: a number for each coordinate goes in and comes out."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import armdyn
from armdyn.cli.app import app
from armdyn.report.options import correction_words

ARMS = ["gripper", "palletizer", "two_arms", "torso_arm"]


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments, catch_exceptions=False, env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("name", ARMS)
def test_states_have_a_number_for_each_coordinate(name):
    arm = getattr(armdyn.arms, name)()
    q = np.linspace(0.1, 0.2, arm.n)
    state = ["--q", " ".join(map(str, q))]
    degrees = [
        "--q",
        " ".join(
            str(np.degrees(x) if j.kind == "revolute" else x) for x, j in zip(q, arm.coordinate_joints, strict=True)
        ),
    ]
    for arguments in (state, [*degrees, "--degrees"]):
        torque = json.loads(run("torque", name, *arguments, "--json"))
        np.testing.assert_allclose(torque["total"], armdyn.joint_torque(arm, q, 0 * q, 0 * q), rtol=1e-9, atol=1e-9)
    shown = run("torque", name, *state)
    assert all(joint in shown for joint in arm.coordinate_names)
    Y = np.array(json.loads(run("regressor", name, *state, "--json"))["Y"])
    assert Y.shape == (arm.n, 10 * arm.n_joints)
    for command in ("fk", "linearize", "regressor"):
        assert arm.name in run(command, name, *state)


def test_an_exciting_motion_is_saved_by_coordinates(tmp_path):
    path = tmp_path / "motion.csv"
    run("excite", "palletizer", "--max-velocity", "1", "--duration", "10", "--time-budget", "3", "--out", str(path))
    assert path.read_text().splitlines()[0].split(",")[:5] == ["t", "q1", "q2", "q3", "q4"]


def test_headings_have_the_unit_of_the_joints():
    assert "joint torques [N m]\n" in run("torque", "panda")
    assert "joint torques [N m, prismatic joints N]" in run("torque", "stanford")


def test_logs_are_judged_by_coordinates(tmp_path):
    log = tmp_path / "log.csv"
    run("simulate", "palletizer", "--duration", "6", "--rate", "200", "--out", str(log))
    shown = run("validate", "palletizer", str(log))
    assert all(f"\n{name}" in shown for name in armdyn.arms.palletizer().coordinate_names)


def test_positions_of_following_joints_are_corrected_by_the_printed_options(tmp_path):
    """An encoder at the elbow instead of the crank: the check names the options, and these make the log a good one."""
    arm, log = armdyn.arms.palletizer(), tmp_path / "log.csv"
    run("simulate", "palletizer", "--duration", "6", "--rate", "200", "--out", str(log))
    good = armdyn.read_log(log, arm)
    names = ("waist", "shoulder", "elbow", "hand")
    R = arm.G[[arm.joint_names.index(name) for name in names]]
    header = ",".join(["t", *(f"q{i}" for i in range(1, 5)), *(f"tau{i}" for i in range(1, 5))])
    np.savetxt(log, np.column_stack([good.t, good.q @ R.T, good.tau]), delimiter=",", header=header, comments="")
    finding = next(f for f in armdyn.check_log(arm, armdyn.read_log(log, arm)).findings if f.kind == "mechanism")
    words = correction_words(arm, finding.correction)
    assert words == ["--positions-of", ",".join(names)]
    assert CliRunner().invoke(app, ["validate", "palletizer", str(log)]).exit_code == 1
    assert "not usable" not in run("validate", "palletizer", str(log), *words)


@pytest.mark.parametrize("name", ARMS)
def test_signals_and_joints_are_named_after_the_coordinates(name):
    arm = getattr(armdyn.arms, name)()
    q = np.linspace(0.1, 0.2, arm.n)
    assert armdyn.state_space(arm, q).states[: arm.n] == arm.coordinate_names
    assert armdyn.dexterity(arm, q).joint_names == arm.coordinate_names
