"""Drives that move two joints, found in logs: friction of such a drive acts at the speed of its shaft, on both.

For neighbours i and j = i + 1 the drive of j may turn with q_j + q_i or q_j - q_i. A model with that shaft has as many
parameters as one without, so that it gains likelihood only where it is right. Where all joints move at once, as in few
moves from point to point, much explains much: blocks that were held out must be predicted better as well.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.shafts import at_shafts, joint_torques, shaft_rows, shaft_torques
from armdyn.identification.checks.finding import Finding
from armdyn.identification.checks.trial import OWN, Fitted, Piece, System, Trial, own_columns, sizes, squares, torques
from armdyn.identification.logs.log import Log
from armdyn.identification.motion.track import Filters, choose_band, smooth_stretch
from armdyn.model.arm import Arm
from armdyn.model.coupling import told_coupling

GAIN = 15.0  # log-likelihood that a shaft must gain in the place of the joint's own
FALL, HELD_OUT_FALL = 0.5, 0.3  # share by which the error of one of the two joints must fall, also on held-out blocks
RISE = 0.04  # share by which that of the other, and of all together, may rise
SIZE = 0.1  # friction of the shaft relative to the torque of its joint
FRICTION = [0, 1, 4]  # of a drive's own columns: velocity, direction, arctangent
BLOCKS = 5  # that are held out in turn


class Shared:
    """The model of a trial in which the drive of joint `outer` turns with its neighbour, too."""

    def __init__(self, trial: Trial, outer: int, sign: str) -> None:
        self.trial, self.pair = trial, [outer - 1, outer]
        self.text = f"{outer}+{outer + 1}" if sign == "+" else f"{outer + 1}-{outer}"
        self.arm = trial.arm.with_coupling(self.text)
        self.own = trial.along(lambda p: own_columns(*(at_shafts(self.arm, x)[:, outer] for x in (p.qd, p.qdd))))

    @cached_property
    def equations(self) -> tuple[NDArray, NDArray]:
        """Columns (N, n, c + OWN) and torques (N, n) of the shafts."""
        own = self.trial.own.copy()
        own[:, self.pair[1]] = self.own
        rigid = self.trial.columns[:, :, : self.trial.base.count]
        return self.trial.with_own(shaft_rows(self.arm, rigid), own), shaft_torques(self.arm, self.trial.tau)

    @cached_property
    def fit(self) -> Fitted:
        """With what is left at the joints."""
        fit = self.trial.fitted(*self.equations)
        return fit._replace(residual=joint_torques(self.arm, fit.residual))

    @property
    def gain(self) -> float:
        """Of log-likelihood; none where friction of the shaft would drive, or is small."""
        first = self.trial.base.count + OWN * self.pair[1]
        x = self.fit.x[first : first + OWN]
        friction = self.own[:, FRICTION] @ x[FRICTION]
        small = np.sqrt(np.mean(friction**2)) < SIZE * self.trial.sizes[self.pair[1]]
        return 0.0 if small or x[1] <= 0 or friction @ self.own[:, 0] <= 0 else self.trial.gain(self.fit.residual)

    def falls(self, before: NDArray, after: NDArray) -> NDArray:
        """Shares by which the errors of the two joints fall."""
        sizes = self.trial.sizes
        return np.asarray(1 - np.sqrt(squares(after, sizes) / squares(before, sizes)))[self.pair]


def find_shared_drive(arm: Arm, logs: list[Log]) -> Finding | None:
    """The drive of the logs that clearly moves two joints, if there is one and none is declared.

    Logs that are good for nothing show none; `check_log` says why.
    """
    if arm.coupling is not None or any(log.n != arm.n for log in logs):
        return None
    try:
        with np.errstate(all="ignore"):
            trial = Trial(arm, _pieces(logs))
            return shared_drive(trial) if trial.usable else None
    except np.linalg.LinAlgError:
        return None


def _pieces(logs: list[Log]) -> list[Piece]:
    pieces: list[Piece] = []
    for log in (log for log in logs if log.stretches):
        filters = Filters(choose_band(log.stretches), None, "butterworth")
        pieces += [Piece(s.t, s.dt, smooth_stretch(s, filters), s.tau) for s in log.stretches]
    return pieces


def shared_drive(trial: Trial) -> Finding | None:
    """The pair of neighbours that share a drive, told by likelihood and by held-out blocks."""
    turning = [joint.kind == "revolute" for joint in trial.arm.joints]
    outer = [j for j in range(1, trial.n) if turning[j] and turning[j - 1]]
    tried = [Shared(trial, j, sign) for j in outer for sign in "+-"]
    best = max(tried, key=lambda shared: shared.gain, default=None)
    if best is None or best.gain < GAIN:
        return None
    before = held_out(trial, trial.columns, trial.tau)
    after = joint_torques(best.arm, held_out(trial, *best.equations))
    falls, fitted = best.falls(before, after), best.falls(trial.fit.residual, best.fit.residual)
    fall = float(1 - np.linalg.norm(after) / np.linalg.norm(before))
    if fitted.max() < FALL or falls.max() < HELD_OUT_FALL or min(*fitted, *falls, fall) < -RISE:
        return None
    joint = best.pair[int(np.argmax(falls))] + 1
    told = f"{told_coupling(best.arm)[0]} (error of joint {joint} on held-out blocks {falls.max():.0%} less)"
    sign = 1.0 if "+" in best.text else -1.0
    return Finding("note", told, "coupling", tuple(best.pair), best.gain, fall, f"--coupling {best.text}", sign)


def held_out(trial: Trial, A: NDArray, tau: NDArray) -> NDArray:
    """What is left (N, n) of blocks of the torques by the fits to all others."""
    block, left = np.arange(len(A)) * BLOCKS // len(A), np.empty_like(tau)
    systems = [System.of(A[block == k], tau[block == k]) for k in range(BLOCKS)]
    grams = np.sum([system.grams for system in systems], axis=0)
    for k, system in enumerate(systems):
        rest = System(grams - system.grams, len(A) - system.samples)
        x = trial.solved(rest, sizes(tau))[0]
        left[block == k] = tau[block == k] - torques(A[block == k], x[:, None])[:, :, 0]
    return left
