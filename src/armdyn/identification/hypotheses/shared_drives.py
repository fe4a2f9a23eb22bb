"""Drives that move two joints, found in logs: friction of such a drive acts at the speed of its shaft, on both.

For neighbours i and j = i + 1 the drive of j may turn with q_j + q_i or q_j - q_i. A model with that shaft has as many
parameters as one without, so that it gains likelihood only where it is right. Where all joints move at once, as in few
moves from point to point, much explains much: blocks that were held out must be predicted better as well.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.hypotheses.check import PreparedLogs
from armdyn.identification.hypotheses.finding import Finding, FindingKind
from armdyn.identification.hypotheses.trial import (
    OWN_COLUMNS,
    Fitted,
    ScreeningSystem,
    Trial,
    own_columns,
    sizes,
    squares,
    torques,
)
from armdyn.identification.logs.corrections import LogCorrection
from armdyn.model.coupling import describe_coupling

LEAST_GAIN = 15.0  # log-likelihood that a shaft must gain in the place of the joint's own
LEAST_FALL = 0.5  # share by which the error of one of the two joints must fall
HELD_OUT_FALL = 0.3  # the same on held-out blocks
TOLERATED_RISE = 0.04  # share by which that of the other, and of all together, may rise
LEAST_FRICTION = 0.1  # friction of the shaft relative to the torque of its joint
FRICTION_COLUMNS = [0, 1, 4]  # of a drive's own columns: velocity, direction, arctangent
BLOCKS = 5  # that are held out in turn


class Shared:
    """The model of a trial in which the drive of joint `outer` turns with its neighbour, too: q_outer +- q_inner."""

    def __init__(self, trial: Trial, outer: int, side: float, drive_columns: NDArray) -> None:
        self.trial, self.pair, self.side = trial, [outer - 1, outer], side
        self.drive_columns = drive_columns  # (N, OWN) what the drive adds
        self.text = f"{outer}+{outer + 1}" if side > 0 else f"{outer + 1}-{outer}"

    @cached_property
    def equations(self) -> tuple[NDArray, NDArray]:
        """Columns (N, n, c + OWN) and torques (N, n) of the shafts: the neighbour's carries less."""
        (inner, outer), count = self.pair, self.trial.base.count
        A, tau = self.trial.columns.copy(), self.trial.tau.copy()
        A[:, inner, :count] -= self.side * A[:, outer, :count]
        A[:, outer, count:] = self.drive_columns
        tau[:, inner] -= self.side * tau[:, outer]
        return A, tau

    def at_joints(self, tau: NDArray) -> NDArray:
        """Torques (N, n) of the joints from those of the shafts."""
        (inner, outer), torques = self.pair, tau.copy()
        torques[:, inner] += self.side * tau[:, outer]
        return torques

    @cached_property
    def fit(self) -> Fitted:
        """With what is left at the joints."""
        A, tau = self.equations
        grams = self.trial.sums(self.trial.columns, self.trial.tau).grams.copy()
        grams[self.pair] = ScreeningSystem.of(A[:, self.pair], tau[:, self.pair]).grams
        fit = self.trial.fitted(A, tau, system=ScreeningSystem(grams, len(tau)))
        return fit._replace(residual=self.at_joints(fit.residual))

    @cached_property
    def gain(self) -> float:
        """Log-likelihood gain; none where friction of the shaft would drive, or is small."""
        first = self.trial.base.count + OWN_COLUMNS * self.pair[1]
        x = self.fit.x[first : first + OWN_COLUMNS]
        friction = self.drive_columns[:, FRICTION_COLUMNS] @ x[FRICTION_COLUMNS]
        small = np.sqrt(np.mean(friction**2)) < LEAST_FRICTION * self.trial.sizes[self.pair[1]]
        return (
            0.0
            if small or x[1] <= 0 or friction @ self.drive_columns[:, 0] <= 0
            else self.trial.gain(self.fit.residual)
        )

    def falls(self, before: NDArray, after: NDArray) -> NDArray:
        """Shares by which the errors of the two joints fall."""
        sizes = self.trial.sizes
        return np.asarray(1 - np.sqrt(squares(after, sizes) / squares(before, sizes)))[self.pair]


def find_shared_drive(prepared: PreparedLogs) -> Finding | None:
    """The drive of the logs that clearly moves two joints, if there is one and none is declared.

    Logs that are good for nothing show none; `check_log` says why.
    """
    if prepared.arm.coupling is not None:
        return None
    try:
        with np.errstate(all="ignore"):
            return shared_drive(prepared.trial) if prepared.trial.usable else None
    except np.linalg.LinAlgError:
        return None


def shared_drive(trial: Trial) -> Finding | None:
    """The pair of neighbours that share a drive, told by likelihood and by held-out blocks."""
    turning = [
        joint.kind == "revolute" and known
        for joint, known in zip(trial.arm.coordinate_joints, trial.measured, strict=True)
    ]
    pairs = [(j, side) for j in range(1, trial.n) if turning[j] and turning[j - 1] for side in (1.0, -1.0)]
    if not pairs:
        return None
    outer, sides = (np.array(column) for column in zip(*pairs, strict=True))
    drive_columns = trial.along(lambda p: own_columns(*(x[:, outer] + sides * x[:, outer - 1] for x in (p.qd, p.qdd))))
    tried = [Shared(trial, j, side, drive_columns[:, k]) for k, (j, side) in enumerate(pairs)]
    best = max(tried, key=lambda shared: shared.gain)
    if best.gain < LEAST_GAIN:
        return None
    before = held_out(trial, trial.columns, trial.tau)
    after = best.at_joints(held_out(trial, *best.equations))
    falls, fitted = best.falls(before, after), best.falls(trial.fit.residual, best.fit.residual)
    fall = float(1 - np.linalg.norm(after) / np.linalg.norm(before))
    if fitted.max() < LEAST_FALL or falls.max() < HELD_OUT_FALL or min(*fitted, *falls, fall) < -TOLERATED_RISE:
        return None
    joint = best.pair[int(np.argmax(falls))] + 1
    coupling_text = describe_coupling(trial.arm.with_coupling(best.text))[0]
    message = f"{coupling_text} (error of joint {joint} on held-out blocks {falls.max():.0%} less)"
    correction = LogCorrection(coupling=(best.text,))
    return Finding("note", message, FindingKind.COUPLING, tuple(best.pair), best.gain, fall, correction, best.side)


def held_out(trial: Trial, A: NDArray, tau: NDArray) -> NDArray:
    """Return the residuals (N, n) of blocks of the torques by the fits to all others."""
    block, left = np.arange(len(A)) * BLOCKS // len(A), np.empty_like(tau)
    systems = [ScreeningSystem.of(A[block == k], tau[block == k]) for k in range(BLOCKS)]
    grams = np.sum([system.grams for system in systems], axis=0)
    for k, system in enumerate(systems):
        rest = ScreeningSystem(grams - system.grams, len(A) - system.samples)
        x = trial.solved(rest, sizes(tau))[0]
        left[block == k] = tau[block == k] - torques(A[block == k], x[:, None])[:, :, 0]
    return left
