"""Identified servos shown: their page, numbers for the terminal and notebooks, and replays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from armdyn import html
from armdyn.identification.quality import Level
from armdyn.report.advice import servo_command
from armdyn.report.texts import texts
from armdyn.report.units import cell, shared_unit, short, with_unit
from armdyn.servo.parameters import NAMES, PARAMETERS
from armdyn.servo.result import ServoFit

TEXTS = texts("servo")
LEGEND = TEXTS["legend"]  # of marks
MARKS = {"left out": "", "determined": "", "given": "", "rough": "~", "not determined": "?", "not moved": "-"}
KINDS = {Level.GOOD: "good", Level.CARE: "warn", Level.NOT_USABLE: "bad"}
SHOWN_SECONDS = 10.0  # s: the end of the log, where curves are still told apart
COLUMNS = (  # headings, and quantities that give their units
    ("kp", "stiffness"), ("kd + fv", "viscous"), ("rotor", "inertia"), ("Coulomb", "torque"), ("dead band", "small"),
    ("replay", "small"),
)  # fmt: skip
TORQUES = ("inertia", "damping", "coulomb", "static")


def page(fit: ServoFit, out: Path | None = None) -> str:
    """The page of a fit; `out` is the file of the arm, where it was written."""
    level = fit.verdict.level
    parts = [
        html.heading(f"Servos of {fit.source.name}", 1),
        html.paragraph(f"{str(level).capitalize()}: {error_text(fit)}.", f"big {KINDS[level]}"),
        *_doubts(fit),
        html.paragraph(TEXTS["next" if out is None else "next_written"], "next"),
        html.code(servo_command(fit, out)),
        html.heading("Servos, rotors and friction"),
        html.table(
            (*columns(fit), "verdict"), [(*row, lamp) for row, lamp in zip(rows(fit), lights(fit), strict=True)]
        ),
        html.paragraph(f"{LEGEND} The scale of torques: {TEXTS['scales'][fit.scale]}.", "small"),
        *([] if fit.scale == "description" else [html.paragraph(TEXTS["mass_scale"].format(factor=fit.mass_scale))]),
        html.heading("Replay"),
        html.svg(draw(fit)),
        html.heading("Details"),
        html.fold(
            "Ratios to the stiffness kp, with their ranges",
            html.table(("ratio", "value", "range", "confidence"), ratio_rows(fit)),
        ),
        html.fold(
            "Model terms",
            html.table(
                ("terms", "held-out replay error"), [(name, f"{1e3 * error:.3g} mrad") for name, error in fit.tried]
            ),
        ),
        *([html.fold("How the logs were read", html.listing(fit.notes))] if fit.notes else []),
        html.fold("Definitions", html.listing(TEXTS["definitions"])),
    ]
    files = [fit.source.source.path if fit.source.source else None, *(log.path for log in fit.logs)]
    return html.document(f"armdyn: servos of {fit.source.name}", *parts, files=files)


def _doubts(fit: ServoFit) -> list[str]:
    """One box on the numbers that the log does not determine, and all findings folded."""
    if not fit.warnings:
        return [html.paragraph(TEXTS["all_known"])]
    names = [row[0] for row in rows(fit) if {cell[-1:] for cell in row[1:]} & {"?", "-"}]
    text = TEXTS["some_rough"]
    if names:
        text = TEXTS["unknown"].format(some=len(names), all=fit.arm.n, names=", ".join(names))
    findings = html.listing(warning[0].upper() + warning[1:] + "." for warning in fit.warnings)
    return [html.paragraph(text, "warn" if names else ""), html.fold(f"Findings ({len(fit.warnings)})", findings)]


def columns(fit: ServoFit) -> tuple[str, ...]:
    """Headings with units."""
    heads = [with_unit(name, shared_unit(fit.arm, quantity)) for name, quantity in COLUMNS]
    return ("joint", *heads[:4], "delay [ms]", *heads[4:])


def rows(fit: ServoFit) -> list[tuple[str, ...]]:
    """One row per joint, with a mark where a number is not sure."""
    milli = 1e3
    values = {
        "compliance": ("stiffness", fit.stiffness), "damping": ("viscous", fit.damping),
        "inertia": ("inertia", fit.armature), "coulomb": ("torque", fit.coulomb), "delay": ("", milli * fit.delay),
        "dead_band": ("small", milli * fit.dead_band),
    }  # fmt: skip
    table: list[tuple[str, ...]] = []
    for j, name in enumerate(fit.arm.joint_names):
        cells = [
            (cell(fit.arm, j, quantity, short(x[j])) if quantity else short(x[j])) + mark(fit, key, j)
            for key, (quantity, x) in values.items()
        ]
        if fit.words[NAMES.index("dead_band")][j] == "left out":
            cells[-1] = "none"
        table.append((name, *cells, cell(fit.arm, j, "small", f"{milli * fit.held_out[j]:.2g}")))
    return table


def mark(fit: ServoFit, name: str, joint: int) -> str:
    """Return how sure a number is; a torque is as sure as the less sure of its ratio and the stiffness."""
    words = [fit.words[NAMES.index(name)][joint], fit.words[0][joint] if name in TORQUES else "determined"]
    return MARKS[max(words, key=list(MARKS).index)]


def lights(fit: ServoFit) -> list[html.Markup]:
    """Return how sure the numbers of each joint are: a light and a word."""
    judged = []
    for row in rows(fit):
        marks = {cell[-1:] for cell in row[1:]}
        word, kind = "determined, some roughly" if "~" in marks else "determined", "good"
        if marks & {"?", "-"}:
            word, kind = ("did not move", "") if "-" in marks else ("not all determined", "care")
        judged.append(html.light(word, kind=kind))
    return judged


def ratio_rows(fit: ServoFit) -> list[tuple[str, ...]]:
    """One row per joint and ratio: value, range, word."""
    table: list[tuple[str, ...]] = []
    for parameter in PARAMETERS:
        for j, joint in enumerate(fit.arm.joint_names):
            one = fit.estimate(parameter.name, j)
            if one.word in ("left out", "not moved"):
                continue
            high = "∞" if np.isinf(one.high) else f"{one.high:.4g}"
            ends = "-" if one.word == "given" else f"{one.low:.4g} to {high}"
            table.append((f"{parameter.symbol}, {joint}", f"{one.value:.4g} {parameter.unit}", ends, one.word))
    return table


def error_text(fit: ServoFit) -> str:
    """The replay error on data not fitted to, in a sentence."""
    unit = shared_unit(fit.arm, "small") or "mrad or mm"
    rms, before = (1e3 * float(np.sqrt((x**2).mean())) for x in (fit.held_out, fit.unfollowed))
    return (
        f"{rms:.2g} {unit} replay error on held-out data, {1e3 * fit.held_out_tip:.2g} mm at the tip "
        f"(for comparison, assuming perfect tracking: {before:.3g} {unit})"
    )


def notebook(fit: ServoFit) -> str:
    """Numbers and replays."""
    warnings = [html.paragraph(text, "small") for text in fit.warnings]
    return html.fragment(
        html.paragraph(f"Servos of {fit.source.name}: {error_text(fit)}"), html.table(columns(fit), rows(fit)),
        html.paragraph(LEGEND, "small"), *warnings, html.picture(draw(fit), 60),
    )  # fmt: skip


def draw(fit: ServoFit) -> Any:
    """Commanded, measured and replayed positions of the end of the last log, per joint, and the error of the replay."""
    import matplotlib.pyplot as plt

    log = fit.logs[-1] if fit.scale != "payload" else fit.logs[0]
    run = fit.replay(log, len(log.pieces) - 1)
    keep = run.counted & (run.t >= run.t[-1] - SHOWN_SECONDS)
    every = slice(None, None, max(1, int(keep.sum()) // html.MAX_POINTS))
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
