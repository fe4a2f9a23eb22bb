"""Hypotheses about columns: signs, order, gains of drives."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynError
from armdyn.identification.fit.terms import OFFSET
from armdyn.identification.hypotheses.finding import FindingKind, reversing
from armdyn.identification.hypotheses.regression import SCREENED, ModelDesign, RowMotion, ScreeningRegression
from armdyn.identification.hypotheses.screening import MAX_ERROR, Hypothesis, LogVariant, ValueRange
from armdyn.identification.limits import MIN_REDUCTION, NOTABLE_RATIO
from armdyn.identification.logs.corrections import ColumnOrder, LogCorrection, of_joints
from armdyn.identification.motion.track import Track
from armdyn.model.arm import Arm
from armdyn.precision import SIX_DIGITS

ODD = np.array([k != OFFSET for k in SCREENED])  # joint terms that change their sign with the motion
TOLERATED_UNIT = (0.5, 20.0)  # factors of all torques: descriptions in CAD are often of plastic instead of steel
GAIN_ROUNDS, GAIN_RIDGE = 6, 1e-3  # in which gains of all joints are found, and what keeps them finite


class Sign(Hypothesis):
    """Torques, positions, or both of joints with the other sign: any set of torques, single positions and axes."""

    kind, name = FindingKind.SIGN, "signs"

    def fault(self, arm: Arm) -> str:
        """Name the faults; of joints that share drives torques alone are tried."""
        return self.name if arm.coupling is None else "signs of torques"

    def variants(self, regression: ScreeningRegression) -> Iterator[LogVariant]:
        """Single joints, all of them, and those that friction would drive if each joint had bodies of its own."""
        n = regression.n
        joints = np.flatnonzero(regression.measured).tolist()
        sets = {frozenset([j]) for j in joints} | {frozenset(joints), driven_joints(regression)} - {frozenset()}
        yield from (self.torques(regression, joints) for joints in sorted(sets, key=sorted))
        if regression.arm.coupling is None:
            for j in joints:
                side = np.array(reversing(n, [j]))
                turned = _turned(regression, side)
                both = turned._replace(tau=turned.tau * side, mix=np.diag(side))
                position = LogCorrection(gear_ratio=tuple(side), drive_gain=tuple(side))
                axis = LogCorrection(gear_ratio=tuple(side))
                yield LogVariant(turned, position, (j,), level="reject")
                yield LogVariant(both, axis, (j,), level="reject")

    def torques(self, regression: ScreeningRegression, joints: frozenset[int]) -> LogVariant:
        """The torques of a set of joints reversed."""
        side = np.array(reversing(regression.n, joints))

        def neighbours() -> Iterator[LogVariant]:
            others = (joints ^ {j} for j in np.flatnonzero(regression.measured).tolist())
            return (self.torques(regression, other) for other in others if other)

        correction = LogCorrection(drive_gain=tuple(side))
        design = regression.scaled(side)
        return LogVariant(design, correction, tuple(sorted(joints)), level="reject", neighbours=neighbours)


def _turned(regression: ScreeningRegression, side: NDArray) -> ModelDesign:
    """The log with positions of other signs (n,)."""
    q, qd, qdd = regression.motion
    terms = np.where(ODD, side[:, None], 1.0) * regression.terms
    return regression.moved(RowMotion(q * side, qd * side, qdd * side))._replace(terms=terms)


def driven_joints(regression: ScreeningRegression) -> frozenset[int]:
    """Joints that friction drives, slow and fast, where each is fitted with bodies of its own."""
    driven = set()
    speeds = np.sqrt(np.mean(regression.terms[:, :, 0] ** 2, axis=0))
    for j, friction in enumerate(regression.alone[0] * ODD):
        side = np.sign(regression.terms[:, j, 0])
        slow = np.abs(regression.terms[:, j, 0]) < speeds[j]
        power = regression.terms[:, j] @ friction * side
        if power[slow].sum() < 0 and power[~slow].sum() < 0:
            driven.add(j)
    return frozenset(driven)


class Exchange(Hypothesis):
    """Positions, torques, or both of joints in another order: pairs, then further pairs, and the likeliest order."""

    kind, name = FindingKind.EXCHANGE, "order of columns"

    def fault(self, arm: Arm) -> str:
        """Name the faults; of joints that share drives torques alone are tried."""
        return self.name if arm.coupling is None else "order of torques"

    def variants(self, regression: ScreeningRegression) -> Iterator[LogVariant]:
        """Every pair of joints, and the order in which torques suit the joints best."""
        same = tuple(range(regression.n))
        pairs = combinations(np.flatnonzero(regression.measured).tolist(), 2)
        orders = dict.fromkeys(_swapped(same, i, j) for i, j in pairs)
        orders |= dict.fromkeys([likely_order(regression)] if regression.measured.all() else [])
        for order in orders:
            inverse = tuple(int(k) for k in np.argsort(order))
            if order == same:
                continue
            yield self.ordered(regression, (), order)
            if regression.arm.coupling is None:
                moved = _reordered(regression, inverse)
                yield self.ordered(regression, inverse, (), moved)
                yield self.ordered(regression, inverse, inverse, moved)

    def ordered(
        self,
        regression: ScreeningRegression,
        position: tuple[int, ...],
        torque: tuple[int, ...],
        moved: ModelDesign | None = None,
    ) -> LogVariant:
        """The columns in another order, empty where it is as it was; `moved` is the design with the positions in it."""
        n = regression.n
        same = tuple(range(n))
        design = regression.design
        if torque:
            design = regression.with_torques(regression.tau[:, list(torque)], np.eye(n)[list(torque)])
        if position:
            moved = moved or _reordered(regression, position)
            design = design._replace(rigid=moved.rigid, terms=moved.terms)
        joints = tuple(j for j in same if (position or same)[j] != j or (torque or same)[j] != j)

        def neighbours() -> Iterator[LogVariant]:
            for i, j in combinations(np.flatnonzero(regression.measured).tolist(), 2):
                p, t = (_swapped(order, i, j) if order else () for order in (position, torque))
                if p not in ((), same) or t not in ((), same):
                    yield self.ordered(regression, p, t)

        correction = LogCorrection(ColumnOrder(position, torque))
        return LogVariant(design, correction, joints, level="reject", neighbours=neighbours)


def _reordered(regression: ScreeningRegression, order: tuple[int, ...]) -> ModelDesign:
    """The log with positions in another order."""
    p, (q, qd, qdd) = list(order), regression.motion
    return regression.moved(RowMotion(q[:, p], qd[:, p], qdd[:, p]))._replace(terms=regression.terms[:, p])


def _swapped(order: tuple[int, ...], i: int, j: int) -> tuple[int, ...]:
    other = list(order)
    other[i], other[j] = order[j], order[i]
    return tuple(other)


def likely_order(regression: ScreeningRegression) -> tuple[int, ...]:
    """The order of the torques that suits joints best if each had parameters of its own."""
    cost, order = np.log(np.maximum(regression.alone[1], 1e-4)), np.arange(regression.n)
    while True:  # the pair whose exchange pays most, as long as one pays
        squares = cost[:, order]
        gains = np.add.outer(squares.diagonal(), squares.diagonal()) - squares - squares.T
        i, j = np.unravel_index(gains.argmax(), gains.shape)
        if gains[i, j] <= SIX_DIGITS:
            return tuple(order.tolist())
        order[[i, j]] = order[[j, i]]


class OtherJoints(Hypothesis):
    """Positions of joints that follow others in the place of coordinates: of an elbow instead of its motor."""

    kind, name = FindingKind.MECHANISM, "positions of following joints"

    def variants(self, regression: ScreeningRegression) -> Iterator[LogVariant]:
        """Each joint that follows several others, in the place of each of these."""
        names = regression.arm.coordinate_names
        for k, name in self.pairs(regression.arm):
            yield from self.measured(regression, (*names[:k], name, *names[k + 1 :]))

    def pairs(self, arm: Arm) -> list[tuple[int, str]]:
        """Coordinates, and joints that follow them and others."""
        rows = [] if arm.G is None else list(zip(arm.joint_names, np.asarray(arm.G), strict=True))
        return [(int(k), name) for name, row in rows if np.count_nonzero(row) > 1 for k in np.flatnonzero(row)]

    def measured(self, regression: ScreeningRegression, names: tuple[str, ...]) -> Iterator[LogVariant]:
        """Positions, or positions and torques, of joints by name."""
        arm, everyone = regression.arm, np.arange(regression.n)
        places = tuple(k for k in everyone.tolist() if names[k] != arm.coordinate_names[k])
        try:
            corrections = [of_joints(arm, names, torques) for torques in ((), names)]
        except ArmdynError:  # these joints do not determine the coordinates
            return

        def neighbours() -> Iterator[LogVariant]:
            for k, name in self.pairs(arm):
                if name not in names:
                    yield from self.measured(regression, (*names[:k], name, *names[k + 1 :]))

        for correction in corrections:
            yield LogVariant(_mapped(regression, correction), correction, places, level="reject", neighbours=neighbours)


def _mapped(regression: ScreeningRegression, correction: LogCorrection) -> ModelDesign:
    """The log whose positions, and torques, are mapped to those of the coordinates."""
    A, zero = np.array(correction.maps.positions), np.array(correction.zero or np.zeros(regression.n))

    def turned(motion: RowMotion | Track) -> dict[str, NDArray]:
        return {"q": (motion.q - zero) @ A.T, "qd": motion.qd @ A.T, "qdd": motion.qdd @ A.T}

    terms = regression.terms_along(turned) * regression.measured[:, None]
    design = regression.moved(RowMotion(**turned(regression.motion)))._replace(terms=terms)
    if not correction.maps.torques:
        return design
    back = np.transpose(correction.maps.torques)
    torques = regression.with_torques(regression.tau @ back, np.linalg.inv(back))
    return design._replace(tau=torques.tau, mix=torques.mix)


class DriveGain(Hypothesis):
    """The torque of one joint measured with another gain; drives that move several joints are left alone."""

    kind, name = FindingKind.GAIN, "gain of one drive"

    def variants(self, regression: ScreeningRegression) -> Iterator[LogVariant]:
        """Each joint, with a larger and a smaller gain."""
        joints = np.flatnonzero(regression.measured).tolist() if regression.arm.coupling is None else ()
        return (self.single(regression, j, gain) for j in joints for gain in (1 / NOTABLE_RATIO, NOTABLE_RATIO))

    def single(self, regression: ScreeningRegression, j: int, gain: float) -> LogVariant:
        """The torque of one joint with a gain."""
        gains = np.where(np.arange(regression.n) == j, gain, 1.0)
        correction = LogCorrection(drive_gain=tuple(1 / gains))
        return LogVariant(
            regression.scaled(gains), correction, (j,), gain, n_values=1,
            tolerated=max(gain, 1 / gain) < 1 + MIN_REDUCTION,
            values=ValueRange(lambda x: self.single(regression, j, x), gain / NOTABLE_RATIO, gain * NOTABLE_RATIO),
        )  # fmt: skip


class UnlikeGains(Hypothesis):
    """Torques of all joints measured with gains of their own, as currents of unlike drives are."""

    kind, name = FindingKind.GAIN, "unlike gains of drives"
    suggested = True

    def variants(self, regression: ScreeningRegression) -> Iterator[LogVariant]:
        """The gains that free bodies suggest."""
        if regression.arm.coupling is not None or regression.n < 2:
            yield LogVariant(regression.design)
            return
        gains = free_gains(regression)
        j = int(np.argmax(np.abs(np.log(gains))))
        correction = LogCorrection(drive_gain=tuple(1 / gains))
        yield LogVariant(
            regression.scaled(gains), correction, (j,), float(gains[j]),
            n_values=regression.n - 1, tolerated=max(gains[j], 1 / gains[j]) < (1 + MIN_REDUCTION) ** 2,
        )  # fmt: skip


class TorqueUnit(Hypothesis):
    """Torques of another unit, all by one factor: told by the described bodies."""

    kind, name = FindingKind.GAIN, "unit of torques"

    def variants(self, regression: ScreeningRegression) -> Iterator[LogVariant]:
        """The factor that the description suggests."""
        factor = described_factor(regression)
        if factor is not None:
            correction = LogCorrection(drive_gain=(1 / factor,) * regression.n)
            yield LogVariant(
                regression.scaled(np.full(regression.n, factor)), correction, (), factor,
                level="reject", tolerated=TOLERATED_UNIT[0] < factor < TOLERATED_UNIT[1],
                log_odds=unit_odds(factor), accepts=lambda model: model.described_error < MAX_ERROR,
            )  # fmt: skip


def unit_odds(factor: float) -> float:
    """Logarithm of the odds against a description that is off by a factor, 99 % of them being tolerated."""
    limit = TOLERATED_UNIT[0] if factor < 1 else TOLERATED_UNIT[1]
    return float((2.576 * np.log(factor) / np.log(limit)) ** 2 / 2)


def described_factor(regression: ScreeningRegression) -> float | None:
    """Measured over described torque beyond friction, one for all joints; None without a description."""
    if regression.described is None:
        return None
    model, measured = regression.beyond_friction
    factor = float(np.sum(model * measured) / max(np.sum(model**2), 1e-300))
    return factor if factor > 0 else None


def free_gains(regression: ScreeningRegression) -> NDArray:
    """Factors (n,) by which torques must be divided to be those of one set of bodies; their geometric mean is 1.

    Rounds of Gauss-Newton: with the rigid torque of each joint as a further column, its factor says by how much its
    torque is too large.
    """
    n, c, k = regression.n, regression.base.count, len(SCREENED)
    count, deviations = n * len(regression.tau), regression.design.tau.std(axis=0)
    sums = regression.sums([regression.design])[0] / np.maximum(deviations, 1e-300)[:, None, None] ** 2
    places = [np.r_[c + j * k : c + j * k + k, :c] for j in range(n)]  # of each joint's terms, and of all bodies
    gains = np.ones(n)
    for _ in range(GAIN_ROUNDS):
        # Torques over their gains weigh as much as these in deviations: rows are then multiplied by their joint's gain.
        G, pull, cross = np.zeros((c + n * k, c + n * k)), np.zeros(c + n * k), np.zeros((c + n * k, n))
        for at, gain, of_joint in zip(places, gains, sums, strict=True):
            G[np.ix_(at, at)] += gain**2 * of_joint[:-1, :-1]
            pull[at] += gain * of_joint[:-1, -1]
        size = np.maximum(np.sqrt(np.diag(G) / count), 1e-300)
        G = G / np.outer(size, size) + GAIN_RIDGE * count * np.eye(len(G))
        x = np.linalg.solve(G, pull / size)
        bodies = x[:c] / size[:c]
        rigid = gains[:, None] ** 2 * (sums[:, :-1, k:-1] @ bodies)  # products of columns and torques of the bodies
        for j, at in enumerate(places):
            cross[at, j] = rigid[j] / size[at]
        squares = rigid[:, k:] @ bodies
        left = np.diag(squares) - cross.T @ np.linalg.solve(G, cross)
        left += GAIN_RIDGE * np.diag(np.maximum(squares, 1e-12 * squares.max()))
        change = np.linalg.solve(left, gains * (sums[:, k:-1, -1] @ bodies) - cross.T @ x)
        gains = gains * np.clip(1 + change, 0.5, 2.0)
        gains /= np.exp(np.mean(np.log(gains)))
    return gains
