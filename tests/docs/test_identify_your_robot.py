"""The page docs/identify-your-robot.md is pasted, top to bottom, into an empty folder: nothing else is there."""

from __future__ import annotations

import code
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import armdyn
from armdyn.cli.app import app

PAGE = (Path(__file__).parents[2] / "docs" / "identify-your-robot.md").read_text()
BLOCKS = re.findall(r"^```(python|sh)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


class Console(code.InteractiveConsole):
    """A Python prompt, as people paste into it."""

    def showtraceback(self) -> None:
        """An error ends the test."""
        raise

    def showsyntaxerror(self, *about, **more) -> None:
        """Such as a blank line that is missing behind a loop."""
        raise


@pytest.fixture(scope="module")
def pasted(tmp_path_factory):
    """What Python's names stand for at the end of the page."""
    folder, console = tmp_path_factory.mktemp("paste"), Console()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for kind, text in BLOCKS:
            if kind == "python":
                for line in [*text.splitlines(), ""]:
                    console.push(line)
                assert not console.buffer, text  # every statement has ended
            else:
                for line in text.splitlines():
                    program, *words = shlex.split(line)
                    assert program == "armdyn"
                    result = CliRunner().invoke(app, words)
                    assert result.exit_code == 0, (line, result.output, result.exception)
    return folder, console.locals


def test_the_files_that_the_page_names_are_there(pasted):
    folder, _ = pasted
    for name in ("robot.urdf", "log.csv", "identified.urdf", "report.html", "check.html", "c/arm.c", "c/learn.h"):
        assert (folder / name).stat().st_size > 100, name


def test_the_log_is_good_and_the_model_better_than_the_description(pasted):
    _, names = pasted
    check, fit = names["check"], names["fit"]
    assert repr(names["log"]) == "<Log 'log.csv': 5000 samples of 6 joints, 25.0 s at 200 Hz>"
    assert check.ok
    assert check.verdict.startswith("No fault found in this log")
    assert (check.joints.condition < 10).all()  # every joint's own terms can be told apart
    assert fit.rel_error_source > 0.1 > 0.03 > fit.rel_error
    assert fit.validate(names["rest"]).rel_error < 0.03
    assert fit.arm.is_physical
    assert fit.verdict.word == "good"
    assert len(names["tau_model"]) == len(names["rest"])


def test_intervals_hold_the_truth(pasted):
    _, names = pasted
    truth = armdyn.base_parameters(names["true_arm"]).theta
    base = names["fit"].base
    assert (np.abs(base.theta[:36] - truth) < 3 * base.std[:36]).sum() >= 35


def test_the_payload_and_gravity_are_found(pasted):
    _, names = pasted
    found, still = names["found"], names["still"]
    assert abs(found.mass - 2) < 0.2
    assert (abs(found.com - [0, 0, 0.1]) < 4 * found.com_std + 0.01).all()
    assert still.notes[0].split(" (")[0] == "39 poses held still"
    assert still.rel_error < 0.05 < still.rel_error_source


def test_the_page_begins_with_the_readers_own_files():
    assert PAGE.index("robot.urdf") < PAGE.index("log.csv") < PAGE.index("No log yet?")
    assert ">>>" not in PAGE  # prompts cannot be pasted


def test_options_that_the_page_names_exist():
    helped = CliRunner().invoke(app, ["identify", "--help"], env={"COLUMNS": "200"}).output
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", PAGE.split("## In Python")[0]))
    assert len(named) > 3
    assert [option for option in named - {"--help", "--out"} if option not in helped] == []
