"""Rows of comparisons with other figures than a run had."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from armdyn.simulation.compare import ComparisonRow


def with_figures(row: ComparisonRow, **figures: Any) -> ComparisonRow:
    """The row with some figures by name."""
    for field in ("errors", "torques"):
        part = getattr(row, field)
        names = [key for key in figures if key in part._fields]
        figures[field] = part._replace(**{key: figures.pop(key) for key in names})
    return replace(row, **figures)
