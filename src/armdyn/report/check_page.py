"""The page of a data check: what a log holds, and what speaks against using it."""

from __future__ import annotations

import numpy as np

from armdyn.html import document, heading, listing, paragraph, svg, table
from armdyn.identification.check import HEADINGS, DataCheck

MOST_POINTS = 1500  # of a curve: finer than any screen


def page(check: DataCheck) -> str:
    """The page of a check."""
    title = f"Data check of {check.log.name}"
    return document(f"armdyn: {title}", heading(title, 1), *parts(check), heading("What was logged"), _curves(check))


def parts(check: DataCheck) -> list[str]:
    """Verdict, doubts, a table of the joints and notes, for pages that have more to show."""
    log = check.log
    rate = f"{len(log)} samples of {log.n} joints, {log.duration:.4g} s at {1 / log.dt:.4g} Hz"
    gaps = f", {len(log.gaps)} gaps" if len(log.gaps) else ""
    found = [paragraph(f"{log.name}, arm '{check.arm.name}': {rate}{gaps}. {check.verdict}", "" if check.ok else "bad")]
    found += [paragraph(f.text, "bad" if f.level == "refuse" else "warn") for f in check.findings if f.level != "note"]
    notes = [f.text for f in check.findings if f.level == "note"]
    return [
        *found,
        table(HEADINGS, check.rows()),
        paragraph(
            "Positions, speeds and torques in SI units. Condition: how alike a joint's own acceleration, speed, "
            "direction and constant look; up to ten is good, beyond a hundred its friction and inertia cannot be told "
            "apart.",
            "small",
        ),
        *([listing(notes)] if notes else []),
    ]


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
