"""Observers of the generalized momentum: disturbances compensated, collisions noticed without a sensor.

dp/dt = tau + momentum_rate - friction + outside torques; no accelerations and no inverse of the mass matrix are needed
(De Luca and Mattone 2005).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.laws.filters import low_pass
from armdyn.control.laws.model import FRICTION_SHAPE, FRICTION_WIDTH, MODEL_SHAPES, model_data, model_torque
from armdyn.control.laws.wrapped import Wrapped
from armdyn.control.protocol import Answer, Law, Reference, Values
from armdyn.control.settings import joint_numbers, one_number
from armdyn.control.step import traced_step
from armdyn.dynamics.bodies.ltdl import factorize
from armdyn.dynamics.coriolis import coriolis_matrix
from armdyn.dynamics.drive import augmented_mass_matrix, drive_torque
from armdyn.dynamics.friction import friction_torque
from armdyn.dynamics.gravity import gravity_torque
from armdyn.errors import ShapeError, check_choice
from armdyn.frozen import PartOf
from armdyn.kinematics.jacobian import jacobian
from armdyn.model.arm import Arm
from armdyn.model.quantities import DriveData, Gravity, Number, Q, Qd, Theta, Vec
from armdyn.trace.formula import Array, Symbol, ca, traced

REACTIONS = ("none", "stop", "gravity", "reflex")
# Damping of the wrench's least squares, part of the largest entry of J J'.
WRENCH_DAMPING_RATIO = 1e-6


@traced(returns={"p": "n"})
def momentum(arm: Arm, q: Q, qd: Qd, *, theta: Theta = None, drive: DriveData = None) -> Array:
    """The generalized momentum p = M qd, rotors included."""
    return ca.mtimes(augmented_mass_matrix(arm, q, theta=theta, drive=drive), qd)


@traced(returns={"rate": "n"})
def momentum_rate(
    arm: Arm, q: Q, qd: Qd, *, theta: Theta = None, gravity: Gravity = None, drive: DriveData = None
) -> Array:
    """Rate of the momentum without torques and friction: C' qd - g - springs and motor damping.

    References
    ----------
    De Luca and Mattone (2005), Sensorless robot collision detection and hybrid force/motion control.
    """
    springs = drive_torque(arm, q, qd, ca.SX.zeros(arm.n), drive=drive)
    rest = springs + gravity_torque(arm, q, theta=theta, gravity=gravity)
    return ca.mtimes(coriolis_matrix(arm, q, qd, theta=theta).T, qd) - rest


@traced(returns={"tau": "n"})
def unexplained_torque(arm: Arm, p: Vec, predicted: Vec, impulse: Vec, rate: Vec, dt: Number) -> Array:
    """Mean torque over the last period that explains the momentum: the rest of dp/dt = tau + rate.

    Rates of both ends count half (the trapezoidal rule), so that errors fall with the square of the period.

    Parameters
    ----------
    p
        Momentum now.
    predicted
        Momentum a period ago and half of what its rate then adds, p + dt / 2 rate.
    impulse
        Of the known torques over the period.
    rate
        See `momentum_rate`, now.
    dt
        Period [s].
    """
    return (p - predicted - impulse) / dt - rate / 2


@dataclass(frozen=True, eq=False)
class DisturbanceObserver(Wrapped):
    """Any law with unmodelled torques (load, friction, contact) observed and compensated.

        tau = tau_law - d_hat
        p = M qd,  d_hat' = 2 pi bandwidth (p' - tau - C' qd + g + friction of the law - d_hat)

    d_hat follows the true disturbance with a first-order lag of 1 / (2 pi bandwidth), exactly so at any rate (see
    `low_pass`); the bandwidth must stay well below that of unmodelled lags, and well above the motion's. It acts as an
    integral action does, without its own overshoot. Friction that the law inside compensates is known to the observer;
    a `FrictionFeedforward` goes outside, around this law.

    Parameters
    ----------
    law : Law
        Its model explains the torques.
    bandwidth : array_like, shape (..., n)
        Bandwidth of the observer [Hz].

    References
    ----------
    De Luca and Mattone (2005), Sensorless robot collision detection and hybrid force/motion control.
    """

    own_shapes: ClassVar = {"bandwidth": "n", **MODEL_SHAPES}
    # `predicted` is the momentum, `applied` the impulse of the last torque, if there was one (`started`).
    state_shapes: ClassVar = {"disturbance": "n", "predicted": "n", "applied": "n", "started": "1"}
    impulse_states: ClassVar = ("applied",)
    begun_states: ClassVar = ("started",)
    law: Law
    bandwidth: ArrayLike = 10.0

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample; what friction the inner law compensates is no disturbance."""
        tau, after = self.inner(params, state, q, qd, ref, dt)
        p = momentum(arm, q, qd, theta=params["theta"], drive=params["drive"])
        rate, before = momentum_rate(arm, q, qd, **model_data(params)), state["disturbance"]
        unexplained = unexplained_torque(arm, p, state["predicted"], state["applied"], rate, dt)
        filtered = low_pass(arm, before, unexplained, params["bandwidth"], dt)
        disturbance = ca.if_else(state["started"] > 0.5, filtered, before)
        friction = self.law.friction_part(params, tau, q, qd, ref)
        tau = tau - disturbance
        after |= {"disturbance": disturbance, "predicted": p + dt / 2 * rate, "applied": (tau - friction) * dt}
        return tau, {**after, "started": ca.SX(1)}


@dataclass(frozen=True, eq=False)
class MomentumObserver(Wrapped):
    """Any law watched for torques that its model, friction included, does not explain.

        p = M qd,   r' = 2 pi bandwidth (p' - tau - C' qd + g + friction(qd) - r)

    The residual r follows torques from outside with a first-order lag of 1 / (2 pi bandwidth), exactly so at any rate
    (see `low_pass`); a sample that is no number leaves it as it was. Once it exceeds the threshold of some joint, the
    state `detected` counts samples, and the reaction lasts until the law starts anew:

    * "none": the law goes on;
    * "stop": the law is asked to rest where the arm was then;
    * "gravity": the law is left, and gravity alone is compensated: the arm can be pushed away by hand;
    * "reflex": the same with `reflex` times the residual added, which moves the arm away from what it touched.

    States are `residual` (n,), `wrench` (6,), the force and moment at the tip in base axes that explain the residual
    best, and `detected` (1,). A contact torque d on a joint is noticed after -log(1 - threshold / d) / (2 pi bandwidth)
    and a period, see `detection_delay`.

    Parameters
    ----------
    law : Law
        Its model explains the torques.
    threshold : array_like, shape (n,)
        Residuals that are no noise [N m or N]; `noise_threshold` finds them from a clean record.
    bandwidth : array_like, shape (..., n)
        Bandwidth of the residual [Hz].
    reaction : {"none", "stop", "gravity", "reflex"}
    reflex : array_like, shape (..., n)
        Part of the residual that is added.

    References
    ----------
    De Luca and Mattone (2005), Sensorless robot collision detection and hybrid force/motion control; Haddadin, De Luca
    and Albu-Schäffer (2017), Robot collisions: a survey.
    """

    own_shapes: ClassVar = {
        "threshold": "n", "watch_bandwidth": "n", "reflex": "n", **MODEL_SHAPES, **FRICTION_SHAPE
    }  # fmt: skip
    # Samples since a collision (`detected`), where it was (`q_hit`), and what the prediction needs.
    state_shapes: ClassVar = {
        "residual": "n", "wrench": "6", "detected": "1", "q_hit": "n", "p_hat": "n", "impulse": "n", "watching": "1"
    }  # fmt: skip
    positive: ClassVar = {"threshold": "torques", "bandwidth": "frequencies"}
    formula_options: ClassVar = ("reaction",)
    impulse_states: ClassVar = ("impulse",)
    begun_states: ClassVar = ("watching",)
    law: Law
    threshold: ArrayLike
    bandwidth: ArrayLike = 20.0
    reaction: str = "stop"
    reflex: ArrayLike = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("MomentumObserver", "reaction", self.reaction, REACTIONS, ShapeError)

    watch_bandwidth = PartOf[NDArray]("bandwidth", "The bandwidth, under a name of its own among the parameters.")

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample; the residual is that of the torque exerted until now."""
        p = momentum(arm, q, qd, theta=params["theta"], drive=params["drive"])
        friction = friction_torque(arm, q, qd, width=FRICTION_WIDTH, friction=params["friction"])
        rate = momentum_rate(arm, q, qd, **model_data(params)) - friction
        unexplained = unexplained_torque(arm, p, state["p_hat"], state["impulse"], rate, dt)
        filtered = low_pass(arm, state["residual"], unexplained, params["watch_bandwidth"], dt)
        r = ca.if_else(state["watching"] > 0.5, filtered, state["residual"])
        hit = ca.logic_or(state["detected"] > 0.5, ca.logic_any(ca.fabs(r) > params["threshold"]))
        detected = ca.if_else(hit, state["detected"] + 1, 0)
        q_hit = ca.if_else(state["detected"] > 0.5, state["q_hit"], q)
        if self.reaction == "stop":
            still = ca.SX.zeros(self.arm.n)
            held = (ca.if_else(hit, x, y) for x, y in ((q_hit, ref.q), (still, ref.qd), (still, ref.qdd)))
            ref = Reference(*held)._replace(channels=ref.channels)
        tau, after = self.inner(params, state, q, qd, ref, dt)
        if self.reaction in ("gravity", "reflex"):
            away = model_torque(self.arm, q, 0 * q, 0 * q, **model_data(params))
            if self.reaction == "reflex":
                away = away + params["reflex"] * r
            tau = ca.if_else(hit, away, tau)
        after |= {"residual": r, "wrench": tip_wrench(arm, q, r), "detected": detected, "q_hit": q_hit}
        after |= {"p_hat": p + dt / 2 * rate, "impulse": tau * dt, "watching": ca.SX(1)}
        return tau, after


def tip_wrench(arm: Arm, q: Symbol, tau: Symbol) -> Symbol:
    """The wrench (6,) at the tip, in base axes, that explains joint torques best: least squares of J' f = tau."""
    J = jacobian(arm, q)
    JJ = ca.mtimes(J, J.T)
    return factorize(JJ + WRENCH_DAMPING_RATIO * ca.mmax(ca.diag(JJ)) * ca.SX.eye(6)).solve(ca.mtimes(J, tau))


# -- records -------------------------------------------------------------------------------------------------


def external_torque(
    arm: Arm, t: ArrayLike, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, bandwidth: ArrayLike = 20.0
) -> NDArray:
    """The residual (T, n) that `MomentumObserver` would have seen along a record.

    Parameters
    ----------
    arm : Arm
        The model, friction included.
    t : array_like, shape (T,)
        Equally spaced times [s].
    q, qd, tau : array_like, shape (T, n)
        Positions, velocities and torques of the drives, a torque lasting from its sample to the next.
    bandwidth : array_like, shape (n,)
        [Hz]
    """
    from scipy.signal import lfilter

    times, x, v, torque = (np.asarray(values, float) for values in (t, q, qd, tau))
    step = np.diff(times)
    if len(times) < 2 or np.ptp(step) > 1e-3 * step.mean():
        raise ShapeError(where="external_torque", expected="equally spaced times", remedy="resample the record first")
    if not x.shape == v.shape == torque.shape == (len(times), arm.n):
        raise ShapeError(where="external_torque", expected=f"records of shape ({len(times)}, {arm.n})", got=x.shape)
    cutoff = joint_numbers(bandwidth, arm.n, "external_torque: bandwidth", "frequencies > 0")
    dt = float(step.mean())
    p, rate = momentum(arm, x, v), momentum_rate(arm, x, v) - friction_torque(arm, x, v, width=FRICTION_WIDTH)
    unexplained = unexplained_torque(arm, p[1:], p[:-1] + dt / 2 * rate[:-1], dt * torque[:-1], rate[1:], dt)
    good = np.isfinite(unexplained).all(1)
    residual = np.zeros((1 + good.sum(), arm.n))
    for j, decay in enumerate(np.exp(-2 * np.pi * cutoff * dt)):  # `low_pass` of all samples at once
        residual[1:, j] = lfilter([1 - decay], [1.0, -decay], unexplained[good, j])
    return residual[np.concatenate([[0], np.cumsum(good)])]  # samples that are no numbers leave it as it was


def noise_threshold(residual: ArrayLike, margin: float = 1.25) -> NDArray:
    """Thresholds (n,) above all residuals of a clean record: the largest of each joint times a margin.

    Parameters
    ----------
    residual : array_like, shape (T, n)
        As `external_torque` gives it for a record without contact.
    margin : float
    """
    margin = one_number(margin, "noise_threshold: margin", "a factor > 0")
    return np.asarray(margin * np.abs(np.asarray(residual, float)).max(0))


def fit_threshold(spread: ArrayLike, correlation: float, bandwidth: ArrayLike = 20.0, sigmas: float = 6.0) -> NDArray:
    """Thresholds (n,) from how far a fit's torques are off: so many standard deviations of what passes the residual.

    The low-pass of `bandwidth` keeps of an error with the correlation time T the part sqrt(L T / (1 + L T)), L = 2 pi
    bandwidth.

    Parameters
    ----------
    spread : array_like, shape (n,)
        Standard deviation of the fit's torque errors [N m or N], as `fit.sigma` or a comparison with a log gives it.
    correlation : float
        For how long these errors keep their sign [s]; 0.1 is typical of what models leave.
    bandwidth : array_like, shape (n,)
        [Hz]
    sigmas : float
    """
    passed = (
        2 * np.pi * np.asarray(bandwidth, float) * one_number(correlation, "fit_threshold", "a time > 0 in seconds")
    )
    return np.asarray(sigmas * np.asarray(spread, float) * np.sqrt(passed / (1 + passed)))


def detection_delay(
    threshold: ArrayLike, torque: ArrayLike, bandwidth: ArrayLike = 20.0, rate: float = 1000.0
) -> NDArray:
    """Time [s] after which a constant contact torque exceeds a threshold, infinite if it never does.

    Parameters
    ----------
    threshold, torque : array_like
        [N m or N]
    bandwidth : array_like
        [Hz]
    rate : float
        Rate of the controller [Hz]: a contact that begins between samples is seen up to a period later.
    """
    part = np.asarray(threshold, float) / np.abs(np.asarray(torque, float))
    with np.errstate(divide="ignore"):
        steps = -np.log1p(-np.minimum(part, 1.0)) * rate / (2 * np.pi * np.asarray(bandwidth, float))
    return np.where(part < 1, (np.ceil(steps) + 1) / rate, np.inf)
