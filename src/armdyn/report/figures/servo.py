"""Curves of a log that identified servos replay."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.html import MOST_POINTS
from armdyn.servo.result import ServoFit

SHOWN_SECONDS = 10.0  # s: the end of the log, where curves are still told apart


def replay_figure(fit: ServoFit) -> Any:
    """Commanded, measured and replayed positions of the end of the last log, per joint, and the error of the replay."""
    import matplotlib.pyplot as plt

    log = fit.logs[-1] if fit.scale != "payload" else fit.logs[0]
    run = fit.replay(log, len(log.pieces) - 1)
    keep = run.counted & (run.t >= run.t[-1] - SHOWN_SECONDS)
    every = slice(None, None, max(1, int(keep.sum()) // MOST_POINTS))
    t, command, measured, q = (x[keep][every] for x in (run.t, run.command, run.measured, run.q))
    n = fit.arm.n
    figure, axes = plt.subplots(
        2 * n, 1, figsize=(9, 2.1 * n + 0.6), sharex=True, squeeze=False, height_ratios=[2, 1] * n
    )
    for j, joint in enumerate(fit.arm.joints):
        factor, unit, milli = (180 / np.pi, "deg", "mrad") if joint.kind == "revolute" else (1e3, "mm", "mm")
        above, below = axes[2 * j, 0], axes[2 * j + 1, 0]
        above.step(t, factor * command[:, j], where="post", color="#9aa7b4", lw=0.9, label="commanded")
        above.plot(t, factor * measured[:, j], color="#14375e", lw=1.4, label="measured")
        above.plot(t, factor * q[:, j], color="#e07b00", lw=1.0, ls="--", label="replayed")
        below.plot(t, 1e3 * (measured - q)[:, j], color="#c0392b", lw=0.8)
        above.set_ylabel(f"{joint.name}\n[{unit}]", fontsize=8)
        below.set_ylabel(f"error\n[{milli}]", fontsize=8)
        for axis in (above, below):
            axis.grid(alpha=0.25)
            axis.tick_params(labelsize=8)
    axes[0, 0].legend(loc="lower right", bbox_to_anchor=(1, 1.0), fontsize=8, ncols=3, frameon=False)
    axes[-1, 0].set_xlabel("time [s]")
    figure.align_ylabels()
    return figure
