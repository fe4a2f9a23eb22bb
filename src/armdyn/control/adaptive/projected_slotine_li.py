"""Slotine and Li's law with the load's estimate projected to physically consistent bodies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.adaptive.body import (
    BODY,
    LEAST,
    SIZE,
    assembled,
    gram,
    nearest_possible,
    parameters,
    pseudo_inertia,
    scaling,
)
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


def projected_step(phi: Symbol, rate: Symbol, step: Symbol, size: Symbol, least: Symbol) -> Symbol:
    """A body after a step against the gradient in kilograms, then moved to the nearest possible one.

    Lengths are measured in `size`, so that all entries of P are masses; the step and the projection use one
    metric, that of Frobenius, which keeps the projection from ever leading away from a possible truth.
    """
    scale = scaling(size)
    # With P_scaled = scale * P, a change of phi by g moves P_scaled by scale * P(g): the dual of the rate is its
    # matrix over scale squared.
    dual = assembled(ca.mtimes(ca.DM(np.linalg.inv(gram())), rate))
    P = scale * assembled(phi) + step * dual / scale
    return parameters(nearest_possible(P, least) / scale)


@dataclass(frozen=True, eq=False)
class ProjectedSlotineLi(BodyLaw):
    """Slotine and Li's law whose estimate of the load is projected to physically consistent bodies at every sample.

    Torques as in `SlotineLi`. The load's pseudo-inertia, lengths measured in `size`, follows the gradient and is then
    moved to the nearest matrix whose eigenvalues are not below `least`. V = s' M s / 2 + norm(P - P_true)² /
    (2 body_gain) + ... falls as -s' K s, and the projection only lowers it further. Against `NaturalSlotineLi`: the
    same speed of learning everywhere, at the price of an eigenvalue problem a sample.

    Parameters
    ----------
    unknowns : Unknowns
        `adapt(unknown_payload(arm), friction)`.
    lam, k : array_like
        Positive definite gains Lambda [1/s] and K [N m s/rad].
    body_gain : float
        Of the load's adaptation.
    gain : array_like
        Of friction's adaptation, as one number or (u,), of which the first ten play no role.
    body : array_like, shape (10,)
        The load at the start. Default a ball of 0.1 kg and 5 cm.
    size : float
        Typical extent of loads, the length in which they are measured [m].
    least : float
        Eigenvalue of the scaled pseudo-inertia below which no body is possible [kg].
    start, lower, upper, leak, dead_zone, normalize
        See `Adaptive`; for the unknowns after the load's. `start` includes `body`.

    References
    ----------
    Lee, Kwon and Park (2018), A natural adaptive control law for robot manipulators, section IV (constant metric).
    """

    gain_shapes: ClassVar = {
        **Adaptive.gain_shapes,
        "lam": "n, n",
        "k": "n, n",
        "body_gain": "",
        "size": "",
        "least": "",
    }
    unknowns: Unknowns
    lam: ArrayLike
    k: ArrayLike
    body_gain: ArrayLike
    gain: ArrayLike = 1.0
    body: ArrayLike | None = None
    start: ArrayLike | None = None
    lower: ArrayLike = -np.inf
    upper: ArrayLike = np.inf
    dead_zone: ArrayLike = 0.0
    leak: ArrayLike = 0.0
    normalize: ArrayLike = 0.0
    size: ArrayLike = SIZE
    least: ArrayLike = LEAST

    def __post_init__(self) -> None:
        self._prepare()
        for name in ("body_gain", "size", "least"):
            checked(self, name)
        if not (np.asarray(self.size) > 0).all():
            raise ShapeError("ProjectedSlotineLi: size: expected a length > 0")

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample: Slotine and Li's torques, a step against the gradient, and its projection."""
        phi = state["phi"]
        tau, rate, Y = torques_and_rate(self.unknowns, params, phi, q, qd, ref)
        body = projected_step(phi[:BODY], rate[:BODY], params["body_gain"] * dt, params["size"], params["least"])
        return tau, {"phi": ca.vertcat(body, adapted(phi, rate, Y, params, dt)[BODY:])}

    def body_energy(self, phi: NDArray, truth: NDArray) -> NDArray:
        """Squared distance of the estimates (..., 10) from the true body, lengths in `size`."""
        length = np.append(np.full(3, 1 / np.asarray(self.size)), 1.0)
        wrong = pseudo_inertia(phi - truth) * np.outer(length, length)
        return np.asarray((wrong**2).sum((-1, -2)) / (2 * np.asarray(self.body_gain)))
