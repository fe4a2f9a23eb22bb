"""`armdyn identify-servo`: what is not tested by following the page docs/servo-arms.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.raising import raises
from typer.testing import CliRunner

import armdyn
from armdyn.cli.app import app


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An arm, and a log whose joints follow their commands late."""
    monkeypatch.chdir(tmp_path)
    armdyn.arms.planar2().save(tmp_path / "arm.urdf")
    t = np.arange(0, 8, 0.02)
    sent = 0.5 * np.sin(2 * np.pi * np.array([0.3, 0.5]) * t[:, None])
    rows = np.column_stack([t, sent, np.roll(sent, 4, axis=0)])[8:]
    np.savetxt(tmp_path / "log.csv", rows, delimiter=",", header="t,q_cmd1,q_cmd2,q1,q2", comments="")
    return tmp_path


def run(*arguments: str) -> Any:
    """The command, its exit code and what it prints."""
    return CliRunner().invoke(app, ["identify-servo", *arguments], catch_exceptions=False)


def test_ctrl_c_says_what_is_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 130, one sentence, no file."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("armdyn.servo.identify.search", stop)
    done = run("arm.urdf", "log.csv", "--out", "out.urdf")
    assert done.exit_code == 130
    assert "interrupted while replaying the log: plain; nothing was written" in done.stderr
    assert not (folder / "out.urdf").exists()


def test_wrong_options_are_explained(folder: Path) -> None:
    """Usage errors before any work."""
    for arguments, text in (
        (("--episodes", "a"), "expected numbers such as 0,1,4-7"),
        (("--stiffness", "joint1"), "expected JOINT=NUMBER"),
        (("--units", "turns"), "'turns' is not one of 'rad', 'deg', 'ticks', 'normalised'"),
    ):
        done = run("arm.urdf", "log.csv", *arguments)
        assert done.exit_code == 2, arguments
        assert text in " ".join((done.output + done.stderr).replace("│", " ").split()), arguments
    for arguments, parts in (  # `main` prints these
        (("--report", "out.pdf"), {"where": "--report", "expected": "a file that ends in .html", "got": "'out.pdf'"}),
        (
            ("--mass", "0.1"),
            {"cause": "loaded (logs with the payload) and mass (its kilograms) go together", "remedy": "give both"},
        ),
        (
            ("--command", "nothing"),
            {"path": "log.csv", "cause": "no columns of commanded positions 'nothing' for 2 joints"},
        ),
    ):
        with raises(armdyn.ArmdynError, **parts):
            run("arm.urdf", "log.csv", *arguments)
