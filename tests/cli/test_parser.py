"""Help that names values by what they are, and choices as choices."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from armdyn.cli.app import NAMES, program
from armdyn.cli.resolve import law_lines, law_names


@pytest.mark.parametrize("name", NAMES)
def test_help_shows_no_types_of_python(name: str) -> None:
    """No <str>, <list[Path]> or {ARM}, and no line that begins with a bare "Of"."""
    text = CliRunner().invoke(program([name, NAMES[0]]), [name, "--help"], catch_exceptions=False).stdout
    assert not re.search(r"<(str|int|float|path|list|bool)|\{[A-Z]+|\[\[", text)
    assert not re.search(r"(NUMBER|TEXT|FILE|N)\s+(Of|At which) ", text)


@pytest.mark.parametrize(
    ("line", "choices"),
    [
        ("excite --criterion", "condition|log-det|min-singular|kalman"),
        ("identify --method", "auto|butterworth|kalman|savgol|spline"),
        ("identify --form", "torque|filtered|energy"),
        ("simulate --engine", "armdyn|mujoco"),
    ],
)
def test_choices_are_shown(line: str, choices: str) -> None:
    name, option = line.split()
    text = CliRunner().invoke(program([name, NAMES[0]]), [name, "--help"], catch_exceptions=False).stdout
    assert f"{option} {choices}" in text


def test_laws_complete_by_names_that_commands_take() -> None:
    """Every completion is the name of a law."""
    from armdyn.control.design.designs import plain_name

    assert law_names("slot")[0] == "slotine-li"
    assert {plain_name(name) for name in law_names("")} == {plain_name(name) for name in law_lines()}
