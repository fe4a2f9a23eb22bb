"""The report of a simulated run."""

from __future__ import annotations

from armdyn.html import document, heading, listing, paragraph, svg
from armdyn.report.figures.run import plot_run
from armdyn.report.tables.run import joints, summary
from armdyn.simulation.result import SimulationResult


def page(result: SimulationResult) -> str:
    """The page of a run, or of a batch of runs."""
    parts = [heading(f"Simulation: {result.name}", 1), *summary(result)]
    if result.notes:
        parts.append(paragraph("; ".join(result.notes) + ".", "warn"))
    parts.append(joints(result))
    for title, what in (("Positions", "q"), ("Tracking error", "error"), ("Torques of the drives", "tau")):
        parts += [heading(title), svg(plot_run(result, what, degrees=True))]
    parts += [heading("What the numbers mean"), listing(MEANING)]
    return document(f"armdyn: {result.name}", *parts)


MEANING = (
    "Statistics are of the samples that were kept; of a batch they are the worst of the runs that did not diverge.",
    "Settled: the time after which the error stays below 2 % of its largest value; a dash if it never does.",
    "Work: what the drives did in all. Effort: the same with driving and braking counted alike.",
)
