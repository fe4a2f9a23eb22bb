"""Craig's adaptive law: computed torque whose model learns."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.adaptive.body import BODY, is_body, possible_body
from armdyn.control.adaptive.estimate import ADAPTATION_SHAPES, MOTION_SHAPES, Adaptive, adapted, outside
from armdyn.control.adaptive.unknowns import Unknowns
from armdyn.control.design.lyapunov import Lyapunov, parameter_energy
from armdyn.control.laws.model import MODEL_SHAPES
from armdyn.control.protocol import Answer, Reference, Values, checked
from armdyn.dynamics.bodies.ltdl import Factors, factorized
from armdyn.dynamics.drive import drive_inertia
from armdyn.dynamics.mass_matrix import mass_matrix
from armdyn.errors import ArmdynWarning, ShapeError
from armdyn.kinematics.motion import Symbol
from armdyn.model.arm import Arm
from armdyn.trace.symbols import ca
from armdyn.trace.traced import traced

# Pivots of the estimated mass matrix below this [kg or kg m²] count as singular.
SMALLEST_PIVOT = 1e-9


@traced(
    **MOTION_SHAPES, phi="u", kp="n", kd="n", psi="n", **ADAPTATION_SHAPES, q_last="n", qd_last="n", started="1", dt="",
    **MODEL_SHAPES, returns={"tau": "n", "phi": "u", "singular": "1"},
)  # fmt: skip
def craig(
    unknowns: Unknowns, q: Any, qd: Any, q_ref: Any, qd_ref: Any, qdd_ref: Any, phi: Any, kp: Any, kd: Any, psi: Any,
    start: Any, gain: Any, lower: Any, upper: Any, dead_zone: Any, leak: Any, normalize: Any, q_last: Any,
    qd_last: Any, started: Any, dt: Any, possible: bool = False, *, theta: Any, gravity: Any, drive: Any,
) -> Any:  # fmt: skip
    """Torques of Craig's law and the estimate after the sample; see `Craig`.

    Parameters
    ----------
    unknowns : Unknowns
    q, qd, q_ref, qd_ref, qdd_ref : array_like, shape (..., n)
        Measured and wanted motion [rad or m, /s, /s²].
    phi : array_like, shape (..., u)
        Estimate of the unknowns.
    kp, kd, psi : array_like, shape (..., n)
        [1/s², 1/s, 1/s]
    start, gain, lower, upper, leak : array_like, shape (..., u)
    dead_zone, normalize : array_like, shape (..., n)
    q_last, qd_last : array_like, shape (..., n)
        Measurements of the sample before, for the acceleration.
    started : array_like, shape (..., 1)
        0 at the first sample, which has no acceleration yet.
    dt : float
        Period [s].
    possible : bool
        Whether the first ten unknowns are moved to the nearest possible body.
    theta, gravity, drive : array_like, optional
        The known part of the model.

    Returns
    -------
    tau : ndarray, shape (..., n)
    phi : ndarray, shape (..., u)
    singular : ndarray, shape (..., 1)
        1 if the estimated mass matrix is not positive definite, or would not be after the step: the estimate rests.

    References
    ----------
    Craig, Hsu and Sastry (1987), Adaptive control of mechanical manipulators; Lu and Meng (1993), section V-B.
    """
    data = {"theta": theta, "gravity": gravity, "drive": drive}
    e, ed = q_ref - q, qd_ref - qd
    wanted, known = unknowns.torque(q, qd, qdd_ref + kd * ed + kp * e, data)
    tau = ca.mtimes(wanted, phi) + known
    # The mean acceleration of the last period belongs to its middle.
    Y, _ = unknowns.torque((q + q_last) / 2, (qd + qd_last) / 2, (qd - qd_last) / dt, data)
    factors, regular = _mass(unknowns, q, phi, theta, drive)
    rate = ca.mtimes(Y.T, factors.solve(outside(ed + psi * e, dead_zone)))
    rules = {"start": start, "gain": gain, "lower": lower, "upper": upper, "leak": leak, "normalize": normalize}
    after = adapted(phi, rate, Y, rules, dt)
    if possible:
        after = ca.vertcat(possible_body(after[:BODY]), after[BODY:])
    regular = ca.logic_and(regular, _mass(unknowns, q, after, theta, drive)[1])
    return tau, ca.if_else(ca.logic_and(regular, started > 0.5), after, phi), 1 - regular


def _mass(unknowns: Unknowns, q: Symbol, phi: Symbol, theta: Symbol, drive: Symbol) -> tuple[Factors, Symbol]:
    """The factors of M_hat for an estimate, and whether it is positive definite."""
    M = mass_matrix(unknowns.arm, q, theta=unknowns.estimate(theta, phi)) + drive_inertia(unknowns.arm, drive)
    factors, regular = factorized(M), ca.SX(1)
    for inverse in factors.inverse_d:
        regular = ca.logic_and(regular, ca.logic_and(inverse > 0, inverse < 1 / SMALLEST_PIVOT))
    return factors, regular


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
        Move the estimate of `adapt(unknown_payload(arm), ...)` to the nearest possible body at every sample.
    """

    shapes: ClassVar = {**Adaptive.shapes, "kp": "n", "kd": "n", "psi": "n"}
    unknowns: Unknowns
    kp: ArrayLike
    kd: ArrayLike
    psi: ArrayLike
    gain: ArrayLike
    start: ArrayLike | None = None
    lower: ArrayLike = -np.inf
    upper: ArrayLike = np.inf
    dead_zone: ArrayLike = 0.0
    leak: ArrayLike = 0.0
    normalize: ArrayLike = 0.0
    possible: bool = False

    def __post_init__(self) -> None:
        self._prepare()
        if self.possible and not is_body(self.unknowns):
            raise ShapeError("Craig: possible: expected adapt(unknown_payload(arm), ...), whose load is a body")
        for name in ("kp", "kd", "psi"):
            checked(self, name)
        if not (np.asarray(self.psi) < np.asarray(self.kd)).all():
            warnings.warn("Craig: psi is not below kd, so that nothing is proven", ArmdynWarning, stacklevel=3)

    @property
    def trace_key(self) -> str:
        """What is unknown, and whether it is projected."""
        return f"{super().trace_key} possible {self.possible}"

    def init(self) -> dict[str, NDArray]:
        """The estimate, the last measurement, and whether there was one."""
        n = self.arm.n
        last = {"q_last": np.zeros(n), "qd_last": np.zeros(n), "started": np.zeros(1), "singular": np.zeros(1)}
        return {**super().init(), **last}

    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample; see `craig`."""
        own = {name: params[name] for name in ("kp", "kd", "psi")}
        own |= {name: state[name] for name in ("phi", "q_last", "qd_last", "started")}
        tau, phi, singular = craig(
            self.unknowns, **own, dt=dt, possible=self.possible, **self.arguments(params, q, qd, ref)
        )
        return tau, {
            "phi": phi, "q_last": q, "qd_last": qd, "started": 0 * state["started"] + 1, "singular": singular,
        }  # fmt: skip

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

    def after_loss(self, state: Values) -> Values:
        """The next sample has no acceleration."""
        return {**state, "started": 0 * state["started"]}
