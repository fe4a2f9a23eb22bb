"""Noise levels of the triple integrator: from quantisation, from innovations, and from what drives can do in a pose.

Kapadia 4.4 takes one intensity of jerk for all times and wishes for one that follows the pose and the actuators;
`jerk_from_limits` is that, and `filter_varying` and `smooth_varying` use it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.dynamics.mass_matrix import mass_matrix
from armdyn.errors import ArmdynError
from armdyn.identification.logs.log import MIN_SAMPLES, SMALL_SHARE
from armdyn.identification.motion.differentiate import MAX_JUDGED, SmoothedMotion, require_positions
from armdyn.identification.motion.kalman import (
    filter_forward,
    known_jerk,
    like_positions,
    transition,
    triple_integrator,
    white_jerk,
)
from armdyn.model.arm import Arm

DIGITS_RATIO = 4.0  # times what a step explains: noise above it has other sources, the step is that of written digits


class NoiseLevels(NamedTuple):
    """Noise levels of each joint that the filter takes."""

    resolution: NDArray  # (n,) step of the encoder [rad or m]; 0 where positions lie on no grid
    noise: NDArray  # (n,) standard deviation of a measured position
    jerk: NDArray  # (n,) intensity of white jerk [unit²/s⁵]


def resolution(q: ArrayLike) -> NDArray:
    """Steps (n,) of the encoders behind positions (N, n); 0 where these lie on no grid."""
    return np.array([_step(column[:MAX_JUDGED]) for column in np.asarray(q, float).T])


def _step(column: NDArray) -> float:
    gaps = np.diff(np.unique(column))
    # Numbers that are one value but for their last digits are no step of an encoder.
    gaps = gaps[gaps > 1e-12 * max(float(np.abs(column).max()), 1e-300)]
    if not len(gaps):
        return 0.0
    # Fast motion may skip single steps.
    steps = (_fit_step(gaps, float(gaps.min()) / part) for part in (1, 2, 3))
    return next((step for step in steps if step), 0.0)


def _fit_step(gaps: NDArray, step: float) -> float:
    """The step near a first guess of which all gaps are whole multiples; 0 if there is none."""
    for reach in (1.5, 5.0, 20.0, 100.0):
        some = gaps[gaps < reach * step]
        counts = np.round(some / step)
        if np.any(np.abs(some / step - counts) > SMALL_SHARE):
            return 0.0
        # Many gaps together are more precise than one.
        step = float(some.sum() / counts.sum()) if len(some) else step
    return step if len(some) >= min(len(gaps), MIN_SAMPLES) else 0.0


def noise_levels(q: ArrayLike, dt: float) -> NoiseLevels:
    """Noise and jerk of positions (N, n) at even times.

    An encoder of resolution r spreads evenly over r: variance r²/12. Positions on no grid, or on one far finer than
    their noise, show it in third differences, in which motion is negligible. The jerk is the one under which
    innovations are most likely.
    """
    q = require_positions(q, dt, "noise_levels")[:MAX_JUDGED]
    steps = resolution(q)
    # (1, -3, 3, -1) has the sum of squares 20.
    white = np.sqrt(np.mean(np.diff(q, 3, axis=0) ** 2, axis=0) / 20)
    even = steps / np.sqrt(12)
    noise = np.maximum(np.where((steps > 0) & (white < DIGITS_RATIO * even), even, white), 1e-15)
    jerk = [_likeliest_jerk(column, dt, sigma) for column, sigma in zip(q.T, noise, strict=True)]
    return NoiseLevels(steps, noise, np.array(jerk))


def _likeliest_jerk(column: NDArray, dt: float, noise: float) -> float:
    """The intensity of most likely innovations, sought over the corners of the filter from Nyquist's to the log's."""
    lowest = 2.0 / (len(column) * dt)
    corners = np.geomspace(lowest, 0.4 / dt, 25)
    intensities = (2 * np.pi * corners) ** 6 * dt * noise**2
    costs = [_cost(column, dt, jerk, noise) for jerk in intensities]
    return float(intensities[int(np.argmin(costs))])


def _cost(column: NDArray, dt: float, jerk: float, noise: float) -> float:
    """Twice the negative log likelihood of a sample's innovation, in the steady state."""
    steady = triple_integrator(dt, jerk, noise)
    x = filter_forward(column[:, None], dt, jerk, noise)[:, 0]
    error = column[1:] - x[:-1] @ steady.A[0]
    variance = steady.P[0, 0] + steady.R
    settled = error[len(error) // 10 :]
    return float(np.log(variance) + np.mean(settled**2) / variance)


def jerk_from_limits(arm: Arm, q: ArrayLike, rise: float) -> NDArray:
    """Intensities of jerk (N, n) that drives at their limits can make in the poses q (N, n) [unit²/s⁵].

    In the time `rise` [s], that of the drives' currents, accelerations may become any that the greatest torques give:
    intensity times `rise` is the square of the sum of |M^-1| times torques.
    """
    effort = np.array([joint.limits.effort for joint in arm.coordinate_joints])
    if not np.isfinite(effort).all():
        missing = arm.coordinate_names[int(np.flatnonzero(~np.isfinite(effort))[0])]
        cause = f"joint '{missing}' of arm '{arm.name}' has no effort limit"
        raise ArmdynError(cause, where="jerk_from_limits", names=(missing,))
    if not rise > 0:
        raise ArmdynError(where="jerk_from_limits", expected="rise > 0 s", got=rise)
    M = mass_matrix(arm, np.asarray(q, float)) + np.diag(
        [joint.drive.reflected_inertia for joint in arm.coordinate_joints]
    )
    return (np.abs(np.linalg.inv(M)) @ effort) ** 2 / rise


def filter_varying(
    q: ArrayLike, dt: float, jerk: ArrayLike, noise: ArrayLike, u: ArrayLike | None = None
) -> tuple[NDArray, NDArray]:
    """Causal estimates (N, n, 3) and their covariances (N, n, 3, 3) for jerk (N, n) that varies, and noise (n,).

    `u` (N, n) is known jerk, as of a reference. Kapadia (4.3)-(4.7), corrected, with a gain per sample.
    """
    x, P, _ = _forward(q, dt, jerk, noise, u)
    return x, P


def smooth_varying(
    q: ArrayLike, dt: float, jerk: ArrayLike, noise: ArrayLike, u: ArrayLike | None = None
) -> tuple[SmoothedMotion, NDArray]:
    """The fixed-interval smoother (Rauch, Tung, Striebel 1965) of `filter_varying`, and covariances (N, n, 3, 3)."""
    x, P, ahead = _forward(q, dt, jerk, noise, u)
    A, scale = transition(1.0), np.array([1.0, dt, dt**2])
    x, P, ahead = x * scale, P * np.outer(scale, scale), [(m * scale, S * np.outer(scale, scale)) for m, S in ahead]
    for k in range(len(x) - 2, -1, -1):
        mean, S = ahead[k]
        J = np.linalg.solve(S, A @ P[k]).swapaxes(-1, -2)  # P(k|k) A' P(k+1|k)^-1
        x[k] += (J @ (x[k + 1] - mean)[..., None])[..., 0]
        P[k] += J @ (P[k + 1] - S) @ J.swapaxes(-1, -2)
    x, P = x / scale, P / np.outer(scale, scale)
    return SmoothedMotion(x[..., 0], x[..., 1], x[..., 2], np.nan, "kalman"), P


def _forward(
    q: ArrayLike, dt: float, jerk: ArrayLike, noise: ArrayLike, u: ArrayLike | None
) -> tuple[NDArray, NDArray, list[tuple[NDArray, NDArray]]]:
    """Estimates and covariances after each measurement, and those predicted for the next."""
    q = require_positions(q, dt, "filter_varying", 1)
    jerk, R = like_positions(jerk, q, "jerk"), like_positions(noise, q, "noise")[0] ** 2
    known = np.zeros_like(q) if u is None else like_positions(u, q, "u")
    A, unit, drive = transition(dt), white_jerk(dt), known_jerk(dt)
    x = np.zeros((q.shape[1], 3))
    x[:, 0] = q[0]
    # At first nothing is known of velocity, nor of acceleration beyond what jerk makes of it in many samples.
    P = R[:, None, None] * np.diag([1.0, 1 / dt**2, 1 / dt**4])
    states, covariances, ahead = np.empty((*q.shape, 3)), np.empty((*q.shape, 3, 3)), []
    for k, measured in enumerate(q):
        K = P[:, :, 0] / (P[:, :1, 0] + R[:, None])
        x = x + (measured - x[:, 0])[:, None] * K
        P = P - K[:, :, None] * P[:, :1, :]
        states[k], covariances[k] = x, P
        x = x @ A.T + known[k][:, None] * drive
        P = A @ P @ A.T + jerk[k][:, None, None] * unit
        ahead.append((x, P))
    return states, covariances, ahead
