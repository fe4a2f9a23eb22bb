"""Logs as a small regression in which suspicions are tried: how likely would the torques be if something were wrong?

Base parameters that all joints share and friction of each are fitted to motion and torques, low-passed and thinned out.
An alternative (torques earlier, a joint reversed, another gravity) is fitted likewise. What speaks for it is the gain
of log-likelihood

    g = sum over joints of N / 2 log(S0 / S1)

with the mean squares S0 and S1 that both leave and N independent samples, told by the autocorrelation of what the
*better* one leaves: residuals of a wrong model resemble their neighbours, and counted as they are they would prove
anything. Samples that the parameters use up do not count. Nothing needs to be known of any inertia.

Where drives are coupled, equations are those of their shafts, each with friction of its own: "joint" then means its
drive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.base.parameters import BaseParameters, base_parameters
from armdyn.dynamics.shafts import at_drives, measured_shafts, measured_torques, shaft_rows, shaft_torques
from armdyn.identification.correlation import correlation_times
from armdyn.identification.fit.passive import passive_torque
from armdyn.identification.logs.log import interpolate
from armdyn.identification.motion.differentiate import SmoothedMotion, lowpass
from armdyn.model.arm import Arm

RATE_HZ = 50.0  # Hz to which motion is thinned out before
BAND_HZ = 5.0  # Hz, low-pass on both sides of the equations
EDGE_SECONDS = 0.4  # s at both ends of a piece in which a low-pass guesses
MOST_SAMPLES = 6000  # samples at that rate; of longer logs parts are looked at
PARTS = 6
DIRECTION_SPEED = 0.02  # rad/s or m/s in which dry friction changes its sign
LEVEL_SPEED = 0.3  # rad/s or m/s in which some friction levels off
RIDGE = 1e-4  # of columns of unit length: what hardly shows is not made up
LEAST_RESIDUAL = 0.01  # of a torque's deviation: what is left below does not matter, and proves nothing
OWN_COLUMNS = 5  # columns of a joint's own: velocity, direction, one, acceleration, arctangent of velocity


class Piece(NamedTuple):
    """Motion and torques, even in time."""

    t: NDArray  # (T,)
    dt: float
    motion: SmoothedMotion
    tau: NDArray  # (T, n)
    log: int = 0  # number of the log


class _Thin(NamedTuple):
    """A piece at about 50 Hz."""

    t: NDArray
    dt: float
    q: NDArray
    qd: NDArray
    qdd: NDArray
    joint_terms: NDArray  # (T, n, OWN)
    tau: NDArray
    log: int


class Fitted(NamedTuple):
    """Parameters, and what they leave."""

    x: NDArray
    residual: NDArray  # (N, n)
    weights: NDArray  # (n,) 1 / deviation of what each joint leaves
    factor: tuple[NDArray, NDArray]  # Cholesky factor of the normal equations, lengths of columns


class Added(NamedTuple):
    """A further column, fitted beside all others."""

    value: float
    std: float
    gain: float
    fall: float  # of the error of all joints together, relatively
    residual: NDArray


class Trial:
    """Equations of a log and their fit; see the head of the file."""

    def __init__(self, arm: Arm, pieces: Iterable[Piece]) -> None:
        self.arm, self.n = arm, arm.n
        self.base: BaseParameters = base_parameters(arm)
        long = [piece for piece in pieces if len(piece.t) * piece.dt > 4 * EDGE_SECONDS]
        self.usable = bool(long)
        if not self.usable:
            self.parts: list[_Thin] = []
            return
        # Rows of shafts whose torques were not measured are zero, and say nothing.
        self.measured = np.all([measured_shafts(arm, piece.tau) for piece in long], axis=0)
        active = [piece.tau - passive_torque(arm, piece.motion, DIRECTION_SPEED) for piece in long]
        torques = (np.where(self.measured, measured_torques(arm, tau), 0.0) for tau in active)
        self._pieces = _some([piece._replace(tau=tau) for piece, tau in zip(long, torques, strict=True)])
        self.parts = [_thin(arm, piece) for piece in self._pieces]
        self.piece = np.concatenate([np.full(len(_cut(p, p.t)), k) for k, p in enumerate(self.parts)])
        self.t = np.concatenate([_cut(p, p.t) for p in self.parts])
        self.tau = np.concatenate([_filter(p, p.tau) for p in self.parts])
        self.joint_terms = self._silenced(np.concatenate([_filter(p, p.joint_terms) for p in self.parts]))
        self.sizes = sizes(self.tau)
        # As many independent equations as unknowns explain anything.
        self.usable = len(self.tau) * self.n > 1.5 * (self.base.count + OWN_COLUMNS * self.n) and bool(
            self.tau.std(axis=0)[self.measured].all()
        )

    @cached_property
    def columns(self) -> NDArray:
        """Columns (N, n, c + OWN) of the motion as it was logged: base parameters', then those of each joint's own."""
        return self.with_own(self.rigid())

    @cached_property
    def fit(self) -> Fitted:
        """Fit to the log as it is."""
        return self.fitted(self.columns, self.tau)

    @cached_property
    def left(self) -> NDArray:
        """Mean squares (n,) that the fit leaves."""
        return squares(self.fit.residual, self.sizes)

    @property
    def coulomb(self) -> NDArray:
        """Dry friction (n,) of each joint by the fit, that which grows with speed included."""
        joint_terms = np.abs(self.fit.x[self.base.count :].reshape(self.n, OWN_COLUMNS))
        return np.asarray(joint_terms[:, 1] + joint_terms[:, 4] * np.pi / 2)

    @property
    def shares(self) -> NDArray:
        """Residual of each torque (n,), relative to its deviation."""
        return np.sqrt(self.left) / self.sizes

    @property
    def error(self) -> float:
        """norm(residual) / norm(tau) over all joints."""
        return float(np.linalg.norm(self.fit.residual) / np.linalg.norm(self.tau))

    def rigid(
        self,
        change: Callable[[NDArray, NDArray, NDArray], tuple[NDArray, NDArray, NDArray]] | None = None,
        regressor: Callable[..., NDArray] | None = None,
    ) -> NDArray:
        """Columns (N, n, k) of the links for the motion, or for a change of it, or by another regressor."""
        blocks = []
        for p in self.parts:
            motion = (p.q, p.qd, p.qdd) if change is None else change(p.q, p.qd, p.qdd)
            blocks.append(_filter(p, shaft_rows(self.arm, np.asarray((regressor or self.base.regressor)(*motion)))))
        return self._silenced(np.concatenate(blocks))

    def _silenced(self, rows: NDArray) -> NDArray:
        """Rows (N, n, ...) with zeros for the shafts whose torques were not measured."""
        if not self.measured.all():
            rows[:, ~self.measured] = 0.0
        return rows

    def sampled(self, shift: NDArray) -> NDArray:
        """Columns (N, n, c) of the links at the samples that are kept, without low-pass, at positions less by (n,)."""
        motions = ((_cut(p, p.q) - shift, _cut(p, p.qd), _cut(p, p.qdd)) for p in self.parts)
        rows = [shaft_rows(self.arm, np.asarray(self.base.regressor(*motion))) for motion in motions]
        return self._silenced(np.concatenate(rows))

    def along(self, torque: Callable[[_Thin], NDArray]) -> NDArray:
        """Some column (N, n) of the joints, or (N, k, ...) of others, that is told by the motion."""
        columns = np.concatenate([_filter(p, shaft_torques(self.arm, torque(p))) for p in self.parts])
        return self._silenced(columns) if columns.shape[1] == self.n else columns

    def shifted(self, late: float) -> NDArray:
        """The torques (N, n) as they would be if they had been measured too late."""
        blocks = []
        for piece, part in zip(self._pieces, self.parts, strict=True):
            tau = interpolate(piece.t + late, piece.t, piece.tau)
            blocks.append(_filter(part, _average(tau, _every(piece))))
        return np.concatenate(blocks)

    def with_own(self, rigid: NDArray, joint_terms: NDArray | None = None) -> NDArray:
        """Columns of the links and of every joint's own terms (N, n, c + OWN)."""
        return np.concatenate([rigid, self.joint_terms if joint_terms is None else joint_terms], axis=2)

    @cached_property
    def _sums(self) -> ScreeningSystem:
        return ScreeningSystem.of(self.columns, self.tau)

    def sums(self, A: NDArray, tau: NDArray) -> ScreeningSystem:
        """Over columns (N, n, c + OWN) and torques (N, n); what those of the log itself have in common is known."""
        if A is not self.columns:
            return ScreeningSystem.of(A, tau)
        return self._sums if tau is self.tau else self._sums.of_torques(A, tau)

    def fitted(self, A: NDArray, tau: NDArray, rounds: int = 3, system: ScreeningSystem | None = None) -> Fitted:
        """Least squares with columns (N, n, c + OWN), each joint weighed by what it leaves; `system` are their sums."""
        x, weights, factor = self.solved(system or self.sums(A, tau), sizes(tau), rounds)
        return Fitted(x, tau - torques(A, x[:, None])[:, :, 0], weights, factor)

    def solved(
        self, system: ScreeningSystem, deviations: NDArray, rounds: int = 3
    ) -> tuple[NDArray, NDArray, tuple[NDArray, NDArray]]:
        """Parameters, the weights with which they were found, and the factor of the normal equations."""
        weights = 1 / deviations
        for _ in range(rounds):
            G, h = system.normal(weights)
            length = np.sqrt(np.diag(G))
            length = np.maximum(length, 1e-9 * length.max() + 1e-300)
            factor = np.linalg.cholesky(G / np.outer(length, length) + RIDGE * np.eye(len(G)))
            x = _solve(factor, h / length) / length
            left, used = system.left(x), weights
            weights = 1 / np.sqrt(np.maximum(left, (LEAST_RESIDUAL * deviations) ** 2))
        return x, used, (factor, length)

    def gain(self, residual: NDArray, order: NDArray | None = None) -> float:
        """Log-likelihood gained where this is left instead; torque order[j] stands at joint j."""
        order = np.arange(self.n) if order is None else order
        return float(0.5 * self.counts(residual) @ np.log(self.left[order] / squares(residual, self.sizes[order])))

    def counts(self, residual: NDArray) -> NDArray:
        """Independent samples (n,) of each joint beyond those that the parameters use up."""
        return np.maximum(len(residual) / correlation_times(residual) - len(self.fit.x) / self.n, 1.0)

    def fall(self, residual: NDArray) -> float:
        """Return the relative reduction of the error of all joints together."""
        return float(1 - np.linalg.norm(residual) / np.linalg.norm(self.fit.residual))

    def projected(self, C: NDArray) -> NDArray:
        """Return the part of other columns (N, n, k) that the fit's columns cannot explain."""
        factor, length = self.fit.factor
        shares = _solve(factor, _products(self.columns, C, self.fit.weights) / length[:, None])
        return C - torques(self.columns, shares / length[:, None])

    def added(self, C: NDArray, projected: NDArray | None = None) -> list[Added]:
        """Each of the columns (N, n, k) alone added to the model."""
        P = self.projected(C) if projected is None else projected
        values, precisions = self.values(C, P)
        tests = []
        for k, (value, precision) in enumerate(zip(values, precisions, strict=True)):
            residual = self.fit.residual - P[:, :, k] * value
            times = correlation_times(residual)
            std = float(np.sqrt(np.median(times) / precision)) if precision > 0 else np.inf
            counts = len(residual) / times  # one parameter more uses up next to nothing
            gain = 0.5 * float(counts @ np.log(self.left / squares(residual, self.sizes)))
            tests.append(Added(float(value), std, gain, self.fall(residual), residual))
        return tests

    def values(self, C: NDArray, P: NDArray) -> tuple[NDArray, NDArray]:
        """Best factor of each column alone, and its precision if samples were independent."""
        W = self.fit.weights**2
        precision = np.einsum("tjk,tjk,j->k", P, C, W)
        determined = precision > 1e-9 * np.einsum("tjk,tjk,j->k", C, C, W)
        pull = np.einsum("tjk,tj,j->k", P, self.fit.residual, W)
        return np.divide(pull, precision, out=np.zeros_like(pull), where=determined), np.where(
            determined, precision, 0.0
        )


def sizes(tau: NDArray) -> NDArray:
    """Deviations (n,) of torques, none of them nothing."""
    deviation = tau.std(axis=0)
    return np.maximum(deviation, 1e-3 * deviation.max() + 1e-300)


def squares(residual: NDArray, deviations: NDArray) -> NDArray:
    """Mean squares (n,), at least those that do not matter."""
    return np.maximum(np.mean(residual**2, axis=0), (LEAST_RESIDUAL * deviations) ** 2)


def _some(pieces: list[Piece]) -> list[Piece]:
    """The pieces, or of long ones parts that are spread over them."""
    total = sum(len(piece.t) / _every(piece) for piece in pieces)
    if total <= MOST_SAMPLES:
        return pieces
    chosen = []
    for piece in pieces:
        keep = int(len(piece.t) * MOST_SAMPLES / total / PARTS)
        if keep * piece.dt < 4 * EDGE_SECONDS:
            continue
        for k in np.linspace(0, len(piece.t) - keep, PARTS).astype(int).tolist():
            at = slice(k, k + keep)
            m = piece.motion
            moved = m._replace(q=m.q[at], qd=m.qd[at], qdd=m.qdd[at])
            chosen.append(Piece(piece.t[at], piece.dt, moved, piece.tau[at], piece.log))
    return chosen


def _every(piece: Piece) -> int:
    return max(1, round(1 / (RATE_HZ * piece.dt)))


def _average(x: NDArray, every: int) -> NDArray:
    """Means of runs of samples."""
    count = len(x) // every
    return x[: count * every].reshape(count, every, *x.shape[1:]).mean(axis=1)


def own_columns(v: NDArray, a: NDArray) -> NDArray:
    """Return the columns (..., OWN) that drives add at speeds and accelerations of their shafts."""
    return np.stack([v, np.tanh(v / DIRECTION_SPEED), np.ones_like(v), a, np.arctan(v / LEVEL_SPEED)], axis=-1)


def _thin(arm: Arm, piece: Piece) -> _Thin:
    """Every sample is the mean of a run: noise of accelerations would come down into the band otherwise."""
    every, m = _every(piece), piece.motion
    joint_terms = own_columns(at_drives(arm, m.qd), at_drives(arm, m.qdd))
    t, q, qd, qdd, joint_terms, tau = (_average(x, every) for x in (piece.t, m.q, m.qd, m.qdd, joint_terms, piece.tau))
    return _Thin(t, piece.dt * every, q, qd, qdd, joint_terms, tau, piece.log)


def _filter(p: _Thin, x: NDArray) -> NDArray:
    """Low-passed, thinned out to what passes, without the ends."""
    low = lowpass(x.reshape(len(x), -1), p.dt, min(BAND_HZ, 0.2 / p.dt)).reshape(x.shape)
    return _cut(p, low)


def _cut(p: _Thin, x: NDArray) -> NDArray:
    edge = max(1, int(EDGE_SECONDS / p.dt))
    return x[edge:-edge][:: max(1, int(0.25 / (BAND_HZ * p.dt)))]


class ScreeningSystem(NamedTuple):
    """Sums over samples, from which a fit with any weights follows."""

    grams: NDArray  # (n, c + OWN + 1, c + OWN + 1), the torque last
    samples: int

    @classmethod
    def of(cls, A: NDArray, tau: NDArray) -> ScreeningSystem:
        """Build the equations of columns (N, n, c + OWN) and torques (N, n)."""
        joined = np.concatenate([A, tau[:, :, None]], axis=2).transpose(1, 0, 2)
        return cls(joined.transpose(0, 2, 1) @ joined, len(tau))

    @property
    def links(self) -> int:
        """Number of base parameters."""
        return self.grams.shape[1] - OWN_COLUMNS - 1

    def of_torques(self, A: NDArray, tau: NDArray) -> ScreeningSystem:
        """The sums of the same columns with other torques (N, n)."""
        grams = self.grams.copy()
        grams[:, :-1, -1] = grams[:, -1, :-1] = (A.transpose(1, 2, 0) @ tau.T[:, :, None])[:, :, 0]
        grams[:, -1, -1] = np.sum(tau**2, axis=0)
        return self._replace(grams=grams)

    def normal(self, weights: NDArray) -> tuple[NDArray, NDArray]:
        """Normal equations of all parameters."""
        n, c = len(self.grams), self.links
        grams = self.grams * weights[:, None, None] ** 2
        G, h = np.zeros((c + OWN_COLUMNS * n, c + OWN_COLUMNS * n)), np.empty(c + OWN_COLUMNS * n)
        G[:c, :c], h[:c] = grams[:, :c, :c].sum(axis=0), grams[:, :c, -1].sum(axis=0)
        G[:c, c:] = grams[:, :c, c:-1].transpose(1, 0, 2).reshape(c, -1)
        G[c:, :c] = G[:c, c:].T
        joints = np.arange(n)
        G[c:, c:].reshape(n, OWN_COLUMNS, n, OWN_COLUMNS)[joints, :, joints] = grams[:, c:-1, c:-1]
        h[c:] = grams[:, c:-1, -1].ravel()
        return G, h

    def rescaled(self, factors: NDArray) -> ScreeningSystem:
        """With torques divided by factors (n,)."""
        grams = self.grams.copy()
        grams[:, :, -1] /= factors[:, None]
        grams[:, -1, :] /= factors[:, None]
        return self._replace(grams=grams)

    def left(self, x: NDArray) -> NDArray:
        """Mean squares (n,) that parameters leave."""
        n, c = len(self.grams), self.links
        z = np.empty((n, 1, c + OWN_COLUMNS + 1))
        z[:, 0, :c], z[:, 0, c:-1], z[:, 0, -1] = x[:c], x[c:].reshape(n, OWN_COLUMNS), -1.0
        return np.maximum((z @ self.grams @ z.swapaxes(1, 2))[:, 0, 0], 0.0) / self.samples


@lru_cache(maxsize=256)
def positions(count: int, joint: int) -> NDArray:
    """Return the places of the parameters that a joint's equations mention."""
    return np.r_[0:count, count + OWN_COLUMNS * joint : count + OWN_COLUMNS * (joint + 1)]


def _products(A: NDArray, C: NDArray, weights: NDArray) -> NDArray:
    """Weighted products (p, k) of all columns with others (N, n, k)."""
    n, count = A.shape[1], A.shape[2] - OWN_COLUMNS
    products = np.zeros((count + OWN_COLUMNS * n, C.shape[2]))
    for j in range(n):
        products[positions(count, j)] += weights[j] ** 2 * (A[:, j].T @ C[:, j])
    return products


def torques(A: NDArray, X: NDArray) -> NDArray:
    """Torques (N, n, k) of parameters (p, k)."""
    count = A.shape[2] - OWN_COLUMNS
    return np.stack([A[:, j] @ X[positions(count, j)] for j in range(A.shape[1])], axis=1)


def _solve(factor: NDArray, b: NDArray) -> NDArray:
    from scipy.linalg.lapack import dpotrs

    return np.asarray(dpotrs(factor, b, lower=1)[0])
