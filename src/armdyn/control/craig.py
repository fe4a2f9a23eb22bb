"""Craig's adaptive law: computed torque whose model learns."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.adaptive import ADAPTATION_SHAPES, MOTION_SHAPES, Adaptive, adapted, outside
from armdyn.control.model import MODEL_SHAPES
from armdyn.control.protocol import Answer, Reference, Values, checked
from armdyn.control.unknowns import Unknowns
from armdyn.dynamics.drive import drive_inertia
from armdyn.dynamics.ltdl import factorized
from armdyn.dynamics.mass_matrix import mass_matrix
from armdyn.errors import ArmdynWarning
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
    start: Any, gain: Any, lower: Any, upper: Any, dead_zone: Any, leak: Any, q_last: Any, qd_last: Any, started: Any,
    dt: Any, *, theta: Any, gravity: Any, drive: Any,
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
    dead_zone : array_like, shape (..., n)
    q_last, qd_last : array_like, shape (..., n)
        Measurements of the sample before, for the acceleration.
    started : array_like, shape (..., 1)
        0 at the first sample, which has no acceleration yet.
    dt : float
        Period [s].
    theta, gravity, drive : array_like, optional
        The known part of the model.

    Returns
    -------
    tau : ndarray, shape (..., n)
    phi : ndarray, shape (..., u)
    singular : ndarray, shape (..., 1)
        1 if the estimated mass matrix is not positive definite; the estimate then rests.

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
    M = mass_matrix(unknowns.arm, q, theta=unknowns.estimate(theta, phi)) + drive_inertia(unknowns.arm, drive)
    factors = factorized(M)
    regular = ca.SX(1)
    for inverse in factors.inverse_d:
        regular = ca.logic_and(regular, ca.logic_and(inverse > 0, inverse < 1 / SMALLEST_PIVOT))
    rate = ca.mtimes(Y.T, factors.solve(outside(ed + psi * e, dead_zone)))
    rules = {"start": start, "gain": gain, "lower": lower, "upper": upper, "leak": leak}
    after = adapted(phi, rate, rules, dt)
    return tau, ca.if_else(ca.logic_and(regular, started > 0.5), after, phi), 1 - regular


@dataclass(frozen=True, eq=False)
class Craig(Adaptive):
    """Computed torque with an estimated model that adapts by the acceleration's error.

        e = q_ref - q,  tau = M_hat (qdd_ref + kd e' + kp e) + C_hat qd + g_hat
        d phi/dt = Gamma Y(q, qd, qdd)' M_hat^-1 (e' + psi e)

    Needs accelerations (here the difference of measured velocities over a period) and an invertible M_hat: keep the
    estimate in a box `lower`, `upper` of possible values. Where M_hat is not positive definite all the same, the
    estimate rests and the state `singular` is 1. The proof needs (s + psi) / (s² + kd s + kp) to be strictly positive
    real, which it is for kp > 0 and 0 < psi < kd.

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
    start, lower, upper, leak, dead_zone
        See `Adaptive`.
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

    def __post_init__(self) -> None:
        self._prepare()
        for name in ("kp", "kd", "psi"):
            checked(self, name)
        if not (np.asarray(self.psi) < np.asarray(self.kd)).all():
            warnings.warn("Craig: psi is not below kd, so that nothing is proven", ArmdynWarning, stacklevel=3)

    def init(self) -> dict[str, NDArray]:
        """The estimate, the last measurement, and whether there was one."""
        n = self.arm.n
        last = {"q_last": np.zeros(n), "qd_last": np.zeros(n), "started": np.zeros(1), "singular": np.zeros(1)}
        return {**super().init(), **last}

    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample; see `craig`."""
        own = {name: params[name] for name in ("kp", "kd", "psi")}
        own |= {name: state[name] for name in ("phi", "q_last", "qd_last", "started")}
        tau, phi, singular = craig(self.unknowns, **own, dt=dt, **self.arguments(params, q, qd, ref))
        return tau, {
            "phi": phi, "q_last": q, "qd_last": qd, "started": 0 * state["started"] + 1, "singular": singular,
        }  # fmt: skip
