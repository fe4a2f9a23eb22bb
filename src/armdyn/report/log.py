"""A log drawn: positions and torques over time."""

from __future__ import annotations

from typing import Any

from armdyn.html import MAX_POINTS, fragment, paragraph, picture
from armdyn.identification.logs.log import Log


def draw(log: Log) -> Any:
    """Positions above, torques below, one curve per joint."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5), layout="constrained")
    every = max(1, len(log) // MAX_POINTS)
    panels = figure.subplots(2, 1, sharex=True)
    for axes, values, label in zip(panels, (log.q, log.tau), ("position [SI units]", "torque [SI units]"), strict=True):
        for j in range(log.n):
            style = "o" if log.still else "-"
            axes.plot(log.t[::every], values[::every, j], style, lw=0.8, ms=3, label=f"joint {j + 1}")
        axes.set_ylabel(label)
        axes.grid(alpha=0.3)
    panels[0].legend(ncols=min(log.n, 7), fontsize="small", loc="upper right")
    panels[1].set_xlabel("pose" if log.still else "time [s]")
    return figure


def notebook(log: Log) -> str:
    """Return the view of a log in a notebook."""
    return fragment(paragraph(repr(log).strip("<>")), *(paragraph(note) for note in log.notes), picture(draw(log), 60))
