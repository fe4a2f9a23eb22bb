"""`armdyn identify-servo ARM LOG ...`: servos of an arm that measures no torque."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from armdyn.cli.logs import joint_numbers, numbers, reject_swapped
from armdyn.cli.long_work import progress_bar, require_folders, write_results
from armdyn.cli.resolve import resolve
from armdyn.cli.show import attributes, print_json, print_line, print_list, print_table

if TYPE_CHECKING:
    from armdyn.model.arm import Arm
    from armdyn.servo.log import ServoLog
    from armdyn.servo.result import ServoFit


@dataclass(frozen=True)
class ServoLogOptions:
    """Meaning of the columns of logs."""

    command: str | None = None
    measured: str | None = None
    units: Literal["rad", "deg", "ticks", "normalised"] | None = None
    motors: str | None = None
    episodes: str | None = None
    sign: str | None = None
    offset: str | None = None

    def read(self, paths: list[Path], arm: Arm) -> list[ServoLog]:
        """Read logs with these options."""
        from armdyn.servo.read_log import read_servo_log

        settings: dict[str, Any] = {
            "command": self.command, "measured": self.measured, "units": self.units,
            "motors": None if self.motors is None else [name.strip() for name in self.motors.split(",")],
            "episodes": _episodes(self.episodes), "sign": numbers(self.sign or "1", "--sign"),
            "offset": numbers(self.offset or "0", "--offset"),
        }  # fmt: skip
        return [log for path in paths for log in read_servo_log(path, arm, **settings)]


@dataclass(frozen=True)
class ScaleOptions:
    """Known stiffness or payload, which fix the scale of torques."""

    stiffness: list[str] | None = None
    loaded: list[Path] | None = None
    mass: float | None = None
    com: tuple[float, float, float] = (0.0, 0.0, 0.0)


def identify_servo(
    arm: str,
    logs: list[Path],
    *,
    reading: ServoLogOptions,
    scale: ScaleOptions,
    terms: Literal["auto", "plain", "dead band", "friction", "whole"] = "auto",
    out: Path | None = None,
    report: Path | None = None,
    base: str | None = None,
    tip: str | None = None,
    json: bool = False,
) -> None:
    """Identify position servos from commanded and measured positions, without torques."""
    from armdyn.errors import ignore_warnings
    from armdyn.servo.identify import identify_servo as fit_servo

    require_folders(out, report=report)
    reject_swapped(arm, logs)
    described = resolve(arm, base, tip)
    with progress_bar() as tell, ignore_warnings():  # what it warns of stands in the summary
        tell(0, 1, "reading logs")
        free, carrying = (reading.read(paths, described) for paths in (logs, scale.loaded or []))
        known = joint_numbers(scale.stiffness, "--stiffness") or None
        fit = fit_servo(
            described, free, stiffness=known, loaded=carrying, mass=scale.mass, com=scale.com, terms=terms,
            progress=tell,
        )  # fmt: skip
    write_results(fit, out, report)
    if json:
        print_json(summary(fit))
    else:
        conclude(fit, out, report)


def conclude(fit: ServoFit, out: Path | None, report: Path | None) -> None:
    """Print the result, how sure it is, what was written, and the next command."""
    from armdyn.report.advice import servo_command
    from armdyn.report.options import shown_path
    from armdyn.report.servo import LEGEND, columns, error_text, rows

    heads = [
        name.replace(" [", "\n[").replace("dead ", "dead\n") + (" " if k else "") for k, name in enumerate(columns(fit))
    ]
    print_table(f"{fit.source.name}: servos", heads, rows(fit))
    print_line(LEGEND)
    verdict = fit.verdict
    print_line(f"{verdict.word[0].upper()}{verdict.word[1:]}: {error_text(fit)}.")
    if fit.scale != "description":
        print_line(f"The known {fit.scale} multiplies the description's masses by {fit.mass_scale:.3f}.")
    print_list("Reasons", [str(finding) for finding in verdict.reasons])
    print_list("Remarks", [str(finding) for finding in verdict.remarks])
    for path in filter(None, (out, report)):
        print(f"wrote {shown_path(path)}")
    print(f"try:  {servo_command(fit, out)}")


def summary(fit: ServoFit) -> dict[str, Any]:
    """Everything that was found, in SI units."""
    return {
        "arm": fit.source.name,
        "joints": fit.arm.joint_names,
        **attributes(fit, "stiffness damping armature coulomb delay dead_band ratios"),
        "low": dict(zip(fit.ratios, fit.low, strict=True)),
        "high": dict(zip(fit.ratios, fit.high, strict=True)),
        "words": dict(zip(fit.ratios, fit.words, strict=True)),
        "verdict": fit.verdict.word,
        "findings": [finding._asdict() | {"text": str(finding)} for finding in fit.findings],
        **attributes(fit, "structure scale mass_scale held_out held_out_tip rms warnings notes seconds"),
    }


def _episodes(text: str | None) -> list[int] | None:
    """Numbers and ranges with commas between."""
    if text is None:
        return None
    try:
        ends = [[int(word) for word in part.split("-")] for part in text.split(",")]
        return [k for end in ends for k in range(end[0], end[-1] + 1)]
    except ValueError:
        raise typer.BadParameter(f"expected numbers such as 0,1,4-7, got {text!r}", param_hint="--episodes") from None
