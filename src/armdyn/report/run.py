"""A simulated run shown: its page, numbers and curves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from armdyn.errors import ArmdynError
from armdyn.html import MOST_POINTS, document, fragment, heading, listing, paragraph, picture, svg, table
from armdyn.presentation import PICTURES
from armdyn.simulation.result import SimulationResult

CURVES = ("q", "qd", "tau", "error")
FAR_OFF = 0.1  # rad or m: a joint that is further from its reference does not follow it
MOST_RUNS = 40  # of a batch, drawn over each other
NEXT = (
    "Next: see how other controllers do with a load that they do not know (armdyn compare), or how this one does over "
    "many loads and frictions (armdyn study); armdyn law writes it as C."
)
NEXT_STOPPED = (
    "Next: look at the joint whose error grows first; a lower --bandwidth, a higher --rate or more --substeps may help."
)
MEANING = (
    "Statistics are of the samples that were kept; of a batch they are the worst of the runs that did not diverge.",
    "Settled: the time after which the error stays below 2 % of its largest value; a dash if it never does.",
    "Work: what the drives did in all. Effort: the same with driving and braking counted alike.",
)


def page(result: SimulationResult) -> str:
    """The page of a run, or of a batch of runs."""
    parts = [heading(f"Simulation: {result.name}", 1), *summary(result)]
    if result.notes:
        parts.append(paragraph("; ".join(result.notes) + ".", "warn"))
    parts += [joints(result), paragraph(NEXT if result.complete else NEXT_STOPPED, "next")]
    for title, what in (("Positions", "q"), ("Tracking error", "error"), ("Torques of the drives", "tau")):
        parts += [heading(title), svg(plot_run(result, what, degrees=True))]
    parts += [heading("What the numbers mean"), listing(MEANING)]
    return document(f"armdyn: {result.name}", *parts)


def notebook(result: SimulationResult) -> str:
    """Return the view of a run in a notebook: what was reached, a row per joint, and the tracking errors."""
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
    far = [
        name
        for name, error in zip(result.joint_names, np.moveaxis(m.max_error, -1, 0), strict=True)
        if _worst(error) > FAR_OFF
    ]
    if far:
        text += f"; far off: {', '.join(far)}"
    kind = "big bad" if not result.complete else "big warn" if far else "big good"
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


def position_units(result: SimulationResult, degrees: bool) -> list[tuple[float, str]]:
    """Factor and unit of every joint's position."""
    if result.arm is None:
        return [(1.0, "rad or m")] * result.n
    turn = (180 / np.pi, "deg") if degrees else (1.0, "rad")
    return [turn if joint.kind == "revolute" else (1.0, "m") for joint in result.arm.coordinate_joints]


def torque_units(result: SimulationResult) -> list[str]:
    """Unit of every joint's torque."""
    if result.arm is None:
        return ["N m or N"] * result.n
    return ["N m" if joint.kind == "revolute" else "N" for joint in result.arm.coordinate_joints]


def _hint(what: str) -> str:
    """Return the hint that a file is given by name."""
    return f"; plot(path={what!r}) writes a file" if Path(what).suffix in PICTURES else ""


def plot_run(result: SimulationResult, what: str = "q", degrees: bool = False) -> Any:
    """Draw one diagram per joint, with all runs of a batch in it.

    Parameters
    ----------
    result : SimulationResult
    what : {"q", "qd", "tau", "error"}
        Positions and velocities are drawn with their reference.
    degrees : bool
        Show angles in degrees.

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib.pyplot as plt

    if what not in CURVES:
        raise ArmdynError(f"plot_run: unknown curve {what!r}; expected one of {', '.join(CURVES)}{_hint(what)}")
    values = getattr(result, what).reshape(-1, len(result.t), result.n)[:MOST_RUNS]
    wanted = {"q": result.q_ref, "qd": result.qd_ref}.get(what)
    step = max(1, len(result.t) // MOST_POINTS)
    t, alpha = result.t[::step], 1.0 if len(values) == 1 else 0.3
    figure, axes = plt.subplots(result.n, 1, figsize=(9, 1.4 * result.n + 0.6), sharex=True, squeeze=False)
    units = position_units(result, degrees)
    if what == "tau":
        units = [(1.0, unit) for unit in torque_units(result)]
    for j, (axis, (factor, unit)) in enumerate(zip(axes[:, 0], units, strict=True)):
        label = unit + "/s" * (what == "qd")
        curves = axis.plot(t, factor * values[:, ::step, j].T, color="#14375e", lw=1.0, alpha=alpha)
        curves[0].set_label("simulated")
        if wanted is not None:
            axis.plot(t, factor * wanted[::step, j], color="#e07b00", lw=0.9, ls="--", label="reference")
        axis.set_ylabel(f"{result.joint_names[j]}\n[{label}]", fontsize=8)
        axis.grid(alpha=0.25)
    if wanted is not None:
        axes[0, 0].legend(loc="upper right", fontsize=8, ncols=2)
    axes[-1, 0].set_xlabel("time [s]")
    return figure


draw = plot_run  # as `presentation` calls it
