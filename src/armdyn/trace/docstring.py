"""Numpydoc docstrings of traced functions: completed from what is declared, and read for exported code.

A formula's docstring says what its signature cannot: meanings and options. Types and shapes of data, and the words
that come with an annotation, are filled in. An entry that gives its own type after ` : ` keeps it.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import NamedTuple

from armdyn.trace.shapes import shape_text

COMMON = (
    "out : ndarray or tuple of these, optional",
    "    Filled and returned instead of fresh arrays.",
    'threads : int or "auto", optional',
    "    Most threads for large batches; by default the value of ARMDYN_NUM_THREADS, else one.",
)


class Documentation(NamedTuple):
    """The text before the first section, and the descriptions of arguments and results by name."""

    summary: list[str]
    entries: dict[str, str]


class Entry(NamedTuple):
    """Names that share a description, their type where it is given, and the lines of the description."""

    names: list[str]
    kind: str
    lines: list[str]


def documentation(text: str | None) -> Documentation:
    """Parse a docstring; empty where there is none."""
    summary, sections = _sections(text)
    entries: dict[str, str] = {}
    for title in ("Parameters", "Returns"):
        for entry in _entries(sections.get(title, [])):
            words = " ".join(line.strip() for line in entry.lines if line.strip())
            entries |= dict.fromkeys(entry.names, words) if words else {}
    return Documentation(summary, entries)


def complete(text: str | None, parameters: Mapping[str, tuple[str, str]], returns: Mapping[str, str]) -> str:
    """A formula's docstring with all of its data.

    `parameters` are types and words by name, in the order of the signature; `returns` the shapes of results.
    """
    summary, sections = _sections(text)
    expected = {name: Entry([name], kind, [f"    {words}"] * bool(words)) for name, (kind, words) in parameters.items()}
    results = {name: Entry([name], f"ndarray, shape {shape_text(shape)}", []) for name, shape in returns.items()}
    lines = [*summary, ""] if summary else []
    lines += ["Parameters", "-" * 10, *_fill(sections.pop("Parameters", []), expected), *COMMON]
    lines += ["", "Returns", "-" * 7, *_fill(sections.pop("Returns", []), results)]
    for title, body in sections.items():
        lines += ["", title, "-" * len(title), *body]
    return "\n".join(lines)


def _fill(body: list[str], expected: Mapping[str, Entry]) -> list[str]:
    """The entries of a section in the expected order, with the types and entries that were left out."""
    documented = _entries(body)
    owner = {name: entry for entry in documented for name in entry.names}
    order = [owner.get(name, entry) for name, entry in expected.items()]
    entries = {id(entry): entry for entry in [*order, *documented]}.values()  # each once
    lines = []
    for names, kind, text in entries:
        kinds = {expected[name].kind for name in names if name in expected}
        kind = kind or (kinds.pop() if len(kinds) == 1 else "")
        lines += [", ".join(names) + (f" : {kind}" if kind else ""), *text]
    return lines


def _sections(text: str | None) -> tuple[list[str], dict[str, list[str]]]:
    """The summary and the lines of each section by title."""
    lines = inspect.cleandoc(text or "").splitlines()
    rules = [k for k, line in enumerate(lines) if line.startswith("---") and not line.strip("-") and lines[k - 1]]
    starts = [k - 1 for k in rules] + [len(lines)]
    sections = {lines[k - 1]: _trim(lines[k + 1 : end]) for k, end in zip(rules, starts[1:], strict=True)}
    return _trim(lines[: starts[0]]), sections


def _trim(lines: list[str]) -> list[str]:
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines


def _entries(lines: list[str]) -> list[Entry]:
    """Entries from lines such as `q, qd : array_like` with indented text below."""
    entries: list[Entry] = []
    for line in lines:
        if line[:1].strip():
            head, _, kind = line.partition(" : ")
            entries.append(Entry([name.strip() for name in head.split(",")], kind.strip(), []))
        elif entries:
            entries[-1].lines.append(line)
    return entries
