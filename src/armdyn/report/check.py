"""A data check shown: what a log holds, and what speaks against using it."""

from __future__ import annotations

import numpy as np

from armdyn.html import MAX_POINTS, document, fragment, heading, listing, paragraph, svg, table
from armdyn.identification.hypotheses.check import DataCheck
from armdyn.identification.hypotheses.fault_test import outcome_lines
from armdyn.numerals import pluralize
from armdyn.report.options import advice
from armdyn.report.texts import texts
from armdyn.report.units import joint_units


def page(check: DataCheck) -> str:
    """The page of a check."""
    title, described = f"Data check of {check.log.name}", check.arm.source
    page_parts = [heading(title, 1), *parts(check), heading("Positions and torques"), _curves(check)]
    return document(f"armdyn: {title}", *page_parts, files=[described.path if described else None, check.log.path])


def _curves(check: DataCheck) -> str:
    import matplotlib.pyplot as plt

    log, n = check.log, check.log.n
    step = max(1, len(log) // MAX_POINTS)
    figure, axes = plt.subplots(n, 2, figsize=(9, 1.3 * n + 0.6), sharex=True, squeeze=False)
    t = log.t[::step] - log.t[0]
    for j in range(n):
        units = joint_units(check.arm)[j]
        for axis, x, colour, unit in zip(
            axes[j], (log.q, log.tau), ("#14375e", "#e07b00"), (units.position, units.torque), strict=True
        ):
            y = x[::step, j].astype(float)
            y[np.flatnonzero(np.diff(t) > max(8 * step * log.dt, 0.05))] = np.nan  # no line across a gap
            axis.plot(t, y, color=colour, lw=0.9)
            axis.grid(alpha=0.25)
            axis.set_ylabel(f"{check.arm.coordinate_names[j]}\n[{unit}]", fontsize=8)
    axes[0, 0].set_title("position", fontsize=10)
    axes[0, 1].set_title("torque", fontsize=10)
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
        paragraph(texts("check")["condition"], "small"),
        *([listing(notes)] if notes else []),
        *(paragraph(f"{line.capitalize()}.", "small") for line in outcome_lines(check.tests)),
    ]
