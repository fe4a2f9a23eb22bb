"""Craig's adaptive law: computed torque whose model learns."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from armdyn.control.adaptive.body import BODY, is_body, possible_body
from armdyn.control.adaptive.estimate import Adaptive, adapt_estimate, outside
from armdyn.control.formula import Answer, Arm, Reference, Symbol, Values, ca, traced_step
from armdyn.control.theory.lyapunov import Lyapunov, parameter_energy
from armdyn.dynamics.bodies.ltdl import Factors, factorize
from armdyn.dynamics.drive import augmented_mass_matrix
from armdyn.errors import ArmdynWarning, ShapeError
from armdyn.precision import NEGLIGIBLE


@dataclass(frozen=True, eq=False)
class Craig(Adaptive):
    """Computed torque with an estimated model that adapts by the acceleration's error.

        e = q_ref - q,  tau = M_hat (qdd_ref + kd e' + kp e) + C_hat qd + g_hat
        d phi/dt = Gamma Y(q, qd, qdd)' M_hat^-1 (e' + psi e)

    Needs accelerations (here the difference of measured velocities over a period) and an invertible M_hat, which
    projection keeps so: of the estimate to a box `lower`, `upper` of possible values, or of an unknown load to possible
    bodies. A step after which M_hat were not positive definite all the same is not taken: the estimate rests, and the
    state `singular` is 1. The proof needs (s + psi) / (s² + kd s + kp) to be strictly positive real, which it is for
    kp > 0 and 0 < psi < kd.

    Parameters
    ----------
    unknowns : Unknowns
        As `adapt` makes them.
    kp, kd : array_like, shape (..., n)
        Gains [1/s², 1/s].
    psi : array_like, shape (..., n)
        [1/s], below kd.
    gain : array_like, shape (..., u)
        Adaptation gains.
    start, lower, upper, leak, dead_zone, normalize
        See `Adaptive`.
    possible : bool
        Move the estimate of `adapt(unknown_payload(arm), ...)` to the nearest consistent body at every sample.
    """

    gain_shapes: ClassVar = {**Adaptive.gain_shapes, "kp": "n", "kd": "n", "psi": "n"}
    state_shapes: ClassVar = {"q_last": "n", "qd_last": "n", "started": "1", "singular": "1"}
    formula_options: ClassVar = ("possible",)
    begun_states: ClassVar = ("started",)
    kp: ArrayLike
    kd: ArrayLike
    psi: ArrayLike
    gain: ArrayLike
    possible: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.possible and not is_body(self.unknowns):
            raise ShapeError(where="Craig: possible", expected="adapt(unknown_payload(arm), ...), whose load is a body")
        if not (np.asarray(self.psi) < np.asarray(self.kd)).all():
            warnings.warn("Craig: psi is not below kd, so that nothing is proven", ArmdynWarning, stacklevel=3)

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample; the mean acceleration of the last period belongs to its middle."""
        phi, e, ed = state["phi"], ref.q - q, ref.qd - qd
        desired, known = self.unknowns.torque(q, qd, ref.qdd + params["kd"] * ed + params["kp"] * e, params, ref=ref)
        q_last, qd_last = state["q_last"], state["qd_last"]
        Y, _ = self.unknowns.torque((q + q_last) / 2, (qd + qd_last) / 2, (qd - qd_last) / dt, params)
        factors, regular = self._mass(q, phi, params)
        rate = ca.mtimes(Y.T, factors.solve(outside(ed + params["psi"] * e, params["dead_zone"])))
        after = adapt_estimate(phi, rate, Y, params, dt)
        if self.possible:
            after = ca.vertcat(possible_body(after[:BODY]), after[BODY:])
        regular = ca.logic_and(regular, self._mass(q, after, params)[1])
        phi = ca.if_else(ca.logic_and(regular, state["started"] > 0.5), after, phi)
        tau = ca.mtimes(desired, state["phi"]) + known
        return tau, {"phi": phi, "q_last": q, "qd_last": qd, "started": ca.SX(1), "singular": 1 - regular}

    def _mass(self, q: Symbol, phi: Symbol, params: Values) -> tuple[Factors, Symbol]:
        """The factors of M_hat for an estimate, and whether it is positive definite."""
        theta = self.unknowns.estimate(params["theta"], phi)
        factors = factorize(augmented_mass_matrix(self.arm, q, theta=theta, drive=params["drive"]))
        inverse = ca.vertcat(*factors.inverse_d)
        return factors, ca.logic_all(ca.logic_and(inverse > 0, inverse < 1 / NEGLIGIBLE))

    def lyapunov(self, plant: Arm, truth: ArrayLike, run: Any) -> Lyapunov:
        """V and its rate along a run.

            V = sum over joints of ((kp + kd psi) e² + 2 psi e e' + e'²) / 2 + (phi - phi_true)' Gamma^-1 (...) / 2
            V' = -sum over joints of (kp psi e² + (kd - psi) e'²)

        Parameters
        ----------
        plant : Arm
            The true arm; V does not depend on it.
        truth : array_like, shape (u,)
            The true unknowns.
        run : SimulationResult
            With the state `phi`.
        """
        kp, kd, psi = (np.asarray(getattr(self, name)) for name in ("kp", "kd", "psi"))
        e, ed = run.q_ref - run.q, run.qd_ref - run.qd
        # P of Kalman and Yakubovich for (s + psi) / (s² + kd s + kp), a joint: P b = c', A' P + P A = -diag(Q).
        filtered = ((kp + kd * psi) * e**2 + 2 * psi * e * ed + ed**2).sum(-1) / 2
        V = filtered + parameter_energy(run.states["phi"], truth, self.gain)
        rate = -(kp * psi * e**2 + (kd - psi) * ed**2).sum(-1)
        return Lyapunov(V, rate, np.full(len(V), np.minimum(kp * psi, kd - psi).min()))
