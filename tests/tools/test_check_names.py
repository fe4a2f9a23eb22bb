"""The list of names that say nothing, applied to the source and to small texts."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent.parent


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_names", ROOT / "tools" / "check_names.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check_names = load()


def test_the_source_follows_the_rules() -> None:
    assert check_names.check([]) == []


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("found = 1", "name"),
        ("def f(given): pass", "name"),
        ("class A:\n    kept: int", "name"),
        ("def told(): pass", "name"),
        ("SHOWN = ()", "name"),
        ("def f():\n    '''What it is.'''", "docstring"),
        ("class A:\n    '''Where it is.'''", "docstring"),
        ("x = 'repeat with --delay 3'", "option"),
    ],
)
def test_broken_rules_are_named(text: str, rule: str) -> None:
    assert [r for r, _, _ in check_names.problems(ast.parse(text), "dynamics")] == [rule]


@pytest.mark.parametrize("text", ["residual = 1", "def f():\n    '''Return it.'''", "x = 'a -- b'", "x.found"])
def test_other_texts_pass(text: str) -> None:
    assert list(check_names.problems(ast.parse(text), "dynamics")) == []


def test_options_may_be_named_by_the_command_line() -> None:
    assert list(check_names.problems(ast.parse("x = '--delay 3'"), "cli")) == []
