"""Which torque belongs to which joint, and with which sign: told by fitting, without knowing any inertia.

Base parameters that all joints share, friction and rotors of each are fitted to a few hundred samples. Where columns
are exchanged or a sign is reversed no such parameters explain the torques, but those of the right arrangement do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.base.parameters import base_parameters
from armdyn.model.arm import Arm

ROWS = 800  # samples that are enough to tell
ALONE = 0.25  # time apart [s] at which errors of a model say something new: samples in between are no evidence
ENOUGH = 3  # such equations a parameter, below which any torques are explained
MOVING = 0.05  # share of a joint's top speed, below which it may stand still
POOR = 0.2  # share of a torque's deviation unexplained, from which on something is wrong with it or it is mostly noise
BETTER = 1.5  # factor by which each exchanged torque must be better explained
CLEARLY = 2.0  # logarithm of the factor by which all must be
ALIKE = 0.9  # share of the best gain, from which on another arrangement is as likely
FOREIGN, DOUBTFUL = 0.5, 0.25  # share of all torques unexplained by any parameters
DRIVING = 3.0  # standard deviations below zero of friction that drives
OWN = 4  # columns of a joint's own: velocity, direction, one, acceleration


class Samples(NamedTuple):
    """Motion and torques, all (N, n), through the same low-pass."""

    q: NDArray
    qd: NDArray
    qdd: NDArray
    direction: NDArray  # signs of velocities
    tau: NDArray

    @property
    def top(self) -> NDArray:
        """Speeds (n,) that each joint exceeds for a hundredth of the time."""
        return np.percentile(np.abs(self.qd), 99, axis=0)

    @property
    def moving(self) -> NDArray:
        """Where (N, n) joints move: else dry friction may hold any torque."""
        return np.abs(self.qd) > MOVING * self.top

    def thinned(self) -> Samples:
        """About as many as are needed."""
        return Samples(*(x[:: max(1, len(self.q) // ROWS)] for x in self))

    def turned(self, order: NDArray) -> Samples:
        """With positions of the joints in another order."""
        return Samples(self.q[:, order], self.qd[:, order], self.qdd[:, order], self.direction[:, order], self.tau)

    def mirrored(self, signs: NDArray) -> Samples:
        """With positions of some joints reversed."""
        return Samples(self.q * signs, self.qd * signs, self.qdd * signs, self.direction * signs, self.tau)


class Explained(NamedTuple):
    """The best that any parameters can do."""

    left: NDArray  # (n,) of each torque, share of its deviation unexplained
    together: float  # share of all torques
    brake: NDArray  # (n,) friction of each joint at half its top speed [N m or N]
    brake_std: NDArray  # as if all samples were independent


def objections(arm: Arm, samples: Samples, dt: float) -> list[tuple[str, str]]:
    """What speaks against the columns being what they are called: pairs of level ("refuse" or "warn") and sentence.

    Samples are dt [s] apart.
    """
    evidence = min(len(samples.q), len(samples.q) * dt / ALONE)
    samples = samples.thinned()
    base = base_parameters(arm)
    if evidence * arm.n < ENOUGH * (base.count + OWN * arm.n) or (samples.tau.std(axis=0) == 0).any():
        return []

    def made(turned: Samples) -> _Sums:
        return _Sums(turned, base.regressor(turned.q, turned.qd, turned.qdd))

    sums = made(samples)
    plain = sums.explained()
    names = [f"joint {j + 1} '{name}'" for j, name in enumerate(arm.joint_names)]
    ways = {"torques": sums.explained, "positions": lambda order: made(samples.turned(order)).explained()}
    orders = [_swapped(arm.n, i, j) for i, j in combinations(_poor(plain), 2)]
    orders += [sums.likely_order()] if plain.together > DOUBTFUL else []
    mirrors: list[Callable[[NDArray], Explained]] = [
        lambda signs: sums.explained(signs=signs),
        lambda signs: made(samples.mirrored(signs)).explained(),
    ]
    return (
        _shuffled(plain, orders, ways)
        or _driven(plain, names, sums.size, np.sqrt(len(samples.q) / evidence))
        or _reversed(plain, names, mirrors)
        or _foreign(plain, arm)
    )


def _swapped(n: int, i: int, j: int) -> NDArray:
    order = np.arange(n)
    order[[i, j]] = j, i
    return order


def _poor(plain: Explained) -> list[int]:
    return np.flatnonzero(plain.left > POOR).tolist()


def _gain(plain: Explained, other: Explained, joints: list[int]) -> float:
    """By how much another arrangement explains all torques better, in logarithms; 0 unless those of the joints are."""
    gain = np.log(plain.left / other.left)
    total = float(gain.sum())
    return total if total > CLEARLY and gain[joints].min() > np.log(BETTER) else 0.0


def _shuffled(
    plain: Explained, orders: list[NDArray], ways: dict[str, Callable[[NDArray], Explained]]
) -> list[tuple[str, str]]:
    """Columns, all badly explained, that are explained far better in another order."""
    best, said = 0.0, ""
    for order in orders:
        moved = np.flatnonzero(order != np.arange(len(order))).tolist()
        others = {what: tried(order) for what, tried in ways.items()}
        gains = {what: _gain(plain, other, moved) for what, other in others.items()}
        what = max(gains, key=gains.__getitem__)
        if gains[what] > best:
            # Of joints that hardly feel the links, only friction tells: either may be exchanged.
            either = " or ".join(way for way in ways if gains[way] > ALIKE * gains[what])
            best, left = gains[what], others[what].left
            said = (
                f"{either} of joints {_listed(moved)} leave up to {plain.left[moved].max():.0%} of a torque's "
                f"variation unexplained, {left[moved].max():.0%} in the order {_listed(order[moved])}: "
                "columns shuffled?"
            )
    return [("refuse", said)] if said else []


def _listed(joints: Iterable[int]) -> str:
    return ", ".join(str(j + 1) for j in joints)


def _driven(plain: Explained, names: list[str], size: NDArray, repeated: float) -> list[tuple[str, str]]:
    """Joints that friction would drive; where the fit is bad, so is what it says about friction.

    Deviations are those of independent samples, `repeated` times too small.
    """
    drives = plain.brake < -np.maximum(DRIVING * repeated * plain.brake_std, 0.02 * size)
    return [_sign(names[j], "as if friction drove it") for j in np.flatnonzero(drives & (plain.left < POOR))]


def _reversed(
    plain: Explained, names: list[str], mirrors: list[Callable[[NDArray], Explained]]
) -> list[tuple[str, str]]:
    """The joint whose torque or position is far better explained with the other sign."""
    best, found = 0.0, -1
    for j in _poor(plain):
        signs = np.where(np.arange(len(names)) == j, -1.0, 1.0)
        gain = max(_gain(plain, mirrored(signs), [j]) for mirrored in mirrors)
        best, found = (gain, j) if gain > best else (best, found)
    return [_sign(names[found], "far better explained with the other sign")] if best > 0 else []


def _sign(name: str, told: str) -> tuple[str, str]:
    return "refuse", f"the torque of {name} is {told}: sign of its torque or position reversed, or another arm?"


def _foreign(plain: Explained, arm: Arm) -> list[tuple[str, str]]:
    if plain.together < DOUBTFUL:
        return []
    return [
        (
            "refuse" if plain.together > FOREIGN else "warn",
            f"whatever bodies and friction arm '{arm.name}' had, {plain.together:.0%} of the torque would stay "
            "unexplained: another arm, shuffled columns, other units, or torques that are not joint torques?",
        )
    ]


class _Sums:
    """Sums of products of all columns, joint by joint, from which every arrangement of the torques is fitted."""

    def __init__(self, samples: Samples, Y: NDArray) -> None:
        self.top, moving = samples.top, samples.moving
        self.size = np.maximum(samples.tau.std(axis=0), 1e-300)
        self.n, self.p = Y.shape[1:]
        own = np.stack([samples.qd, samples.direction, np.ones_like(samples.qd), samples.qdd], axis=2)
        rows = [np.concatenate([Y[k, j], own[k, j], samples.tau[k]], axis=1) for j, k in enumerate(moving.T)]
        self.products = np.array([some.T @ some for some in rows])
        self.counts = np.maximum(moving.sum(axis=0), 1)

    def explained(self, order: NDArray | None = None, signs: NDArray | None = None) -> Explained:
        """The fit with torque `order[j]`, times `signs[j]`, at joint j; joints weigh by what they leave."""
        order = np.arange(self.n) if order is None else order
        signs = np.ones(self.n) if signs is None else signs
        weights = 1 / self.size[order]
        for _ in range(3):
            x, inverse = self._solved(order, signs, weights)
            left = self._left(x, order, signs)
            weights = 1 / (self.size[order] * np.maximum(left, 0.01))
        own = x[self.p :].reshape(self.n, OWN)
        at = self.p + OWN * np.arange(self.n)
        half = self.top / 2
        variance = half**2 * inverse[at, at] + 2 * half * inverse[at, at + 1] + inverse[at + 1, at + 1]
        by_torque = np.empty(self.n)
        by_torque[order] = left
        together = np.sqrt(np.sum((by_torque * self.size) ** 2) / np.sum(self.size**2))
        return Explained(by_torque, float(together), own[:, 0] * half + own[:, 1], np.sqrt(np.maximum(variance, 0.0)))

    def likely_order(self) -> NDArray:
        """The order of the torques that suits joints best if each had parameters of its own."""
        from scipy.optimize import linear_sum_assignment

        cost = np.empty((self.n, self.n))
        for j, products in enumerate(self.products):
            A, B = products[: self.p + OWN, : self.p + OWN], products[: self.p + OWN, self.p + OWN :]
            scale = 1 / np.sqrt(np.maximum(np.diag(A), 1e-300))
            solved = np.linalg.solve(A * np.outer(scale, scale) + 1e-8 * np.eye(len(A)), scale[:, None] * B)
            squares = np.diag(products)[self.p + OWN :] - np.sum((scale[:, None] * B) * solved, axis=0)
            cost[j] = np.log(np.maximum(squares / self.counts[j], 1e-12 * self.size**2) / self.size**2)
        return linear_sum_assignment(cost)[1]

    def _solved(self, order: NDArray, signs: NDArray, weights: NDArray) -> tuple[NDArray, NDArray]:
        """Parameters and the inverse of their normal equations, in which dependent columns share."""
        p, total = self.p, self.p + OWN * self.n
        A, b = np.zeros((total, total)), np.zeros(total)
        for j, products in enumerate(weights[:, None, None] ** 2 * self.products):
            k = self._place(j)
            A[np.ix_(k, k)] += products[: p + OWN, : p + OWN]
            b[k] += signs[j] * products[: p + OWN, p + OWN + order[j]]
        scale = 1 / np.sqrt(np.maximum(np.diag(A), 1e-300))
        inverse = np.linalg.inv(A * np.outer(scale, scale) + 1e-8 * np.eye(total)) * np.outer(scale, scale)
        return inverse @ b, inverse

    def _place(self, j: int) -> NDArray:
        """Positions of the parameters in the equations of a joint."""
        first = self.p + OWN * j
        return np.r_[0 : self.p, first : first + OWN]

    def _left(self, x: NDArray, order: NDArray, signs: NDArray) -> NDArray:
        """Of the torque at each joint, share of its deviation unexplained (n,)."""
        left = np.empty(self.n)
        for j, products in enumerate(self.products):
            z = np.zeros(len(products))
            z[: self.p + OWN], z[self.p + OWN + order[j]] = x[self._place(j)], -signs[j]
            left[j] = np.sqrt(max(float(z @ products @ z), 0.0) / self.counts[j]) / self.size[order[j]]
        return np.maximum(left, 1e-6)


def samples_of(parts: Iterable[Samples]) -> Samples:
    """Samples of several stretches together."""
    return Samples(*(np.vstack(columns) for columns in zip(*parts, strict=True)))
