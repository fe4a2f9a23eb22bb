"""What an identified arm predicts, drawn over what was measured."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.errors import ArmdynError
from armdyn.html import MOST_POINTS, fragment, paragraph, picture, table
from armdyn.identification.fit.result import Fit
from armdyn.identification.fit.validation import Validation

MEASURED, MODEL, BEFORE, DIFFERENCE, BAND = "#14375e", "#e07b00", "#b9c4cf", "#c0392b", "#f3b562"


def torque_figure(result: Validation, before: Validation | None = None) -> Any:
    """One diagram per joint: measured, identified with its band, their difference, and the arm as described."""
    import matplotlib.pyplot as plt

    n = result.tau.shape[1]
    k = slice(None, None, max(1, len(result.t) // MOST_POINTS))
    mark = {} if result.band else {"ls": "", "marker": "."}
    figure, axes = plt.subplots(n, 1, figsize=(9, 1.5 * n + 0.8), sharex=True, squeeze=False)
    for j, axis in enumerate(axes[:, 0]):
        reach = np.abs(np.concatenate([result.tau[k, j], result.model[k, j]])).max(initial=1e-12)
        if before is not None and len(before.t) == len(result.t):
            axis.plot(before.t[k], before.model[k, j], color=BEFORE, lw=1.2, label="as described", **mark)
        if result.std is not None:
            low, high = (result.model[k, j] + side * 1.96 * result.std[k, j] for side in (-1, 1))
            axis.fill_between(result.t[k], low, high, color=BAND, alpha=0.35, lw=0, label="95 % band")
        axis.plot(result.t[k], result.tau[k, j], color=MEASURED, lw=1.3, label="measured", **mark)
        axis.plot(result.t[k], result.model[k, j], color=MODEL, lw=0.9, label="identified", **mark)
        error = (result.tau - result.model)[k, j]
        axis.plot(result.t[k], error, color=DIFFERENCE, lw=0.6, label="difference", **mark)
        axis.set_ylim(-1.25 * reach, 1.25 * reach)
        axis.set_ylabel(f"joint {j + 1}")
        axis.grid(alpha=0.25)
    axes[0, 0].legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=5, fontsize=9, frameon=False)
    smoothed = f" through a low-pass at {result.band:.1f} Hz" if result.band else " of poses held still"
    axes[-1, 0].set_xlabel(f"time [s]; torques [N m or N]{smoothed}")
    return figure


def shown_torques(fit: Fit) -> Validation | None:
    """Torques of the log for validation, else of the logs fitted to."""
    return fit.own if fit.other is None else fit.other


def fit_figure(fit: Fit) -> Any:
    """Measured and predicted torques of a fit, one diagram per joint."""
    shown = shown_torques(fit)
    if shown is None:
        raise ArmdynError("plot: this fit has no torques to draw; expected one that identify made from a log")
    return torque_figure(shown)


def notebook(fit: Fit) -> str:
    """The error, a row per joint, and torques on the log for validation, else on the logs fitted to."""
    words = [": ".join(filter(None, joint)) for joint in fit.verdict.joints] or ["-"] * fit.arm.n
    rows = [
        (f"{j + 1} {name}", word, f"{error:.2%}", ", ".join(terms))
        for j, (name, word, error, terms) in enumerate(
            zip(fit.arm.joint_names, words, fit.rel_error_joints, fit.structure, strict=False)
        )
    ]
    figure = [] if shown_torques(fit) is None else [picture(fit_figure(fit), 60)]
    said = [paragraph(line) for line in str(fit).splitlines() if not line.startswith("joint ")]
    return fragment(*said, table(("joint", "verdict", "torque error", "joint terms"), rows), *figure)
