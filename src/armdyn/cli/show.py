"""How commands print: tables that fit a terminal, and JSON that every reader accepts."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from armdyn.numerals import number, vector

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["number", "print_json", "print_list", "print_table", "vector"]


def print_table(console: Console, title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a titled table; columns whose heading ends in a space are aligned right."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for column in columns:
        table.add_column(escape(column.strip()), justify="right" if column.endswith(" ") else "left")
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(f"[bold]{escape(title)}[/bold]")
    console.print(table)
    console.print()


def print_list(console: Console, title: str, lines: Sequence[str]) -> None:
    """Print a titled list, if there is anything in it."""
    from rich.markup import escape
    from rich.table import Table

    if not lines:
        return
    grid = Table.grid(padding=(0, 1))
    for line in lines:
        grid.add_row("-", escape(line))
    console.print(f"[bold]{escape(title)}[/bold]")
    console.print(grid)
    console.print()


def print_json(data: Any) -> None:
    """Print data as JSON; what JSON cannot hold (infinity, NaN) becomes null."""
    print(json.dumps(_plain(data), indent=2, ensure_ascii=False))


def _plain(data: Any) -> Any:
    if isinstance(data, dict):
        return {str(key): _plain(value) for key, value in data.items()}
    if isinstance(data, np.ndarray):
        return _plain(data.tolist())
    if isinstance(data, list | tuple):
        return [_plain(value) for value in data]
    if isinstance(data, float | np.floating):
        return float(data) if math.isfinite(data) else None
    if isinstance(data, np.generic):
        return data.item()
    return data
