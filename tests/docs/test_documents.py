"""The page of the five documents: all 141 items, and every name and file on it exists."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import armdyn

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "documents.md").read_text()
ITEMS = 141


def rows() -> list[list[str]]:
    """Cells of the items."""
    lines = [
        re.split(r"(?<!\\)\|", line.strip().strip("|")) for line in PAGE.splitlines() if re.match(r"\| \d+ \|", line)
    ]
    return [[cell.strip() for cell in line] for line in lines]


def find(name: str) -> Any:
    """What a dotted name of armdyn stands for; fields of data classes are found too."""
    found: Any = armdyn
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            if part in getattr(found, "__dataclass_fields__", {}):
                return found.__dataclass_fields__[part]
            found = importlib.import_module(f"{found.__name__}.{part}")
    return found


def require(word: str) -> None:
    """Raise unless a name, a parameter or a file exists."""
    if "/" in word:
        assert any((base / word).exists() for base in (ROOT, ROOT / "src" / "armdyn")), f"no file {word}"
        return
    called = re.fullmatch(r"([\w.]+)\((\w+)=\)", word)
    found = find(called[1] if called else word)
    if called:
        assert called[2] in inspect.signature(found).parameters, f"{called[1]} has no parameter {called[2]}"


def test_every_item_is_there_once():
    assert [int(cells[0]) for cells in rows()] == list(range(1, ITEMS + 1))


def test_every_item_works_or_says_why_not():
    for cells in rows():
        state = cells[4]
        assert state.startswith("works") or re.fullmatch(r"said why not: .+", state), cells[0]


def test_every_name_exists():
    for cells in rows():
        words = re.findall(r"`([^`]+)`", f"{cells[3]} {cells[4]}")
        assert words, f"item {cells[0]} names nothing"
        for word in words:
            try:
                require(word)
            except (AttributeError, ImportError) as error:
                raise AssertionError(f"item {cells[0]}: {word}: {error}") from None


def test_a_name_that_does_not_exist_is_noticed():
    for word in ("no_such_function", "inverse_dynamics(load=)", "dynamics/nowhere.py"):
        try:
            require(word)
        except (AttributeError, ImportError, AssertionError):
            continue
        raise AssertionError(f"{word} was accepted")
