"""Help that names values by what they are, and choices as choices."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from armdyn.cli.app import NAMES, app, options, program
from armdyn.cli.app import command as function_of
from armdyn.cli.options import spread_options, words
from armdyn.cli.parser import RENAMED
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
    from armdyn.control.design.purposes import plain_name

    assert law_names("slot")[0] == "slotine-li"
    assert {plain_name(name) for name in law_names("")} == {plain_name(name) for name in law_lines()}


def test_an_option_takes_the_same_kind_of_value_in_every_command() -> None:
    """One name has one meaning: `--friction` was a factor, a choice and a switch."""
    kinds: dict[str, dict[tuple[bool, int, bool], list[str]]] = {}
    for name, command in get_command(app).commands.items():
        for parameter in command.params:
            choices = "|" in (parameter.metavar or "")
            for option in parameter.opts:
                kind = (getattr(parameter, "is_flag", False), parameter.nargs, choices)
                kinds.setdefault(option, {}).setdefault(kind, []).append(name)
    mixed = {option: some for option, some in kinds.items() if len(some) > 1 and option.startswith("--")}
    assert mixed == {}


@pytest.mark.parametrize(
    ("command", "old", "new"), [(command, *pair) for command, pairs in RENAMED.items() for pair in pairs.items()]
)
def test_options_are_taken_by_their_earlier_names(command: str, old: str, new: str) -> None:
    parameters = get_command(app).commands[command].params
    assert [new in one.opts for one in parameters].count(True) == 1
    assert not any(old in one.opts for one in parameters)
    result = CliRunner().invoke(app, [command, "no_such_arm", "file", old, "1", "2"])
    assert f"warning: {old} of {command} is now {new}" in result.output
    assert "No such option" not in result.output


@dataclass(frozen=True)
class Inner:
    depth: int = 1


@dataclass(frozen=True)
class Outer:
    inner: Inner
    name: str = "a"
    left: int = 3


def test_options_of_a_group_reach_their_command(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = {}

    def group(first: str, *, outer: Outer, last: bool = False) -> None:
        seen.update(first=first, outer=outer, last=last)

    monkeypatch.setitem(words(), "group", {"left_out": {"outer": ["left"]}})
    command = spread_options("group", group)
    assert list(inspect.signature(command).parameters) == ["first", "depth", "name", "last"]
    command(first="x", depth=2, name="b", last=True)
    assert seen == {"first": "x", "outer": Outer(Inner(2), "b"), "last": True}


def test_no_words_are_left_of_options_that_are_gone() -> None:
    """Every entry of the table belongs to a command that has the option; common ones to two at least."""
    parameters = {name: set(inspect.signature(function_of(name)).parameters) for name in NAMES}
    parameters["armdyn"] = set(inspect.signature(options).parameters)
    for name, entries in words().items():
        if name == "common":
            users = {
                entry: [one for one in parameters if entry in parameters[one] - set(words().get(one, ()))]
                for entry in entries
            }
            assert {entry: some for entry, some in users.items() if len(some) < 2} == {}
        else:
            assert set(entries) - parameters[name] <= {"left_out", "renamed"}, name
