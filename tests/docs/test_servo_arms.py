"""The page docs/servo-arms.md does what it says: every command, and the program."""

from __future__ import annotations

import re
import shlex
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import armdyn
from armdyn.cli.app import app

pytest.importorskip("mujoco", reason="the page uses an MJCF")
pytest.importorskip("pyarrow", reason="the page reads a LeRobot data set")

from tests.servo import truth
from tests.servo.test_read_log import lerobot, write

PAGE = (Path(__file__).parents[2] / "docs" / "servo-arms.md").read_text()
COMMANDS = re.findall(r"^    armdyn (.+)$", PAGE, re.MULTILINE)
PROGRAM = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, write_states: Callable[..., Path]) -> Path:
    """What the page asks for: an arm, and logs of it in every form."""
    path = tmp_path_factory.mktemp("page")
    (path / "arm.xml").write_text(truth.XML)
    rng = np.random.default_rng(0)
    servo, t = truth.truth(rng), np.arange(0, 6, 0.02)
    u = truth.commands(rng, t)
    q, loaded = truth.record(servo, t, u), truth.record(servo, t, u, payload=0.1)
    names = [f"{word}.{name}" for word in ("action", "observation.state") for name in truth.JOINTS]
    write(path / "log.csv", ["t", *names], t, u, q)
    write(path / "carrying.csv", ["t", *names], t, u, loaded)
    numbered = [f"{word}_{k}" for word in ("goal", "present") for k in range(1, 6)]
    write(path / "ticks.csv", ["t", *numbered], t, *(np.round(x / truth.TICK) + 2048 for x in (u, q)))
    lerobot(path / "dataset", t, u, q, 3)
    none: list[float] = []
    rows = [("/commands", s, truth.JOINTS, x, none, none) for s, x in zip(t + 1, u, strict=True)]
    rows += [("/joint_states", s, truth.JOINTS, x, none, none) for s, x in zip(t + 1, q, strict=True)]
    write_states(path / "bag", rows)
    return path


@pytest.mark.slow
def test_the_commands_of_the_page(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each ends well and tells the error of the replay; the files are there."""
    monkeypatch.chdir(folder)
    assert len(COMMANDS) == 6
    for line in COMMANDS:
        done = CliRunner().invoke(app, [*shlex.split(line), "--terms", "plain"], catch_exceptions=False)
        assert done.exit_code == 0, f"{line}: {done.output}"
        assert re.search(r"\b0\.\d+ mrad replay error on held-out data", done.stdout), line
        assert "try:  armdyn " in done.stdout
    assert "Replay" in (folder / "servo.html").read_text()
    assert armdyn.load(folder / "identified.xml").joints[1].drive.servo_stiffness > 10


def test_the_program_of_the_page(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs as it stands, and its names are what it says."""
    monkeypatch.chdir(folder)
    scope: dict[str, object] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", armdyn.ArmdynWarning)
        exec(PROGRAM, scope)
    fit = scope["fit"]
    assert isinstance(fit, armdyn.ServoFit)
    assert (fit.held_out < 1e-3).all()


def test_messages_of_the_page_are_ours() -> None:
    """What the table of messages quotes stands in the source."""
    source = "".join(p.read_text() for p in (Path(armdyn.__file__).parent / "servo").glob("*.py"))
    source = re.sub(r'"\s+f?"', "", source)
    quoted = [row.split("|")[1].strip() for row in PAGE.partition("## Errors")[2].splitlines()[4:9]]
    assert len(quoted) == 5
    for text in quoted:
        for part in filter(None, (x.strip() for x in re.split(r"\.\.\.|; |, got ", text))):
            assert part in source, part
