"""Curves of a matplotlib figure as data, from which the script of a page makes plots that zoom, hover and toggle.

The figure itself stays on the page as its printed form. Figures that hold anything but curves over a rising axis (bars,
maps, drawings in space) have no such form.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

PIXELS_PER_INCH = 96  # of a diagram's height, beside which a figure counts inches


class _NoCurves(Exception):
    """A figure that cannot be drawn as curves alone."""


def curve_data(figure: Any) -> dict[str, Any] | None:
    """Return the diagrams of a figure with their curves, as JSON takes them; None where it holds anything else."""
    arrays: dict[str, int] = {}
    diagrams = [axes for axes in figure.axes if axes.get_visible()]
    try:
        panels = [_panel(axes, arrays) for axes in diagrams]
    except _NoCurves:
        return None
    columns = len({round(axes.get_position().x0, 2) for axes in diagrams})
    return {"columns": columns, "arrays": list(arrays), "panels": panels} if panels else None


def description(figure: Any) -> str:
    """A figure in words, for readers who cannot see it: titles, axes and names of curves."""
    words: dict[str, None] = {}
    for axes in figure.axes:
        names = [axes.get_title(), axes.get_ylabel(), *(artist.get_label() for artist in axes.get_children())]
        words |= dict.fromkeys(str(name).replace("\n", " ") for name in names if str(name).strip("_ "))
    public = [word for word in words if not word.startswith("_")]
    over = next((axes.get_xlabel() for axes in reversed(figure.axes) if axes.get_xlabel()), "")
    return f"Plot: {', '.join(public)}" + (f", over {over}" if over else "")


def _panel(axes: Any, arrays: dict[str, int]) -> dict[str, Any]:
    """One diagram: axes, curves, bands, and straight lines across it."""
    if axes.name != "rectilinear" or axes.patches or axes.images or not axes.lines or axes.get_aspect() != "auto":
        raise _NoCurves
    curves = [line for line in axes.lines if line.get_transform() == axes.transData]
    straight = [line for line in axes.lines if line.get_transform() != axes.transData]
    bands = [_band(collection, arrays) for collection in axes.collections]
    return {
        "title": axes.get_title() or axes.get_ylabel().rpartition("\n")[0],  # a name beside a low diagram would be cut
        "x": axes.get_xlabel(),
        "y": axes.get_ylabel().replace("\n", " ") if axes.get_title() else axes.get_ylabel().rpartition("\n")[2],
        "log": axes.get_yscale() == "log",
        "range": None if axes.get_autoscaley_on() else [float(y) for y in axes.get_ylim()],
        "height": round(PIXELS_PER_INCH * axes.get_position().height * axes.figure.get_figheight()),
        "bands": bands,
        "curves": [_curve(line, arrays) for line in curves],
        "lines": [_straight(line) for line in straight],
    }


def _curve(line: Any, arrays: dict[str, int]) -> dict[str, Any]:
    x, y = (np.asarray(values, float) for values in line.get_data(orig=False))
    return {
        **_points(x, arrays, y=y),
        **_look(line),
        "width": 0 if line.get_linestyle() in ("None", "") else line.get_linewidth(),
        "dashed": line.get_linestyle() in ("--", ":", "-."),
        "stepped": line.get_drawstyle() == "steps-post",
    }


def _band(collection: Any, arrays: dict[str, int]) -> dict[str, Any]:
    """An area between two curves, from its outline: along the one, and back along the other."""
    if type(collection).__name__ not in ("FillBetweenPolyCollection", "PolyCollection"):
        raise _NoCurves
    outlines = [path.vertices for path in collection.get_paths()]
    parts = [(v[1 : len(v) // 2], v[len(v) // 2 + 1 : -1][::-1]) for v in outlines]
    if not parts or any(a.shape != b.shape or not np.array_equal(a[:, 0], b[:, 0]) for a, b in parts):
        raise _NoCurves
    low, high = (np.concatenate(side) for side in zip(*parts, strict=True))
    colour = _hex(collection.get_facecolor()[0])
    return {**_points(low[:, 0], arrays, low=low[:, 1], high=high[:, 1]), "name": _name(collection), "colour": colour}


def _straight(line: Any) -> dict[str, Any]:
    """A line across the whole diagram, at one x or one y."""
    x, y = (np.asarray(values, float) for values in line.get_data())
    at = {"y": float(y[0])} if y[0] == y[-1] else {"x": float(x[0])}
    return {**at, "colour": _hex(line.get_color())}


def _points(x: Any, arrays: dict[str, int], **values: Any) -> dict[str, int]:
    if not np.all(np.diff(x) >= 0):
        raise _NoCurves
    return {name: arrays.setdefault(_packed(data), len(arrays)) for name, data in {"t": x, **values}.items()}


def _packed(values: Any) -> str:
    """Numbers in single precision, which is finer than any screen, as text."""
    return base64.b64encode(np.asarray(values, "<f4").tobytes()).decode()


def _look(line: Any) -> dict[str, Any]:
    return {"name": _name(line), "colour": _hex(line.get_color(), line.get_alpha())}


def _name(artist: Any) -> str:
    label = str(artist.get_label())
    return "" if label.startswith("_") else label


def _hex(colour: Any, alpha: float | None = None) -> str:
    from matplotlib.colors import to_hex

    return to_hex(colour if alpha is None else (colour, alpha), keep_alpha=True)
