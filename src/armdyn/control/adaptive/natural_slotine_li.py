"""Slotine and Li's law with an estimate of the load that is a possible body at every instant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.adaptive.body import BODY, assembled, gram, parameters, pseudo_inertia
from armdyn.control.adaptive.body_law import BodyLaw
from armdyn.control.adaptive.estimate import Adaptive, adapted
from armdyn.control.adaptive.slotine_li import torques_and_rate
from armdyn.control.adaptive.unknowns import Unknowns
from armdyn.control.protocol import Answer, Reference, Values, checked
from armdyn.control.step import traced_step
from armdyn.errors import ShapeError
from armdyn.kinematics.motion import Symbol
from armdyn.model.arm import Arm
from armdyn.trace.symbols import ca


def natural_step(phi: Symbol, rate: Symbol, step: Symbol) -> Symbol:
    """A body after a step of the natural gradient, dP/dt = P B P with tr(B dP) = rate' dphi.

    (1 + step P B / 2) P (1 + step B P / 2) agrees with it to first order and is positive definite, as P is.
    """
    P = assembled(phi)
    B = assembled(ca.mtimes(ca.DM(np.linalg.inv(gram())), rate))
    half = ca.SX.eye(4) + step / 2 * ca.mtimes(P, B)
    return parameters(ca.mtimes([half, P, half.T]))


@dataclass(frozen=True, eq=False)
class NaturalSlotineLi(BodyLaw):
    """Slotine and Li's law whose estimate of the load is a possible body always, without projection.

    Torques as in `SlotineLi`. The load's pseudo-inertia P follows dP/dt = natural_gain P B P, the natural gradient of
    the log-det divergence: V = s' M s / 2 + d(P_true, P) / natural_gain + ... falls as -s' K s, and one gain serves
    ten numbers of different units. P stays positive definite, so mass and principal moments stay positive and obey
    the triangle inequalities.

    Parameters
    ----------
    unknowns : Unknowns
        `adapt(unknown_payload(arm), friction)`.
    lam, k : array_like
        Positive definite gains Lambda [1/s] and K [N m s/rad].
    natural_gain : float
        Of the load's adaptation.
    body : array_like, shape (10,)
        The load at the start: small, but possible. Default a ball of 0.1 kg and 5 cm.
    gain : array_like
        Of friction's adaptation, as one number or (u,), of which the first ten play no role.
    start, lower, upper, leak, dead_zone, normalize
        See `Adaptive`; for the unknowns after the load's. `start` includes `body`.

    References
    ----------
    Lee, Kwon and Park (2018), A natural adaptive control law for robot manipulators.
    """

    gain_shapes: ClassVar = {**Adaptive.gain_shapes, "lam": "n, n", "k": "n, n", "natural_gain": ""}
    unknowns: Unknowns
    lam: ArrayLike
    k: ArrayLike
    natural_gain: ArrayLike
    gain: ArrayLike = 1.0
    body: ArrayLike | None = None
    start: ArrayLike | None = None
    lower: ArrayLike = -np.inf
    upper: ArrayLike = np.inf
    dead_zone: ArrayLike = 0.0
    leak: ArrayLike = 0.0
    normalize: ArrayLike = 0.0

    def __post_init__(self) -> None:
        self._prepare()
        checked(self, "natural_gain")
        lowest = np.linalg.eigvalsh(pseudo_inertia(np.asarray(self.start)[:BODY]))[0]
        if not lowest > 0:
            raise ShapeError("NaturalSlotineLi: body: expected a possible body, with mass and extent in all directions")

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample: Slotine and Li's torques, and a step of the natural gradient."""
        phi = state["phi"]
        tau, rate, Y = torques_and_rate(self.unknowns, params, phi, q, qd, ref)
        body = natural_step(phi[:BODY], rate[:BODY], params["natural_gain"] * dt)
        return tau, {"phi": ca.vertcat(body, adapted(phi, rate, Y, params, dt)[BODY:])}

    def body_energy(self, phi: NDArray, truth: NDArray) -> NDArray:
        """The log-det divergence of the true body from the estimates (..., 10)."""
        P, P_true = pseudo_inertia(phi), pseudo_inertia(truth)
        ratio = np.linalg.solve(P, np.broadcast_to(P_true, P.shape))
        divergence = np.trace(ratio, axis1=-2, axis2=-1) - np.linalg.slogdet(ratio)[1] - 4
        return np.asarray(divergence / self.natural_gain)
