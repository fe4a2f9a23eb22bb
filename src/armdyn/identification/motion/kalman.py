"""The Kalman filter of a triple integrator: positions in, positions, velocities and accelerations out.

Kapadia's thesis, section 4.4: acceleration is driven by white noise (jerk), positions are measured with noise.
Its equations (4.4), (4.6), (4.7) are used as corrected: the output matrix is [1 0 0], the gain belongs to the
predicted covariance, and the Riccati equation propagates with A_d. `kalman_noise.py` finds the noise levels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import ShapeError
from armdyn.identification.motion.differentiate import SmoothedMotion, require_positions

C = np.array([[1.0, 0.0, 0.0]])


class TripleIntegrator(NamedTuple):
    """The steady filter: x = (position, velocity, acceleration)."""

    A: NDArray  # (3, 3) transition over one sample
    Q: NDArray  # (3, 3) noise added per sample
    R: float  # variance of a measured position
    K: NDArray  # (3,) gain on the predicted error
    P: NDArray  # (3, 3) predicted covariance

    @property
    def F(self) -> NDArray:
        """x(k|k) = F x(k-1|k-1) + K y(k)"""
        return (np.eye(3) - np.outer(self.K, C[0])) @ self.A

    def response(self, f: ArrayLike, dt: float) -> NDArray:
        """Frequency response (..., 3) of the three estimates (after the measurement) to position at f [Hz].

        Divide the last two by (2 pi i f) and its square for gain and phase against true derivatives.
        """
        z = np.exp(2j * np.pi * np.asarray(f, float) * dt)
        M = np.eye(3) - self.F / z[..., None, None]
        return np.linalg.solve(M, np.broadcast_to(self.K.astype(complex), (*z.shape, 3))[..., None])[..., 0]

    def bandwidth(self, dt: float) -> NDArray:
        """Frequencies (3,) [Hz] at which position, velocity and acceleration first fall 3 dB below the true ones."""
        return first_fall(lambda f: self.response(f, dt), dt)


def first_fall(response: Callable[[NDArray], NDArray], dt: float) -> NDArray:
    """Return where position and its derivatives (..., 3) first fall 3 dB below the true ones [Hz]; Nyquist if never."""
    f = np.geomspace(1e-6, 0.5, 20_001) / dt
    gain = np.abs(response(f) / (2j * np.pi * f[:, None]) ** np.arange(3))
    below = gain < np.sqrt(0.5)
    return np.where(below.any(axis=0), f[below.argmax(axis=0)], f[-1])


def transition(dt: float) -> NDArray:
    """A_d of (4.3)."""
    return np.array([[1, dt, dt**2 / 2], [0, 1, dt], [0, 0, 1]])


def white_jerk(dt: float) -> NDArray:
    """Noise that white jerk of unit intensity adds in a sample, exactly integrated."""
    return np.array(
        [
            [dt**5 / 20, dt**4 / 8, dt**3 / 6],
            [dt**4 / 8, dt**3 / 3, dt**2 / 2],
            [dt**3 / 6, dt**2 / 2, dt],
        ]
    )


def known_jerk(dt: float) -> NDArray:
    """Return what a jerk of one over a sample adds, (4.3)."""
    return np.array([dt**3 / 6, dt**2 / 2, dt])


def triple_integrator(dt: float, jerk: float, noise: float) -> TripleIntegrator:
    """The steady filter for jerk of intensity `jerk` [unit²/s⁵] and measurement noise `noise` [unit].

    References
    ----------
    Kapadia, equations (4.3)-(4.7), with the corrections named above.
    """
    from scipy.linalg import solve_discrete_are

    if not (dt > 0 and jerk > 0 and noise > 0):
        raise ShapeError(where="triple_integrator", expected="dt, jerk and noise > 0", got=f"{dt}, {jerk} and {noise}")
    A, Q, R = transition(dt), jerk * white_jerk(dt), noise**2
    # In units of dt and of the noise the Riccati equation is well scaled.
    D = np.array([1.0, 1 / dt, 1 / dt**2]) * noise
    P = solve_discrete_are((A / D[:, None] * D).T, (C * D).T / noise, Q / np.outer(D, D), np.array([[1.0]]))
    P = P * np.outer(D, D)
    K = P[:, 0] / (P[0, 0] + R)
    return TripleIntegrator(A, Q, R, K, P)


def filter_forward(q: ArrayLike, dt: float, jerk: float, noise: float, u: ArrayLike | None = None) -> NDArray:
    """Causal estimates (N, n, 3) of position, velocity, acceleration; `u` (N, n) is known jerk, as of a reference."""
    q = require_positions(q, dt, "filter_forward", 1)
    return _forward(q, triple_integrator(dt, jerk, noise), None if u is None else like_positions(u, q, "u"))


def like_positions(x: ArrayLike, q: NDArray, what: str) -> NDArray:
    """Values for all positions (N, n)."""
    try:
        return np.broadcast_to(np.asarray(x, float), q.shape)
    except ValueError:
        raise ShapeError(where="kalman", expected=f"{what} of shape {q.shape}", got=np.shape(x)) from None


def _forward(q: NDArray, steady: TripleIntegrator, u: NDArray | None) -> NDArray:
    correction = q[..., None] * steady.K
    # Before the first sample the arm is where it is measured, at rest.
    correction[0] = q[0][:, None] * C[0]
    if u is not None:
        drive = known_jerk(steady.A[0, 1])
        correction[1:] += u[:-1, :, None] * (drive - steady.K * drive[0])
    return _recursion(steady.F, correction)


def _recursion(F: NDArray, drive: NDArray) -> NDArray:
    """x(k) = F x(k-1) + drive(k) for drive (N, n, 3), mode by mode."""
    from scipy.signal import lfilter

    values, vectors = np.linalg.eig(F)
    modes = np.tensordot(np.linalg.inv(vectors), np.moveaxis(drive, -1, 0), 1)
    for mode, value in zip(modes, values, strict=True):
        mode[:] = lfilter([1.0], [1.0, -value], mode, axis=0)
    return np.moveaxis(np.tensordot(vectors, modes, 1).real, 0, -1)


def smooth(q: NDArray, dt: float, cutoff: float) -> SmoothedMotion:
    """The fixed-interval (Rauch-Tung-Striebel) smoother in its steady state.

    Its gain from position to position is 1 / (1 + (f/f0)^6); jerk and noise matter by their ratio alone,
    (2 pi f0)^6, which the cutoff gives. Turned about both ends, motions go on as they were before the gains are used.
    """
    pad = min(len(q) - 1, int(3 / (cutoff * dt)))
    q = np.concatenate([2 * q[0] - q[pad:0:-1], q, 2 * q[-1] - q[-2 : -pad - 2 : -1]])
    steady = triple_integrator(dt, (2 * np.pi * cutoff) ** 6 * dt, 1.0)
    filtered = _forward(q, steady, None)
    after = steady.P - np.outer(steady.K, steady.P[0])
    back = np.linalg.solve(steady.P.T, steady.A @ after.T).T  # J = P(k|k) A' P(k+1|k)^-1
    # x(k|N) = (1 - J A) x(k|k) + J x(k+1|N)
    drive = filtered @ (np.eye(3) - back @ steady.A).T
    drive[-1] = filtered[-1]
    states = _recursion(back, drive[::-1])[::-1][pad : len(q) - pad]
    return SmoothedMotion(states[..., 0], states[..., 1], states[..., 2], cutoff, "kalman")


class TwoStage(NamedTuple):
    """Kapadia 7.2.1: positions are filtered, differenced, and filtered again as if velocities were positions.

    The acceleration is then the second filter's velocity, whose band is wider than that of a third derivative.
    """

    first: TripleIntegrator
    second: TripleIntegrator

    def run(self, q: ArrayLike) -> NDArray:
        """Causal estimates (N, n, 3) of position, velocity, acceleration from positions (N, n)."""
        position = _forward(np.asarray(q, float), self.first, None)[..., 0]
        rate = np.diff(position, axis=0, prepend=position[:1]) / self.first.A[0, 1]
        rates = _forward(rate, self.second, None)
        return np.concatenate([position[..., None], rates[..., :2]], axis=2)

    def response(self, f: ArrayLike) -> NDArray:
        """Frequency response (..., 3) of the three estimates to position at f [Hz]."""
        dt = self.first.A[0, 1]
        f = np.asarray(f, float)
        position = self.first.response(f, dt)[..., :1]
        difference = (1 - np.exp(-2j * np.pi * f * dt)) / dt
        rates = self.second.response(f, dt)[..., :2]
        return np.concatenate([position, position * difference[..., None] * rates], axis=-1)

    def bandwidth(self) -> NDArray:
        """Frequencies (3,) [Hz] at which position, velocity and acceleration first fall 3 dB below the true ones."""
        return first_fall(self.response, self.first.A[0, 1])


def two_stage(q: NDArray, dt: float, cutoff: float) -> SmoothedMotion:
    """Kapadia's causal recipe with both filters at one cutoff [Hz]; it lags."""
    stage = triple_integrator(dt, (2 * np.pi * cutoff) ** 6 * dt, 1.0)
    states = TwoStage(stage, stage).run(q)
    return SmoothedMotion(states[..., 0], states[..., 1], states[..., 2], cutoff, "two-stage")
