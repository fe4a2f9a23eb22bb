"""Which torque belongs to which joint, with which sign, and whether gravity points where it should.

Where columns are exchanged, a sign is reversed or the arm hangs where it is said to stand, no bodies explain the
torques, but those of the right arrangement do: each is tried, without knowing any inertia.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.regressors.regressor import regressor
from armdyn.identification.checks.finding import Finding, named
from armdyn.identification.checks.trial import OWN, Trial, correlation_times, squares
from armdyn.model.arm import Arm

POOR = 0.15  # share of a torque's deviation left, from which on something may be wrong with it
GAIN, FALL = 25.0, 0.25  # of log-likelihood and of the error, by which another arrangement must be better
BETTER = 0.35  # fall of what the moved joints leave, where their torques are small beside others'
FOREIGN, DOUBTFUL = 0.5, 0.25  # share of all torques that no parameters explain
MOST_PAIRS = 10
DRIVING = 0.02  # work of friction over torque times speed, below zero by which it drives


class Tried(NamedTuple):
    """Another arrangement."""

    said: str
    kind: str
    joints: tuple[int, ...]
    gain: float
    fall: float
    own_fall: float  # of what the joints themselves leave
    remedy: str


def arrangement(trial: Trial) -> list[Finding]:
    """What speaks against the columns being what they are called."""
    if driven := list(_driven(trial)):
        return driven
    if not (trial.shares > POOR).any():
        return []
    tried = [*_signs(trial), *_exchanges(trial), *_gravities(trial)]
    good = [a for a in tried if a.gain > GAIN and (a.fall > FALL or (a.own_fall > BETTER and a.fall > 0.0))]
    if not good:
        return list(_foreign(trial))
    best = max(good, key=lambda a: a.gain)
    text = f"{best.said} explains the torques far better (error {best.fall:.0%} less): {_asked(best)}"
    return [Finding("refuse", text, best.kind, best.joints, best.gain, best.fall, best.remedy)]


def _asked(best: Tried) -> str:
    return {
        "sign": "sign of its torque or position reversed?",
        "exchange": "columns shuffled?",
        "gravity": "is the arm mounted as described?",
    }[best.kind]


def _driven(trial: Trial) -> Iterator[Finding]:
    """Joints that friction would drive, and would brake if their torques had the other sign.

    Friction is bounded to brake either way, for a fit that is as good with either sign proves nothing.
    """
    friction = trial.fit.x[-OWN * trial.n :].reshape(trial.n, OWN).copy()
    friction[:, [2, 3]] = 0.0  # offsets and rotors
    work = np.einsum("tjk,jk,tj->j", trial.own, friction, trial.own[:, :, 0]) / len(trial.own)
    scale = trial.sizes * trial.own[:, :, 0].std(axis=0)
    driven = work < -DRIVING * scale
    if not driven.any():
        return
    sets = [np.ones(trial.n, bool)] if driven.sum() > trial.n / 2 else []
    for some in [*sets, *(np.arange(trial.n) == j for j in np.flatnonzero(driven))]:
        side = np.where(some, -1.0, 1.0)
        keeps, turns = (trial.columns.copy() for _ in range(2))
        for j in np.flatnonzero(some):
            at = np.arange(OWN) + trial.columns.shape[2] - OWN * (trial.n - j)
            keeps[:, j, at[friction[j] < 0]] = 0.0
            turns[:, j, at[friction[j] > 0]] = 0.0
        braked = trial.fitted(keeps, trial.tau, 2).residual
        turned = trial.fitted(turns, trial.tau * side, 2).residual
        counts = len(turned) / correlation_times(turned)
        gain = 0.5 * float(counts @ np.log(squares(braked, trial.sizes) / squares(turned, trial.sizes)))
        if gain > GAIN:
            joints = np.flatnonzero(some).tolist()
            who = "all joints" if some.all() else named(trial.arm, joints[0])
            text = (
                f"the torque of {who} is as if friction drove it, and with the other sign friction brakes: sign of its "
                "torque or position reversed, or another arm?"
            )
            remedy = (
                "--drive-gain -1" if some.all() else f"--drive-gain with a negative number for joint {joints[0] + 1}"
            )
            yield Finding("refuse", text, "sign", tuple(joints), gain, 0.0, remedy)
            if some.all():
                return


def _compared(
    trial: Trial, A: NDArray, tau: NDArray, order: NDArray, joints: tuple[int, ...]
) -> tuple[float, float, float]:
    residual = trial.fitted(A, tau, 2).residual
    k = list(joints)
    before, after = np.mean(trial.fit.residual[:, order[k]] ** 2, axis=0), np.mean(residual[:, k] ** 2, axis=0)
    own = float(np.min(1 - np.sqrt(after / np.maximum(before, 1e-300)))) if k else 0.0
    return trial.gain(residual, order), trial.fall(residual), own


def _signs(trial: Trial) -> Iterator[Tried]:
    """Each joint's torque reversed, or its position."""
    same = np.arange(trial.n)
    for j in range(trial.n):
        side = np.where(same == j, -1.0, 1.0)
        remedy = f"--drive-gain with a negative number for joint {j + 1}"
        told = _compared(trial, trial.columns, trial.tau * side, same, (j,))
        yield Tried(f"the torque of {named(trial.arm, j)} with the other sign", "sign", (j,), *told, remedy)
        own = trial.own.copy()
        own[:, j, [0, 1, 3, 4]] *= -1
        A = trial.with_own(trial.rigid(lambda q, qd, qdd, s=side: (q * s, qd * s, qdd * s)), own)  # type: ignore[misc]
        told = _compared(trial, A, trial.tau, same, (j,))
        yield Tried(f"the position of {named(trial.arm, j)} with the other sign", "sign", (j,), *told, remedy)


def _exchanges(trial: Trial) -> Iterator[Tried]:
    """Torques, positions, or both of two joints that are badly explained exchanged."""
    poor = np.flatnonzero(trial.shares > POOR)
    pairs = sorted(combinations(poor.tolist(), 2), key=lambda p: -float(trial.shares[list(p)].min()))
    neighbours = [(j, j + 1) for j in range(trial.n - 1) if j in poor or j + 1 in poor]
    same = np.arange(trial.n)
    for i, j in dict.fromkeys([*pairs[:MOST_PAIRS], *neighbours]):
        order = same.copy()
        order[[i, j]] = j, i
        remedy = "name the columns in the right order (--columns)"
        turned = trial.with_own(
            trial.rigid(lambda q, qd, qdd, o=order: (q[:, o], qd[:, o], qdd[:, o])),  # type: ignore[misc]
            trial.own[:, order],
        )
        for what, A, tau, moved in (
            ("torques", trial.columns, trial.tau[:, order], order),
            ("positions", turned, trial.tau, same),
            ("positions and torques", turned, trial.tau[:, order], order),
        ):
            told = _compared(trial, A, tau, moved, (i, j))
            yield Tried(f"exchanging {what} of joints {i + 1} and {j + 1}", "exchange", (i, j), *told, remedy)


def _gravities(trial: Trial) -> Iterator[Tried]:
    """The arm hung, or on a wall."""
    size = float(np.linalg.norm(trial.arm.gravity))
    if size == 0:
        return
    names = dict(zip("xyz", np.eye(3), strict=True))
    for said, axis in [(f"{sign}{name}", s * axis) for name, axis in names.items() for sign, s in (("", 1), ("-", -1))]:
        if axis @ trial.arm.gravity > 0.9 * size:
            continue
        A = trial.with_own(trial.rigid(regressor=_regressor(replace(trial.arm, gravity=size * axis))))
        gain, fall, _ = _compared(trial, A, trial.tau, np.arange(trial.n), ())
        yield Tried(f"gravity along {said}", "gravity", (), gain, fall, 0.0, "give the arm's gravity as it is mounted")


def _regressor(arm: Arm) -> Callable[..., NDArray]:
    return lambda q, qd, qdd: np.asarray(regressor(arm, q, qd, qdd))


def _foreign(trial: Trial) -> Iterator[Finding]:
    if trial.error > DOUBTFUL:
        yield Finding(
            "refuse" if trial.error > FOREIGN else "warn",
            f"whatever bodies and friction arm '{trial.arm.name}' had, {trial.error:.0%} of the torque would stay "
            "unexplained: another arm, shuffled columns, other units, or torques that are not joint torques?",
            "arm",
            gain=0.0,
            matters=trial.error,
            remedy="check the arm, its geometry and the columns",
        )
