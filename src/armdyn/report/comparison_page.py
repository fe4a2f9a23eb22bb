"""The report of a comparison of controllers."""

from __future__ import annotations

import numpy as np

from armdyn.html import document, heading, listing, paragraph, svg
from armdyn.report.figures.comparison import comparison_figure
from armdyn.report.tables.comparison import rows
from armdyn.simulation.compare import Comparison

MEANING = (
    "Errors are over all joints together, in rad or m; final: of the last third of the run. Torques in N m or N.",
    "Estimate: how far an adaptive law's parameters are from the true ones at the end, as a part of how far they were "
    "at the start; 0 is perfect, and a motion that does not need a parameter need not find it.",
    "All controllers have the same bandwidth where they have one, the same motion, the same arm and the same rate.",
)


def page(comparison: Comparison) -> str:
    """The page of a comparison."""
    parts = [heading("Controllers compared", 1), paragraph(comparison.about), *_best(comparison), rows(comparison)]
    parts += [heading("Errors"), svg(comparison_figure(comparison))]
    return document("armdyn: controllers compared", *parts, heading("What the numbers mean"), listing(MEANING))


def _best(comparison: Comparison) -> list[str]:
    """Who ends nearest to the reference, by how much."""
    ended = sorted((row for row in comparison.rows if np.isfinite(row.final_rms)), key=lambda row: row.final_rms)
    if len(ended) < 2:
        return []
    best, worst = ended[0], ended[-1]
    factor = worst.final_rms / max(best.final_rms, 1e-300)
    return [paragraph(f"{best.name} ends nearest to the reference, {worst.name} {factor:.3g} times as far.", "big")]
