"""Faults that leave a log readable and spoil the model: found by trying what would explain the torques better.

Every rule asks for a gain of log-likelihood that chance does not give, and for an error that falls by an amount that
matters. The thresholds were set on the real logs of `benchmarks/robots.py` and on its synthetic arms of seeds 600 to
622 and 720 to 750.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.newton_euler import inverse_dynamics
from armdyn.identification.hypotheses.arrangement import REJECTED_ERROR, TURNS_RAD
from armdyn.identification.hypotheses.belief import EvidenceModel
from armdyn.identification.hypotheses.finding import Finding, FindingKind, joint_name
from armdyn.identification.hypotheses.trial import RIDGE, Trial, positions
from armdyn.identification.logs.corrections import LogCorrection
from armdyn.model.arm import Arm

DELAYS = (-0.15, -0.1, -0.06, 0.06, 0.08, 0.1, 0.13, 0.16, 0.2)  # s
SHORT_DELAYS = (-0.05, -0.03, -0.015, 0.015, 0.03, 0.04, 0.05)  # s: such ones are common, and the fit finds them
PACES = (-1.0, 0.0, 0.0625, 0.125, 0.25, 0.5, 2.0, 4.0, 8.0, 16.0)  # factors of gravity: squares of the clock's
CLOCK_FACTOR = 3.3  # from which on it means that the clock is wrong
DOUBLE_PACE_FACTOR = 4.0  # of inertia beside gravity, by a clock at double pace
ODD_BODIES_GAIN = 30.0  # log-likelihood by which the bodies of another clock are more probable
TOLERATED_FACTORS = (0.5, 2.0)  # factors that a poor model may prefer
LEAST_ZERO_RAD = 0.1  # rad: smaller ones are common, and cost little
ZEROS_TRIED_RAD = (0.1, 0.15, 0.2, 0.35)  # rad
ZEROS_BETWEEN_RAD = (0.05, 0.6)  # rad: the least and the largest that is told
ZERO_ACCURACY_RAD = 2e-3  # rad, to which one that is told is refined
STEP_PLACES = np.arange(0.15, 0.86, 0.05)  # where in a piece an offset may change
SCALE_FACTOR = 1.25  # factor by which torques are out of proportion
LED_GAIN, LED_RISE = 25.0, 0.1  # log evidence of statics alone, and rise of the error that they may cost
LOG_GAINS = np.log([0.6, 0.77, 1.3, 1.7])  # of one drive, tried
GAIN_STEP = 0.25  # between them
SINGLE_SHARE = 0.9  # of the error that gains of all joints would explain, that of one must
DRIVE_GAIN_EVIDENCE, LEAST_DRIVE_GAIN = 25.0, 1.1  # log evidence of a gain, and the least that is reported
TURN_EVIDENCE = 40.0  # log evidence of a zero that is a quarter or half turn off
SCALE_ROUNDS = 6  # in which factors of torques are found
SCALE_RIDGE = 1e-3  # share of a square that keeps them finite


class Rule(NamedTuple):
    """Smallest gains of an alternative to be reported: log-likelihood, and share of the error."""

    gain: float
    fall: float


DELAY, CLOCK, STEP, AMPERES, ZEROS = Rule(30, 0.15), Rule(20, 0.03), Rule(15, 0.1), Rule(25, 0.2), Rule(25, -1.0)
STEP_OWN_FALL = 0.14  # share of its joint's error that a step must explain
CERTAIN_CLOCK = Rule(40, 0.15)  # from which on a clock is certainly wrong


def find_faults(trial: Trial, belief: EvidenceModel) -> list[Finding]:
    """Late torques, clocks, zeros, offsets that change, and torques out of proportion."""
    rivals = [*clock(trial, belief), *gains(trial, belief), *zeros(trial, belief), *turns(trial, belief)]
    # One fault explains what another would: the one whose corrected log is most probable is reported.
    doubts = sorted((f for f in rivals if f.level != "note"), key=lambda f: -f.log_evidence)
    chosen = doubts[:1] or rivals
    return [*late(trial), *step(trial), *chosen]


def gains(trial: Trial, belief: EvidenceModel) -> list[Finding]:
    """Torques out of scale: that of one joint, if it explains nearly as much as gains of all joints would."""
    every, single = list(proportion(trial, belief)), list(drive_gain(trial, belief))
    alone = not every or (single and single[0].error_reduction > SINGLE_SHARE * every[0].error_reduction)
    return single if alone else every


def led_by_hand(trial: Trial, belief: EvidenceModel) -> Iterator[Finding]:
    """Torques that positions alone explain: no inertia and no friction are in them, though joints accelerate.

    Bodies that weigh something resist acceleration. The evidence of statics alone is compared with that of bodies
    whose weights and inertias belong together, and with friction.
    """
    still = trial.rigid(lambda q, qd, qdd: (q, 0 * qd, 0 * qdd))
    if np.abs(still).max() < 1e-6 * np.abs(trial.columns).max():
        return
    offsets = np.zeros_like(trial.joint_terms)
    offsets[:, :, 2] = trial.joint_terms[:, :, 2]  # offsets
    columns = trial.with_own(still, offsets)
    gain = belief.of(columns).logarithm - belief.now.logarithm
    residual = trial.fitted(columns, trial.tau, 2).residual
    rise = -trial.fall(residual)
    explained = np.linalg.norm(residual) < REJECTED_ERROR * np.linalg.norm(trial.tau)  # noise is not, by anything
    if explained and gain > LED_GAIN and rise < LED_RISE:
        text = (
            f"positions alone explain the torques, more probably than bodies and friction by a factor of e^{gain:.0f}, "
            "though joints accelerate: was the arm led by hand under gravity compensation, or are these computed "
            "gravity torques?"
        )
        hint = "log a motion that the drives make, with the torques that they exert"
        yield Finding("warn", text, FindingKind.LED_BY_HAND, (), gain, -rise, hint=hint)


def drive_gain(trial: Trial, belief: EvidenceModel) -> Iterator[Finding]:
    """The torque of one joint out of scale, told by bodies that others confirm: the described ones, if plausible."""
    if trial.arm.coupling is not None:
        return

    def gain(j: int, logarithm: float) -> float:
        factors = np.where(np.arange(trial.n) == j, np.exp(logarithm), 1.0)
        return float(belief.of_gains(factors).logarithm - belief.now.logarithm)

    tried = {(j, x): gain(j, x) for j in range(trial.n) for x in LOG_GAINS}
    j, x = max(tried, key=lambda key: tried[key])
    if tried[j, x] < DRIVE_GAIN_EVIDENCE:
        return
    from scipy.optimize import minimize_scalar

    ends = (x - GAIN_STEP, x + GAIN_STEP)
    optimum = minimize_scalar(lambda x: -gain(j, x), bounds=ends, method="bounded", options=dict(xatol=0.01))
    factor = float(np.exp(optimum.x))
    if max(factor, 1 / factor) < LEAST_DRIVE_GAIN:
        return
    factors = np.where(np.arange(trial.n) == j, factor, 1.0)
    fall = trial.fall(trial.fitted(trial.columns, trial.tau / factors, 2).residual * factors)
    correction = LogCorrection(drive_gain=tuple(1 / factors))
    text = (
        f"the torque of {joint_name(trial.arm, j)} seems {factor:.3g} times as large as the others say: divided by "
        f"that, the torques would be more probable by a factor of e^{-optimum.fun:.0f}; is the gain of its drive right?"
    )
    yield Finding("warn", text, FindingKind.GAIN, (j,), float(-optimum.fun), fall, correction, factor)


def late(trial: Trial) -> Iterator[Finding]:
    """Torques that were measured far later than positions, or earlier."""
    tried = {delay: _with_delay(trial, delay) for delay in DELAYS}
    best = max(DELAYS, key=lambda delay: tried[delay][0])
    gain, fall = tried[best]
    if gain < DELAY.gain or fall < DELAY.fall:
        return
    if gain > max(0.0, *(_with_delay(trial, delay)[0] for delay in SHORT_DELAYS)) + DELAY.gain:
        yield lateness(best, gain, fall)


def lateness(delay: float, gain: float, fall: float) -> Finding:
    """Return the finding that torques come later than positions, or earlier."""
    order = "later" if delay > 0 else "earlier"
    text = (
        f"torques come about {abs(delay) * 1e3:.0f} ms {order} than positions: corrected, the error would fall by "
        f"{fall:.0%}"
    )
    return Finding("warn", text, FindingKind.DELAY, (), gain, fall, LogCorrection(delay=delay), delay)


def _with_delay(trial: Trial, delay: float) -> tuple[float, float]:
    """Return the gain of torques that were measured so much later, and the fall of the error."""
    residual = trial.fitted(trial.columns, trial.shifted(delay), 2).residual
    return trial.gain(residual), trial.fall(residual)


def clock(trial: Trial, belief: EvidenceModel) -> Iterator[Finding]:
    """Times at another pace: then inertia is out of proportion to gravity, by the square of it; or gravity reversed.

    Where the torques do not tell, the bodies that they need may: those of a wrong pace are odd.
    """
    still = trial.rigid(lambda q, qd, qdd: (q, 0 * qd, 0 * qdd))
    if np.abs(still).max() < 1e-6 * np.abs(trial.columns).max():
        return
    rigid = trial.columns[:, :, : still.shape[2]]
    tried = {}
    for pace in PACES:
        residual = trial.fitted(trial.with_own(rigid + (pace - 1) * still), trial.tau, 2).residual
        tried[pace] = trial.gain(residual), trial.fall(residual)
    best = max(tried, key=lambda pace: tried[pace][0])
    gain, fall = tried[best]
    near = max(0.0, *(tried[pace][0] for pace in TOLERATED_FACTORS))
    sure = gain > CERTAIN_CLOCK.gain and fall > CERTAIN_CLOCK.fall
    evidence = belief.of(trial.with_own(rigid + (best - 1) * still)).logarithm - belief.now.logarithm if sure else gain
    if best == 0 and sure:
        text = f"torques without gravity would be explained far better (error {fall:.0%} less): was gravity subtracted?"
        none = LogCorrection(gravity=(0.0, 0.0, 0.0))
        yield Finding("reject", text, FindingKind.GRAVITY, (), evidence, fall, none, 0.0)
    elif best < 0 and sure:
        text = f"gravity the other way would explain the torques far better (error {fall:.0%} less): does the arm hang?"
        up = LogCorrection(gravity=tuple(0.0 - trial.arm.gravity))
        yield Finding("reject", text, FindingKind.GRAVITY, (), evidence, fall, up, best)
    elif best > 0 and max(best, 1 / best) >= CLOCK_FACTOR and gain > near + CLOCK.gain and fall > CLOCK.fall:
        text = (
            f"the motion would fit the torques if it were {_times(np.sqrt(best))} (error {fall:.0%} less): times or "
            "stamps at another pace?"
        )
        yield _time_scale("reject" if sure else "warn", text, evidence, fall, np.sqrt(best))
    else:
        odd = {
            pace: belief.of(trial.with_own(rigid + (pace - 1) * still)).logarithm
            for pace in (1 / DOUBLE_PACE_FACTOR, DOUBLE_PACE_FACTOR)
        }
        best = max(odd, key=lambda pace: odd[pace])
        gain = odd[best] - belief.now.logarithm
        if gain > ODD_BODIES_GAIN:
            text = (
                f"bodies would be more probable, by a factor of e^{gain:.0f}, if the motion were "
                f"{_times(np.sqrt(best))}: times or stamps at another pace?"
            )
            yield _time_scale("warn", text, gain, tried[best][1], np.sqrt(best))


def _time_scale(level: str, text: str, gain: float, fall: float, scale: float) -> Finding:
    return Finding(level, text, FindingKind.TIME_SCALE, (), gain, fall, LogCorrection(time_scale=float(scale)), scale)


def _times(factor: float) -> str:
    return f"{factor:.2g} times as slow" if factor > 1 else f"{1 / factor:.2g} times as fast"


def step(trial: Trial) -> Iterator[Finding]:
    """An offset of a torque that changes on the way."""
    marks = [(k, share) for k in range(len(trial.parts)) for share in STEP_PLACES]
    after = np.zeros((len(trial.tau), len(marks)))
    for column, (piece, share) in enumerate(marks):
        samples = np.flatnonzero(trial.piece == piece)
        after[samples[int(share * len(samples)) :], column] = 1.0
    for j in range(trial.n):
        C = np.zeros((len(trial.tau), trial.n, len(marks)))
        C[:, j] = after
        P = trial.projected(C)
        values, precisions = trial.values(C, P)
        k = int(np.argmax(values**2 * precisions))
        column_test = trial.added(C[:, :, k : k + 1], P[:, :, k : k + 1])[0]
        own_fall = 1 - np.sqrt(
            np.mean(column_test.residual[:, j] ** 2) / max(np.mean(trial.fit.residual[:, j] ** 2), 1e-300)
        )
        clear = column_test.gain > STEP.gain and own_fall > STEP_OWN_FALL and column_test.fall > STEP.fall
        if clear and column_test.gain - _sprung(trial, j) > STEP.gain:
            piece, share = marks[k]
            t = trial.parts[piece].t
            text = (
                f"the torque of {joint_name(trial.arm, j)} changes by {column_test.value:.3g} about "
                f"{t[int(share * len(t))]:.3g} s: without, the error would be {column_test.fall:.0%} "
                f"less; a load was taken, or the sensor's zero moved?"
            )
            first = next(part for part in trial.parts if part.log == trial.parts[piece].log)
            at = LogCorrection(until=float(t[int(share * len(t))] - first.t[0]))
            hint = "or use the log behind it"
            yield Finding(
                "warn", text, FindingKind.STEP, (j,), column_test.gain, column_test.fall, at, column_test.value, hint
            )


def _sprung(trial: Trial, j: int) -> float:
    """Return the likelihood gain of a spring of the joint: one that moves seldom and then stays looks as if its offset
    stepped.
    """
    C = np.zeros((len(trial.tau), trial.n, 1))
    C[:, j, 0] = trial.along(lambda part: part.q)[:, j]
    return max(trial.added(C)[0].gain, 0.0)


def proportion(trial: Trial, belief: EvidenceModel) -> Iterator[Finding]:
    """Torques that are not in proportion to one another, as amperes of unlike drives are not.

    Drives that move several joints are left alone: their rotors and friction act on joints that the trial does not
    tie together.
    """
    if trial.arm.coupling is not None:
        return
    factors = _factors(trial)
    residual = trial.fitted(trial.columns, trial.tau / factors, 2).residual * factors
    gain, fall = trial.gain(residual), trial.fall(residual)
    j = int(np.argmax(np.abs(np.log(factors))))
    if max(factors[j], 1 / factors[j]) > SCALE_FACTOR and gain > AMPERES.gain and fall > AMPERES.fall:
        gains_text = ", ".join(f"{factor:.2g}" for factor in factors)
        text = (
            f"torques are out of proportion to one another, most that of {joint_name(trial.arm, j)} (as if measured "
            f"with the gains {gains_text}; error {fall:.0%} less without): amperes, unlike drive gains, or joints that "
            "share a drive?"
        )
        correction = LogCorrection(drive_gain=tuple(1 / factors))
        evidence = float(belief.of_gains(factors).logarithm - belief.now.logarithm)
        yield Finding("warn", text, FindingKind.GAIN, (j,), evidence, fall, correction, float(factors[j]))


def _factors(trial: Trial) -> NDArray:
    """Return the factors by which torques (n,) must be divided to be those of one set of bodies; their geometric mean
    is 1.
    """
    system, count, n = trial.sums(trial.columns, trial.tau), trial.base.count, trial.n
    factors = np.ones(n)
    for _ in range(SCALE_ROUNDS):
        scaled = system.rescaled(factors)
        x, weights, _ = trial.solved(scaled, trial.sizes / factors, 2)
        G = scaled.normal(weights)[0]
        columns, squares = np.zeros((len(x), n)), np.zeros(n)  # of each joint's own rigid torque
        pull = np.zeros(n)
        for j, gram in enumerate(scaled.grams * weights[:, None, None] ** 2):
            products = gram[:, :count] @ x[:count]
            columns[positions(count, j), j] = products[:-1]
            squares[j], pull[j] = x[:count] @ products[:count], products[-1]
        length = np.sqrt(np.maximum(np.diag(G), 1e-9 * np.diag(G).max()))
        shares = np.linalg.solve(G / np.outer(length, length) + RIDGE * np.eye(len(G)), columns / length[:, None])
        left = np.diag(squares) - columns.T @ (shares / length[:, None])
        pull -= columns.T @ x
        by = np.linalg.solve(left + SCALE_RIDGE * np.diag(np.maximum(squares, 1e-12 * squares.max())), pull)
        factors = factors * np.clip(1 + by, 0.5, 2.0)
        factors /= np.exp(np.mean(np.log(factors)))
    return factors


def zeros(trial: Trial, belief: EvidenceModel) -> Iterator[Finding]:
    """Zeros of joints: none is more than a tenth of a radian off, or it is told."""
    turning = [j for j, joint in enumerate(trial.arm.coordinate_joints) if joint.kind == "revolute"]
    if not turning:
        return
    arm = trial.arm.with_theta(trial.base.expand(belief.now.x[: trial.base.count])[: trial.arm.theta.size])
    slopes = np.stack([_slope(trial, arm, j) for j in turning], axis=2)
    values, gains = belief.added(slopes)
    best = int(np.argmax(gains))
    if gains[best] > 0.5 * ZEROS.gain:
        j = turning[best]
        zero = _Zero(trial, belief, j)
        gain, off = max((zero.gain(off), off) for off in -np.sign(values[best]) * np.array(ZEROS_TRIED_RAD))
        fall = zero.fall(off)
        if abs(off) > LEAST_ZERO_RAD and gain > ZEROS.gain and fall > ZEROS.fall:
            off = zero.refined(off)
            correction = LogCorrection(zero=tuple(off * (np.arange(trial.n) == j)))
            text = (
                f"the zero of {joint_name(arm, j)} seems {abs(off):.2g} rad off: with {-off:+.2g} rad added to its "
                f"positions the torques would be more probable by a factor of e^{gain:.0f}"
            )
            yield Finding("warn", text, FindingKind.ZERO, (j,), gain, fall, correction, off)
            return
    stds = [added.std for added in trial.added(slopes)]
    checked = dict(zip(turning, np.abs(values) + 1.96 * np.array(stds), strict=True))
    bounds = [f"+- {most:.2g} rad (joint {j + 1})" for j, most in checked.items() if most < 1]
    unseen = [str(j + 1) for j, most in checked.items() if not most < 1]
    parts = [f"right to {', '.join(bounds)}"] if bounds else []
    parts += [f"not shown by this motion (joint {', '.join(unseen)})"] if unseen else []
    yield Finding("note", f"zeros of joints: {'; '.join(parts)}", FindingKind.ZERO)


def turns(trial: Trial, belief: EvidenceModel) -> Iterator[Finding]:
    """The zero of a joint a quarter or half turn off, where bodies make up for it and only their oddity tells."""
    turning = [j for j, joint in enumerate(trial.arm.coordinate_joints) if joint.kind == "revolute"]
    if not turning:
        return
    # Screened by columns without low-pass, which are made in no time.
    joint = np.arange(trial.n)
    screened = {(j, off): belief.of(trial.with_own(trial.sampled(off * (joint == j)))).logarithm
                for j in turning for off in TURNS_RAD}  # fmt: skip
    now = belief.of(trial.with_own(trial.sampled(0.0 * joint))).logarithm
    j, off = max(screened, key=lambda key: screened[key])
    if screened[j, off] - now < TURN_EVIDENCE / 2:
        return
    zero = _Zero(trial, belief, j)
    if (gain := zero.gain(off)) > TURN_EVIDENCE:
        fall = zero.fall(off)
        correction = LogCorrection(zero=tuple(off * (np.arange(trial.n) == j)))
        text = (
            f"the zero of {joint_name(trial.arm, j)} seems {np.degrees(off):+.0f} degrees off: corrected, the torques "
            f"would be more probable by a factor of e^{gain:.0f}; is it the zero that is described?"
        )
        yield Finding("warn", text, FindingKind.ZERO, (j,), gain, fall, correction, off)


def _slope(trial: Trial, arm: Arm, j: int) -> NDArray:
    """Return the change of torques (N, n) per radian of the joint's zero."""
    h = 1e-3
    e = h * (np.arange(arm.n) == j)
    return trial.along(
        lambda p: (inverse_dynamics(arm, p.q + e, p.qd, p.qdd) - inverse_dynamics(arm, p.q - e, p.qd, p.qdd)) / (2 * h)
    )


class _Zero(NamedTuple):
    """A joint's positions counted from another zero, with links fitted anew."""

    trial: Trial
    belief: EvidenceModel
    joint: int

    def columns(self, off: float) -> NDArray:
        """Return the columns of the trial with positions that are less by `off` [rad]."""
        e = off * (np.arange(self.trial.n) == self.joint)
        return self.trial.with_own(self.trial.rigid(lambda q, qd, qdd: (q - e, qd, qdd)))

    def gain(self, off: float) -> float:
        """Return the log-likelihood gain of this zero."""
        return float(self.belief.of(self.columns(off)).logarithm - self.belief.now.logarithm)

    def fall(self, off: float) -> float:
        """Return the relative error reduction of this zero."""
        return self.trial.fall(self.trial.fitted(self.columns(off), self.trial.tau, 2).residual)

    def refined(self, off: float) -> float:
        """The most probable zero between the neighbours of one of those tried."""
        from scipy.optimize import minimize_scalar

        side, grid = np.sign(off), (ZEROS_BETWEEN_RAD[0], *ZEROS_TRIED_RAD, ZEROS_BETWEEN_RAD[1])
        at = grid.index(abs(off))
        ends = sorted((side * grid[at - 1], side * grid[at + 1]))
        optimum = minimize_scalar(
            lambda x: -self.gain(x), bounds=ends, method="bounded", options=dict(xatol=ZERO_ACCURACY_RAD)
        )
        return float(optimum.x)
