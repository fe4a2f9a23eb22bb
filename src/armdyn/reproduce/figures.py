"""Figures of reproductions, all in one style."""

from __future__ import annotations

from typing import Any


def panels(width: float, height: float, *shape: int, grid: bool = True, **options: Any) -> tuple[Any, Any]:
    """A figure of some inches and its axes, rows by columns; imports matplotlib."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"axes.grid": grid, "grid.alpha": 0.25}):
        figure = Figure(figsize=(width, height), layout="constrained")
        return figure, figure.subplots(*shape, **options)
