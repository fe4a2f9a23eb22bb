"""Regulators about a trajectory: nominal torques and gains that follow it (Eindhoven 1987, chapter 5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import finite_vector
from armdyn.control.formula import Answer, Arm, Array, Law, Reference, Symbol, Values, ca, traced, traced_step
from armdyn.control.laws.model import FRICTION_SHAPE, MODEL_SHAPES, MODELS, exerts_torque, model_torque
from armdyn.control.settings import as_numbers, one_number
from armdyn.control.theory.gains import bryson
from armdyn.control.theory.riccati import continuous_lqr, discrete_lqr, finite_horizon_lqr
from armdyn.dynamics.bodies.ltdl import factorize
from armdyn.dynamics.full import joint_torque
from armdyn.dynamics.linear.discretize import discretize
from armdyn.dynamics.linear.linearize import Linearize, linearize
from armdyn.errors import ShapeError, check_choice, expect
from armdyn.model.quantities import Q, Qd, Vec
from armdyn.precision import NEGLIGIBLE
from armdyn.trajectory.protocol import JointMotion

# Data of the model that the regulator about the measured state takes.
DATA_SHAPES: dict[str, Any] = {**MODEL_SHAPES, **FRICTION_SHAPE}
DESIGNS = ("finite", "discrete", "continuous")


@traced(returns={"tau": "n"})
def state_feedback(arm: Arm, q: Q, qd: Qd, q_ref: Vec, qd_ref: Vec, tau_ff: Vec, K: Annotated[Any, "n, 2*n"]) -> Array:
    """Torques tau_ff + K [q_ref - q, qd_ref - qd].

    Parameters
    ----------
    q, qd, q_ref, qd_ref
        Measured and desired positions and velocities [rad or m, /s].
    tau_ff
        Nominal torques.
    K
        Gains.
    """
    return tau_ff + ca.mtimes(K, ca.vertcat(q_ref - q, qd_ref - qd))


@dataclass(frozen=True, eq=False)
class TrajectoryLQR(Law):
    """Nominal torques of the reference and the optimal regulator of the arm linearised about it.

        tau = tau_ff(t) + K(t) [q_ref - q, qd_ref - qd]

    tau_ff by Newton-Euler, A(t) and B(t) by `linearize`, K(t) by Riccati's equation at every sample: "finite", the
    optimal gains of the whole motion; "discrete" or "continuous", those of each sample's system as if it went on for
    ever. Locally optimal and stable for the model; large errors leave the linear model's range.

    Parameters
    ----------
    arm : Arm
        The model.
    Q : array_like, shape (2 n, 2 n) or (2 n,)
        Cost of [q, qd] errors; as numbers, the largest acceptable ones (Bryson's rule).
    R : array_like, shape (n, n) or (n,)
        Cost of torques; as numbers, the largest acceptable corrections.
    rate : float
        Rate of the controller that will run the law [Hz].
    design : {"finite", "discrete", "continuous"}
    model : {"rigid", "full"}
        Whether friction and drives are linearised, and compensated by the nominal torques, too.
    width : float
        In nominal torques of the full model, velocity below which dry friction fades out [rad/s or m/s].
    hold : array_like, shape (n,), optional
        Gains designed at this position at rest instead, and used all along: a fixed regulator.

    References
    ----------
    Eindhoven (1987), sections 1 and 5; equations (66)-(68) for A and B.
    """

    arm: Arm
    Q: ArrayLike
    R: ArrayLike
    rate: float
    design: str = "finite"
    model: str = "full"
    width: float = 0.05
    hold: ArrayLike | None = None
    shapes: ClassVar = {}
    _weights: tuple[NDArray, NDArray] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_choice("TrajectoryLQR", "design", self.design, DESIGNS, ShapeError)
        check_choice("TrajectoryLQR", "model", self.model, MODELS, ShapeError)
        one_number(self.rate, "TrajectoryLQR", "a rate > 0 in Hz")
        n = self.arm.n
        weights = weight_matrix(self.Q, 2 * n, "TrajectoryLQR: Q"), weight_matrix(self.R, n, "TrajectoryLQR: R")
        object.__setattr__(self, "_weights", weights)
        one_number(self.width, "TrajectoryLQR: width", "a velocity > 0")
        if self.hold is not None:
            finite_vector(self.hold, n, "TrajectoryLQR: hold", ShapeError)

    @property
    def compensates_friction(self) -> bool:
        """Whether nominal torques are those of the full model."""
        return self.model == "full" and exerts_torque(self.arm.trace_data("friction"))

    def systems(self, q: NDArray, qd: NDArray, qdd: NDArray) -> tuple[NDArray, NDArray]:
        """A (..., 2 n, 2 n) and B (..., 2 n, n) of the arm linearised about samples (..., n), over one period."""
        # Dry friction as a force of constant size: the slope of its smooth stand-in would promise damping at rest.
        linear = linearize(self.arm, q, qd, qdd, model=self.model)
        return discretize(linear.A, linear.B, 1 / self.rate)

    def gains(self, q: NDArray, qd: NDArray, qdd: NDArray) -> NDArray:
        """Gains (T, n, 2 n) for samples of a reference (T, n), one period apart."""
        if self.hold is not None:
            still = np.zeros((1, self.arm.n))
            q, qd, qdd = np.asarray(self.hold, float).reshape(1, -1), still, still
        if self.design == "continuous":
            linear = linearize(self.arm, q, qd, qdd, model=self.model)
            return continuous_lqr(linear.A, linear.B, *self._weights).K
        finite = self.design == "finite" and self.hold is None
        return (finite_horizon_lqr if finite else discrete_lqr)(*self.systems(q, qd, qdd), *self._weights).K

    def nominal(self, motion: JointMotion) -> NDArray:
        """Nominal torques (T, n)."""
        if self.model == "full":
            return joint_torque(self.arm, *motion, width=self.width)
        return model_torque(self.arm, *motion)

    def channels(self, t: NDArray, motion: JointMotion) -> dict[str, NDArray]:
        """Gain table and nominal torques for the times (T,) of a run, which may be finer than the law's periods."""
        step = t[1] - t[0] if len(t) > 1 and t[1] > t[0] else 1 / self.rate
        fine = max(round(1 / (self.rate * step)), 1)
        if abs(fine * step * self.rate - 1) > 1e-6:
            cause = f"designed for {self.rate:g} Hz, but the run's steps are of {step:g} s"
            raise ShapeError(cause, where="TrajectoryLQR")
        K = self.gains(*(np.ascontiguousarray(rows[::fine]) for rows in motion))
        table = np.repeat(K, fine, axis=0)[: len(t)] if len(K) > 1 else np.repeat(K, len(t), axis=0)
        return {"K": np.ascontiguousarray(table), "tau_ff": np.ascontiguousarray(self.nominal(motion))}

    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample; see `state_feedback`."""
        channels = ref.channels
        return state_feedback(arm, q, qd, ref.q, ref.qd, channels["tau_ff"], channels["K"]), state

    def at_measured(self) -> Any:
        """The same regulator linearised anew about the measured state at every sample: a function for `simulate`.

        Its gains cost one `linearize` and one Riccati equation per sample, in Python; `MeasuredLQR` is a law for
        kernels and C.
        """

        def controller(t: float, q: NDArray, qd: NDArray, ref: Reference) -> NDArray:
            K = self.gains(q[None], qd[None], np.asarray(ref.qdd)[None])[0]
            return state_feedback(self.arm, q, qd, ref.q, ref.qd, self.nominal(JointMotion(ref.q, ref.qd, ref.qdd)), K)

        return controller


def weight_matrix(value: ArrayLike, size: int, where: str) -> NDArray:
    """A cost matrix (size, size), symmetric and positive semidefinite; of `size` numbers by Bryson's rule."""
    array = as_numbers(value, where)
    if array.shape == (size,):
        return bryson(array)
    expect(array.shape == (size, size), where, f"{size} numbers or ({size}, {size})", array.shape)
    expect(np.isfinite(array).all(), where, "finite numbers")
    largest = np.abs(array).max()
    if np.abs(array - array.T).max() > NEGLIGIBLE * largest or np.linalg.eigvalsh(array)[0] < -NEGLIGIBLE * largest:
        raise ShapeError(where=where, expected="a symmetric matrix without negative eigenvalues")
    return array


def short_step(linear: Linearize, dt: Symbol) -> tuple[Symbol, Symbol]:
    """Return what errors and torques add to velocities in a period, to the second order in it: L (n, 2 n) and G (n, n).

    Positions gain dt times the velocity and dt / 2 times the same: x[k+1] = (E + F L) x[k] + F G u[k] with
    E = [[1, dt], [0, 1]] and F = [dt / 2; 1], which spares half of the products of Riccati's equation.

    Friction may stop a light wrist within a small part of a period. Damping D of single joints therefore acts by the
    rational function 1 / (1 + z + z²/2) for exp(-z), z = dt M^-1 D, which vanishes for large z; its mean over the
    period is T = (M + dt D + dt²/2 D M^-1 D)^-1 (M + dt/2 D).
    """
    M, C, _, A, B = linear
    n = B.shape[1]
    D = ca.diag(ca.fmax(ca.diag(C), 0))
    damped = ca.mtimes(factorize(M).inverse(), D)
    factors, right = factorize(M + dt * D + dt * dt / 2 * ca.mtimes(D, damped)), M + dt / 2 * D
    T = ca.horzcat(*(factors.solve(right[:, j]) for j in range(n)))
    mean = dt * T + dt * dt / 2 * (A[n:, n:] + damped)
    L = ca.mtimes(mean, A[n:, :])
    L[:, n:] += dt / 2 * L[:, :n]
    return L, ca.mtimes(mean, B[n:, :])


def riccati_step(P: Symbol, L: Symbol, G: Symbol, Q: Symbol, R: Symbol, dt: Symbol) -> tuple[Symbol, Symbol]:
    """Gains for the cost-to-go P, and the cost-to-go one step earlier, symmetric to the last bit."""
    n = G.shape[0]

    def lowered(X: Symbol) -> Symbol:
        """F' X."""
        return dt / 2 * X[:n, :] + X[n:, :]

    PF = lowered(P).T
    PA = ca.horzcat(P[:, :n], dt * P[:, :n] + P[:, n:]) + ca.mtimes(PF, L)
    FPA = lowered(PA)
    BPA = ca.mtimes(G.T, FPA)
    factors = factorize(R + ca.mtimes([G.T, lowered(PF), G]))
    K = ca.horzcat(*(factors.solve(BPA[:, j]) for j in range(2 * n)))
    EPA = ca.vertcat(PA[:n, :], dt * PA[:n, :] + PA[n:, :])
    return K, ca.triu2symm(ca.triu(Q + EPA + ca.mtimes(L.T, FPA) - ca.mtimes(BPA.T, K)))


@dataclass(frozen=True, eq=False)
class MeasuredLQR(Law):
    """Nominal torques and the regulator of the arm linearised about its measured state, in real time.

        tau = tau_ff + K [q_ref - q, qd_ref - qd],   K and P by one step of Riccati's equation with A(q, qd), B(q)

    The cost-to-go P is the state: every sample takes one step of the difference equation, which goes to the algebraic
    one's solution as fast as the regulator itself settles, and follows it while the arm moves. So no equation is solved
    within a sample, and the law runs in kernels and as C. Locally stable for the model if poses change slowly against
    the regulator; `TrajectoryLQR.at_measured` solves the algebraic equation exactly at every sample, in Python.

    Parameters
    ----------
    arm : Arm
        The model, friction and drives included.
    Q : array_like, shape (2 n, 2 n) or (2 n,)
        Cost of [q, qd] errors; as numbers, the largest acceptable ones (Bryson's rule).
    R : array_like, shape (n, n) or (n,)
        Cost of torques; as numbers, the largest acceptable corrections.
    rate : float
        Rate of the controller that will run the law [Hz], for the cost-to-go at the start; a period of the linearised
        arm is taken to the second order, and stably so however light a joint is for its friction (`short_step`).
    pose : array_like, shape (n,), optional
        Start of the motion; default zero.
    width : float
        In nominal torques, velocity below which dry friction fades out [rad/s or m/s].

    References
    ----------
    Eindhoven (1987), section 5; Weiss, Kolmanovsky and Bernstein (2012), Forward-integration Riccati-based output
    feedback control of linear time-varying systems.
    """

    shapes: ClassVar = {"Q": "2*n, 2*n", "R": "n, n", **DATA_SHAPES}
    formula_options: ClassVar = ("width",)
    arm: Arm
    Q: ArrayLike
    R: ArrayLike
    rate: float
    pose: ArrayLike | None = None
    width: float = 0.05
    _start: NDArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        n = self.arm.n
        pose = np.zeros(n) if self.pose is None else finite_vector(self.pose, n, "MeasuredLQR: pose", ShapeError)
        one_number(self.width, "MeasuredLQR: width", "a velocity > 0")
        Q, R = weight_matrix(self.Q, 2 * n, "MeasuredLQR: Q"), weight_matrix(self.R, n, "MeasuredLQR: R")
        still = TrajectoryLQR(self.arm, Q, R, self.rate, "discrete").systems(pose, 0 * pose, 0 * pose)
        self._set(Q=Q, R=R, _start=discrete_lqr(*still, Q, R).P)

    @property
    def compensates_friction(self) -> bool:
        """Nominal torques hold friction."""
        return exerts_torque(self.arm.trace_data("friction"))

    def init(self) -> dict[str, NDArray]:
        """The cost-to-go of the first pose."""
        return {"P": self._start.copy()}

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample; see `riccati_step`."""
        data = {name: params[name] for name in DATA_SHAPES}
        linear = linearize(arm, q, qd, ref.qdd, model="full", **data)
        K, P = riccati_step(state["P"], *short_step(Linearize(*linear), dt), params["Q"], params["R"], dt)
        nominal = joint_torque(arm, ref.q, ref.qd, ref.qdd, width=self.width, **data)
        return nominal + ca.mtimes(K, ca.vertcat(ref.q - q, ref.qd - qd)), {"P": P}
