"""Quality of an identified model: the error to expect on new motion, and whether to use the model.

One number decides, the *expected error*: the relative torque error of the model, as it is written, on motion that was
not fitted to. It is the root of the torques' variance over their mean square along a motion that is half like the
logs, half through the arm's range (`Uncertainty.expected`); and never less than the error on held-out data. Joints that
stood still in the logs stand still. No number in it was fitted. Its bound is the end of the widened 95 % band
of that, or of the error where all joints go through their range. The verdict follows:

* *not usable*: a finding rejects, or the expected error is `NOT_USABLE_ERROR` or more;
* *usable with care*: a finding warns, or the expected error is above `CAREFUL_ERROR`;
* *good*: all else.

What the logs cannot support is a finding as well: too little motion to hold some of it out, or joints that never turned
back. A joint's level follows from its own held-out error, or that on the validation log where it is larger; a joint
that is not usable neither warns of the others nor makes the whole not usable. A joint whose torque was not measured is
not usable by itself, for its friction is not known.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.fit.next_motion import WORTHWHILE_SHARE, NextMotion
from armdyn.identification.hypotheses.finding import Finding, FindingKind
from armdyn.identification.limits import CAREFUL_ERROR, MIN_SECONDS, NOT_USABLE_ERROR
from armdyn.identification.logs.log import SMALL_SHARE


class Level(StrEnum):
    """Whether to use a model, or a joint of it."""

    GOOD = "good"
    CARE = "usable with care"
    NOT_USABLE = "not usable"


WORDS = tuple(Level)
JOINT_CAREFUL_ERROR, JOINT_NOT_USABLE_ERROR = 0.2, 0.5  # errors of a joint, relative to its own torque


class NextStep(StrEnum):
    """Kinds of next steps."""

    NONE = "none"
    CORRECT = "correct"  # identify again with the correction of a finding
    ACT = "act"  # follow the hint of a finding
    MOVE = "move"  # log a motion of joints that stood still
    LONGER = "longer"
    REVERSALS = "reversals"
    FASTER = "faster"
    TOGETHER = "together"
    MORE = "more"  # log the motion that is worth most
    VALIDATE = "validate"


class Step(NamedTuple):
    """The one thing to do next."""

    kind: NextStep = NextStep.NONE
    names: tuple[str, ...] = ()  # of joints, by number and name
    finding: Finding | None = None
    motion: NextMotion | None = None
    n: int = 0  # joints of the arm

    @property
    def logs_motion(self) -> bool:
        """Whether it is another motion that helps."""
        return self.kind in (
            NextStep.MOVE, NextStep.LONGER, NextStep.REVERSALS, NextStep.FASTER, NextStep.TOGETHER, NextStep.MORE
        )  # fmt: skip

    def text(self, remedy: str = "", excite: str = "armdyn.excite designs one") -> str:
        """In words; `remedy` is that of the finding, and `excite` says what designs a motion."""
        joints = f"joint{'s' if len(self.names) > 1 else ''} {', '.join(self.names)}"
        remedy = remedy or (self.finding.remedy if self.finding else "")
        match self.kind:
            case NextStep.CORRECT:
                return f"identify again with {remedy}"
            case NextStep.ACT:
                return remedy
            case NextStep.MOVE:
                return f"log a motion of {joints}, which did not move"
            case NextStep.LONGER:
                return "log at least 10 s of motion of all joints"
            case NextStep.REVERSALS:
                return f"log a motion in which every joint reverses several times ({excite})"
            case NextStep.FASTER:
                return f"log faster motion of {joints} with many reversals ({excite})"
            case NextStep.TOGETHER:
                return f"log a motion that excites all joints together ({excite})"
            case NextStep.MORE if self.motion is not None:
                who = "all joints" if len(self.names) == self.n else joints
                return (
                    f"log {self.motion.seconds:.0f} s more that move {who} through at least half of the range; the "
                    f"expected error there falls from {min(self.motion.now, 9.99):.1%} to about "
                    f"{min(self.motion.after, 9.99):.1%} ({excite})"
                )
            case NextStep.VALIDATE:
                return "validate the model on another motion"
        return ""


class JointVerdict(NamedTuple):
    """One joint."""

    level: Level
    reason: str

    @property
    def word(self) -> str:
        """`level` as a word."""
        return str(Level(self.level))


class Verdict(NamedTuple):
    """Whether to use a model."""

    level: Level
    joints: tuple[JointVerdict, ...]
    reasons: tuple[str, ...]
    step: Step = Step()

    @property
    def word(self) -> str:
        """`level` as a word."""
        return str(Level(self.level))

    @property
    def next_step(self) -> str:
        """The one thing to do next, in words; empty where there is none."""
        return self.step.text()

    def __str__(self) -> str:
        lines = [f"{self.word[0].upper()}{self.word[1:]}" + (f": {'; '.join(self.reasons)}" if self.reasons else ".")]
        bad = [(j + 1, joint) for j, joint in enumerate(self.joints) if joint.level != Level.GOOD]
        lines += [f"joint {number} is {joint.word}: {joint.reason}" for number, joint in bad]
        return "\n".join([*lines, f"Next: {self.next_step}"] if self.next_step else lines)


NOT_JUDGED = Verdict(Level.CARE, (), ("not judged",))


class Figures(NamedTuple):
    """Figures on which a verdict depends."""

    names: tuple[str, ...]  # of the joints
    expected: float  # error to expect on new motion; nan where nothing could be held out
    joint_errors: NDArray  # (n,) held-out errors of the joints, or those on the validation log where these are larger
    torque: NDArray  # (n,) rms torques
    undetermined: tuple[str, ...]  # parameters
    still: tuple[int, ...]  # joints that did not move
    findings: tuple[Finding, ...]
    seconds: float = np.inf  # of motion in all logs
    passes: float = np.inf  # through its range, reversals and one, of the joint with some torque that has fewest
    motion: NextMotion | None = None  # that would be worth a log


def error_text(expected: float, bound: float) -> str:
    """Both in words: about 1.4 %, at most 4.2 %."""
    about = f"about {min(expected, 9.99):.1%}"
    return about if np.isnan(bound) else f"{about}, at most {min(max(bound, expected), 9.99):.1%}"


def expected_reason(expected: float) -> str:
    """The expected error, as the reason of a verdict."""
    return f"the expected torque error on a new motion is {min(expected, 9.99):.0%}"


def judge(figures: Figures) -> Verdict:
    """The verdict by the rules above."""
    findings = (*figures.findings, *_coverage(figures))
    joints = tuple(_joint(figures, j) for j in range(len(figures.names)))
    expected = expected_reason(figures.expected)
    bad = [f.text for f in findings if f.level == "reject"]
    cautions = [f.text for f in findings if f.level == "warn"]
    if figures.expected >= NOT_USABLE_ERROR:
        bad.append(f"{expected}: another arm, other units, or torques that are not joint torques?")
    elif figures.expected > CAREFUL_ERROR:
        cautions.append(expected)
    level = Level.NOT_USABLE if bad else Level.CARE if cautions else Level.GOOD
    if bad:
        joints = tuple(
            JointVerdict(Level.NOT_USABLE, joint.reason or "the whole model is not usable") for joint in joints
        )
    return Verdict(level, joints, tuple(dict.fromkeys([*bad, *cautions])), _next_step(figures, joints, level))


def level_for(error: float, findings: Iterable[Finding]) -> Level:
    """The level of a model whose error on a log is known, by the same limits."""
    levels = {finding.level for finding in findings}
    if "reject" in levels or not error < NOT_USABLE_ERROR:
        return Level.NOT_USABLE
    return Level.CARE if "warn" in levels or error > CAREFUL_ERROR else Level.GOOD


def _silent(figures: Figures) -> set[int]:
    """Joints whose torques were not measured."""
    return {j for finding in figures.findings if finding.kind == FindingKind.NO_TORQUE for j in finding.joints}


def _coverage(figures: Figures) -> list[Finding]:
    """Findings about logs that support no statement about other motion."""
    unknown = {*figures.still, *_silent(figures)}
    moved = [error for j, error in enumerate(figures.joint_errors) if j not in unknown]
    if np.isnan(figures.expected):
        level = "reject" if figures.seconds < MIN_SECONDS else "warn"
        return [Finding(level, "the log is too short to hold out a part for validation", FindingKind.MOTION)]
    if moved and all(error > JOINT_NOT_USABLE_ERROR for error in moved):
        text = f"every joint that moved has a torque error of {JOINT_NOT_USABLE_ERROR:.0%} or more on held-out data"
        return [Finding("reject", text, FindingKind.MOTION)]
    if figures.seconds < MIN_SECONDS:
        text = f"only {figures.seconds:.2g} s of motion: the expected error is unreliable"
        return [Finding("warn", text, FindingKind.MOTION)]
    if figures.passes == 1:
        text = "a joint never reversed direction: the expected error is unreliable"
        return [Finding("warn", text, FindingKind.MOTION)]
    return []


def _joint(figures: Figures, j: int) -> JointVerdict:
    if j in figures.still:
        return JointVerdict(Level.NOT_USABLE, "it did not move")
    if j in _silent(figures):
        return JointVerdict(Level.NOT_USABLE, "its torque was not measured: its friction and rotor stay as described")
    error = figures.joint_errors[j] if j < len(figures.joint_errors) else np.nan
    small = figures.torque[j] < SMALL_SHARE * figures.torque.max()
    text = f"{min(float(error), 9.99):.0%} torque error on held-out data"
    if error > JOINT_NOT_USABLE_ERROR:
        return JointVerdict(
            Level.CARE if small else Level.NOT_USABLE, text + (", but its torque is small" if small else "")
        )
    if error > JOINT_CAREFUL_ERROR:
        return JointVerdict(Level.CARE, text)
    named = [f.text for f in figures.findings if j in f.joints and f.level != "note"]
    return JointVerdict(Level.CARE, named[0]) if named else JointVerdict(Level.GOOD, "")


def _next_step(figures: Figures, joints: tuple[JointVerdict, ...], level: Level) -> Step:
    def about(kind: NextStep, chosen: Iterable[int] = ()) -> Step:
        return Step(kind, tuple(f"{j + 1} '{figures.names[j]}'" for j in chosen), n=len(figures.names))

    for finding in figures.findings:
        if finding.level != "note" and finding.remedy:
            corrects = finding.correction is not None and np.isinf(finding.correction.until)
            return Step(NextStep.CORRECT if corrects else NextStep.ACT, finding=finding)
    if figures.still:
        return about(NextStep.MOVE, figures.still)
    if np.isnan(figures.expected) or figures.seconds < MIN_SECONDS:
        return about(NextStep.LONGER)
    if figures.passes == 1:
        return about(NextStep.REVERSALS)
    silent = _silent(figures)
    poor = [j for j, joint in enumerate(joints) if joint.level != Level.GOOD and j not in silent]
    if poor:
        return about(NextStep.FASTER, poor)
    if figures.undetermined and not silent:
        return about(NextStep.TOGETHER)
    if figures.motion is not None and figures.motion.after < (1 - WORTHWHILE_SHARE) * figures.motion.now:
        return about(NextStep.MORE, figures.motion.joints)._replace(motion=figures.motion)
    return about(NextStep.NONE if level == Level.GOOD else NextStep.VALIDATE)
