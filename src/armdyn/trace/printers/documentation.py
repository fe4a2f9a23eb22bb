"""What a numpydoc docstring says, for the comments of exported code."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, NamedTuple


class Documentation(NamedTuple):
    """The text before the first section, and the descriptions of arguments and results by name."""

    summary: list[str]
    entries: dict[str, str]


def documentation(function: Callable[..., Any]) -> Documentation:
    """The documentation of a function; empty where it has none."""
    lines = inspect.cleandoc(function.__doc__ or "").splitlines()
    titles = [k for k in range(len(lines) - 1) if lines[k].strip() and re.fullmatch(r"-{3,}", lines[k + 1].strip())]
    sections = {lines[k].strip(): lines[k + 2 : end] for k, end in zip(titles, [*titles[1:], None], strict=True)}
    summary = lines[: titles[0]] if titles else lines
    while summary and not summary[-1].strip():
        summary = summary[:-1]
    entries: dict[str, str] = {}
    for title in ("Parameters", "Returns"):
        entries |= _entries(sections.get(title, []))
    return Documentation(summary, entries)


def _entries(lines: list[str]) -> dict[str, str]:
    """Descriptions by name from lines such as `q, qd : array_like` with indented text below."""
    found: dict[str, list[str]] = {}
    names: list[str] = []
    for line in lines:
        if line[:1].strip():
            names = [name.strip() for name in line.split(" : ")[0].split(",")]
        elif line.strip():
            for name in names:
                found.setdefault(name, []).append(line.strip())
    return {name: " ".join(text) for name, text in found.items()}
