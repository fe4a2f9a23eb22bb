"""The report of a comparison of controllers."""

from __future__ import annotations

import numpy as np

from armdyn.html import document, heading, listing, paragraph, svg
from armdyn.numerals import counted
from armdyn.report.figures.comparison import errors_figure
from armdyn.report.tables.comparison import error_of, joint_rows, rank_rows, rows, unit
from armdyn.simulation.compare import Comparison, Row

AS_GOOD_RATIO = 1.1  # error over the best one's, up to which a law counts as good as the best
NEXT = (
    "Next: see how the best do with noise, delay, contact and saturation (armdyn compare ARM --scenario all); armdyn "
    "law ARM LAW writes one as C."
)
MEANING = (
    "All errors are root mean squares over the last third of the run, when a law that learns has learnt. Tip: how far "
    "it is from where the reference puts it. Joints: all together.",
    "Torques are of all joints together, in N m or N; the largest is that of the joint in brackets.",
    "Estimate: how far an adaptive law's parameters are from the true ones at the end, as a part of how far they were "
    "at the start; 0 is perfect, and a motion that does not need a parameter need not find it.",
    "All controllers have the same bandwidth where they have one, the same motion, the same arm and the same rate.",
)


def page(comparison: Comparison) -> str:
    """The page of a comparison: who is best, the table, errors over time and per joint, what went wrong and why."""
    order = rank_rows(comparison)
    parts = [heading("Controllers compared", 1), *_conclusion(order), paragraph(comparison.about), rows(comparison)]
    if wrong := [f"{row.name}: {row.why or row.note}." for row in order if row.why or row.note]:
        parts += [heading("What went wrong, and why"), listing(wrong)]
    if any(result.complete for result in comparison.results.values()):
        parts += [heading("Errors over time"), svg(errors_figure(comparison, [row.name for row in order]))]
    if table := joint_rows(comparison):
        parts += [heading(f"Errors per joint [{unit(comparison)}]"), table]
    return document("armdyn: controllers compared", *parts, heading("What the numbers mean"), listing(MEANING))


def _conclusion(order: list[Row]) -> list[str]:
    """Who ends nearest to the reference, by how much, who as well, and who failed."""
    ended = [row for row in order if np.isfinite(error_of(row))]
    lost = [row.name for row in order if row.note and np.isnan(row.rms)]
    failed = f"{counted(len(lost), 'law')} diverged: {', '.join(lost)}." if lost else ""
    if not ended:
        return [paragraph(failed or "No law ran to its end.", "big bad")]
    best, worst = ended[0], ended[-1]
    told = f"{best.name[0].upper()}{best.name[1:]} ends nearest to the reference, {_far(best)}"
    if len(ended) > 1:
        factor = error_of(worst) / max(error_of(best), 1e-300)
        told += f"; {worst.name} is farthest, {_far(worst)} ({_times(factor)} times)"
    equal = [row.name for row in ended[1:] if error_of(row) < AS_GOOD_RATIO * error_of(best)]
    parts = [paragraph(f"{told}.", "big good")]
    parts += [paragraph(f"As good within {AS_GOOD_RATIO - 1:.0%}: {', '.join(equal)}.")] if equal else []
    return [*parts, *([paragraph(failed, "bad")] if failed else []), paragraph(NEXT, "next")]


def _times(factor: float) -> str:
    return f"{factor:.3g}" if factor < 100 else f"{factor:,.0f}"


def _far(row: Row) -> str:
    return (
        f"its joints {1e3 * row.final_rms:.3g} mrad off" if np.isnan(row.tip) else f"its tip {1e3 * row.tip:.3g} mm off"
    )
