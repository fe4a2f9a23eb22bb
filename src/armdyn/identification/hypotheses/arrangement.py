"""Which torque belongs to which joint, with which sign, and whether gravity points where it should.

Where columns are exchanged, a sign is reversed or the arm hangs where it is said to stand, no bodies explain the
torques, but those of the right arrangement do: each is tried, without knowing any inertia.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.newton_euler import inverse_dynamics
from armdyn.dynamics.regressors.regressor import regressor
from armdyn.identification.hypotheses.finding import Finding, FindingKind, joint_name, joint_numbers, reversing
from armdyn.identification.hypotheses.trial import OWN_COLUMNS, Trial, own_columns, sizes, squares
from armdyn.identification.logs.corrections import LogCorrection

POOR_FIT = 0.15  # share of a torque's deviation left, from which on something may be wrong with it
LEAST_GAIN, LEAST_FALL = 25.0, 0.25  # of log-likelihood and of the error, by which another arrangement must be better
TIE_GAIN = 10.0  # log-likelihood within which two arrangements are as likely
MOVED_FALL = 0.35  # fall of what the moved joints leave, where their torques are small beside others'
# Fall of what each moved joint leaves: torques that stood at another joint are all explained better; those of a joint
# whose axis is turned need not be, for others feel it too.
LEAST_OWN_FALL = 0.0
REJECTED_ERROR, WARNED_ERROR = 0.5, 0.25  # share of all torques that no parameters explain
MISMOUNTED_ERROR = 0.05  # least error of a log of an arm that is mounted otherwise, or whose zeros are turned
MOST_PAIRS = 10
FRICTION_COLUMNS = (0, 1, 4)  # of a joint's own: not offset and rotor
DRIVING_WORK = 0.02  # work of friction over torque times speed, below zero by which it drives
SLOW_SPEED = 0.25  # share of a joint's rms speed up to which motion is slow
HELD_SPEED = 0.05  # share of the fastest joint's rms speed up to which a joint is held rather than moved

TURNS_RAD = (np.pi / 2, -np.pi / 2, np.pi)  # by which zeros of joints differ between descriptions

QUESTIONS = {
    "sign": "sign of its torque or position reversed?",
    "axis": "does the joint turn the other way than described?",
    "exchange": "columns shuffled?",
    "gravity": "is the arm mounted as described, and gravity in its torques?",
    "zero": "is the zero of the joint the one that is described?",
}


class Tried(NamedTuple):
    """Another arrangement."""

    message: str
    kind: str
    joints: tuple[int, ...]
    gain: float
    fall: float
    own_fall: float  # of what the joints themselves leave
    correction: LogCorrection
    sides: tuple[float, float] = (1.0, 1.0)  # signs of a joint's position and torque


def arrangement(trial: Trial) -> list[Finding]:
    """Check column assignment, signs and mounting."""
    poor = bool((trial.shares > POOR_FIT).any())
    tried = [*_signs(trial), *_exchanges(trial), *_gravities(trial), *_turns(trial)] if poor else []
    good = [
        a for a in tried
        if a.gain > LEAST_GAIN and (a.own_fall >= LEAST_OWN_FALL or a.kind in ("axis", "zero"))
        and (a.fall > LEAST_FALL or (a.own_fall > MOVED_FALL and a.fall > 0.0))
    ]  # fmt: skip
    # Negative bodies explain reversed torques, but not friction that brakes.
    if good:
        return [_to_finding(trial, good)]
    driven = list(_driven_joints(trial))
    return driven if any(f.kind == "sign" for f in driven) else [*driven, *_foreign(trial)]


def _to_finding(trial: Trial, good: list[Tried]) -> Finding:
    """The arrangement that is told, of those that would explain the torques better."""
    best = _told_by_description(trial, good)
    whole = best.fall > LEAST_FALL
    who = f"joint{'s' * (len(best.joints) > 1)} {joint_numbers(best.joints)}"
    less = f"error {best.fall:.0%} less" if whole else f"{best.own_fall:.0%} less error of {who}"
    text = f"{best.message} would explain the torques far better ({less}): {QUESTIONS[best.kind]}"
    # A fault of joints whose torques are small beside others' does not spoil the rest.
    level = "reject" if whole else "warn"
    kind = FindingKind.SIGN if best.kind == "axis" else FindingKind(best.kind)
    return Finding(level, text, kind, best.joints, best.gain, best.fall, best.correction)


def _told_by_description(trial: Trial, tried: list[Tried]) -> Tried:
    """The most likely arrangement; of signs that are as likely, those with torques most like the description's.

    Negative bodies explain reversed torques as well: of two joints either may be the one that was reversed.
    """
    best = max(tried, key=lambda a: a.gain)
    signs = ("sign", "axis")
    rivals = [a for a in tried if best.kind in signs and a.kind in signs and a.gain > best.gain - TIE_GAIN]
    if len(rivals) < 2 or np.isnan(trial.arm.theta).any():
        return best

    def likeness(a: Tried) -> float:
        q_side, tau_side = (np.where(np.arange(trial.n) == a.joints[0], side, 1.0) for side in a.sides)
        described = trial.along(
            lambda p: np.asarray(inverse_dynamics(trial.arm, q_side * p.q, q_side * p.qd, q_side * p.qdd))
        )
        return float(np.sum(np.mean(described * tau_side * trial.tau, axis=0) / (sizes(described) * trial.sizes)))

    return max(rivals, key=likeness)


def _driven_joints(trial: Trial) -> Iterator[Finding]:
    """Joints that friction would drive, and would brake if their torques had the other sign.

    A reversed sign turns the whole friction curve: a joint counts that moves, turns back, and is driven at low speed
    too. Friction of all joints that move is bounded to brake with either sign, for a fit that is as good with either
    proves nothing; of the sets of joints that may be reversed the most probable is reported.
    """
    curves = _FrictionCurves.of(trial)
    for j in np.flatnonzero(curves.driven & ~curves.driven_slowly & curves.moves).tolist():
        yield _contradiction(trial, j, curves)
    driven = curves.driven & curves.driven_slowly & curves.moves
    if not driven.any():
        return
    joint = np.arange(trial.n)
    sets = [driven, joint >= 0, *(joint == j for j in np.flatnonzero(driven))]
    braked = squares(_braking(trial, trial.tau, curves.moves), trial.sizes)
    gains = []
    for reversed_set in sets:
        residual = _braking(trial, trial.tau * np.where(reversed_set, -1.0, 1.0), curves.moves)
        gains.append(0.5 * float(trial.counts(residual) @ np.log(braked / squares(residual, trial.sizes))))
    best = int(np.argmax(gains))
    if gains[best] <= LEAST_GAIN:
        return
    joints = np.flatnonzero(sets[best]).tolist()
    who = f"joints {joint_numbers(joints)}" if len(joints) > 1 else joint_name(trial.arm, joints[0])
    text = (
        f"the torque of {'all joints' if len(joints) == trial.n else who} is as if friction drove it, and with the "
        "other sign friction brakes: sign of its torque or position reversed, or another arm?"
    )
    correction = LogCorrection(drive_gain=reversing(trial.n, joints))
    yield Finding("reject", text, FindingKind.SIGN, tuple(joints), gains[best], 0.0, correction)


class _FrictionCurves(NamedTuple):
    """Friction of each joint by the fit, all (n,)."""

    driven: NDArray  # whether it drives over all samples
    driven_slowly: NDArray  # whether it drives at low speed, where Coulomb friction shows
    moves: NDArray  # joints that move both ways, and not by the noise of one that is held
    jump: NDArray  # torque at low speed [N m or N]
    slope: NDArray  # change of it from low to usual speed, a unit of speed

    @classmethod
    def of(cls, trial: Trial) -> _FrictionCurves:
        """Return the friction curves of the fit to the log as it is."""
        coefficients = trial.fit.x[-OWN_COLUMNS * trial.n :].reshape(trial.n, OWN_COLUMNS).copy()
        coefficients[:, [k for k in range(OWN_COLUMNS) if k not in FRICTION_COLUMNS]] = 0.0
        speed = trial.joint_terms[:, :, 0]
        power = np.einsum("tjk,jk->tj", trial.joint_terms, coefficients) * speed
        rms = np.sqrt(np.mean(speed**2, axis=0))
        turns = np.array([joint.kind == "revolute" for joint in trial.arm.coordinate_joints])
        fastest = np.array([rms[turns == kind].max() for kind in turns])
        both_ways = np.minimum(speed.max(axis=0), -speed.min(axis=0)) > SLOW_SPEED * rms
        curve = np.einsum(
            "kjc,jc->kj", own_columns(np.stack([SLOW_SPEED * rms, rms]), np.zeros((2, trial.n))), coefficients
        )
        return cls(
            power.mean(axis=0) < -DRIVING_WORK * trial.sizes * speed.std(axis=0),
            np.where(np.abs(speed) < SLOW_SPEED * rms, power, 0.0).sum(axis=0) < 0,
            both_ways & (rms > HELD_SPEED * fastest),
            curve[0],
            np.divide(curve[1] - curve[0], (1 - SLOW_SPEED) * rms, out=np.zeros(trial.n), where=rms > 0),
        )


def _contradiction(trial: Trial, j: int, curves: _FrictionCurves) -> Finding:
    """A friction torque that opposes slow motion and drives fast motion: no sign, but a reading that does no work."""
    text = (
        f"friction of {joint_name(trial.arm, j)} brakes slow motion ({curves.jump[j]:+.2g}) and falls with speed "
        f"({curves.slope[j]:+.2g} a unit of speed): a reversed sign would turn both, so the reading has a part that "
        "does no work"
    )
    hint = "check how torques of this joint are computed from currents"
    return Finding("warn", text, FindingKind.FRICTION, (j,), hint=hint)


def _braking(trial: Trial, tau: NDArray, joints: NDArray) -> NDArray:
    """Return the residual (N, n) of torques where friction of some joints must not drive: columns that would are left
    out.
    """
    columns = trial.columns.copy()
    while True:
        fitted = trial.fitted(columns, tau, 2)
        friction = fitted.x[-OWN_COLUMNS * trial.n :].reshape(trial.n, OWN_COLUMNS)
        driving = [(j, k) for j in np.flatnonzero(joints) for k in FRICTION_COLUMNS if friction[j, k] < 0]
        if not driving:
            return fitted.residual
        for j, k in driving:
            columns[:, j, trial.base.count + k] = 0.0


def _compare(
    trial: Trial, A: NDArray, tau: NDArray, order: NDArray, joints: tuple[int, ...]
) -> tuple[float, float, float]:
    residual = trial.fitted(A, tau, 2).residual
    k = list(joints)
    before, after = np.mean(trial.fit.residual[:, order[k]] ** 2, axis=0), np.mean(residual[:, k] ** 2, axis=0)
    joint_fall = float(np.min(1 - np.sqrt(after / np.maximum(before, 1e-300)))) if k else 0.0
    return trial.gain(residual, order), trial.fall(residual), joint_fall


def _signs(trial: Trial) -> Iterator[Tried]:
    """Each joint's torque reversed, its position, or both, as where its axis is turned.

    Axes of joints that share a drive are left alone: a gear ratio would be that of the drive.
    """
    same = np.arange(trial.n)
    for j in range(trial.n):
        side, turned = np.where(same == j, -1.0, 1.0), reversing(trial.n, [j])
        joint_terms = trial.joint_terms.copy()
        joint_terms[:, j, [0, 1, 3, 4]] *= -1
        A = trial.with_own(trial.rigid(lambda q, qd, qdd, s=side: (q * s, qd * s, qdd * s)), joint_terms)  # type: ignore[misc]
        # A gear ratio reverses the torque too.
        for what, kind, sides, columns, tau, ratio, gain in (
            ("torque", "sign", (1.0, -1.0), trial.columns, trial.tau * side, (), turned),
            ("position", "sign", (-1.0, 1.0), A, trial.tau, turned, turned),
            ("position and torque", "axis", (-1.0, -1.0), A, trial.tau * side, turned, ()),
        ):
            if kind == "axis" and trial.arm.coupling is not None:
                continue
            scores = _compare(trial, columns, tau, same, (j,))
            message = f"the {what} of {joint_name(trial.arm, j)} with the other sign"
            yield Tried(message, kind, (j,), *scores, LogCorrection(gear_ratio=ratio, drive_gain=gain), sides)


def _exchanges(trial: Trial) -> Iterator[Tried]:
    """Torques, positions, or both of two joints that are badly explained exchanged."""
    poor = np.flatnonzero(trial.shares > POOR_FIT)
    pairs = sorted(combinations(poor.tolist(), 2), key=lambda p: -float(trial.shares[list(p)].min()))
    neighbours = [(j, j + 1) for j in range(trial.n - 1) if j in poor or j + 1 in poor]
    same = np.arange(trial.n)
    orders = [_swap(trial.n, i, j) for i, j in dict.fromkeys([*pairs[:MOST_PAIRS], *neighbours])]
    orders += [_likely(trial)] if trial.error > WARNED_ERROR else []
    for order in orders:
        moved = tuple(np.flatnonzero(order != same).tolist())
        inverse = np.argsort(order)
        turned = trial.with_own(
            trial.rigid(lambda q, qd, qdd, o=inverse: (q[:, o], qd[:, o], qdd[:, o])),  # type: ignore[misc]
            trial.joint_terms[:, inverse],
        )
        for what, A, tau, to, position_order, torque_order in (
            ("torques", trial.columns, trial.tau[:, order], order, (), order),
            ("positions", turned, trial.tau, same, inverse, ()),
            ("positions and torques", turned, trial.tau[:, inverse], inverse, inverse, inverse),
        ):
            scores = _compare(trial, A, tau, to, moved)
            correction = LogCorrection(tuple(position_order), tuple(torque_order))
            order_said = f"{joint_numbers(moved)} in the order {joint_numbers(order[list(moved)])}"
            yield Tried(f"{what} of joints {order_said}", "exchange", moved, *scores, correction)


def _swap(n: int, i: int, j: int) -> NDArray:
    order = np.arange(n)
    order[[i, j]] = j, i
    return order


def _likely(trial: Trial) -> NDArray:
    """The order of the torques that suits joints best if each had parameters of its own."""
    from scipy.optimize import linear_sum_assignment

    tau = trial.tau / trial.sizes
    cost = np.empty((trial.n, trial.n))
    for j in range(trial.n):
        A = trial.columns[:, j]
        length = np.sqrt(np.maximum(np.mean(A**2, axis=0), 1e-300))
        G = (A / length).T @ (A / length) / len(A) + 1e-6 * np.eye(A.shape[1])
        x = np.linalg.solve(G, (A / length).T @ tau / len(A))
        cost[j] = np.log(np.maximum(np.mean((tau - A / length @ x) ** 2, axis=0), 1e-4))
    return np.asarray(linear_sum_assignment(cost)[1])


def _gravities(trial: Trial) -> Iterator[Tried]:
    """The arm hung, or on a wall."""
    size = float(np.linalg.norm(trial.arm.gravity))
    if size == 0 or trial.error < MISMOUNTED_ERROR:
        return
    A = trial.with_own(trial.rigid(regressor=partial(regressor, replace(trial.arm, gravity=np.zeros(3)))))
    gain, fall, _ = _compare(trial, A, trial.tau, np.arange(trial.n), ())
    yield Tried("torques without gravity", "gravity", (), gain, fall, 0.0, LogCorrection(gravity=(0.0, 0.0, 0.0)))
    names = dict(zip("xyz", np.eye(3), strict=True))
    for direction, axis in [
        (f"{sign}{name}", s * axis) for name, axis in names.items() for sign, s in (("", 1), ("-", -1))
    ]:
        if axis @ trial.arm.gravity > 0.9 * size:
            continue
        A = trial.with_own(trial.rigid(regressor=partial(regressor, replace(trial.arm, gravity=size * axis))))
        gain, fall, _ = _compare(trial, A, trial.tau, np.arange(trial.n), ())
        correction = LogCorrection(gravity=tuple(size * axis))
        yield Tried(f"gravity along {direction}", "gravity", (), gain, fall, 0.0, correction)


def _turns(trial: Trial) -> Iterator[Tried]:
    """The zero of each joint a quarter or half turn off."""
    for j, joint in enumerate(trial.arm.coordinate_joints):
        for off in TURNS_RAD if joint.kind == "revolute" and trial.error > MISMOUNTED_ERROR else ():
            e = off * (np.arange(trial.n) == j)
            A = trial.with_own(trial.rigid(lambda q, qd, qdd, e=e: (q - e, qd, qdd)))  # type: ignore[misc]
            scores = _compare(trial, A, trial.tau, np.arange(trial.n), (j,))
            message = f"the zero of {joint_name(trial.arm, j)} {np.degrees(-off):+.0f} degrees elsewhere"
            yield Tried(message, "zero", (j,), *scores, LogCorrection(zero=tuple(e)))


def _foreign(trial: Trial) -> Iterator[Finding]:
    if trial.error > WARNED_ERROR:
        yield Finding(
            "reject" if trial.error > REJECTED_ERROR else "warn",
            f"whatever bodies and friction arm '{trial.arm.name}' had, {trial.error:.0%} of the torque would stay "
            "unexplained: another arm, shuffled columns, other units, or torques that are not joint torques?",
            FindingKind.OTHER_ARM,
            log_evidence=0.0,
            error_reduction=trial.error,
            hint="check the arm, its geometry and the columns",
        )
