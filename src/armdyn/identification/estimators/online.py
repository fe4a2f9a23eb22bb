"""Estimators that learn sample by sample: LMS, recursive least squares, and the Kalman (minimum variance) estimator.

Each has `init()` and `step(state, Y, tau) -> state`, and `fit(data)` runs over all samples. What a step computes is
written once, over arrays or symbols alike (`lms_update`, `belief_update`): `online_code` makes C of the same text.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import ArmdynError, ShapeError
from armdyn.identification.estimators.data import Data, Estimate, check_size, estimate


def lms_update(x: Any, Y: Any, tau: Any, gain: Any, mode: Any = None) -> Any:
    """x + gain H (tau - H'x), Kapadia (5.1); x, gain (p, 1), Y (n, p), tau (n, 1).

    With a unit eigenvector `mode` (n, 1) of H' gain H the step is that along one mode of the transition matrix
    1 - gain H H', whose eigenvectors with eigenvalues other than 1 are gain H mode.
    """
    error = tau - Y @ x
    return x + gain * (Y.T @ (error if mode is None else mode @ (mode.T @ error)))


def belief_update(x: Any, P: Any, Y: Any, tau: Any, whiten: Any, forgetting: Any, drift: Any) -> tuple[Any, Any]:
    """Minimum variance after one sample: an equation at a time, so that nothing has to be inverted.

    x (p, 1), P (p, p), Y (n, p), tau (n, 1); `whiten` (n, n) makes the torques' noise that of unit variance, the
    covariance grows by `forgetting` and `drift` (p, p) before the sample.
    """
    Y, tau, P = whiten @ Y, whiten @ tau, P * (1 / forgetting) + drift
    for i in range(Y.shape[0]):
        y = Y[i : i + 1, :].T
        Py = P @ y
        precision = 1 / (1 + y.T @ Py)
        x = x + Py * ((tau[i] - y.T @ x) * precision)
        P = P - (Py @ Py.T) * precision  # symmetric to the last digit
    return x, P


def most_stable_mode(Y: NDArray, gain: NDArray) -> NDArray:
    """The eigenvector (n, 1) of H' gain H with the eigenvalue nearest to 1: its mode decays fastest."""
    values, vectors = np.linalg.eigh((Y * gain) @ Y.T)
    k = int(np.argmin(np.abs(1 - values)))
    return vectors[:, k : k + 1]


class LmsFacts(NamedTuple):
    """Predictions of chapter 5 of Kapadia's thesis about an LMS run."""

    time_constant: float  # slowest, in samples: 1 / smallest singular value of gain R   (5.6)
    stable: bool  # whether every sample's transition 1 - gain H H' contracts
    slow: bool  # whether the run is short against every mode, |K gain R| < 1: (5.6) assumes it
    correlation: NDArray  # R (p, p), mean of H H'
    noise_gain: float  # |R^-1|, by which noise and unmodelled torques bias the estimate   (5.4)


@dataclass(frozen=True, eq=False)
class Lms:
    """Least mean squares, Kapadia (5.1): x + gain H (tau - H'x), columns scaled as `gain` (p,) says.

    `most_stable` corrects along the fastest-converging mode of each sample alone (7.2.2): the eigenvector of
    the transition matrix 1 - gain H H' with the eigenvalue of least magnitude.
    """

    gain: ArrayLike
    most_stable: bool = False

    def __post_init__(self) -> None:
        if not (np.asarray(self.gain, float) >= 0).all():
            raise ArmdynError(where="Lms", expected="gains >= 0", got=f"{self.gain!r}")

    def init(self, p: int) -> NDArray:
        """The state: the estimate."""
        return np.zeros(p)

    def step(self, x: NDArray, Y: NDArray, tau: NDArray) -> NDArray:
        """The estimate after one sample: Y (n, p), tau (n,)."""
        gain = check_size(self.gain, x.shape, "Lms gain")[:, None]
        mode = most_stable_mode(Y, gain[:, 0]) if self.most_stable else None
        return lms_update(x[:, None], Y, tau[:, None], gain, mode)[:, 0]

    def fit(self, data: Data) -> Estimate:
        """The estimate after all samples; its `std` is unknown (NaN)."""
        x = self.init(data.Y.shape[2])
        for Y, tau in zip(data.Y, data.tau, strict=True):
            x = self.step(x, Y, tau)
        return _at_the_end(data, x, np.full((len(x),) * 2, np.nan))

    def facts(self, data: Data) -> LmsFacts:
        """Speed, stability and noise gain of a run over the data."""
        gain = check_size(self.gain, data.Y.shape[2:], "Lms gain")
        R = np.einsum("knp,knq->pq", data.Y, data.Y) / len(data.Y)
        root = np.sqrt(gain)
        values = np.linalg.eigvalsh(R * np.outer(root, root))
        largest = max(float(np.linalg.norm(Y * root, 2)) ** 2 for Y in data.Y)
        smallest = float(np.linalg.eigvalsh(R)[0])
        return LmsFacts(
            1 / values[0] if values[0] > 0 else np.inf,
            largest < 2,
            bool(len(data.Y) * values[-1] < 1),
            R,
            1 / smallest if smallest > 0 else np.inf,
        )


class Rules(NamedTuple):
    """Rules by which a state of the estimator takes in a sample."""

    whiten: NDArray  # (n, n)
    forgetting: NDArray  # ()
    drift: NDArray  # (p, p)


class OnlineState(NamedTuple):
    """An estimate and its covariance."""

    x: NDArray  # (p,)
    P: NDArray  # (p, p)


class Recursive(ABC):
    """An estimator whose state, a mean and a covariance, `init` gives, and `rules` updates with a sample."""

    @abstractmethod
    def init(self, p: int) -> OnlineState:
        """Before any sample."""

    @abstractmethod
    def rules(self, n: int, p: int) -> Rules:
        """Return the data of `belief_update`."""

    def step(self, state: OnlineState, Y: NDArray, tau: NDArray) -> OnlineState:
        """The state after one sample."""
        return _update(state, Y, tau, self.rules(*Y.shape))

    def run(self, data: Data) -> OnlineState:
        """The state after all samples."""
        state, rules = self.init(data.Y.shape[2]), self.rules(*data.Y.shape[1:])
        for Y, tau in zip(data.Y, data.tau, strict=True):
            state = _update(state, Y, tau, rules)
        return state


@dataclass(frozen=True, eq=False)
class RecursiveLeastSquares(Recursive):
    """Least squares with exponential forgetting; `start` is the variance of the parameters before any sample."""

    forgetting: float = 1.0
    start: float = 1e6

    def __post_init__(self) -> None:
        if not 0 < self.forgetting <= 1:
            raise ArmdynError(where="RecursiveLeastSquares", expected="forgetting in (0, 1]", got=self.forgetting)
        if not self.start > 0:
            raise ArmdynError(where="RecursiveLeastSquares", expected="start > 0", got=self.start)

    def init(self, p: int) -> OnlineState:
        """Nothing known."""
        return OnlineState(np.zeros(p), self.start * np.eye(p))

    def rules(self, n: int, p: int) -> Rules:
        """Return the data of `belief_update`."""
        return Rules(np.eye(n), np.array(self.forgetting), np.zeros((p, p)))

    def fit(self, data: Data) -> Estimate:
        """The estimate after all samples."""
        state = self.run(data)
        e = data.residuals(state.x)
        return _at_the_end(data, state.x, float(np.mean(e**2)) * state.P)


@dataclass(frozen=True, eq=False)
class KalmanEstimator(Recursive):
    """Minimum variance: torque noise (n, n) or (n,) deviations, and parameters that drift by `drift` a sample."""

    noise: ArrayLike
    prior: ArrayLike | None = None
    covariance: ArrayLike | None = None
    drift: ArrayLike = 0.0

    def init(self, p: int) -> OnlineState:
        """The prior."""
        x = np.zeros(p) if self.prior is None else check_size(self.prior, (p,), "KalmanEstimator prior")
        P = np.asarray(1e6 if self.covariance is None else self.covariance, float)
        return OnlineState(x, check_size(P if P.ndim else P * np.eye(p), (p, p), "KalmanEstimator covariance"))

    def rules(self, n: int, p: int) -> Rules:
        """Return the data of `belief_update`."""
        noise = np.asarray(self.noise, float)
        noise = check_size(noise, (n, n) if noise.ndim == 2 else (n,), "KalmanEstimator noise")
        if np.linalg.eigvalsh(noise).min() <= 0 if noise.ndim == 2 else (noise <= 0).any():
            raise ShapeError(where="KalmanEstimator", expected="noise > 0 in every torque")
        root = np.linalg.cholesky(noise) if noise.ndim == 2 else np.diag(noise)
        drift = np.diag(np.broadcast_to(np.asarray(self.drift, float), (p,)) ** 2)
        return Rules(np.linalg.inv(root), np.array(1.0), drift)

    def fit(self, data: Data) -> Estimate:
        """The estimate after all samples."""
        state = self.run(data)
        return _at_the_end(data, state.x, state.P)

    def expected_bias(self, data: Data, x: NDArray, regressor_noise: NDArray, unmodelled: NDArray) -> NDArray:
        """Expected error (p,) after all samples: of the prior, of noisy regressors, of unmodelled torques (N, n).

        `regressor_noise` (p, p) is the mean of dY' N^-1 dY for errors dY of measured regressors and noise N of the
        torques; `data` holds the true regressors. Each sample adds information Y'N^-1 Y + C, of which the second part
        says nothing about x, which makes it -C x + Y'N^-1 nu in the mean: Kapadia 8.2, after Jazwinski (1970).
        """
        state = self.init(data.Y.shape[2])
        rules = self.rules(*data.Y.shape[1:])
        bias, P = state.x - x, state.P
        for Y, nu in zip(rules.whiten @ data.Y, unmodelled @ rules.whiten.T, strict=True):
            before = np.linalg.inv(P + rules.drift)
            P = np.linalg.inv(before + Y.T @ Y + regressor_noise)
            bias = P @ (before @ bias - regressor_noise @ x + Y.T @ nu)
        return bias


def singular_value_shift(planned: Data, tracked: Data) -> float:
    """Bound on |sqrt s - sqrt s*| for singular values s of the correlation R when a motion is not tracked exactly.

    Kapadia (5.7), corrected: the root of the norm of mean dH dH' bounds the shift of R's singular values' roots, which
    are those of H (Lawson, Hanson); the norm itself does not bound the shift of R's own.
    """
    apart = (tracked.Y - planned.Y).reshape(-1, planned.Y.shape[2])
    return float(np.linalg.norm(apart, 2) / np.sqrt(len(planned.Y)))


def expected_bias(data: Data, x: NDArray, regressor_noise: NDArray, unmodelled: NDArray) -> NDArray:
    """Expected error of least squares and LMS: Kapadia (5.2), corrected by the factor 1/K.

    -(R + C)^-1 (C x - mean of H nu) for measured regressors whose errors have correlation C (p, p) and unmodelled
    torques nu (N, n). `data` holds the true regressors.
    """
    R = np.einsum("knp,knq->pq", data.Y, data.Y) / len(data.Y)
    mean = np.einsum("knp,kn->p", data.Y, unmodelled) / len(data.Y)
    return -np.linalg.solve(R + regressor_noise, regressor_noise @ x - mean)


def _update(state: OnlineState, Y: NDArray, tau: NDArray, rules: Rules) -> OnlineState:
    x, P = belief_update(state.x[:, None], state.P, Y, tau[:, None], *rules)
    return OnlineState(x[:, 0], P)


def _at_the_end(data: Data, x: NDArray, covariance: NDArray) -> Estimate:
    rows = data.weighted(1.0)[0]
    return estimate(data, x, np.ones(data.tau.shape[1]), covariance, rows, int(np.linalg.matrix_rank(rows)))
