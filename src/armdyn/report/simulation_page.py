"""The report of a simulated run."""

from __future__ import annotations

import numpy as np

from armdyn.html import document, heading, listing, paragraph, svg, table
from armdyn.simulation.plot import plot_run, position_units
from armdyn.simulation.result import SimulationResult


def page(result: SimulationResult) -> str:
    """The page of a run, or of a batch of runs."""
    parts = [heading(f"Simulation: {result.name}", 1), *_summary(result)]
    if result.notes:
        parts.append(paragraph("; ".join(result.notes) + ".", "warn"))
    parts += [
        heading("Positions"),
        _curves(result, "q"),
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


def _curves(result: SimulationResult, what: str) -> str:
    return svg(plot_run(result, what, degrees=True))


def _joints(result: SimulationResult) -> str:
    """Statistics a joint, the worst of a batch."""
    m = result.metrics
    rows = []
    for j, (name, (scale, unit)) in enumerate(
        zip(result.joint_names, position_units(result, degrees=True), strict=True)
    ):
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
