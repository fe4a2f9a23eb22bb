"""Hypotheses about the motion: times, zeros of joints, gravity, an arm that is led by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from armdyn.identification.fit.terms import OFFSET
from armdyn.identification.hypotheses.fault_test import FaultOutcome, FaultTest
from armdyn.identification.hypotheses.finding import Finding, FindingKind
from armdyn.identification.hypotheses.regression import SCREENED, ScreeningRegression
from armdyn.identification.hypotheses.screening import Hypothesis, LogVariant, ValueRange
from armdyn.identification.hypotheses.wording import delay_text, joint_numbers
from armdyn.identification.limits import MIN_REDUCTION, NOTABLE_RATIO
from armdyn.identification.logs.corrections import LogCorrection
from armdyn.identification.motion.track import BAND_HZ
from armdyn.numerals import STD_OF_95_PERCENT

DELAYS = np.arange(-8, 11) * 0.02  # s: tried, and refined between
TIME_SCALES = NOTABLE_RATIO ** np.array([-3, -2, -1, 1, 2, 3])  # tried, and refined between
TURNS = np.pi * np.array([0.5, -0.5, 1.0])  # rad, by which zeros differ between descriptions
ZERO, MAX_ZERO = 0.2, 0.6  # rad: tried, and the largest that is no turn


class Delay(Hypothesis):
    """Torques that were measured later than positions, or earlier."""

    kind, name = FindingKind.DELAY, "delay of torques"

    def variants(self, regression: ScreeningRegression) -> Iterator[LogVariant]:
        """Delays on a grid."""
        return (self.late(regression, float(delay)) for delay in DELAYS if delay)

    def late(self, regression: ScreeningRegression, delay: float) -> LogVariant:
        """Torques later by a delay [s]."""
        step = float(DELAYS[1] - DELAYS[0])
        return LogVariant(
            regression.later(delay), LogCorrection(delay=delay), (), delay,
            tolerated=abs(delay) * BAND_HZ < 1 / 4,  # of a period: the fit finds it
            values=ValueRange(lambda x: self.late(regression, x), delay - step, delay + step),
        )  # fmt: skip


def delay_finding(delay: float, reduction: float) -> Finding:
    """Torques that come later than positions, or earlier, by less than is screened for."""
    text = f"{delay_text(delay)} (if corrected, the error falls by {reduction:.0%})"
    return Finding("warn", text, FindingKind.DELAY, (), np.nan, reduction, LogCorrection(delay=delay), delay)


class TimeScale(Hypothesis):
    """Times at another pace: inertia is then out of proportion to gravity, by the square of it."""

    kind, name = FindingKind.TIME_SCALE, "time scale"

    def variants(self, regression: ScreeningRegression) -> Iterator[LogVariant]:
        """Factors of the times on a grid."""
        if np.abs(regression.static).max() > 1e-6 * np.abs(regression.design.rigid).max():
            yield from (self.slower(regression, float(scale)) for scale in TIME_SCALES)

    def slower(self, regression: ScreeningRegression, scale: float) -> LogVariant:
        """Times longer by a factor: velocities are less by it, accelerations by its square.

        Odd bodies explain inertia that is out of proportion as well: the error need not fall.
        """
        rigid = regression.static + (regression.design.rigid - regression.static) / scale**2
        step = float(np.sqrt(TIME_SCALES[1] / TIME_SCALES[0]))
        return LogVariant(
            regression.design._replace(rigid=rigid), LogCorrection(time_scale=scale), (), scale,
            tolerated=max(scale, 1 / scale) < NOTABLE_RATIO, min_reduction=-MIN_REDUCTION,
            values=ValueRange(lambda x: self.slower(regression, x), scale / step, scale * step),
        )  # fmt: skip


class Zero(Hypothesis):
    """Zeros of joints: a little off, or by a quarter or half turn; as many radians change torques by that share."""

    kind, name = FindingKind.ZERO, "zeros of joints"

    def variants(self, regression: ScreeningRegression) -> Iterator[LogVariant]:
        """Every joint that turns, either way."""
        for j, joint in enumerate(regression.arm.coordinate_joints):
            if joint.kind == "revolute":
                for off in (ZERO, -ZERO, *TURNS):
                    yield self.off(regression, j, float(off))

    def off(self, regression: ScreeningRegression, j: int, off: float) -> LogVariant:
        """Positions of a joint that are too large by an angle."""
        zero = off * (np.arange(regression.n) == j)
        design = regression.moved(regression.motion._replace(q=regression.motion.q - zero))
        low, high = sorted((np.sign(off) * MIN_REDUCTION / 2, np.sign(off) * MAX_ZERO))
        near = ValueRange(lambda x: self.off(regression, j, x), low, high)
        return LogVariant(
            design, LogCorrection(zero=zero), (j,), off, tolerated=abs(off) < MIN_REDUCTION,
            values=near if abs(off) < MAX_ZERO else None,
        )  # fmt: skip


class Gravity(Hypothesis):
    """Gravity subtracted from the torques, or an arm that hangs, or is mounted on a wall."""

    kind, name = FindingKind.GRAVITY, "gravity"

    def variants(self, regression: ScreeningRegression) -> Iterator[LogVariant]:
        """No gravity, and gravity along every axis of the base.

        Links without weight explain torques without gravity as well: there the error need not fall.
        """
        gravity = np.asarray(regression.arm.gravity)
        size = float(np.linalg.norm(gravity))
        for axis in [np.zeros(3), *np.eye(3), *-np.eye(3)] if size else ():
            if axis @ gravity < 0.9 * size:
                yield LogVariant(
                    regression.under_gravity(size * axis),
                    LogCorrection(gravity=tuple(size * axis + 0.0)), (), float(axis @ gravity) / size, level="reject",
                    min_reduction=MIN_REDUCTION if axis.any() else -MIN_REDUCTION,
                )  # fmt: skip


class LedByHand(Hypothesis):
    """Torques that positions alone explain: no inertia and no friction are in them, though joints accelerate."""

    kind, name = FindingKind.LED_BY_HAND, "leading by hand"

    def variants(self, regression: ScreeningRegression) -> Iterator[LogVariant]:
        """Statics and offsets alone."""
        if np.abs(regression.static).max() > 1e-6 * np.abs(regression.design.rigid).max():
            terms = regression.terms * (np.array(SCREENED) == OFFSET)
            design = regression.design._replace(rigid=regression.static, terms=terms)
            yield LogVariant(design)


def bound_zeros(regression: ScreeningRegression, test: FaultTest) -> FaultTest:
    """Bound how far zeros of the joints may be off that the test decides for, as far as the motion shows them."""
    q, x = regression.motion.q, regression.model.parameters[: regression.base.count]
    slopes = []
    for j in test.joints:
        h = 1e-3 * (np.arange(regression.n) == j)
        change = [regression.rigid(regression.motion._replace(q=q + side * h)) @ x for side in (1, -1)]
        slopes.append((change[0] - change[1]) / 2e-3)
    if not slopes:
        return test
    values, _, std = regression.model.added(np.stack(slopes, axis=2))
    bounds = np.abs(values) + STD_OF_95_PERCENT * std
    joints, others = ([j for j, b in zip(test.joints, bounds, strict=True) if (b < 1) == shows] for shows in (1, 0))
    outcome = test.outcome if joints else FaultOutcome.UNDECIDED
    undecided = tuple(sorted({*test.undecided, *others}))
    return replace(
        test, outcome=outcome, joints=tuple(joints), undecided=undecided, bounds=tuple(bounds[bounds < 1].tolist())
    )


def zero_note(test: FaultTest) -> Iterator[Finding]:
    """State how far zeros of joints are right."""
    sizes = zip(test.joints, test.bounds, strict=True)
    bounds = ", ".join(f"±{off:.2g} rad (joint {j + 1})" for j, off in sizes)
    parts = [f"joint zeros checked to {bounds}"] if bounds else []
    if test.undecided:
        parts.append(f"this motion cannot check the zeros of joints {joint_numbers(test.undecided)}")
    if parts:
        yield Finding("note", "; ".join(parts), FindingKind.ZERO)
