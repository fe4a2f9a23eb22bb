"""A data check shown: what a log holds, and what speaks against using it."""

from __future__ import annotations

import numpy as np

from armdyn.html import MOST_POINTS, document, fragment, heading, listing, paragraph, svg, table
from armdyn.identification.hypotheses.check import DataCheck
from armdyn.identification.hypotheses.fault_test import outcome_lines
from armdyn.numerals import pluralize
from armdyn.report.options import advice


def page(check: DataCheck) -> str:
    """The page of a check."""
    title = f"Data check of {check.log.name}"
    return document(f"armdyn: {title}", heading(title, 1), *parts(check), heading("What was logged"), _curves(check))


def _curves(check: DataCheck) -> str:
    import matplotlib.pyplot as plt

    log, n = check.log, check.log.n
    step = max(1, len(log) // MOST_POINTS)
    figure, axes = plt.subplots(n, 2, figsize=(9, 1.3 * n + 0.6), sharex=True, squeeze=False)
    t = log.t[::step] - log.t[0]
    for j in range(n):
        for axis, x, colour in ((axes[j, 0], log.q, "#14375e"), (axes[j, 1], log.tau, "#e07b00")):
            y = x[::step, j].astype(float)
            y[np.flatnonzero(np.diff(t) > max(8 * step * log.dt, 0.05))] = np.nan  # no line across a gap
            axis.plot(t, y, color=colour, lw=0.9)
            axis.grid(alpha=0.25)
        axes[j, 0].set_ylabel(f"joint {j + 1}")
    axes[0, 0].set_title("position [rad or m]", fontsize=10)
    axes[0, 1].set_title("torque [N m or N]", fontsize=10)
    for axis in axes[-1]:
        axis.set_xlabel("time [s]")
    figure.tight_layout()
    return svg(figure)


def notebook(check: DataCheck) -> str:
    """Return the view of a check in a notebook."""
    return fragment(*parts(check))


def parts(check: DataCheck) -> list[str]:
    """Verdict, doubts, a table of the joints and notes."""
    log = check.log
    gaps = f", {pluralize(len(log.gaps), 'gap')}" if len(log.gaps) else ""
    doubts = any(f.level == "warn" for f in check.findings)
    paragraphs = [
        paragraph(check.verdict, "bad" if not check.ok else "warn" if doubts else "good"),
        paragraph(f"{log.name}, arm '{check.arm.name}': {log.extent}{gaps}."),
    ]
    for f in check.findings:
        if f.level != "note":
            paragraphs.append(paragraph(advice(check.arm, f, log), "bad" if f.level == "reject" else "warn"))
    notes = [f.text for f in check.findings if f.level == "note"]
    return [
        *paragraphs,
        table(check.headings, check.rows()),
        paragraph(
            "Condition: how alike a joint's own acceleration, speed, "
            "direction and constant look; up to ten is good, beyond a hundred its friction and inertia cannot be told "
            "apart.",
            "small",
        ),
        *([listing(notes)] if notes else []),
        *(paragraph(f"{line.capitalize()}.", "small") for line in outcome_lines(check.tests)),
    ]
