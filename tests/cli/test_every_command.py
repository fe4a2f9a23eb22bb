"""Every command from end to end, in the order in which one would use them, each with `--json`."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import armdyn
from armdyn.cli.app import ABOUT, COMMANDS, app

STATE = ("--q", "0.1 -0.7", "--qd", "0.5 -0.4", "--qdd", "1.0 2.0")
# Command -> what it is called with, in a folder with arm.urdf, log.csv, load.csv and study.toml. The others have tests
# of their own: test_cli, tests/reproductions and test_studio.
CALLS = {
    "info": ("arm.urdf",),
    "arms": (),
    "fk": ("arm.urdf", *STATE[:2]),
    "ik": ("puma560", "--position", "0.4 0.3 0.2"),
    "torque": ("arm.urdf", *STATE),
    "linearize": ("arm.urdf", *STATE),
    "regressor": ("arm.urdf", *STATE),
    "base": ("arm.urdf",),
    "excite": ("arm.urdf", "--max-velocity", "2", "--time-budget", "2", "--rate", "100", "--out", "motion.csv"),
    "simulate": ("arm.urdf", "--controller", "pd", "--out", "run.csv", "--report", "run.html"),
    "identify": ("arm.urdf", "log.csv", "--out", "identified.urdf", "--report", "fit.html"),
    "validate": ("identified.urdf", "log.csv"),
    "payload": ("arm.urdf", "load.csv", "--out", "loaded.urdf"),
    "calibrate": ("arm.urdf", "points.csv", "--out", "calibrated.urdf", "--report", "calibration.html"),
    "drive-gains": ("arm.urdf", "log.csv", "load.csv", "--mass", "0.5"),
    "identify-servo": ("arm.urdf", "servo.csv", "--units", "deg", "--out", "servo.urdf", "--report", "servo.html"),
    "compare": ("arm.urdf", "-c", "PD", "--duration", "0.5", "--report", "compare.html", "--figure", "compare.svg"),
    "law": ("arm.urdf", "PD", "--out", "c", "--prefix", "law"),
    "study": ("study.toml",),
    "codegen": ("arm.urdf", "inverse_dynamics", "--out", "c", "--prefix", "arm"),
    "convert": ("arm.urdf", "arm.csv"),
    "cache": (),
    "doctor": (),
}
ELSEWHERE = {"demo", "reproduce", "studio"}
WRITTEN = {
    *("motion.csv", "run.csv", "run.html", "identified.urdf", "fit.html", "loaded.urdf", "compare.html"),
    *("servo.urdf", "servo.html", "compare.svg", "c/arm.h", "c/law.h", "study/report.html"),
    *("calibrated.urdf", "calibration.html"),
}
STUDY = """
name = "study"
arm = "planar2"
[run]
rate = 200.0
duration = 0.2
[[controllers]]
design = "PD"
[[references]]
kind = "sway"
[samples]
method = "grid"
[parameters]
payload = { low = 0.0, high = 2.0, count = 4 }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An arm, a log of it, a log of it with a load, and a study."""
    path = tmp_path_factory.mktemp("commands")
    arm = armdyn.arms.planar2()
    arm.save(path / "arm.urdf")
    (path / "study.toml").write_text(STUDY)
    t = np.arange(0, 12, 0.01)
    w = np.array([2.0, 3.0])
    q, qd, qdd = np.sin(w * t[:, None]), w * np.cos(w * t[:, None]), -(w**2) * np.sin(w * t[:, None])
    for name, carried in (("log", arm), ("load", arm.with_payload(0.5))):
        rows = np.column_stack([t, q, armdyn.inverse_dynamics(carried, q, qd, qdd)])
        np.savetxt(path / f"{name}.csv", rows, delimiter=",", header="t,q1,q2,tau1,tau2", comments="")
    tips = armdyn.forward_kinematics(arm, q[::60] + np.array([0.0, 0.01]))[:, :3, 3]
    np.savetxt(path / "points.csv", np.column_stack([q[::60], tips]), delimiter=",", header="q1,q2,x,y,z", comments="")
    servo = armdyn.Plant(arm, servo=armdyn.PositionServo(300.0, 40.0))
    sent = t[::2], 0.4 * np.sin(w * t[::2, None])
    commands = armdyn.PositionCommands(arm, *sent, 0.02)
    moved = armdyn.simulate(servo, commands, [0, 0], duration=11.98, rate=500, every=10)
    head = [f"{word}.joint{k}_deg" for word in ("action", "observation.state") for k in (1, 2)]
    rows = np.column_stack([sent[0], np.degrees(sent[1]), np.degrees(moved.q)])
    np.savetxt(path / "servo.csv", rows, delimiter=",", header=",".join(["t", *head]), comments="")
    return path


def run(*arguments: str):
    return CliRunner().invoke(app, list(arguments), catch_exceptions=False)


def test_no_command_is_forgotten():
    assert {command.__name__.replace("_", "-") for command in COMMANDS} == set(CALLS) | ELSEWHERE


def test_all_of_them(folder, monkeypatch):
    monkeypatch.chdir(folder)
    for name, arguments in CALLS.items():
        done = run(name, *arguments, "--json")
        assert done.exit_code == 0, f"{name}: {done.stderr}"
        assert done.stderr == "", name  # the bar is for terminals alone
        data = json.loads(done.stdout, parse_constant=pytest.fail)  # strict JSON: no NaN, no infinity
        assert data not in ({}, []), name
    assert [name for name in sorted(WRITTEN) if not (folder / name).stat().st_size] == []
    assert armdyn.load(folder / "identified.urdf").n == 2


@pytest.mark.parametrize("name", sorted(set(CALLS) | ELSEWHERE))
def test_each_explains_itself(name):
    done = run(name, "--help")
    assert done.exit_code == 0
    assert f" {name} [OPTIONS]" in done.stdout
    assert ("--json" in done.stdout) == (name != "studio")
    assert all(line in done.stdout for line in ABOUT[name]["examples"])  # whole lines, to copy


def test_the_list_of_commands_fits_a_terminal():
    text = run("--help").stdout
    assert all(f" {name} " in text and about["short"] in text for name, about in ABOUT.items())
    assert "..." not in text.split("Look:")[1]


# What makes an example short, or leaves out what has tests of its own.
LESS = {
    "excite": ("--time-budget", "2", "--max-velocity", "2"),
    "compare": ("--duration", "0.3", "-c", "pd"),
    "simulate": ("--duration", "0.2"),
    "study": ("--workers", "1"),
}


def test_examples_of_the_help_do_what_they_say(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"base": "base_link", "tip": "tool0"}
    text = (folder / "arm.urdf").read_text()
    for old, new in names.items():
        text = text.replace(f'"{old}"', f'"{new}"')
    text = text.replace('ixx="0"', 'ixx="0.01"')  # rods with a thickness: MJCF takes no others
    (tmp_path / "robot.urdf").write_text(text)
    for name, copies in {
        "log.csv": ("log.csv", "other.csv", "states.csv"),
        "load.csv": ("carrying.csv",),
        "servo.csv": ("servo.csv",),
        "points.csv": ("points.csv",),
    }.items():
        for copy in copies:
            (tmp_path / copy).write_text((folder / name).read_text())
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "motion.csv").write_text("t,q1,q2\n0,0,0\n1,0.1,0.2\n2,0,0\n")
    (tmp_path / "identified.urdf").write_text(text)
    for name, about in ABOUT.items():
        for line in about["examples"] if name not in ELSEWHERE | {"cache"} else ():
            done = run(*shlex.split(line)[1:], *LESS.get(name, ()))
            # Poses of an arm in a plane are reached by position and orientation together, or not at all.
            assert done.exit_code in ((0, 1) if name == "ik" else (0,)), f"{line}: {done.output}"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_can_complete_commands_and_arms(shell):
    def ask(line: str) -> str:
        words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1), "_TYPER_COMPLETE_ARGS": line}
        asked = {"_ARMDYN_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
        code = "import sys; sys.argv = ['armdyn']; from armdyn.cli.app import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True, text=True, env={**os.environ, **words, **asked}, timeout=60, check=False,
        )  # fmt: skip
        return done.stdout

    assert "compare" in ask("armdyn comp")
    found = ask("armdyn info pum")
    assert "puma560" in found
    assert "panda" not in found


def test_completion_can_be_installed():
    text = run("--help").stdout
    assert "--install-completion" in text
    assert "--show-completion" in text
