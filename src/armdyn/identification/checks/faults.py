"""Faults that leave a log readable and spoil the model: found by trying what would explain the torques better.

Every rule asks for a gain of log-likelihood that chance does not give, and for an error that falls by an amount that
matters. The thresholds were set on the real logs of `benchmarks/robots.py` and a few of its synthetic arms; rates of
false alarms on arms beyond these are not known yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.newton_euler import inverse_dynamics
from armdyn.identification.checks.finding import Finding, named
from armdyn.identification.checks.trial import Added, Trial
from armdyn.model.arm import Arm

DELAYS = (-0.15, -0.1, -0.05, 0.05, 0.07, 0.1, 0.15, 0.2)  # s
LATE = 0.05  # s: shorter ones are common, and cost little
PACES = (-1.0, 0.0625, 0.125, 0.25, 0.5, 2.0, 4.0, 8.0, 16.0)  # factors of gravity: squares of the clock's
PACE = 3.3  # from which on it means that the clock is wrong
ZERO = 0.1  # rad
STEPS = np.arange(0.15, 0.86, 0.05)  # where in a piece an offset may change
SCALE = 0.25  # by which a torque is out of proportion


class Rule(NamedTuple):
    """What an alternative must gain to be told: log-likelihood, and share of the error."""

    gain: float
    fall: float


DELAY, CLOCK, STEP, AMPERES, ZEROS = Rule(30, 0.05), Rule(12, 0.03), Rule(15, 0.03), Rule(12, 0.0), Rule(15, 0.08)
REJECTED = Rule(40, 0.15)  # from which on a clock is certainly wrong


def find_faults(trial: Trial) -> list[Finding]:
    """Late torques, clocks, zeros, offsets that change, and torques out of proportion."""
    found: list[Finding] = []
    for check in (late, clock, step, proportion, zeros):
        found += check(trial)
    return found


def late(trial: Trial) -> Iterator[Finding]:
    """Torques that were measured later than positions, or earlier."""
    best, gain, fall = 0.0, 0.0, 0.0
    for delay in DELAYS:
        residual = trial.fitted(trial.columns, trial.shifted(delay), 2).residual
        if (found := trial.gain(residual)) > gain:
            best, gain, fall = delay, found, trial.fall(residual)
    if abs(best) >= LATE and gain > DELAY.gain and fall > DELAY.fall:
        said = "later" if best > 0 else "earlier"
        text = (
            f"torques come about {abs(best) * 1e3:.0f} ms {said} than positions: mended, the error would fall by "
            f"{fall:.0%}; shift them by {-best:+.3g} s"
        )
        yield Finding("warn", text, "delay", (), gain, fall, f"shift torques by {-best:+.3g} s", best)


def clock(trial: Trial) -> Iterator[Finding]:
    """Times at another pace: then inertia is out of proportion to gravity, by the square of it; or gravity reversed."""
    still = trial.rigid(lambda q, qd, qdd: (q, 0 * qd, 0 * qdd))
    if np.abs(still).max() < 1e-6 * np.abs(trial.columns).max():
        return
    rigid = trial.columns[:, :, : still.shape[2]]
    best, gain, fall = 1.0, 0.0, 0.0
    for pace in PACES:
        residual = trial.fitted(trial.with_own(rigid + (pace - 1) * still), trial.tau, 2).residual
        if (found := trial.gain(residual)) > gain:
            best, gain, fall = pace, found, trial.fall(residual)
    if best < 0 and gain > REJECTED.gain and fall > REJECTED.fall:
        text = f"gravity the other way would explain the torques far better (error {fall:.0%} less): does the arm hang?"
        yield Finding("refuse", text, "gravity", (), gain, fall, "give the arm's gravity as it is mounted", best)
    elif max(best, 1 / best) >= PACE and gain > CLOCK.gain and fall > CLOCK.fall:
        factor = np.sqrt(best)
        sure = gain > REJECTED.gain and fall > REJECTED.fall
        text = (
            f"the motion would fit the torques if it were {_times(factor)} (error {fall:.0%} less): times or "
            "stamps at another pace?"
        )
        yield Finding("refuse" if sure else "warn", text, "clock", (), gain, fall, "correct the times", factor)


def _times(factor: float) -> str:
    return f"{factor:.2g} times as slow" if factor > 1 else f"{1 / factor:.2g} times as fast"


def step(trial: Trial) -> Iterator[Finding]:
    """An offset of a torque that changes on the way."""
    marks = [(k, share) for k in range(len(trial.parts)) for share in STEPS]
    after = np.zeros((len(trial.tau), len(marks)))
    for column, (piece, share) in enumerate(marks):
        own = np.flatnonzero(trial.piece == piece)
        after[own[int(share * len(own)) :], column] = 1.0
    for j in range(trial.n):
        C = np.zeros((len(trial.tau), trial.n, len(marks)))
        C[:, j] = after
        P = trial.projected(C)
        values, precisions = trial.values(C, P)
        k = int(np.argmax(values**2 * precisions))
        found = trial.added(C[:, :, k : k + 1], P[:, :, k : k + 1])[0]
        own_fall = 1 - np.sqrt(np.mean(found.residual[:, j] ** 2) / max(np.mean(trial.fit.residual[:, j] ** 2), 1e-300))
        if found.gain > STEP.gain and own_fall > 0.14 and found.fall > STEP.fall:
            piece, share = marks[k]
            t = trial.parts[piece].t
            text = (
                f"the torque of {named(trial.arm, j)} changes by {found.value:.3g} about "
                f"{t[int(share * len(t))]:.3g} s: without, the error would be {found.fall:.0%} "
                f"less; a load was taken, or the sensor's zero moved?"
            )
            yield Finding(
                "warn", text, "step", (j,), found.gain, found.fall, "use the log before or after", found.value
            )


def proportion(trial: Trial) -> Iterator[Finding]:
    """Torques that are not in proportion to one another, as amperes of unlike drives are not.

    Drives that move several joints are left alone: their rotors and friction act on joints that the trial does not
    tie together.
    """
    if trial.arm.coupling is not None:
        return
    rigid = trial.columns[:, :, : trial.base.count] @ trial.fit.x[: trial.base.count]
    found = trial.added(rigid[:, :, None] * np.eye(trial.n))
    wrong = [(a, j) for j, a in enumerate(found) if abs(a.value) > SCALE and a.gain > AMPERES.gain]
    if wrong:
        a, j = max(wrong, key=lambda pair: pair[0].gain)
        text = (
            f"the torque of {named(trial.arm, j)} is out of proportion to the others (by {a.value:+.0%}): amperes, "
            "unlike drive gains, or joints that share a drive?"
        )
        yield Finding("warn", text, "amperes", (j,), a.gain, a.fall, "--drive-gain", a.value)


def zeros(trial: Trial) -> Iterator[Finding]:
    """Zeros of joints: none is more than a tenth of a radian off, or it is told."""
    arm = trial.arm.with_theta(trial.base.expand(trial.fit.x[: trial.base.count])[: trial.arm.theta.size])
    turning = [j for j, joint in enumerate(arm.joints) if joint.kind == "revolute"]
    if not turning:
        return
    found = trial.added(np.stack([_slope(trial, arm, j) for j in turning], axis=2))
    best = max(range(len(turning)), key=lambda k: found[k].gain)
    if found[best].gain > 0.5 * ZEROS.gain:
        j = turning[best]
        off, gain, fall = _refined(trial, j, found[best])
        shift = ",".join(f"{-off:.3g}" if k == j else "0" for k in range(arm.n))
        if abs(off) > ZERO and gain > ZEROS.gain and fall > ZEROS.fall:
            text = (
                f"the zero of {named(arm, j)} seems {abs(off):.2g} rad off: with {-off:+.2g} rad added to its "
                f"positions the error would be {fall:.0%} less; try --offset {shift}"
            )
            yield Finding("warn", text, "zero", (j,), gain, fall, f"--offset {shift}", off)
            return
    checked = {j: a.std for j, a in zip(turning, found, strict=True)}
    words = [f"{j + 1}: +- {std:.2g} rad" if std < 1 else f"{j + 1}: not at all" for j, std in checked.items()]
    yield Finding("note", f"zeros of joints checked to {', '.join(words)}", "zero")


def _slope(trial: Trial, arm: Arm, j: int, h: float = 1e-3) -> NDArray:
    """By how much torques (N, n) change a radian of the joint's zero."""
    e = h * (np.arange(arm.n) == j)

    def change(p: Iterable[NDArray] | object) -> NDArray:
        q, qd, qdd = p.q, p.qd, p.qdd  # type: ignore[union-attr]
        return (inverse_dynamics(arm, q + e, qd, qdd) - inverse_dynamics(arm, q - e, qd, qdd)) / (2 * h)

    return trial.along(change)


def _refined(trial: Trial, j: int, first: Added) -> tuple[float, float, float]:
    """How far the joint's positions are off, with the gain and the fall of the error: links are fitted anew."""
    e = (np.arange(trial.n) == j).astype(float)

    def residual(off: float) -> NDArray:
        rigid = trial.rigid(lambda q, qd, qdd: (q - off * e, qd, qdd))
        return trial.fitted(trial.with_own(rigid), trial.tau, 2).residual

    tried: dict[float, NDArray] = {}
    side = -np.sign(first.value)
    for off in (0.1, 0.2, 0.35):
        tried[side * off] = residual(side * off)
    best = min(tried, key=lambda off: float(np.sum((tried[off] * trial.fit.weights) ** 2)))
    return best, trial.gain(tried[best]), trial.fall(tried[best])
