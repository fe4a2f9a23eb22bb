"""Identified servos in words and numbers, for pages, notebooks and the terminal."""

from __future__ import annotations

import numpy as np

from armdyn.html import Markup, fragment, light, paragraph, picture, table
from armdyn.servo.parameters import NAMES, PARAMETERS
from armdyn.servo.result import ServoFit

MARKS = {"left out": "", "determined": "", "given": "", "rough": "~", "not determined": "?", "not moved": "-"}
LEGEND = "~ known roughly, ? not determined by the log, - not moved."
SCALES = {
    "description": "the masses of the description: if they are all wrong by a factor, so are all torques, kp and kd",
    "payload": "the payload that was weighed",
    "stiffness": "the stiffness that was given",
}


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
    found: list[tuple[str, ...]] = []
    for j, name in enumerate(fit.arm.joint_names):
        cells = [f"{x[j]:.3g}{mark(fit, key, j)}" for key, x in values.items()]
        if fit.words[NAMES.index("dead_band")][j] == "left out":
            cells[-1] = "none"
        found.append((name, *cells, f"{milli * fit.held_out[j]:.2g}"))
    return found


def mark(fit: ServoFit, name: str, joint: int) -> str:
    """How sure a number is; a torque is as sure as the less sure of its ratio and the stiffness."""
    words = [fit.words[NAMES.index(name)][joint], fit.words[0][joint] if name in TORQUES else "determined"]
    return MARKS[max(words, key=list(MARKS).index)]


def lights(fit: ServoFit) -> list[Markup]:
    """How sure the numbers of each joint are: a light and a word."""
    found = []
    for row in rows(fit):
        marks = {cell[-1:] for cell in row[1:]}
        word = "not all determined" if marks & {"?", "-"} else "some known roughly" if "~" in marks else "determined"
        found.append(light(word, kind={"determined": "good", "some known roughly": "care"}.get(word, "")))
    return found


TORQUES = ("inertia", "damping", "coulomb", "static")


def ratio_rows(fit: ServoFit) -> list[tuple[str, ...]]:
    """One row per joint and ratio: value, range, word."""
    found: list[tuple[str, ...]] = []
    for parameter in PARAMETERS:
        for j, joint in enumerate(fit.arm.joint_names):
            one = fit.estimate(parameter.name, j)
            if one.word in ("left out", "not moved"):
                continue
            high = "∞" if np.isinf(one.high) else f"{one.high:.4g}"
            ends = "-" if one.word == "given" else f"{one.low:.4g} to {high}"
            found.append((f"{parameter.symbol}, {joint}", f"{one.value:.4g} {parameter.unit}", ends, one.word))
    return found


def error_text(fit: ServoFit) -> str:
    """The replay error on data not fitted to, in a sentence."""
    rms, before = (1e3 * float(np.sqrt((x**2).mean())) for x in (fit.held_out, fit.unfollowed))
    return (
        f"replay error on held-out data {rms:.2g} mrad, {1e3 * fit.held_out_tip:.2g} mm at the tip "
        f"(commanded positions taken as reached: {before:.3g} mrad)"
    )


def notebook(fit: ServoFit) -> str:
    """Numbers and replays."""
    from armdyn.report.figures.servo import replay_figure

    told = [paragraph(text, "small") for text in fit.warnings]
    return fragment(
        paragraph(f"Servos of {fit.source.name}: {error_text(fit)}"), table(columns(fit), rows(fit)),
        paragraph(LEGEND, "small"), *told, picture(replay_figure(fit), 60),
    )  # fmt: skip
