"""Identified servos shown: their page, numbers for the terminal and notebooks, and replays."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn import html
from armdyn.report.advice import servo_command
from armdyn.servo.parameters import NAMES, PARAMETERS
from armdyn.servo.result import ServoFit

NEXT = "write the arm with its servos for a simulator (.xml for MuJoCo, .urdf or .toml), and try it on another motion."
MEANING = (
    "Replay error: the log's commands are sent to the identified servos in simulation, and the positions compared with "
    "the measured ones, root mean square. The first 0.3 s of a replay do not count, as its velocity is guessed.",
    "Held out: the last quarter of the log, to which the servos of that figure were not fitted.",
    "Ranges: a number is moved, all others are fitted again, and the log is replayed, until the replay gets worse than "
    "noise and the model's own error explain.",
    "kd and viscous friction act alike on positions: only their sum is known.",
    "Torque of a servo: kp (error - dead band) - kd velocity, with the error from commanded to actual position; the "
    "error counts from where the dead band ends.",
)
MARKS = {"left out": "", "determined": "", "given": "", "rough": "~", "not determined": "?", "not moved": "-"}
LEGEND = "~ known roughly, ? not determined by the log, - not moved."
SCALES = {
    "description": "the masses of the description: if they are all wrong by a factor, so are all torques, kp and kd",
    "payload": "the payload that was weighed",
    "stiffness": "the stiffness that was given",
}
SHOWN_SECONDS = 10.0  # s: the end of the log, where curves are still told apart
TORQUES = ("inertia", "damping", "coulomb", "static")


def page(fit: ServoFit) -> str:
    """The page of a fit."""
    sure = not fit.warnings
    parts = [
        html.heading(f"Servos: {fit.source.name}", 1),
        html.paragraph(error_text(fit).capitalize() + ".", "big"),
        *(html.paragraph(text[0].upper() + text[1:] + ".", "warn") for text in fit.warnings),
        *([html.paragraph("Every number is determined by the log.", "good")] if sure else []),
        html.paragraph(f"Next: {NEXT}", "next"),
        html.code(servo_command(fit)),
        html.heading("Servos, rotors and friction"),
        html.table(
            (*columns(fit), "verdict"), [(*row, lamp) for row, lamp in zip(rows(fit), lights(fit), strict=True)]
        ),
        html.paragraph(f"{LEGEND} Torques come from {SCALES[fit.scale]}.", "small"),
        *_mass_scale(fit),
        html.heading("Replay"),
        html.svg(draw(fit)),
        html.heading("What positions tell"),
        html.paragraph("Ratios to the stiffness kp, with the range that explains the log about as well."),
        html.table(("ratio", "value", "range", "word"), ratio_rows(fit)),
        html.heading("Terms that were tried"),
        html.table(
            ("terms", "held-out replay error"), [(name, f"{1e3 * error:.3g} mrad") for name, error in fit.tried]
        ),
        html.heading("What the numbers mean"),
        html.listing(MEANING),
        html.fold("How the logs were read", html.listing(fit.notes or ("nothing to tell",))),
    ]
    return html.document(f"armdyn: servos of {fit.source.name}", *parts)


def _mass_scale(fit: ServoFit) -> list[str]:
    if fit.scale == "description":
        return []
    return [html.paragraph(f"The description's masses were multiplied by {fit.mass_scale:.3f}.")]


def columns(fit: ServoFit) -> tuple[str, ...]:
    """Headings with units."""
    kinds = {joint.kind for joint in fit.arm.joints}
    torque, angle, mass, milli = (
        ("N m", "rad", "kg m²", "mrad")
        if kinds == {"revolute"}
        else ("N m or N", "rad or m", "kg m² or kg", "mrad or mm")
    )
    return (
        "joint", f"kp [{torque}/{angle}]", f"kd + fv [{torque} s/{angle}]", f"rotor [{mass}]", f"Coulomb [{torque}]",
        "delay [ms]", f"dead band [{milli}]", f"replay [{milli}]",
    )  # fmt: skip


def rows(fit: ServoFit) -> list[tuple[str, ...]]:
    """One row per joint, with a mark where a number is not sure."""
    milli = 1e3
    values = {
        "compliance": fit.stiffness, "damping": fit.damping, "inertia": fit.armature, "coulomb": fit.coulomb,
        "delay": milli * fit.delay, "dead_band": milli * fit.dead_band,
    }  # fmt: skip
    table: list[tuple[str, ...]] = []
    for j, name in enumerate(fit.arm.joint_names):
        cells = [f"{x[j]:.3g}{mark(fit, key, j)}" for key, x in values.items()]
        if fit.words[NAMES.index("dead_band")][j] == "left out":
            cells[-1] = "none"
        table.append((name, *cells, f"{milli * fit.held_out[j]:.2g}"))
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
        word = "not all determined" if marks & {"?", "-"} else "some known roughly" if "~" in marks else "determined"
        judged.append(html.light(word, kind={"determined": "good", "some known roughly": "care"}.get(word, "")))
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
    rms, before = (1e3 * float(np.sqrt((x**2).mean())) for x in (fit.held_out, fit.unfollowed))
    return (
        f"replay error on held-out data {rms:.2g} mrad, {1e3 * fit.held_out_tip:.2g} mm at the tip "
        f"(commanded positions taken as reached: {before:.3g} mrad)"
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
    every = slice(None, None, max(1, int(keep.sum()) // html.MOST_POINTS))
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
