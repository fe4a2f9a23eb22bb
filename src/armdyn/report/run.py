"""A simulated run shown: its page, numbers and curves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from armdyn.errors import ArmdynError
from armdyn.html import MAX_POINTS, document, fold, fragment, heading, listing, paragraph, picture, svg, table
from armdyn.presentation import PICTURES
from armdyn.report.texts import texts
from armdyn.report.units import with_unit
from armdyn.simulation.result import SimulationResult

TEXTS = texts("run")
CURVES = ("q", "qd", "tau", "error")
FAR_OFF = 0.1  # rad or m: a joint that is further from its reference does not follow it
MAX_RUNS = 40  # of a batch, drawn over each other


def page(result: SimulationResult, out: Path | None = None) -> str:
    """The page of a run, or of a batch of runs; `out` is the file of its samples, where it was written."""
    parts = [heading(f"Simulation of {result.name}" if result.name != "simulation" else "Simulation", 1)]
    parts += summary(result)
    if result.notes:
        parts.append(paragraph("; ".join(result.notes) + ".", "warn"))
    parts += [joints(result), paragraph(TEXTS["next" if result.complete else "next_stopped"], "next")]
    for title, what in (("Positions", "q"), ("Tracking error", "error"), ("Torques of the drives", "tau")):
        parts += [heading(title), svg(plot_run(result, what, degrees=True))]
    described = None if result.arm is None else result.arm.source
    parts += [] if out is None else [paragraph(f"All samples are in {out.name}.")]
    parts.append(fold("Definitions", listing(TEXTS["definitions"])))
    return document(f"armdyn: simulation of {result.name}", *parts, files=[described.path if described else None])


def notebook(result: SimulationResult) -> str:
    """Return the view of a run in a notebook: what was reached, a row per joint, and the tracking errors."""
    stopped = [] if result.complete else [paragraph("; ".join(result.notes) or "Stopped early.")]
    errors = picture(plot_run(result, "error", degrees=True), 60)
    name = [] if result.name == "simulation" else [paragraph(f"Simulation of {result.name}")]
    return fragment(*name, *stopped, *summary(result), joints(result), errors)


def summary(result: SimulationResult) -> list[str]:
    """Length, errors of the tip, effort and work; the worst of a batch."""
    m = result.metrics
    runs = f"{int(np.prod(result.batch))} runs of " if result.batch else ""
    text = f"{runs}{result.t[-1]:g} s, {len(result.t)} samples"
    if m.rms_tip_error is not None and m.max_tip_error is not None:
        rms, largest = _worst(m.rms_tip_error), _worst(m.max_tip_error)
        text = f"Tip error {1e3 * rms:.3g} mm RMS, {1e3 * largest:.3g} mm at most, over {text}"
    far = [
        name
        for name, error in zip(result.joint_names, np.moveaxis(m.max_error, -1, 0), strict=True)
        if _worst(error) > FAR_OFF
    ]
    if far:
        text += f". These joints do not follow their reference: {', '.join(far)}"
    kind = "big bad" if not result.complete else "big warn" if far else "big good"
    return [paragraph(text + ".", kind), paragraph(f"Effort {_worst(m.effort):.4g} J, work {_worst(m.work):.4g} J.")]


def joints(result: SimulationResult) -> str:
    """Statistics per joint, the worst of a batch."""
    m = result.metrics
    settled = m.settling_time.reshape(-1, result.n).max(axis=0)  # NaN: never
    positions, torques = (curve_units(result, what, degrees=True) for what in ("q", "tau"))
    heads, columns = ["joint"], [list(result.joint_names)]
    for name, values, units in (
        ("error RMS", m.rms_error, positions),
        ("largest error", m.max_error, positions),
        ("torque RMS", m.rms_torque, torques),
        ("largest torque", m.max_torque, torques),
    ):
        alike = len(set(units)) == 1
        heads.append(with_unit(name, units[0][1] if alike else ""))
        numbers = [f"{scale * _worst(values[..., j]):.3g}" for j, (scale, _) in enumerate(units)]
        columns.append(numbers if alike else [f"{x} {unit}" for x, (_, unit) in zip(numbers, units, strict=True)])
    if np.isfinite(settled).any():  # else the column says nothing
        heads.append("settled [s]")
        columns.append([f"{x:.3g}" if np.isfinite(x) else "never" for x in settled])
    return table(heads, zip(*columns, strict=True))


def _worst(values: np.ndarray) -> float:
    """The largest of the runs that did not diverge."""
    numbers = np.asarray(values)[np.isfinite(values)]
    return float(numbers.max()) if numbers.size else float("nan")


def curve_units(result: SimulationResult, what: str, degrees: bool) -> list[tuple[float, str]]:
    """Factor and unit of every joint's positions, or torques ("tau")."""
    turning, sliding = ((180 / np.pi, "deg") if degrees else (1.0, "rad")), (1.0, "m")
    if what == "tau":
        turning, sliding = (1.0, "N m"), (1.0, "N")
    if result.arm is None:
        return [(1.0, "N m or N" if what == "tau" else "rad or m")] * result.n
    return [turning if joint.kind == "revolute" else sliding for joint in result.arm.coordinate_joints]


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

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> run = armdyn.simulate(arm, armdyn.PD(arm, 100.0, 20.0), [0.4, 0.2], 1.0, 500)
    >>> len(armdyn.plot_run(run, "tau").axes)
    2
    """
    import matplotlib.pyplot as plt

    if what not in CURVES:
        expected = f"one of {', '.join(CURVES)}{_hint(what)}"
        raise ArmdynError(f"unknown curve {what!r}", where="plot_run", expected=expected, names=(what,))
    values = getattr(result, what).reshape(-1, len(result.t), result.n)[:MAX_RUNS]
    wanted = {"q": result.q_ref, "qd": result.qd_ref}.get(what)
    step = max(1, len(result.t) // MAX_POINTS)
    t, alpha = result.t[::step], 1.0 if len(values) == 1 else 0.3
    figure, axes = plt.subplots(result.n, 1, figsize=(9, 1.4 * result.n + 0.6), sharex=True, squeeze=False)
    for j, (axis, (factor, unit)) in enumerate(zip(axes[:, 0], curve_units(result, what, degrees), strict=True)):
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
