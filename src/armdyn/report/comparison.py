"""A comparison of controllers shown: its page, tables and pictures."""

from __future__ import annotations

import shlex
from itertools import cycle
from typing import Any

import numpy as np

from armdyn.html import (
    MAX_POINTS,
    code,
    document,
    fold,
    fragment,
    heading,
    listing,
    paragraph,
    picture,
    shade,
    svg,
    swatch,
    table,
)
from armdyn.model.arm import Arm
from armdyn.report.advice import arm_words
from armdyn.report.texts import texts
from armdyn.report.units import shared_unit, short, with_unit
from armdyn.simulation.compare import Comparison, ComparisonRow
from armdyn.simulation.metrics import tip_distance

TEXTS = texts("comparison")
MIN_SHADED_RATIO = 1e-3  # of the largest error, below which the ground stays white
# Words in the table for laws that ran to their end and do not count.
FAILURES = {"far": "lost the motion", "rough": "rough torques"}
# Bars of the picture: label, quantity that gives its unit, field of the row, form of the number.
BARS = (
    ("final RMS error", "position", "final_rms", ".2g"),
    ("RMS torque", "torque", "torque", ".3g"),
    ("parameter error, final / initial", "", "parameter_error", ".2f"),
)


def page(comparison: Comparison) -> str:
    """The page of a comparison: who is best, the table, errors over time and per joint, what went wrong and why."""
    order = [place.row for place in comparison.ranking.standings]
    parts = [
        heading(f"Controllers compared{'' if (arm := _arm(comparison)) is None else f' on {arm.name}'}", 1),
        *conclusion(comparison),
        paragraph(TEXTS["next"], "next"),
        "" if arm is None else code(shlex.join(["armdyn", "compare", *arm_words(arm), "--scenario", "all"])),
        paragraph(comparison.about),
        rows(comparison),
    ]
    if wrong := [f"{row.name}: {row.why or row.note}." for row in order if row.why or row.note]:
        parts += [heading("Failures and their causes"), listing(wrong)]
    if any(result.complete for result in comparison.results.values()):
        parts += [heading("Errors over time"), svg(errors_figure(comparison, [row.name for row in order]))]
    if per_joint := joint_rows(comparison):
        parts += [heading(f"Errors per joint [{comparison.unit}]"), per_joint]
    parts.append(fold("Definitions", listing(TEXTS["definitions"])))
    return document(
        f"armdyn: controllers compared{'' if arm is None else f' on {arm.name}'}", *parts,
        files=[arm.source.path if arm is not None and arm.source else None],
    )  # fmt: skip


def _arm(comparison: Comparison) -> Arm | None:
    """The arm of the runs; None where all failed."""
    return next((result.arm for result in comparison.results.values() if result.arm is not None), None)


def conclusion(comparison: Comparison) -> list[str]:
    """The conclusion as paragraphs, the first one in the colour of its light."""
    first, *others = comparison.conclusion
    parts = [paragraph(first.text, f"big {first.level}")]
    return [*parts, *(paragraph(text, "" if level == "plain" else level) for level, text in others)]


def rows(comparison: Comparison) -> str:
    """A row per controller, the best first; errors over the last third."""
    marks = colours(comparison)
    small = comparison.unit
    heads = ["controller", "tip error [mm]", f"joint error [{small}]", f"largest [{small}]"]
    arm = _arm(comparison)
    unit = "" if arm is None else shared_unit(arm, "torque")
    heads += [*(with_unit(name, unit) for name in ("RMS torque", "largest torque", "jumps")), "loop [Hz]"]
    learns = any(not np.isnan(row.parameter_error) for row in comparison.rows)
    return table(
        (*heads, *(["estimate"] if learns else [])),
        [
            (
                swatch(marks[row.name], row.name, row.note or FAILURES.get(place.failure, "")),
                short(1e3 * row.tip),
                *(short(1e3 * value) for value in (row.final_rms, row.largest)),
                short(row.torque),
                _peak(row),
                short(row.jump, 2),
                short(place.crossover, 2),
                *([short(row.parameter_error, 2)] if learns else []),
            )
            for place in comparison.ranking.standings
            for row in [place.row]
        ],
    )


def joint_rows(comparison: Comparison) -> str:
    """Errors per joint [mrad or mm] over the last third, darker where larger; nothing where all runs diverged."""
    known = [row for row in [place.row for place in comparison.ranking.standings] if row.joints]
    if not known:
        return ""
    names = next((result.joint_names for result in comparison.results.values()), ())
    most = max(max(row.joints) for row in known)
    least = max(min(min(row.joints) for row in known), MIN_SHADED_RATIO * most)
    body = [(row.name, *(shade(short(1e3 * x, 2), _depth(x, least, most)) for x in row.joints)) for row in known]
    named = ", ".join(f"{j + 1} {name}" for j, name in enumerate(names))
    return table(("controller", *(str(j + 1) for j in range(len(names)))), body) + paragraph(
        f"Joints: {named}.", "small"
    )


def _depth(x: float, least: float, most: float) -> float:
    """Map a value to 0 to 1, by the logarithm."""
    return 0.0 if most <= least or x <= least else float(np.log(x / least) / np.log(most / least))


def _peak(row: ComparisonRow) -> str:
    return "-" if np.isnan(row.peak) else f"{short(row.peak)} (joint {row.peak_joint + 1})"


def notebook(comparison: Comparison) -> str:
    """Return the view of a comparison in a notebook: what was compared, the table and the picture."""
    return fragment(paragraph(comparison.about), rows(comparison), picture(draw(comparison), 70))


def colours(comparison: Any) -> dict[str, str]:
    """Return the colour of each controller's curves and marks."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    twenty = [to_hex(rgba) for rgba in colormaps["tab20"](np.arange(20))]
    return dict(zip((row.name for row in comparison.rows), cycle(twenty), strict=False))


def errors_figure(comparison: Any, order: list[str]) -> Any:
    """The tip's error over time, a curve per controller that ran to its end, with a legend in the order given."""
    from matplotlib.figure import Figure

    palette = colours(comparison)
    whole = [name for name in order if name in comparison.results and comparison.results[name].complete]
    figure = Figure(figsize=(8, 3.6 + 0.19 * -(-len(whole) // 3)), layout="constrained")
    axes = figure.subplots()
    tips = {name: tip_distance(comparison.results[name]) for name in whole}
    known = all(tip is not None for tip in tips.values())
    for name, tip in tips.items():
        result = comparison.results[name]
        error = 1e3 * (tip if known and tip is not None else np.linalg.norm(result.error, axis=-1))
        k = slice(None, None, max(1, len(result.t) // MAX_POINTS))
        axes.semilogy(result.t[k], _smooth(error)[k], label=name, linewidth=1.4, color=palette[name])
    axes.set(
        xlabel="time [s]",
        ylabel="tip error, running RMS [mm]" if known else f"norm of joint errors [{comparison.unit}]",
    )
    axes.grid(alpha=0.3)
    if whole:
        figure.legend(loc="outside lower center", ncols=3, fontsize=9, frameon=False)
    return figure


def draw(comparison: Any) -> Any:
    """Errors over time; beside them each controller's final error, torque effort and error of its estimate."""
    from matplotlib.figure import Figure

    palette, arm = colours(comparison), _arm(comparison)
    figure = Figure(figsize=(14, max(4.5, 0.32 * len(comparison.rows) + 1.2)), layout="constrained")
    left, *columns = figure.subplots(1, 4, width_ratios=[5, 2, 2, 2])
    figure.suptitle(comparison.about, fontsize=10)
    for name, result in comparison.results.items():
        if result.complete:
            error = _smooth(np.linalg.norm(result.error, axis=-1))
            left.semilogy(result.t, error, label=name, linewidth=1.4, color=palette[name])
    unit = "" if arm is None else shared_unit(arm, "position")
    left.set(xlabel="time [s]", ylabel=with_unit("norm of joint errors, running RMS", unit))
    left.grid(alpha=0.3)
    for axes, (title, quantity, field, form) in zip(columns, BARS, strict=True):
        _bars(axes, comparison.rows, field, form, list(palette.values()))
        axes.set(xlabel=with_unit(title, shared_unit(arm, quantity) if arm is not None and quantity else ""))
    columns[0].set_yticks(range(len(comparison.rows)), [row.name for row in comparison.rows], fontsize=8)
    _log_if_wide(columns[0], [row.final_rms for row in comparison.rows])
    return figure


def _bars(axes: Any, rows: Any, field: str, form: str, colours: list[Any]) -> None:
    """One bar per controller, from the top; a run that diverged says so."""
    values = [getattr(row, field) for row in rows]
    lengths = [x if np.isfinite(x) else 0.0 for x in values]
    bars = axes.barh(range(len(rows)), lengths, color=colours)
    words = [f" {x:{form}}" if np.isfinite(x) else f" {row.note}" for x, row in zip(values, rows, strict=True)]
    axes.bar_label(bars, words, fontsize=8)
    axes.set_yticks([])
    axes.margins(x=0.35, y=0.01)
    axes.invert_yaxis()
    axes.grid(alpha=0.3, axis="x")
    axes.tick_params(axis="x", labelsize=8)


def _log_if_wide(axes: Any, values: list[float]) -> None:
    """A logarithmic axis where values differ by more than a factor of ten."""
    positive = [x for x in values if np.isfinite(x) and x > 0]
    if positive and max(positive) > 10 * min(positive):
        axes.set_xscale("log")
        axes.set_xlim(min(positive) / 2, 8 * max(positive))


def _smooth(x: Any, part: int = 60) -> Any:
    """A running RMS, which shows the level of an oscillation."""
    width = max(len(x) // part, 1)
    window = np.ones(min(width, len(x)))
    counts = np.convolve(np.ones_like(x), window, mode="same")  # fewer at the ends
    return np.sqrt(np.maximum(np.convolve(x**2, window, mode="same") / counts, 1e-300))
