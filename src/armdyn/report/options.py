"""Corrections and findings in the words of the command line: how a log is read, and with what it should be."""

from __future__ import annotations

import shlex
from functools import reduce
from pathlib import Path

import numpy as np

from armdyn.identification.hypotheses.finding import Finding, with_remedy
from armdyn.identification.logs.corrections import LogCorrection, joints_of
from armdyn.identification.logs.log import Log, LogFormat
from armdyn.model.arm import Arm


def case_command(file: Path, number: int) -> str:
    """Return the command that shows one case of a study in full."""
    return f"armdyn study {shlex.quote(str(file))} --case {number}"


def xacro_words(arm: Arm) -> list[str]:
    """Options with which a command expands the xacro of an arm."""
    both = zip(("--xacro-arg", "--package-path"), arm.source.xacro if arm.source else (), strict=False)
    return [word for option, values in both for value in values for word in (option, value)]


def log_words(arm: Arm, log: Log) -> list[str]:
    """Options with which a command reads the file as the log was read and corrected."""
    applied = reduce(LogCorrection.then, log.corrections, LogCorrection())
    return [*_format_words(arm, log.format, applied), *correction_words(arm, applied, log, 10)]


def _format_words(arm: Arm, how: LogFormat, correction: LogCorrection) -> list[str]:
    """Options of a log's format but those that a correction replaces by other numbers."""
    words = [f"--{'degrees' if how.angle == 'deg' else 'radians'}"] if how.angle else []
    words += [word for path in how.joined for word in ("--join", shown_path(path))]
    turns = np.array([joint.kind == "revolute" for joint in arm.coordinate_joints])
    degrees = np.where(turns & (how.angle == "deg"), 180 / np.pi, 1.0)
    words += [] if how.rate is None else ["--rate", f"{how.rate:.10g}"]
    for option, numbers, factors in (
        ("--gear-ratio", how.gear_ratio, correction.gear_ratio),
        ("--drive-gain", how.drive_gain, correction.drive_gain),
        ("--offset", tuple(how.offset * degrees) if how.offset else (), ()),
    ):
        words += [option, ",".join(f"{x:.10g}" for x in numbers)] if numbers and not factors else []
    words += [word for role, names in how.columns for word in ("--columns", f"{role}={','.join(names)}")]
    return words + ([] if how.topic is None else ["--topic", how.topic])


def correction_words(arm: Arm, correction: LogCorrection, log: Log | None = None, digits: int = 3) -> list[str]:
    """Options that apply a correction; gear ratios and gains are those that the log was read with, corrected."""
    words = ["--degrees"] if correction.degrees else []
    positions, torques, correction = joints_of(arm, correction)
    for option, names in (("--positions-of", positions), ("--torques-of", torques)):
        words += [option, ",".join(names)] if names else []
    how = LogFormat() if log is None else log.format
    for option, factors, read in (
        ("--gear-ratio", correction.gear_ratio, how.gear_ratio),
        ("--drive-gain", correction.drive_gain, how.drive_gain),
    ):
        if factors:
            numbers = np.array(factors) * np.array(read or (1.0,))
            same = len(set(numbers.tolist())) == 1
            words += [option, ",".join(f"{x:.10g}" for x in (numbers[:1] if same else numbers))]
    words += ["--time-scale", f"{correction.time_scale:.{digits}g}"] if correction.time_scale != 1 else []
    for name, off in zip(arm.coordinate_names, correction.zero, strict=False):
        words += ["--zero", f"{name}={off:.{digits}g}"] if off else []
    words += ["--delay", f"{correction.delay:.{digits}g}"] if correction.delay else []
    words += [word for j in correction.without_torque for word in ("--without-torque", arm.coordinate_names[j])]
    if correction.gravity is not None:
        words += [f"--down={_down(correction.gravity)}"] if any(correction.gravity) else ["--down=none"]
    return words + [word for text in correction.coupling for word in ("--coupling", text)]


def _down(gravity: tuple[float, ...]) -> str:
    """The axis of the base that points down, or its components."""
    axis = np.array(gravity) / np.linalg.norm(gravity)
    k = int(np.argmax(np.abs(axis)))
    if np.abs(axis[k]) > 1 - 1e-9:
        return ("" if axis[k] > 0 else "-") + "xyz"[k]
    return ",".join(f"{x + 0.0:.3g}" for x in gravity)


def remedy(arm: Arm, finding: Finding, log: Log | None = None) -> str:
    """Return what to do about a finding: options, or a sentence."""
    correction = finding.correction
    if correction is None:
        return finding.hint
    applied = reduce(LogCorrection.then, log.corrections, LogCorrection()) if log is not None else LogCorrection()
    words = " ".join(correction_words(arm, _merged(applied, correction), log))
    if not np.isinf(correction.until):
        words = f"use the log up to {correction.until:.3g} s"
    if any(correction.order):
        words = _reordering(correction, log)
    return f"{words} ({finding.hint})" if finding.hint and words else words or finding.hint


def _merged(applied: LogCorrection, correction: LogCorrection) -> LogCorrection:
    """The correction with what was applied before of the fields that it changes."""
    whole = applied.then(correction)
    return LogCorrection(**{name: getattr(whole, name) for name in correction.changes})


def _reordering(correction: LogCorrection, log: Log | None) -> str:
    """Options that name columns, and in which order."""
    moved = ["q", "qd"] if log is not None and log.qd is not None else ["q"]
    positions, torques = correction.order
    roles = [*(moved if positions else []), *(["tau"] if torques else [])]
    options = " ".join(f"--columns {role}=NAME,.." for role in roles)
    return f"{options} with the log's columns in the order {', '.join(str(k + 1) for k in positions or torques)}"


def is_whole(finding: Finding) -> bool:
    """Whether the options of a finding can be typed as they stand."""
    changes = {} if finding.correction is None else finding.correction.changes
    return bool(changes) and not set(changes) & {"order", "until"}


def advice(arm: Arm, finding: Finding, log: Log | None = None) -> str:
    """Return a finding, and the options or steps that help."""
    return with_remedy(finding.text, remedy(arm, finding, log))


def shown_path(path: Path) -> str:
    """A path as one would type it here: relative if it lies below the present folder."""
    path = path.absolute()
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
