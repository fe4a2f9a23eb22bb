"""The Kalman filter of a triple integrator: positions in, positions, velocities and accelerations out.

Kapadia's thesis, section 4.4: acceleration is driven by white noise (jerk), positions are measured with noise.
Its equations (4.4), (4.6), (4.7) are used as corrected: the output matrix is [1 0 0], the gain belongs to the
predicted covariance, and the Riccati equation propagates with A_d.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.identification.differentiate import Motion

C = np.array([[1.0, 0.0, 0.0]])


class TripleIntegrator(NamedTuple):
    """The steady filter: x = (position, velocity, acceleration)."""

    A: NDArray  # (3, 3) transition over one sample
    Q: NDArray  # (3, 3) noise added a sample
    R: float  # variance of a measured position
    K: NDArray  # (3,) gain on the predicted error
    P: NDArray  # (3, 3) predicted covariance

    def response(self, f: ArrayLike, dt: float) -> NDArray:
        """Frequency response (..., 3) of the three estimates (after the measurement) to position at f [Hz].

        Divide the last two by (2 pi i f) and its square for gain and phase against true derivatives.
        """
        z = np.exp(2j * np.pi * np.asarray(f, float) * dt)
        F = (np.eye(3) - np.outer(self.K, C[0])) @ self.A
        # x(k|k) = F x(k-1|k-1) + K y(k)
        M = np.eye(3) - F / z[..., None, None]
        return np.linalg.solve(M, np.broadcast_to(self.K.astype(complex), (*z.shape, 3))[..., None])[..., 0]


def triple_integrator(dt: float, jerk: float, noise: float) -> TripleIntegrator:
    """The steady filter for jerk of intensity `jerk` [unit²/s⁵] and measurement noise `noise` [unit].

    References
    ----------
    Kapadia, equations (4.3)-(4.7), with the corrections named above.
    """
    from scipy.linalg import solve_discrete_are

    A = np.array([[1, dt, dt**2 / 2], [0, 1, dt], [0, 0, 1]])
    # White jerk through the exact integrator.
    Q = jerk * np.array(
        [
            [dt**5 / 20, dt**4 / 8, dt**3 / 6],
            [dt**4 / 8, dt**3 / 3, dt**2 / 2],
            [dt**3 / 6, dt**2 / 2, dt],
        ]
    )
    R = noise**2
    # In units of dt and of the noise the Riccati equation is well scaled.
    D = np.array([1.0, 1 / dt, 1 / dt**2]) * noise
    P = solve_discrete_are((A / D[:, None] * D).T, (C * D).T / noise, Q / np.outer(D, D), np.array([[1.0]]))
    P = P * np.outer(D, D)
    K = P[:, 0] / (P[0, 0] + R)
    return TripleIntegrator(A, Q, R, K, P)


def filter_forward(q: ArrayLike, dt: float, jerk: float, noise: float, u: ArrayLike | None = None) -> NDArray:
    """Causal estimates (N, n, 3) of position, velocity, acceleration; `u` (N, n) is known jerk, as of a reference."""
    q = np.asarray(q, float)
    steady = triple_integrator(dt, jerk, noise)
    drive = np.array([dt**3 / 6, dt**2 / 2, dt])
    x = np.zeros((q.shape[1], 3))
    x[:, 0] = q[0]
    known = np.zeros_like(q) if u is None else np.asarray(u, float)
    found = np.empty((*q.shape, 3))
    for k, measured in enumerate(q):
        x = x + np.outer(measured - x[:, 0], steady.K)
        found[k] = x
        x = x @ steady.A.T + known[k][:, None] * drive
    return found


def smooth(q: NDArray, dt: float, cutoff: float) -> Motion:
    """The fixed-interval (Rauch-Tung-Striebel) smoother in its steady state.

    Its gain from position to position is 1 / (1 + (f/f0)^6); jerk and noise matter by their ratio alone,
    (2 pi f0)^6, which the cutoff gives.
    """
    steady = triple_integrator(dt, (2 * np.pi * cutoff) ** 6 * dt, 1.0)
    filtered = filter_forward(q, dt, (2 * np.pi * cutoff) ** 6 * dt, 1.0)
    after = steady.P - np.outer(steady.K, steady.P[0])
    back = np.linalg.solve(steady.P.T, steady.A @ after.T).T  # J = P(k|k) A' P(k+1|k)^-1
    x = filtered[-1]
    found = np.empty_like(filtered)
    found[-1] = x
    for k in range(len(q) - 2, -1, -1):
        x = filtered[k] + (x - filtered[k] @ steady.A.T) @ back.T
        found[k] = x
    return Motion(found[..., 0], found[..., 1], found[..., 2], cutoff)
