"""The report of a simulated run."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.report.html import document, heading, listing, paragraph, svg, table
from armdyn.simulation.result import SimulationResult

MOST_POINTS = 1500  # of a curve: finer than any screen
MOST_RUNS = 40  # of a batch, drawn over each other


def page(result: SimulationResult) -> str:
    """The page of a run, or of a batch of runs."""
    parts = [heading(f"Simulation: {result.name}", 1), *_summary(result)]
    if result.notes:
        parts.append(paragraph("; ".join(result.notes) + ".", "warn"))
    parts += [
        heading("Positions"),
        _curves(result, "q", result.q_ref),
        heading("Tracking error"),
        _curves(result, "error"),
    ]
    parts += [heading("Torques of the drives"), _curves(result, "tau"), heading("Joints"), _joints(result)]
    parts += [heading("What the numbers mean"), listing(MEANING)]
    return document(f"armdyn: {result.name}", *parts)


MEANING = (
    "Angles in degrees, lengths in metres, torques in N m or N; statistics are of the samples that were kept.",
    "Settled: the time after which the error stays below 2 % of its largest value; a dash if it never does.",
    "Effort: the integral of |torque times velocity| over all joints, driving and braking alike.",
)


def _summary(result: SimulationResult) -> list[str]:
    m = result.metrics
    runs = f"{int(np.prod(result.batch))} runs of " if result.batch else ""
    text = f"{runs}{result.t[-1]:g} s, {len(result.t)} samples"
    if m.rms_tip_error is not None and m.max_tip_error is not None:
        rms, largest = np.max(m.rms_tip_error), np.max(m.max_tip_error)
        text += f"; tip error {1e3 * rms:.3g} mm rms, {1e3 * largest:.3g} mm at most"
    return [paragraph(text + ".", "big"), paragraph(f"Effort {np.max(m.effort):.4g} J, work {np.max(m.work):.4g} J.")]


def _scales(result: SimulationResult) -> list[tuple[float, str]]:
    """Factor and unit of every joint's position."""
    if result.arm is None:
        return [(1.0, "rad or m")] * result.n
    return [(180 / np.pi, "deg") if joint.kind == "revolute" else (1.0, "m") for joint in result.arm.joints]


def _curves(result: SimulationResult, name: str, wanted: Any = None) -> str:
    """One diagram a joint; runs of a batch over each other."""
    import matplotlib.pyplot as plt

    values = getattr(result, name).reshape(-1, len(result.t), result.n)[:MOST_RUNS]
    step = max(1, len(result.t) // MOST_POINTS)
    t = result.t[::step]
    figure, axes = plt.subplots(result.n, 1, figsize=(9, 1.4 * result.n + 0.6), sharex=True, squeeze=False)
    for j, (axis, (scale, unit)) in enumerate(zip(axes[:, 0], _scales(result), strict=True)):
        factor, label = (1.0, "N m or N") if name == "tau" else (scale, unit)
        axis.plot(t, factor * values[:, ::step, j].T, color="#14375e", lw=1.0, alpha=1.0 if len(values) == 1 else 0.3)
        if wanted is not None:
            axis.plot(t, factor * wanted[::step, j], color="#e07b00", lw=0.9, ls="--", label="reference")
        axis.set_ylabel(f"{result.joint_names[j]}\n[{label}]", fontsize=8)
        axis.grid(alpha=0.25)
    if wanted is not None:
        axes[0, 0].legend(loc="upper right", fontsize=8)
    axes[-1, 0].set_xlabel("time [s]")
    return svg(figure)


def _joints(result: SimulationResult) -> str:
    """Statistics a joint, the worst of a batch."""
    m = result.metrics
    rows = []
    for j, (name, (scale, unit)) in enumerate(zip(result.joint_names, _scales(result), strict=True)):
        settled = np.max(m.settling_time[..., j])
        rows.append(
            (
                name,
                f"{scale * np.max(m.rms_error[..., j]):.4g} {unit}",
                f"{scale * np.max(m.max_error[..., j]):.4g} {unit}",
                "-" if np.isnan(settled) else f"{settled:.3g} s",
                f"{np.max(m.rms_torque[..., j]):.4g}",
                f"{np.max(m.max_torque[..., j]):.4g}",
            )
        )
    return table(("joint", "error rms", "error max", "settled", "torque rms", "torque max"), rows)
