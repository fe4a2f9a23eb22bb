"""A regulator linearised anew about the measured state at every sample, with its Riccati equation as state."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.laws.lqr import TrajectoryLQR, weight_matrix
from armdyn.control.laws.model import FRICTION_SHAPE, MODEL_SHAPES, exerts_torque
from armdyn.control.protocol import Answer, Law, Reference, Values
from armdyn.control.settings import a_pose, one_number
from armdyn.control.step import traced_step
from armdyn.control.theory.riccati import discrete_lqr
from armdyn.dynamics.bodies.ltdl import factorize
from armdyn.dynamics.full import joint_torque
from armdyn.dynamics.linear.linearize import linearize
from armdyn.model.arm import Arm
from armdyn.trace.symbols import Symbol, ca

DATA: dict[str, Any] = {**MODEL_SHAPES, **FRICTION_SHAPE}


def short_step(A: Symbol, B: Symbol, dt: Symbol) -> tuple[Symbol, Symbol]:
    """What errors and torques add to velocities in a period, to the second order in it: L (n, 2 n) and G (n, n).

    Positions gain dt times the velocity and dt / 2 times the same: x[k+1] = (E + F L) x[k] + F G u[k] with
    E = [[1, dt], [0, 1]] and F = [dt / 2; 1], which spares half of the products of Riccati's equation.
    """
    n = B.shape[1]
    by_q, by_qd = A[n:, :n], A[n:, n:]
    mean = dt * (ca.SX.eye(n) + dt / 2 * by_qd)
    L = ca.mtimes(mean, ca.horzcat(by_q, by_qd))
    L[:, n:] += dt * dt / 2 * by_q
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
        Of the controller that will run the law [Hz], for the cost-to-go at the start.
    pose : array_like, shape (n,), optional
        Where it starts; default zero.
    width : float
        In nominal torques, velocity below which dry friction fades out [rad/s or m/s].

    References
    ----------
    Eindhoven (1987), section 5; Weiss, Kolmanovsky and Bernstein (2012), Forward-integration Riccati-based output
    feedback control of linear time-varying systems.
    """

    shapes: ClassVar = {"Q": "2*n, 2*n", "R": "n, n", **DATA}
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
        pose = np.zeros(n) if self.pose is None else a_pose(self.pose, n, "MeasuredLQR: pose")
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
        data = {name: params[name] for name in DATA}
        linear = linearize(arm, q, qd, ref.qdd, model="full", **data)
        K, P = riccati_step(state["P"], *short_step(linear[3], linear[4], dt), params["Q"], params["R"], dt)
        nominal = joint_torque(arm, ref.q, ref.qd, ref.qdd, width=self.width, **data)
        return nominal + ca.mtimes(K, ca.vertcat(ref.q - q, ref.qd - qd)), {"P": P}
