"""What would make an identified model better: which joints to move, how, and with what command."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from armdyn.html import command_line
from armdyn.identification.fit.result import Fit
from armdyn.identification.limits import NOTABLE_RATIO
from armdyn.identification.logs.columns import some_names
from armdyn.identification.logs.log import SMALL_SHARE, Log
from armdyn.identification.quality import WORDS, Level, NextStep
from armdyn.model.arm import Arm
from armdyn.report import options
from armdyn.report.options import shown_path
from armdyn.report.texts import texts
from armdyn.simulation.ranking import AS_GOOD_RATIO

if TYPE_CHECKING:
    from armdyn.servo.result import ServoFit

TIMID_SPEED_RATIO = 0.5  # share of a joint's speed limit below which it may move faster
STRONG_PRIOR = 1e3  # strength of the prior from which on the description decides more than the logs
TEXTS = texts("advice")
EXCITE = "armdyn excite designs one"


def advice(fit: Fit) -> list[str]:
    """Most useful first."""
    suggestions = []
    if unknown := fit.undetermined:
        suggestions.append(TEXTS["undetermined"].format(joints=_joints(fit, unknown), names=some_names(unknown)))
    if weak := fit.weak:
        count, names = len(weak), some_names(weak)
        suggestions.append(TEXTS["weak"].format(count=count, names=names, joints=_joints(fit, weak)))
    suggestions += _timid(fit)
    if fit.held_out > NOTABLE_RATIO * fit.rel_error:
        suggestions.append(TEXTS["held_out"])
    if fit.strength >= STRONG_PRIOR:
        suggestions.append(TEXTS["prior"])
    worst = int(np.argmax(fit.rel_error_joints))
    name, error = fit.arm.coordinate_names[worst], fit.rel_error_joints[worst]
    return [*suggestions, TEXTS["worst"].format(number=worst + 1, name=name, error=error)]


def next_step(fit: Fit, out: Path | None = None) -> str:
    """The one thing to do next; empty where the verdict names none. `out` is the file of the model, if written."""
    if _keeps_description(fit):
        return "keep the description, which explains these logs better than the fit, or log a faster, longer motion"
    step = fit.verdict.step
    if step.kind != NextStep.NONE:
        log = fit.checks[0].log if fit.checks else None
        remedy = "" if step.finding is None else options.remedy(fit.source, step.finding, log)
        design = "armdyn excite --given designs such a motion" if step.kind == NextStep.MORE else EXCITE
        return step.text(remedy, design)
    if fit.verdict.level != Level.GOOD:
        return ""
    if fit.other is not None:
        return "use the model"
    test = "use the model, or test it first on a log of a different motion"
    if out is None:
        return f"{test} (armdyn validate)"
    reading = _reading(fit, [check.log for check in fit.checks][:1])
    reading = _without_options(reading, "--delay", "--coupling", "--join")  # the model, or that log alone, has these
    return f"{test}: {shlex.join(['armdyn', 'validate', shown_path(out), 'OTHER.csv', *reading])}"


def _keeps_description(fit: Fit) -> bool:
    return fit.verdict.level == Level.GOOD and description_is_better(fit)


def description_is_better(fit: Fit) -> bool:
    """Whether the arm as described has clearly less torque error on the logs than the arm that was fitted to them."""
    return bool(fit.rel_error_source < fit.rel_error / AS_GOOD_RATIO)


def next_command(fit: Fit) -> str:
    """The command that designs a motion which, with the logs so far, shows all parameters best; paths as given."""
    words = ["armdyn", "excite", *arm_words(fit.source), "--duration", "20", *_speed_words(fit)]
    logs = [check.log for check in fit.checks]
    reading = _reading(fit, logs[:1])
    for log in logs:
        alone = not log.format.joined and log.format.rate is None  # as excite reads them
        if log.path is not None and alone and _reading(fit, [log]) == reading:  # a command reads all in one way
            words += ["--given", shown_path(log.path)]
    options = _without_options(reading, "--delay") if "--given" in words else ()  # torques of given logs do not count
    return shlex.join([*words, *options, "--out", "next.csv"])


def _speed_words(fit: Fit) -> list[str]:
    """The option for velocity limits that the arm lacks: the speeds of the logs, which the robot has had."""
    limits = np.array([joint.limits.velocity for joint in fit.source.coordinate_joints], float)
    top = np.max([check.joints.speed for check in fit.checks], axis=0, initial=0.0)
    moved = top > SMALL_SHARE * top.max()
    if np.isfinite(limits).all() or not moved.any():
        return []
    top = np.where(moved, top, top[moved].min())  # of a joint that stood still no speed is known: the slowest one
    return ["--max-velocity", ",".join(f"{speed:.2g}" for speed in np.minimum(limits, top))]


def _reading(fit: Fit, logs: list[Log]) -> tuple[str, ...]:
    """Options with which the first of some logs was read."""
    return tuple(options.log_words(fit.source, logs[0])) if logs else ()


def _without_options(words: tuple[str, ...], *names: str) -> tuple[str, ...]:
    """Options without some that have a value."""
    return tuple(word for k, word in enumerate(words) if not {*names} & {*words[max(k - 1, 0) : k + 1]})


def step_command(fit: Fit, out: Path | None = None) -> str:
    """The command of the next step, paths as given; empty where it is none that could be typed as it stands.

    `out` is the file of the model, where it was written.
    """
    step = fit.verdict.step
    if _keeps_description(fit):
        return ""
    if step.kind == NextStep.NONE and fit.verdict.level == Level.GOOD:
        return "" if out is None else shlex.join(["armdyn", "compare", shown_path(out)])
    if step.logs_motion:
        return next_command(fit)
    if step.finding is None or step.finding.correction is None or not options.is_whole(step.finding):
        return ""
    logs = [check.log for check in fit.checks]
    readings = {_reading(fit, [log]) for log in logs}
    paths = [shown_path(log.path) for log in logs if log.path is not None]
    if len(paths) < len(logs) or len(readings) != 1:  # a command reads all in one way
        return ""
    log = logs[0].corrected(step.finding.correction)
    words = ["armdyn", "identify", *arm_words(fit.source), *paths, *options.log_words(fit.source, log)]
    return shlex.join([*words, "--out", "identified.urdf"])


def servo_command(fit: ServoFit, out: Path | None = None) -> str:
    """Return what to type after servos were identified: write the arm, or look at what was written."""
    if out is not None:
        return shlex.join(["armdyn", "info", shown_path(out)])
    typed = shlex.split(command_line())
    if typed[:2] == ["armdyn", "identify-servo"]:  # with the options that the log needs
        page = [] if any(word.startswith("--report") for word in typed) else ["--report", "servo.html"]
        return shlex.join([*typed, "--out", "identified.xml", *page])
    log = fit.logs[0].path
    words = ["armdyn", "identify-servo", *arm_words(fit.source), shown_path(log) if log else "LOG"]
    return shlex.join([*words, "--out", "identified.xml", "--report", "servo.html"])


def which_joints(fit: Fit) -> str:
    """For which joints a model is as good as its verdict says, where it is not for all."""
    at = WORDS.index(fit.verdict.level)
    numbered = list(enumerate(fit.verdict.joints, start=1))
    fine = [str(number) for number, joint in numbered if WORDS.index(joint.level) <= at]
    worse = {word: [str(number) for number, joint in numbered if joint.level == word] for word in WORDS[at + 1 :]}
    others = [f"{', '.join(some)} {word}" for word, some in worse.items() if some]
    return f" for joint{'s' if len(fine) > 1 else ''} {', '.join(fine)}; {'; '.join(others)}" if fine and others else ""


def arm_words(arm: Arm) -> list[str]:
    """Return the words for the arm on a command line: its file and chain, or its name in the library."""
    if arm.source is None:
        return [arm.name]
    ends = [word for name in ("base", "tip") if (end := getattr(arm.source, name)) for word in (f"--{name}", end)]
    return [shown_path(arm.source.path), *ends, *options.xacro_words(arm), *arm.source.options]


def _joints(fit: Fit, parameters: tuple[str, ...]) -> str:
    """The joints of parameters such as Ixx3 or F02 (the offset of joint 2)."""
    matches = (re.search(r"\d+$", name) for name in parameters)
    named = sorted({int(number.group()) for number in matches if number})
    if len(named) in (0, fit.arm.n):
        return "all joints"
    return f"joint{'s' if len(named) > 1 else ''} {', '.join(map(str, named))}"


def _timid(fit: Fit) -> list[str]:
    """Joints that stayed far below the speed they are allowed."""
    limits = np.array([joint.limits.velocity for joint in fit.source.coordinate_joints], float)
    speeds: list[NDArray] = [check.joints.speed for check in fit.checks]
    if not speeds:
        return []
    top = np.max(speeds, axis=0)
    slow = np.flatnonzero(np.isfinite(limits) & (top < TIMID_SPEED_RATIO * limits))
    if not len(slow):
        return []
    shares = ", ".join(f"{j + 1} ({top[j] / limits[j]:.0%})" for j in slow)
    return [TEXTS["timid"].format(shares=shares)]
