"""The library speaks Python: names of options stand in `cli/` and `report/` alone."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import armdyn

SOURCE = Path(armdyn.__file__).parent
OPTION = re.compile(r"(^| )--[a-z]{3,}")


def options_in(text: str) -> list[str]:
    """Strings of a module, docstrings too, in which an option is named."""
    strings = (node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant))
    return [value for value in strings if isinstance(value, str) and OPTION.search(value)]


def test_no_option_is_named_below_the_command_line() -> None:
    named = {}
    for path in SOURCE.rglob("*.py"):
        place = path.relative_to(SOURCE).as_posix()
        if not place.startswith(("cli/", "report/")) and (names := options_in(path.read_text())):
            named[place] = names
    assert named == {}


def test_options_are_noticed() -> None:
    assert options_in('"give --max-velocity"') == ["give --max-velocity"]
    assert options_in("x = 'a -- b'") == []
