"""Slotine and Li's law with the load's estimate projected to physically consistent bodies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.adaptive.body import assemble, gram, nearest_possible, parameters, scaling
from armdyn.control.adaptive.body_law import BodyLaw
from armdyn.control.protocol import Values
from armdyn.kinematics.motion import Symbol
from armdyn.trace.symbols import ca


def projected_step(phi: Symbol, rate: Symbol, step: Symbol, size: Symbol, least: Symbol) -> Symbol:
    """A body after a step against the gradient in kilograms, then moved to the nearest possible one.

    Lengths are measured in `size`, so that all entries of P are masses; the step and the projection use one
    metric, that of Frobenius, which keeps the projection from ever leading away from a possible truth.
    """
    scale = scaling(size)
    # With P_scaled = scale * P, a change of phi by g moves P_scaled by scale * P(g): the dual of the rate is its
    # matrix over scale squared.
    dual = assemble(ca.mtimes(ca.DM(np.linalg.inv(gram())), rate))
    P = scale * assemble(phi) + step * dual / scale
    return parameters(nearest_possible(P, least) / scale)


@dataclass(frozen=True, eq=False)
class ProjectedSlotineLi(BodyLaw):
    """Slotine and Li's law whose estimate of the load is projected to physically consistent bodies at every sample.

    Torques as in `SlotineLi`. The load's pseudo-inertia, lengths measured in `size`, follows the gradient and is then
    moved to the nearest matrix whose eigenvalues are not below `least`. V = s' M s / 2 + norm(P - P_true)² /
    (2 body_gain) + ... falls as -s' K s, and the projection only lowers it further. Against `NaturalSlotineLi`: the
    same speed of learning everywhere, at the price of an eigenvalue problem per sample.

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

    gain_shapes: ClassVar = {**BodyLaw.gain_shapes, "body_gain": ""}
    body_gain: ArrayLike
    gain: ArrayLike = 1.0

    def moved(self, phi: Symbol, rate: Symbol, params: Values, dt: Symbol) -> Symbol:
        """A step against the gradient, and its projection."""
        return projected_step(phi, rate, params["body_gain"] * dt, params["size"], params["least"])

    def body_energy(self, phi: NDArray, truth: NDArray) -> NDArray:
        """Squared distance of the estimates (..., 10) from the true body, lengths in `size`."""
        wrong = self.scaled(phi - truth)
        return np.asarray((wrong**2).sum((-1, -2)) / (2 * np.asarray(self.body_gain)))
