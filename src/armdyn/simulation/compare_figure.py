"""The picture of a comparison."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.errors import ArmdynError
from armdyn.files import write_whole

FORMATS = ("png", "svg", "pdf")


def draw(comparison: Any, path: str | os.PathLike[str]) -> Path:
    """Write the picture of a comparison."""
    kind = Path(path).suffix.lower().lstrip(".")
    if kind not in FORMATS:
        raise ArmdynError(f"cannot draw into '{path}': expected .{', .'.join(FORMATS)}")
    stream = io.BytesIO()
    comparison_figure(comparison).savefig(stream, format=kind, dpi=120)
    return write_whole(path, stream.getvalue())


def comparison_figure(comparison: Any) -> Any:
    """Errors over time on the left, final errors on the right."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.5), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[3, 2])
    for name, result in comparison.results.items():
        if result.complete:
            left.semilogy(result.t, _smooth(np.linalg.norm(result.error, axis=-1)), label=name, linewidth=1.2)
    figure.suptitle(comparison.about, fontsize=10)
    left.set(xlabel="time [s]", ylabel="norm of joint errors [rad or m]")
    left.grid(alpha=0.3)
    if left.lines:
        left.legend(fontsize=8, ncols=2)
    rows = [row for row in comparison.rows if np.isfinite(row.final_rms)]
    bars = right.barh([row.name for row in rows], [row.final_rms for row in rows], color="#7aa5d8")
    right.bar_label(bars, [f" {row.final_rms:.2g}" for row in rows], fontsize=8)
    right.set(xlabel="final RMS error [rad or m]")
    right.margins(x=0.15)
    right.invert_yaxis()
    right.grid(alpha=0.3, axis="x")
    return figure


def _smooth(x: Any, part: int = 60) -> Any:
    """A running RMS, which shows the level of an oscillation."""
    width = max(len(x) // part, 1)
    window = np.ones(min(width, len(x)))
    counts = np.convolve(np.ones_like(x), window, mode="same")  # fewer at the ends
    return np.sqrt(np.maximum(np.convolve(x**2, window, mode="same") / counts, 1e-300))
