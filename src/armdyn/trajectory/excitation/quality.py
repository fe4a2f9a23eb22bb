"""How well parameters will be known after a motion, told before the arm moves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import check_positive, row_of
from armdyn.dynamics.base.parameters import BaseParameters
from armdyn.trajectory.excitation.excite import Excitation
from armdyn.trajectory.excitation.regressor import excitation_regressor, labels_of
from armdyn.trajectory.protocol import JointMotion, Trajectory
from armdyn.trajectory.save import RATE_HZ


class Quality(NamedTuple):
    """Predictions for the c = count + 2 n parameters (base, viscous, Coulomb), in SI units."""

    names: tuple[str, ...]
    std: NDArray  # (c,) standard deviations by least squares
    bias: NDArray  # (c,) largest errors by an unmodelled torque of the given size
    time_constant: float  # of LMS, the slowest [s]
    undetermined: tuple[str, ...]  # parameters that may be anything by this experiment
    time_constant_kalman: float  # of the minimum-variance estimator, the slowest [s]
    bias_susceptibility: float = np.nan  # relative error of parameters a relative unmodelled torque, at the most


class Tracking(NamedTuple):
    """Quality of a design that is tracked with error."""

    sigma: float  # least singular value of the correlation matrix as designed
    tracked: float  # and as tracked
    lower: float  # what any tracking error of the same size leaves at the least
    upper: float  # and at the most


def predict_quality(
    design: Excitation,
    noise: ArrayLike,
    *,
    unmodelled: ArrayLike = 0.0,
    gain: float | None = None,
    drift: ArrayLike | None = None,
    rate: float = RATE_HZ,
) -> Quality:
    """Predict how well an experiment with this motion will determine the parameters.

    Parameters
    ----------
    design : Excitation
    noise : float or array_like, shape (n,)
        Standard deviation of each torque sample [N m or N].
    unmodelled : float or array_like, shape (n,)
        Size of a torque that the model does not know, of any course within +- this [N m or N].
    gain : float, optional
        Gain Gamma of LMS, the same for all parameters; default the largest for which adaptation is slow
        (K Gamma times the largest singular value of R equal to one).
    drift : float or array_like, shape (c,), optional
        Standard deviations by which the parameters wander in a second, as the minimum-variance estimator
        takes it [SI units / sqrt(s)]; default so much that each wanders in the motion's duration as far as its
        `std`: the time constant is then the same in all units, and the duration at the least.
    rate : float
        Samples per second.

    Returns
    -------
    Quality

    References
    ----------
    Kapadia (1995), equations 5.2 (its second term with the missing 1/K) and 5.6; section 8.2.
    """
    task = design.problem
    sigma, size = (
        row_of(values, task.base.source.n, f"predict_quality: {what}", sign=">=", finite=True)
        for values, what in ((noise, "noise"), (unmodelled, "unmodelled"))
    )
    W = excitation_regressor(task.base, *design.trajectory(task.times))
    K = max(1, round(task.duration * rate))
    # Weighted least squares; the samples of the design stand for those of the experiment.
    scaled = W / np.where(sigma > 0, sigma, 1.0)[:, None]
    S = np.einsum("kic,kid->cd", scaled, scaled) * (K / task.samples)
    unit = 1 / np.sqrt(np.maximum(np.diag(S), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(S * np.outer(unit, unit))
    lost = values < len(S) * np.finfo(float).eps * values[-1]
    cover = unit**2 * ((vectors**2)[:, ~lost] / values[~lost]).sum(1)
    names = labels_of(task.base)
    hidden = (vectors[:, lost] ** 2).sum(1) > 1e-6
    std = np.where(hidden, np.inf, np.sqrt(cover)) * (sigma > 0).any()
    return Quality(
        names,
        std,
        _bias(W, size, hidden),
        _time_constant(W, gain, K, 1 / rate),
        tuple(name for name, gone in zip(names, hidden, strict=True) if gone),
        _kalman(S / task.duration, _drift(drift, std, task.duration)) if (sigma > 0).any() else 0.0,
        bias_susceptibility(W, _own_parameters(task.base)),
    )


def bias_susceptibility(W: NDArray, theta: NDArray) -> float:
    """Largest relative error of least-squares parameters per relative size of a torque that the model does not know.

    With tau = W theta and an error W+ nu of the parameters it is the largest (|W+ nu| / |theta|) / (|nu| / |tau|), over
    all nu: |tau| / (sigma_min(W) |theta|). It is dimensionless, at least 1 and at most the condition number of W. A
    parameter counts by its share of the torque, so that units do not matter: columns of W have unit length.

    Parameters
    ----------
    W : ndarray, shape (K, n, c)
    theta : ndarray, shape (c,)

    References
    ----------
    Armstrong (1989), On finding exciting trajectories for identification experiments involving systems with nonlinear
    dynamics, International Journal of Robotics Research 8(6), names the figure; Kapadia (1995), section 2.4.1.
    """
    if not np.isfinite(theta).all():
        return np.nan
    rows = W.reshape(-1, W.shape[-1])
    lengths = np.linalg.norm(rows, axis=0)
    if not (lengths > 0).all():
        return np.inf
    size = np.linalg.norm(lengths * theta)
    least = np.linalg.svd(rows / lengths, compute_uv=False)[-1]
    negligible = rows.shape[1] * np.finfo(float).eps
    return float(np.linalg.norm(rows @ theta) / (least * size)) if least > negligible and size > 0 else np.inf


def _own_parameters(base: BaseParameters) -> NDArray:
    """The arm's own parameters (c,) in the order of `Quality.names`; NaN where it does not know them."""
    arm = base.source
    inertial = base.project(arm.theta) if np.isfinite(arm.theta).all() else np.full(base.count, np.nan)
    friction = [[getattr(joint.friction, name) for joint in arm.coordinate_joints] for name in ("viscous", "coulomb")]
    return np.concatenate([inertial, *friction])


def _bias(W: NDArray, size: NDArray, hidden: NDArray) -> NDArray:
    """Largest |R⁻¹ (1/K) sum_k H_k nu_k| over all |nu| <= size: every term with its worst sign (eq. 5.2)."""
    rows = W.reshape(-1, W.shape[-1])
    pinv = np.linalg.pinv(rows).reshape(W.shape[-1], len(W), -1)
    bias = np.abs(pinv).sum(1) @ size
    return np.where(hidden & (size > 0).any(), np.inf, bias)


def _time_constant(W: NDArray, gain: float | None, K: int, step: float) -> float:
    """T_s / sigma_min(Gamma R) (eq. 5.6)."""
    R = np.einsum("kic,kid->cd", W, W) / len(W)
    values = np.linalg.eigvalsh(R)
    if gain is None:
        gain = 1 / (K * values[-1])
    else:
        check_positive("predict_quality", gain=gain)
    return float(step / (gain * values[0])) if values[0] > 0 else np.inf


def _kalman(information: NDArray, drift: NDArray) -> float:
    """Slowest time constant of the steady filter for information per second I and drift Q = D².

    The Riccati equation Q = P I P has the solution P = D (D I D)^-1/2 D; the error follows de/dt = -P I e, and
    P I is similar to (D I D)^1/2.
    """
    if not np.isfinite(drift).all():
        return np.inf
    least = np.linalg.eigvalsh(information * np.outer(drift, drift))[0]
    return float(1 / np.sqrt(least)) if least > 0 else np.inf


def _drift(drift: ArrayLike | None, std: NDArray, duration: float) -> NDArray:
    if drift is None:
        return std / np.sqrt(duration)
    return row_of(drift, len(std), "predict_quality: drift", sign=">", finite=True)


def tracking_loss(design: Excitation, tracked: Trajectory | JointMotion) -> Tracking:
    """The smallest singular value of the correlation matrix when the motion is tracked with error.

    Parameters
    ----------
    design : Excitation
    tracked : Trajectory or JointMotion
        The motion that the arm makes; states at the design's sample times (`design.problem.times`), or a
        trajectory that gives them.

    Returns
    -------
    Tracking

    References
    ----------
    Kapadia (1995), equation 5.7, corrected: its bound has the term of second order alone (erratum 11a).
    """
    task = design.problem
    actual = JointMotion(*tracked) if isinstance(tracked, tuple) else tracked(task.times)
    W, V = (task.rows(tuple(states)) for states in (design.trajectory(task.times), actual))
    E = V - W
    values, Rt = np.linalg.svd(W, full_matrices=False)[1:]
    size = np.linalg.norm(E, 2)
    # V = W + E with W = U S R': V R S^-1 = U + E R S^-1, so sigma(V) >= sigma(W) (1 - |E R S^-1|). By Weyl it
    # changes by |E| at most; and sigma(V) <= |V r| for any unit vector r, here that of W.
    share = np.linalg.norm(E @ Rt.T / values, 2) if values[-1] > 0 else np.inf
    lower = max(0.0, values[-1] - size, values[-1] * (1 - share))
    upper = values[-1] + min(size, np.linalg.norm(E @ Rt[-1]))
    least = np.linalg.svd(V, compute_uv=False)[-1]
    return Tracking(*(float(x) ** 2 / task.samples for x in (values[-1], least, lower, upper)))
