"""How commands read logs: the options that say what the columns mean."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, overload

import typer

from armdyn.frozen import PartOf

if TYPE_CHECKING:
    from armdyn.identification.logs.log import Log
    from armdyn.model.arm import Arm

DESCRIPTIONS = (".urdf", ".xml", ".xacro", ".toml", ".dyn")
LOGS = (".csv", ".txt", ".tsv", ".dat", ".json", ".jsonl", ".ndjson", ".npz", ".mat", ".parquet", ".db3", ".mcap")
NUMBERS = "numbers with commas between"
ROLES = ("t", "q", "qd", "tau", "current", "temperature")


@dataclass(frozen=True)
class ReadingOptions:
    """Meaning of the columns of logs."""

    degrees: bool = False
    radians: bool = False
    rate: float | None = None
    join: list[Path] | None = None
    gear_ratio: str | None = None
    drive_gain: str | None = None
    offset: str | None = None
    columns: list[str] | None = None
    topic: str | None = None

    def read(self, paths: list[Path], arm: Arm) -> list[Log]:
        """The logs as they are."""
        import numpy as np

        from armdyn.cli.states import in_radians
        from armdyn.identification.logs.read_log import read_log

        added = numbers(self.offset, "--offset")
        if added is not None and self.degrees:
            added = in_radians(arm, np.asarray(added), self.degrees).tolist()
        if self.degrees and self.radians:
            raise typer.BadParameter("angles are degrees or radians, not both", param_hint="--radians")
        if self.join and len(paths) > 1:
            raise typer.BadParameter(f"joins files of one run, got {len(paths)} logs", param_hint="--join")
        return [
            read_log(
                [path, *(self.join or ())],
                arm,
                columns=_columns(self.columns),
                angle="deg" if self.degrees else "rad" if self.radians else None,
                rate=self.rate,
                gear_ratio=numbers(self.gear_ratio, "--gear-ratio"),
                drive_gain=numbers(self.drive_gain, "--drive-gain"),
                offset=added,
                topic=self.topic,
            )
            for path in paths
        ]


@dataclass(frozen=True)
class LogCorrectionOptions:
    """Corrections of logs."""

    zero: list[str] | None = None
    delay: float | None = None
    time_scale: float | None = None
    without_torque: list[str] | None = None
    positions_of: str | None = None
    torques_of: str | None = None

    def correct(self, logs: list[Log], arm: Arm) -> list[Log]:
        """The logs, corrected."""
        from armdyn.identification.logs.corrections import (
            of_joints,
            with_time_scale,
            with_zeros,
            without_delay,
            without_torques,
        )

        if self.positions_of or self.torques_of:
            columns = [some.split(",") if some else () for some in (self.positions_of, self.torques_of)]
            logs = [log.corrected(of_joints(arm, *columns)) for log in logs]
        scaled = with_zeros(arm, with_time_scale(logs, self.time_scale), joint_numbers(self.zero, "--zero"))
        return without_delay(without_torques(arm, scaled, self.without_torque or ()), self.delay)


@dataclass(frozen=True)
class LogOptions:
    """Meaning of logs and their corrections: the options that commands share."""

    reading: ReadingOptions = field(default_factory=ReadingOptions)
    corrections: LogCorrectionOptions = field(default_factory=LogCorrectionOptions)

    delay = PartOf[float | None]("corrections.delay", "Delay of the torques [s], if it is known.")

    def without_delay(self) -> LogOptions:
        """The same options, but the delay stays in the logs."""
        return replace(self, corrections=replace(self.corrections, delay=None))

    def read(self, paths: list[Path], arm: Arm, currents: bool = False) -> list[Log]:
        """The logs, read and corrected; `currents` may stand in the place of torques."""
        from armdyn.identification.logs.log import require_torques

        logs = self.reading.read(paths, arm)
        for log in [] if currents else logs:
            require_torques(log)
        return self.corrections.correct(logs, arm)


def joint_numbers(texts: list[str] | None, option: str) -> dict[str, float]:
    """Parse options such as joint2=0.2."""
    values = {}
    for text in texts or ():
        name, _, value = text.rpartition("=")
        try:
            values[name.strip()] = float(value)
        except ValueError:
            raise typer.BadParameter(
                f"expected JOINT=NUMBER, such as joint1=0.1, got {text!r}", param_hint=option
            ) from None
    return values


def mount_arm(arm: Arm, down: str | None) -> Arm:
    """The arm with gravity along an axis of its base, such as -z or 0,1,0."""
    from dataclasses import replace

    import numpy as np

    if down is None:
        return arm
    if down == "none":
        source = arm.source and arm.source._replace(options=(*arm.source.options, "--down=none"))
        return replace(arm, gravity=np.zeros(3), source=source)
    axis = dict(zip("xyz", np.eye(3), strict=True)).get(down[-1:])
    expected = "x, -x, y, -y, z, -z, none or three numbers X,Y,Z"
    if axis is not None and down[:-1] in ("", "+", "-"):
        axis = -axis if down[0] == "-" else axis
    else:
        axis = np.asarray(numbers(down, "--down", expected))
    if axis.shape != (3,) or not 0 < np.linalg.norm(axis) < np.inf:
        raise typer.BadParameter(f"expected {expected}, got {down!r}", param_hint="--down")
    size = float(np.linalg.norm(arm.gravity)) or 9.81
    # Commands that are printed say so too.
    source = arm.source and arm.source._replace(options=(*arm.source.options, f"--down={down}"))
    return replace(arm, gravity=size * axis / np.linalg.norm(axis), source=source)


@contextmanager
def option_words(arm: Arm, log: Log) -> Iterator[None]:
    """Say what findings of rejected logs ask for in options of the command line."""
    from armdyn.errors import DataError
    from armdyn.report.options import remedy

    try:
        yield
    except DataError as error:
        text = str(error)
        for finding in error.findings:
            text = text.replace(finding.remedy, remedy(arm, finding, log)) if finding.remedy else text
        raise DataError(text, error.findings) from None


def reject_swapped(arm: str, logs: list[Path]) -> None:
    """Raise where a log stands in the arm's place and the arm among the logs."""
    from armdyn.cli.resolve import library
    from armdyn.errors import ArmdynError

    described = [log for log in logs if log.suffix.lower() in DESCRIPTIONS or str(log) in library()]
    if described and Path(arm).suffix.lower() in LOGS:
        cause = f"'{arm}' looks like a log and '{described[0]}' like an arm: the arm comes first"
        raise ArmdynError(cause, names=(arm, described[0]))


def _columns(texts: list[str] | None) -> dict[str, list[str]] | None:
    columns = {}
    for text in texts or ():
        role, equals, names = text.partition("=")
        if not equals or role not in ROLES:
            raise typer.BadParameter(
                f"expected one of {', '.join(ROLES)}, '=' and names with commas between, got {text!r}",
                param_hint="--columns",
            )
        columns[role] = [name.strip() for name in names.split(",")]
    return columns or None


@overload
def numbers(text: str, option: str, expected: str = NUMBERS) -> float | list[float]: ...
@overload
def numbers(text: str | None, option: str, expected: str = NUMBERS) -> float | list[float] | None: ...
def numbers(text: str | None, option: str, expected: str = NUMBERS) -> float | list[float] | None:
    """One number, or one for each joint, with commas between."""
    if text is None:
        return None
    try:
        values = [float(word) for word in text.replace(",", " ").split()]
    except ValueError:
        raise typer.BadParameter(f"expected {expected}, got {text!r}", param_hint=option) from None
    return values[0] if len(values) == 1 else values
