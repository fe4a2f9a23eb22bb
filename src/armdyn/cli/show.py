"""How commands print: tables that fit a terminal, and JSON that every reader accepts."""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from armdyn.html import LONG_CELL
from armdyn.numerals import number, vector

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["attributes", "held_warnings", "number", "print_json", "print_line", "print_list", "print_table", "vector"]


@contextmanager
def held_warnings() -> Iterator[list[warnings.WarningMessage]]:
    """Warnings inside are held in the list; those that are left there at the end are given, also after an error."""
    held: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as held:
            yield held
    finally:
        for one in held:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a titled table; columns whose heading ends in a space are aligned right.

    Rows are never broken where no terminal limits their width, as in pipes.
    """
    rows, console = [tuple(row) for row in rows], _console()
    table = _table(columns, rows)
    width = console.measure(table, options=console.options.update(width=sys.maxsize)).maximum
    if not console.is_terminal:
        console.width = max(console.width, width)
    elif width > console.width:
        table = _table(columns, rows, foldable=True)
    _print_titled(title, table, console)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], foldable: bool = False) -> Table:
    """Lay out a table; tight ones, whose headings are broken by hand, are not broken further unless they must be."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    tight = any("\n" in column for column in columns)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0) if tight else (0, 1))
    for k, column in enumerate(columns):
        side: Literal["left", "right"] = "right" if column.endswith(" ") else "left"
        # Names are not broken, but headings of numbers are.
        names = side == "left" and all(" " not in row[k] and len(row[k]) <= LONG_CELL for row in rows)
        table.add_column(
            escape(column.strip()), justify=side, overflow="fold", no_wrap=names or (tight and not foldable)
        )
    for row in rows:
        table.add_row(*map(escape, row))
    return table


def print_list(title: str, lines: Sequence[str]) -> None:
    """Print a titled list, if there is anything in it."""
    from rich.markup import escape
    from rich.table import Table

    if not lines:
        return
    grid = Table.grid(padding=(0, 1))
    for line in lines:
        grid.add_row("-", escape(line))
    _print_titled(title, grid, _console())


def _print_titled(title: str, table: Table, console: Console) -> None:
    print_line(title, "bold")
    console.print(table)
    print_line()


def print_line(text: str = "", style: str | None = None, *, whole: bool = False) -> None:
    """Print a line in a style of rich's such as "dim", broken between words unless it must stay whole."""
    _console().print(text, style=style, markup=False, soft_wrap=whole)


def _console() -> Console:
    """The terminal, or the file that stands for it, without colours for numbers."""
    from rich.console import Console

    return Console(highlight=False)


def attributes(thing: Any, names: str) -> dict[str, Any]:
    """Attributes of a result by name, for JSON."""
    return {name: getattr(thing, name) for name in names.split()}


def print_json(data: Any) -> None:
    """Print data as JSON; what JSON cannot hold (infinity, NaN) becomes null."""
    print(json.dumps(_plain(data), indent=2, ensure_ascii=False))


def _plain(data: Any) -> Any:
    if isinstance(data, dict):
        return {str(key): _plain(value) for key, value in data.items()}
    if hasattr(data, "tolist"):  # arrays and numbers of NumPy
        return _plain(data.tolist())
    if isinstance(data, list | tuple):
        return [_plain(value) for value in data]
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    return data
