"""Completion as shells ask for it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


def completions(folder, line):
    """Words that bash is offered for the last word of a line."""
    words = line.split(" ")
    asked = {"_ARMDYN_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run(
        [sys.executable, "-m", "armdyn"],
        env=os.environ | asked,
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("armdyn comp", ["compare"]),
        ("armdyn info pan", ["panda", "panda_tool.urdf"]),
        ("armdyn simulate xar", ["xarm7"]),
        ("armdyn simulate panda --contro", ["--controller", "--control-delay"]),
        ("armdyn simulate panda --controller slid", ["sliding-mode"]),
        ("armdyn simulate panda --engine ", ["armdyn", "mujoco"]),
        ("armdyn law panda cas", ["cascade"]),
        ("armdyn codegen panda inverse_dynamics_", ["inverse_dynamics_base"]),
        ("armdyn codegen panda --law pd-", ["pd-gravity"]),
        ("armdyn compare panda -s fr", ["free"]),
        ("armdyn compare panda -c cas", ["cascade"]),
        ("armdyn payload panda log.csv --format k", ["kuka"]),
        ("armdyn reproduce lu", ["lu-meng-1993"]),
        ("armdyn identify robot.urdf lo", []),  # the shell goes on with files
    ],
)
def test_shells_complete_commands_options_choices_and_names(tmp_path, line, expected):
    for name in ("panda_tool.urdf", "panda.csv", "log.csv"):
        (tmp_path / name).touch()
    assert completions(tmp_path, line) == expected
