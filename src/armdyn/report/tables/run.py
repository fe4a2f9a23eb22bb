"""A run in words and numbers, for reports and notebooks."""

from __future__ import annotations

import numpy as np

from armdyn.html import fragment, paragraph, picture, table
from armdyn.report.figures.run import plot_run, position_units, torque_units
from armdyn.simulation.result import SimulationResult


def notebook(result: SimulationResult) -> str:
    """What was reached, a row per joint, and the tracking errors."""
    stopped = [] if result.complete else [paragraph("; ".join(result.notes) or "Stopped early.")]
    errors = picture(plot_run(result, "error", degrees=True), 60)
    return fragment(paragraph(f"Simulation: {result.name}"), *stopped, *summary(result), joints(result), errors)


def summary(result: SimulationResult) -> list[str]:
    """Length, errors of the tip, effort and work; the worst of a batch."""
    m = result.metrics
    runs = f"{int(np.prod(result.batch))} runs of " if result.batch else ""
    text = f"{runs}{result.t[-1]:g} s, {len(result.t)} samples"
    if m.rms_tip_error is not None and m.max_tip_error is not None:
        rms, largest = _worst(m.rms_tip_error), _worst(m.max_tip_error)
        text += f"; the tip stays within {1e3 * largest:.3g} mm of its reference ({1e3 * rms:.3g} mm rms)"
    kind = "big good" if result.complete else "big bad"
    return [paragraph(text + ".", kind), paragraph(f"Effort {_worst(m.effort):.4g} J, work {_worst(m.work):.4g} J.")]


def joints(result: SimulationResult) -> str:
    """Statistics per joint, the worst of a batch."""
    m = result.metrics
    rows = []
    units = zip(result.joint_names, position_units(result, degrees=True), torque_units(result), strict=True)
    for j, (name, (scale, unit), torque) in enumerate(units):
        settled = np.max(m.settling_time[..., j])
        rows.append(
            (
                name,
                f"{scale * _worst(m.rms_error[..., j]):.4g} {unit}",
                f"{scale * _worst(m.max_error[..., j]):.4g} {unit}",
                "-" if np.isnan(settled) else f"{settled:.3g} s",
                f"{_worst(m.rms_torque[..., j]):.4g} {torque}",
                f"{_worst(m.max_torque[..., j]):.4g} {torque}",
            )
        )
    return table(("joint", "error rms", "error max", "settled", "torque rms", "torque max"), rows)


def _worst(values: np.ndarray) -> float:
    """The largest of the runs that did not diverge."""
    numbers = np.asarray(values)[np.isfinite(values)]
    return float(numbers.max()) if numbers.size else float("nan")
