"""Whether to use an identified model: as a whole and per joint, in one of three words, with reasons and a next step.

The rules, in the order in which they are looked at:

* not usable: the held-out error of the model as it is written is above 30 %, or that of every joint that moved above
  50 %; a finding makes it meaningless; the motion is too short to hold any of it out (about 4 s); or torques are
  clipped and the error to expect on new motion (`Fit.stated`) is above 30 %, if the logs are a base for that statement:
  good ones that are short or poor often do better than it says;
* usable with care: that error, or the one to expect on new motion, is above 10 %; a finding warns;
  physical consistency raises the error of held-out blocks by half or more; poses are too few to hold some out; or the
  logs are no base for a statement about other motion: less than 8 s, or a joint with some torque that never turned
  back;
* good: all else. The error on another motion should then be within 1.5 of the stated one; docs/robots.md has the part
  of synthetic arms for which it was.

A joint that is not usable neither warns of the others nor makes the whole not usable; of a model that is not, no joint
is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.fit.next_motion import NextMotion
from armdyn.identification.hypotheses.finding import Finding

WORDS = ("good", "usable with care", "not usable")
NOT_USABLE_ERROR = 0.3  # held-out error of the whole
CAREFUL_ERROR = 0.1  # error on new motion to be careful with
JOINT_CAREFUL_ERROR, JOINT_NOT_USABLE_ERROR = 0.2, 0.5  # held-out error of a joint
SMALL_TORQUE = 0.02  # torque of a joint relative to the largest, below which its error does not count against the whole
NEGLIGIBLE_ERROR = 0.02  # error of the whole that is no concern, however much smaller it could be
WORTHWHILE_RATIO = 0.75  # share of the error in the arm's range that another log must leave at most to be worth it
CONSISTENCY_COST = 0.5  # share by which consistency may raise the held-out error
LEAST_SECONDS = 8.0  # of motion, below which other motion is unknown
LEAST_PASSES = 2.0  # of each joint through its range, likewise


class JointVerdict(NamedTuple):
    """One joint."""

    word: str
    reason: str


class Verdict(NamedTuple):
    """Whether to use a model."""

    word: str  # one of WORDS
    joints: tuple[JointVerdict, ...]
    reasons: tuple[str, ...]
    next_step: str

    def __str__(self) -> str:
        lines = [f"{self.word[0].upper()}{self.word[1:]}" + (f": {'; '.join(self.reasons)}" if self.reasons else ".")]
        bad = [(j + 1, joint) for j, joint in enumerate(self.joints) if joint.word != WORDS[0]]
        lines += [f"joint {number} is {joint.word}: {joint.reason}" for number, joint in bad]
        return "\n".join([*lines, f"Next: {self.next_step}"] if self.next_step else lines)


NOT_JUDGED = Verdict(WORDS[1], (), ("not judged",), "")


class Figures(NamedTuple):
    """What a verdict depends on."""

    names: tuple[str, ...]  # of the joints
    held_out: float  # error of the model as it is written on data it has not seen; nan where there were none
    held_out_joints: NDArray  # (n,) likewise
    torque: NDArray  # (n,) rms torques
    cost: float  # by which consistency raises the held-out error, relatively
    undetermined: tuple[str, ...]  # parameters
    still: tuple[int, ...]  # joints that did not move
    findings: tuple[Finding, ...]
    stated: float = np.nan  # error to expect on new motion
    seconds: float = np.inf  # of motion in all logs
    passes: float = np.inf  # through its range, of the joint with some torque that went through it least often
    motion: NextMotion | None = None  # that would be worth a log


def judge(figures: Figures) -> Verdict:
    """The verdict by the rules above."""
    joints = tuple(_joint(figures, j) for j in range(len(figures.names)))
    bad = [f.text for f in figures.findings if f.level == "reject"]
    cautions = [f.text for f in figures.findings if f.level == "warn"]
    error = figures.held_out
    if error > NOT_USABLE_ERROR:
        bad.append(
            f"{min(error, 9.99):.0%} of the torque is unexplained on data not fitted to: another arm, other units, or "
            "torques that are not joint torques?"
        )
    elif _no_joint_is_explained(figures):
        bad.append(
            f"{JOINT_NOT_USABLE_ERROR:.0%} or more of the torque of every joint that moved is unexplained on data not "
            "fitted to"
        )
    elif figures.stated > NOT_USABLE_ERROR and _clipped(figures) and not _unseen(figures):
        bad.append(_expected(figures))
    elif error > CAREFUL_ERROR:
        cautions.append(f"{error:.0%} of the torque is unexplained on data not fitted to")
    elif np.isnan(error):
        (bad if figures.seconds < LEAST_SECONDS else cautions).append("the log is too short to hold data out")
    elif figures.stated > CAREFUL_ERROR:
        cautions.append(_expected(figures))
    cautions += _unseen(figures)
    if figures.cost > CONSISTENCY_COST and error > NEGLIGIBLE_ERROR:
        cautions.append(
            f"consistent bodies have {figures.cost:.0%} more error on held-out data than free parameters: drives with "
            "rotors, springs or balancers, wrong mass bounds, or another arm?"
        )
    word = WORDS[2] if bad else WORDS[1] if cautions else WORDS[0]
    if bad:
        joints = tuple(JointVerdict(WORDS[2], joint.reason or "the model as a whole is not") for joint in joints)
    return Verdict(word, joints, tuple(dict.fromkeys([*bad, *cautions])), _next_step(figures, joints, word))


def word_for(error: float, findings: Iterable[Finding]) -> str:
    """The word for a model whose error on a log is known, by the same limits."""
    levels = {finding.level for finding in findings}
    if "reject" in levels or not error <= NOT_USABLE_ERROR:
        return WORDS[2]
    return WORDS[1] if "warn" in levels or error > CAREFUL_ERROR else WORDS[0]


def _no_joint_is_explained(figures: Figures) -> bool:
    """Whether only weights of joints that stood still are explained."""
    moved = [error for j, error in enumerate(figures.held_out_joints) if j not in figures.still]
    return bool(moved) and all(error > JOINT_NOT_USABLE_ERROR for error in moved)


def _clipped(figures: Figures) -> bool:
    return any(f.kind == "saturation" and f.level == "warn" for f in figures.findings)


def _expected(figures: Figures) -> str:
    return f"on new motion {min(figures.stated, 9.99):.0%} of the torque may be unexplained"


def _unseen(figures: Figures) -> list[str]:
    """Why the logs say little about other motion."""
    if figures.seconds < LEAST_SECONDS:
        return [f"{figures.seconds:.2g} s of motion say little about other motion"]
    if figures.passes < LEAST_PASSES:
        return ["some joint never turned back: the error on other motion is not known"]
    return []


def _joint(figures: Figures, j: int) -> JointVerdict:
    if j in figures.still:
        return JointVerdict(WORDS[2], "it did not move")
    error = figures.held_out_joints[j] if j < len(figures.held_out_joints) else np.nan
    small = figures.torque[j] < SMALL_TORQUE * figures.torque.max()
    told = f"{min(float(error), 9.99):.0%} of its torque is unexplained on data not fitted to"
    if error > JOINT_NOT_USABLE_ERROR:
        return JointVerdict(WORDS[2] if not small else WORDS[1], told + (", which is small" if small else ""))
    if error > JOINT_CAREFUL_ERROR:
        return JointVerdict(WORDS[1], told)
    named = [f.text for f in figures.findings if j in f.joints and f.level != "note"]
    return JointVerdict(WORDS[1], named[0]) if named else JointVerdict(WORDS[0], "")


def _next_step(figures: Figures, joints: tuple[JointVerdict, ...], word: str) -> str:
    remedies = [f.remedy for f in figures.findings if f.remedy and f.level != "note"]
    if remedies:
        return f"identify again with {remedies[0]}" if remedies[0].startswith("--") else remedies[0]
    if figures.still:
        return f"log a motion of {_list(figures, figures.still)}, which did not move"
    if np.isnan(figures.held_out) or figures.seconds < LEAST_SECONDS:
        return "log at least 10 s of motion of all joints"
    if figures.passes < LEAST_PASSES:
        return "log a motion in which every joint turns back several times (armdyn excite designs one)"
    poor = [j for j, joint in enumerate(joints) if joint.word != WORDS[0]]
    if poor:
        return f"log faster motion of {_list(figures, poor)} with many reversals (armdyn excite designs one)"
    if figures.undetermined:
        return "log a motion that excites all joints together (armdyn excite designs one)"
    if figures.motion is not None and figures.motion.after < WORTHWHILE_RATIO * figures.motion.now:
        return _log_more(figures, figures.motion)
    return "" if word == WORDS[0] else "validate the model on another motion"


def _log_more(figures: Figures, motion: NextMotion) -> str:
    """The motion to log, and what it would change."""
    every = len(motion.joints) == len(figures.names)
    who = "all joints go" if every else f"{_list(figures, motion.joints)} goes"
    return (
        f"log {motion.seconds:.0f} s more in which {who} through half of the range or more: the error to expect there "
        f"would fall from {min(motion.now, 9.99):.1%} to about {min(motion.after, 9.99):.1%} (armdyn excite --given "
        "designs such a motion)"
    )


def _list(figures: Figures, joints: Iterable[int]) -> str:
    named = [f"{j + 1} '{figures.names[j]}'" for j in joints]
    return f"joint{'s' if len(named) > 1 else ''} {', '.join(named)}"
