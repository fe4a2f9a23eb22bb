"""A run in words and numbers, for reports and notebooks."""

from __future__ import annotations

import numpy as np

from armdyn.html import fragment, paragraph, picture, table
from armdyn.simulation.plot import plot_run, position_units
from armdyn.simulation.result import SimulationResult


def notebook(result: SimulationResult) -> str:
    """What was reached, a row a joint, and the tracking errors."""
    stopped = [] if result.complete else [paragraph("; ".join(result.notes) or "Stopped early.")]
    errors = picture(plot_run(result, "error", degrees=True), 60)
    return fragment(paragraph(f"Simulation: {result.name}"), *stopped, *summary(result), joints(result), errors)


def summary(result: SimulationResult) -> list[str]:
    """Length, errors of the tip, effort and work; the worst of a batch."""
    m = result.metrics
    runs = f"{int(np.prod(result.batch))} runs of " if result.batch else ""
    text = f"{runs}{result.t[-1]:g} s, {len(result.t)} samples"
    if m.rms_tip_error is not None and m.max_tip_error is not None:
        rms, largest = np.max(m.rms_tip_error), np.max(m.max_tip_error)
        text += f"; tip error {1e3 * rms:.3g} mm rms, {1e3 * largest:.3g} mm at most"
    return [paragraph(text + ".", "big"), paragraph(f"Effort {np.max(m.effort):.4g} J, work {np.max(m.work):.4g} J.")]


def joints(result: SimulationResult) -> str:
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
