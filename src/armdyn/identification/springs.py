"""Stiffness of elastic joints from encoders on both sides of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.dynamics.newton_euler import inverse_dynamics
from armdyn.errors import DataError, ShapeError
from armdyn.identification.limits import MIN_REDUCTION
from armdyn.identification.logs.log import MIN_SAMPLES
from armdyn.identification.motion.differentiate import differentiate
from armdyn.model.arm import Arm


class Springs(NamedTuple):
    """Stiffness and damping (n,) of joints [N m/rad, N m s/rad], with the standard deviation of the former."""

    stiffness: NDArray
    damping: NDArray
    std: NDArray


def identify_springs(arm: Arm, t: ArrayLike, q: ArrayLike, motor: ArrayLike, cutoff: float | None = None) -> Springs:
    """Springs of the joints from a motion seen by encoders at links and motors.

    The torque of the links' motion, M qdd + C qd + g, passes through the springs: K (theta - q) + D (theta' - qd) + a
    constant for the encoders' zeros, joint by joint by least squares. Friction of the links' own bearings is left out.
    From a resonance instead: `Elasticity.from_frequency`.

    Parameters
    ----------
    arm : Arm
        The model of the links.
    t : array_like, shape (T,)
        Equally spaced times [s].
    q, motor : array_like, shape (T, n)
        Positions of links and of motors, the latter at the gear's output [rad].
    cutoff : float, optional
        Corner frequency of the smoothing [Hz]; default from the data.

    Returns
    -------
    Springs
    """
    times, links, motors = (np.asarray(x, float) for x in (t, q, motor))
    step = np.diff(times)
    if links.shape != motors.shape or links.shape != (len(times), arm.n) or len(times) < MIN_SAMPLES:
        expected = f"at least {MIN_SAMPLES} rows (T, {arm.n})"
        raise ShapeError(where="identify_springs", expected=expected, got=links.shape)
    if np.ptp(step) > 1e-3 * step.mean():
        raise ShapeError(where="identify_springs", expected="equally spaced times", remedy="resample the record first")
    moved = differentiate(links, step.mean(), cutoff=cutoff)
    turned = differentiate(motors, step.mean(), method=moved.method, cutoff=moved.cutoff)
    margin = min(len(times) // 4, int(1 / (moved.cutoff * step.mean())))  # which smoothing spoils
    inner = slice(margin, len(times) - margin)
    tau = inverse_dynamics(arm, moved.q, moved.qd, moved.qdd)[inner]
    stretch, rate = (turned.q - moved.q)[inner], (turned.qd - moved.qd)[inner]
    fits = [_fit_spring(stretch[:, j], rate[:, j], tau[:, j]) for j in range(arm.n)]
    springs = Springs(*np.array(fits).T)
    for name, K, std in zip(arm.coordinate_names, springs.stiffness, springs.std, strict=True):
        if not (K > 0 and std < MIN_REDUCTION * K):
            cause = (
                f"the record does not tell the stiffness of joint '{name}' ({K:.3g} with a standard deviation "
                f"of {std:.2g})"
            )
            remedy = "move it so that its torque changes, with encoders that resolve the spring"
            raise DataError(cause, where="identify_springs", remedy=remedy, names=(name,))
    return springs


def _fit_spring(stretch: NDArray, rate: NDArray, tau: NDArray) -> tuple[float, float, float]:
    """Stiffness, damping and the standard deviation of the stiffness of one joint."""
    A = np.column_stack([stretch, rate, np.ones_like(tau)])
    size = np.linalg.norm(A, axis=0)
    size[size == 0] = 1.0
    x, _, rank, _ = np.linalg.lstsq(A / size, tau, rcond=1e-10)
    if rank < A.shape[1]:
        return 0.0, 0.0, np.inf
    wrong = tau - A / size @ x
    covariance = np.linalg.inv((A / size).T @ (A / size)) * wrong.var() * len(tau) / (len(tau) - 3)
    return x[0] / size[0], x[1] / size[1], float(np.sqrt(covariance[0, 0]) / size[0])
