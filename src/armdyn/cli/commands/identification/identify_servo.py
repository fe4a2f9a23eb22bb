"""`armdyn identify-servo ARM LOG ...`: servos of an arm that measures no torque."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from armdyn.cli.logs import joint_numbers, numbers, reject_swapped
from armdyn.cli.long_work import progress_bar, require_folders, write_results
from armdyn.cli.options import spread_options
from armdyn.cli.resolve import ArmName, Base, Json, Tip, resolve
from armdyn.cli.show import attributes, print_json, print_line, print_list, print_table

if TYPE_CHECKING:
    from armdyn.model.arm import Arm
    from armdyn.servo.log import ServoLog
    from armdyn.servo.result import ServoFit


@dataclass(frozen=True)
class ServoLogOptions:
    """Meaning of the columns of logs."""

    command: Annotated[
        str | None, typer.Option(metavar="NAME", help="Columns or topic of commanded positions, such as 'action'.")
    ] = None
    measured: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Columns or topic of measured positions, such as 'observation.state'."),
    ] = None
    units: Annotated[
        Literal["rad", "deg", "ticks", "normalised"] | None,
        typer.Option(help="Unit of positions; 4096 ticks per turn, normalised from -100 to 100."),
    ] = None
    motors: Annotated[
        str | None,
        typer.Option(metavar="M1,M2,..", help="Names of the motors in the log, in the order of the arm's joints."),
    ] = None
    episodes: Annotated[
        str | None, typer.Option(metavar="0,1,4-7", help="Episodes of a LeRobot data set; default all.")
    ] = None
    sign: Annotated[
        str | None,
        typer.Option(metavar="S1,S2,..", help="Signs of the motors: 1, or -1 for those that count the other way."),
    ] = None
    offset: Annotated[
        str | None, typer.Option(metavar="Q1,Q2,..", help="Added to all positions after the signs [rad or m].")
    ] = None

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

    stiffness: Annotated[
        list[str] | None, typer.Option(metavar="JOINT=KP", help="Measured stiffness of a joint [N m/rad]; repeatable.")
    ] = None
    loaded: Annotated[
        list[Path] | None, typer.Option(metavar="LOG", help="Log with a payload of known mass; repeatable.")
    ] = None
    mass: Annotated[float | None, typer.Option(help="Payload mass [kg].")] = None
    com: Annotated[
        tuple[float, float, float],
        typer.Option(metavar="X Y Z", help="Centre of mass of that payload in the tip's frame [m]."),
    ] = (0.0, 0.0, 0.0)


@spread_options()
def identify_servo(
    arm: ArmName,
    logs: Annotated[
        list[Path],
        typer.Argument(metavar="LOG...", help="Logs: .csv, .npz, .mat, .parquet, LeRobot data sets, ROS 2 bags."),
    ],
    *,
    reading: ServoLogOptions,
    scale: ScaleOptions,
    terms: Annotated[
        Literal["auto", "plain", "dead band", "friction", "whole"],
        typer.Option(help="Terms of the servo model; auto: by the held-out error."),
    ] = "auto",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the arm: .xml, .urdf or .toml.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write a report: .html.")] = None,
    base: Base = None,
    tip: Tip = None,
    json: Json = False,
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
    print_list("Why with care", [str(finding) for finding in verdict.reasons])
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
