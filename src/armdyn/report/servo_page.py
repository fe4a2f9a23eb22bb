"""The report of identified servos."""

from __future__ import annotations

from armdyn.html import code, document, fold, heading, listing, paragraph, svg, table
from armdyn.report.advice import servo_command
from armdyn.report.figures.servo import replay_figure
from armdyn.report.tables.servo import LEGEND, SCALES, columns, error_text, lights, ratio_rows, rows
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


def page(fit: ServoFit) -> str:
    """The page of a fit."""
    sure = not fit.warnings
    parts = [
        heading(f"Servos: {fit.source.name}", 1),
        paragraph(error_text(fit).capitalize() + ".", "big"),
        *(paragraph(text[0].upper() + text[1:] + ".", "warn") for text in fit.warnings),
        *([paragraph("Every number is determined by the log.", "good")] if sure else []),
        paragraph(f"Next: {NEXT}", "next"),
        code(servo_command(fit)),
        heading("Servos, rotors and friction"),
        table((*columns(fit), "verdict"), [(*row, lamp) for row, lamp in zip(rows(fit), lights(fit), strict=True)]),
        paragraph(f"{LEGEND} Torques come from {SCALES[fit.scale]}.", "small"),
        *_mass_scale(fit),
        heading("Replay"),
        svg(replay_figure(fit)),
        heading("What positions tell"),
        paragraph("Ratios to the stiffness kp, with the range that explains the log about as well."),
        table(("ratio", "value", "range", "word"), ratio_rows(fit)),
        heading("Terms that were tried"),
        table(("terms", "held-out replay error"), [(name, f"{1e3 * error:.3g} mrad") for name, error in fit.tried]),
        heading("What the numbers mean"),
        listing(MEANING),
        fold("How the logs were read", listing(fit.notes or ("nothing to tell",))),
    ]
    return document(f"armdyn: servos of {fit.source.name}", *parts)


def _mass_scale(fit: ServoFit) -> list[str]:
    if fit.scale == "description":
        return []
    return [paragraph(f"The description's masses were multiplied by {fit.mass_scale:.3f}.")]
