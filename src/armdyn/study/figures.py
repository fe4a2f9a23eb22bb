"""Pictures of a study."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.study.labels import label
from armdyn.study.spec import Columns

Groups = list[tuple[str, NDArray]]
MAX_GROUPS = 6
WIDEST_IN = 11.0  # inches
MAX_LINES, MAX_BEST = 300, 5  # of designs in a parallel plot, and of those in colour
# Cases that a cell of a map should hold, and the most cells along an axis.
MIN_IN_CELL, MAX_CELLS = 4, 32


def success_regions(columns: Columns, groups: Groups, axes: list[str]) -> Any:
    """Draw where in the plane of the two parameters that matter most a group succeeds; a curve over one parameter."""
    import matplotlib.pyplot as plt

    listed = groups[:MAX_GROUPS]
    figure, panels = plt.subplots(1, len(listed), figsize=(1.0 + 3.6 * len(listed), 3.4), squeeze=False, sharey=True)
    for axis, (group, rows) in zip(panels[0], listed, strict=True):
        good = columns["success"][rows].astype(float)
        x = columns[axes[0]][rows]
        if len(axes) == 1:
            edges, part = _curve(x, good)
            axis.stairs(part, edges, color="#14375e", lw=1.5)
            axis.set_ylim(-0.02, 1.02)
        else:
            image = _map(axis, x, columns[axes[1]][rows], good)
        axis.set_title(group, fontsize=9)
        axis.set_xlabel(label(axes[0]))
    panels[0, 0].set_ylabel("share of successes" if len(axes) == 1 else label(axes[1]))
    if len(axes) == 2:
        figure.colorbar(image, ax=panels[0].tolist(), label="share of successes")
    return figure


def _cells(x: NDArray, dimensions: int) -> NDArray:
    """Edges of cells; between the values of a grid, else evenly spaced."""
    levels = np.unique(x)
    count = int(np.clip((len(x) / MIN_IN_CELL) ** (1 / dimensions), 2, MAX_CELLS))
    if len(levels) <= count:
        middle = (levels[1:] + levels[:-1]) / 2
        half = np.diff(levels)[[0, -1]] / 2 if len(levels) > 1 else np.array([0.5, 0.5])
        return np.concatenate([[levels[0] - half[0]], middle, [levels[-1] + half[1]]])
    return np.linspace(levels[0], levels[-1], count + 1)


def _curve(x: NDArray, good: NDArray) -> tuple[NDArray, NDArray]:
    from scipy.stats import binned_statistic

    part, edges, _ = binned_statistic(x, good, bins=_cells(x, 1))
    return edges, part


def _map(axis: Any, x: NDArray, y: NDArray, good: NDArray) -> Any:
    from scipy.stats import binned_statistic_2d

    part, *edges, _ = binned_statistic_2d(x, y, good, bins=(_cells(x, 2), _cells(y, 2)))
    return axis.pcolormesh(*edges, part.T, cmap="RdYlBu", vmin=0.0, vmax=1.0)


def distributions(columns: Columns, groups: Groups, metrics: list[str]) -> Any:
    """Draw which part of the cases stays below which value, a panel per metric and a curve per group."""
    import matplotlib.pyplot as plt

    metrics = [name for name in metrics if np.isfinite(columns[name]).any()] or metrics[:1]
    wide = 2  # readable on a phone
    high = -(-len(metrics) // wide)
    figure, panels = plt.subplots(high, wide, figsize=(7.5, 2.1 * high + 0.4), squeeze=False, layout="constrained")
    for axis in panels.flat[len(metrics) :]:
        axis.set_visible(False)
    for axis, name in zip(panels.flat, metrics, strict=False):
        for group, rows in groups[:MAX_GROUPS]:
            values = np.sort(columns[name][rows])
            step = max(1, len(values) // 400)
            part = np.arange(1, len(values) + 1) / len(values)
            finite = np.isfinite(values[::step])
            axis.plot(values[::step][finite], part[::step][finite], lw=1.2, label=group)
        axis.set_title(label(name), fontsize=9)
        axis.set_ylim(0, 1.02)
        axis.locator_params(axis="x", nbins=4)
        axis.grid(alpha=0.25)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, fontsize=9, frameon=False)
    figure.supylabel("part of the cases that stay below", fontsize=9)
    return figure


def parallel(columns: Columns, axes: list[str], best: NDArray) -> Any:
    """Designs as lines across axes of what was varied and how it was judged; the best ones in colour, best first."""
    import matplotlib.pyplot as plt

    able = np.flatnonzero(np.all([np.isfinite(columns[name]) for name in axes], axis=0))
    able = able[columns["reason"][able] == ""]
    lines = able[:: max(1, len(able) // MAX_LINES)]
    values = np.stack([columns[name] for name in axes], axis=1).astype(float)
    low, high = np.zeros(len(axes)), np.ones(len(axes))
    if len(able):
        low, high = values[able].min(axis=0), values[able].max(axis=0)
    heights = (values - low) / np.where(high > low, high - low, 1.0)
    figure, axis = plt.subplots(figsize=(min(1.5 + 1.1 * len(axes), WIDEST_IN), 3.8), layout="constrained")
    places = np.arange(len(axes))
    for k in lines:
        axis.plot(places, heights[k], color="#9aa7b5", lw=0.5, alpha=0.5)
    for rank, k in enumerate(best[:MAX_BEST]):
        text = f"case {columns['case'][k]}"
        axis.plot(places, heights[k], color=plt.cm.viridis(0.85 * rank / MAX_BEST), lw=1.8, label=text)
    for place, (least, most) in enumerate(zip(low, high, strict=True)):
        axis.axvline(place, color="black", lw=0.6)
        axis.text(place, 1.03, f"{most:.3g}", ha="center", fontsize=7)
        axis.text(place, -0.07, f"{least:.3g}", ha="center", fontsize=7)
    axis.set_xticks(places, [label(name) for name in axes], rotation=30, ha="right", fontsize=8)
    axis.set(ylim=(-0.12, 1.12), yticks=[])
    for side in ("top", "right", "left", "bottom"):
        axis.spines[side].set_visible(False)
    if len(best):
        figure.legend(loc="outside upper center", ncols=5, fontsize=8, frameon=False)
    return figure
