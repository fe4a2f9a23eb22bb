"""The picture of a comparison."""

from __future__ import annotations

import os
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.errors import ArmdynError
from armdyn.files import write_figure
from armdyn.simulation.metrics import tip_distance

MOST_POINTS = 400  # of a curve, which a running RMS makes smooth
FORMATS = ("png", "svg", "pdf")
# Bars of the picture: label, field of the row, form of the number.
BARS = (
    ("final RMS error [rad or m]", "final_rms", ".2g"),
    ("RMS torque [N m or N]", "torque", ".3g"),
    ("estimate's error, end / start", "parameter_error", ".2f"),
)


def draw(comparison: Any, path: str | os.PathLike[str]) -> Path:
    """Write the picture of a comparison."""
    kind = Path(path).suffix.lower().lstrip(".")
    if kind not in FORMATS:
        raise ArmdynError(f"cannot draw into '{path}': expected .{', .'.join(FORMATS)}")
    return write_figure(path, comparison_figure(comparison), dpi=120)


def colours(comparison: Any) -> dict[str, str]:
    """Of each controller's curves and marks."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    twenty = [to_hex(rgba) for rgba in colormaps["tab20"](np.arange(20))]
    return dict(zip((row.name for row in comparison.rows), cycle(twenty), strict=False))


def errors_figure(comparison: Any, order: list[str]) -> Any:
    """The tip's error over time, a curve per controller that ran to its end, with a legend in the order given."""
    from matplotlib.figure import Figure

    own = colours(comparison)
    whole = [name for name in order if name in comparison.results and comparison.results[name].complete]
    figure = Figure(figsize=(8, 3.6 + 0.19 * -(-len(whole) // 3)), layout="constrained")
    axes = figure.subplots()
    tips = {name: tip_distance(comparison.results[name]) for name in whole}
    known = all(tip is not None for tip in tips.values())
    for name, tip in tips.items():
        result = comparison.results[name]
        error = 1e3 * (tip if known and tip is not None else np.linalg.norm(result.error, axis=-1))
        k = slice(None, None, max(1, len(result.t) // MOST_POINTS))
        axes.semilogy(result.t[k], _smooth(error)[k], label=name, linewidth=1.4, color=own[name])
    axes.set(xlabel="time [s]", ylabel="tip error, running RMS [mm]" if known else "norm of joint errors [mrad or mm]")
    axes.grid(alpha=0.3)
    if whole:
        figure.legend(loc="outside lower center", ncols=3, fontsize=9, frameon=False)
    return figure


def comparison_figure(comparison: Any) -> Any:
    """Errors over time; beside them each controller's final error, torque effort and error of its estimate."""
    from matplotlib.figure import Figure

    own = colours(comparison)
    figure = Figure(figsize=(14, max(4.5, 0.32 * len(comparison.rows) + 1.2)), layout="constrained")
    left, *columns = figure.subplots(1, 4, width_ratios=[5, 2, 2, 2])
    figure.suptitle(comparison.about, fontsize=10)
    for name, result in comparison.results.items():
        if result.complete:
            error = _smooth(np.linalg.norm(result.error, axis=-1))
            left.semilogy(result.t, error, label=name, linewidth=1.4, color=own[name])
    left.set(xlabel="time [s]", ylabel="norm of joint errors, running RMS [rad or m]")
    left.grid(alpha=0.3)
    for axes, (title, field, form) in zip(columns, BARS, strict=True):
        _bars(axes, comparison.rows, field, form, list(own.values()))
        axes.set(xlabel=title)
    columns[0].set_yticks(range(len(comparison.rows)), [row.name for row in comparison.rows], fontsize=8)
    _log_if_wide(columns[0], [row.final_rms for row in comparison.rows])
    return figure


def _bars(axes: Any, rows: Any, field: str, form: str, colours: list[Any]) -> None:
    """One bar per controller, from the top; a run that diverged says so."""
    values = [getattr(row, field) for row in rows]
    shown = [x if np.isfinite(x) else 0.0 for x in values]
    bars = axes.barh(range(len(rows)), shown, color=colours)
    words = [f" {x:{form}}" if np.isfinite(x) else f" {row.note}" for x, row in zip(values, rows, strict=True)]
    axes.bar_label(bars, words, fontsize=8)
    axes.set_yticks([])
    axes.margins(x=0.35, y=0.01)
    axes.invert_yaxis()
    axes.grid(alpha=0.3, axis="x")
    axes.tick_params(axis="x", labelsize=8)


def _log_if_wide(axes: Any, values: list[float]) -> None:
    """A logarithmic axis where values differ by more than a factor of ten."""
    seen = [x for x in values if np.isfinite(x) and x > 0]
    if seen and max(seen) > 10 * min(seen):
        axes.set_xscale("log")
        axes.set_xlim(min(seen) / 2, 8 * max(seen))


def _smooth(x: Any, part: int = 60) -> Any:
    """A running RMS, which shows the level of an oscillation."""
    width = max(len(x) // part, 1)
    window = np.ones(min(width, len(x)))
    counts = np.convolve(np.ones_like(x), window, mode="same")  # fewer at the ends
    return np.sqrt(np.maximum(np.convolve(x**2, window, mode="same") / counts, 1e-300))
