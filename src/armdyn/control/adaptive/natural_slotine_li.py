"""Slotine and Li's law with an estimate of the load that is a physically consistent body at every instant."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.adaptive.body import BODY, assemble, gram, parameters, pseudo_inertia, scaling, within
from armdyn.control.adaptive.body_law import BodyLaw
from armdyn.control.protocol import Values
from armdyn.errors import ShapeError
from armdyn.kinematics.motion import Symbol
from armdyn.trace.symbols import ca


def natural_step(phi: Symbol, rate: Symbol, step: Symbol, params: Values) -> Symbol:
    """A body after a step of the natural gradient, dP/dt = P B P with tr(B dP) = rate' dphi.

    P is the pseudo-inertia, lengths measured in `size`, plus `base` times the identity. (1 + h P B / 2) P
    (1 + h B P / 2) agrees with the gradient to first order and is positive definite, as P is; h = step / (1 + step
    norm(P B)) bounds what one sample changes. Eigenvalues are then brought between `least` and `heaviest`: of all such
    bodies the one nearest by the log-det divergence, so that no consistent truth gets farther away.
    """
    scale, base = scaling(params["size"]), params["base"] * ca.SX.eye(4)
    P = scale * assemble(phi) + base
    B = assemble(ca.mtimes(ca.DM(np.linalg.inv(gram())), rate)) / scale
    PB = ca.mtimes(P, B)
    norm = ca.sqrt(ca.fmax(ca.sum1(ca.sum2(PB * PB.T)), 0))  # of P^1/2 B P^1/2, Frobenius
    half = ca.SX.eye(4) + step / (1 + step * norm) / 2 * PB
    moved = ca.mtimes([half, P, half.T]) - base
    return parameters(within(moved, params["least"], params["heaviest"]) / scale)


@dataclass(frozen=True, eq=False)
class NaturalSlotineLi(BodyLaw):
    """Slotine and Li's law whose estimate of the load follows the geometry of physically consistent bodies.

    Torques as in `SlotineLi`. The load's pseudo-inertia, lengths measured in `size`, plus `base` times the identity is
    P, which follows dP/dt = natural_gain P B P, the natural gradient of the log-det divergence: V = s' M s / 2 +
    d(P_true, P) / natural_gain + ... falls as -s' K s, and one gain serves ten numbers of different units. A `base` of
    zero is the law of Lee, Kwon and Park, which learns light loads slowly, its steps being proportional to P²; a large
    one that of `ProjectedSlotineLi`. Steps are normalised, and eigenvalues kept within bounds, by the projection that
    belongs to the divergence: the estimate stays a physically consistent body of bounded mass and extent, whatever
    errors saturated drives leave.

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
    base : float
        Mass from which on steps grow with the load [kg].
    size : float
        Typical extent of loads, the length in which they are measured [m].
    least, heaviest : float
        Bounds of the eigenvalues of the load's pseudo-inertia, lengths in `size` [kg].
    start, lower, upper, leak, dead_zone, normalize
        See `Adaptive`; for the unknowns after the load's. `start` includes `body`.

    References
    ----------
    Lee, Kwon and Park (2018), A natural adaptive control law for robot manipulators.
    """

    gain_shapes: ClassVar = {**BodyLaw.gain_shapes, "natural_gain": "", "base": "", "heaviest": ""}
    natural_gain: ArrayLike
    gain: ArrayLike = 1.0
    base: ArrayLike = field(default=1.0, kw_only=True)
    heaviest: ArrayLike = field(default=1000.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (np.asarray(self.least) < np.asarray(self.heaviest)).all():
            raise ShapeError("NaturalSlotineLi: expected least < heaviest")
        lowest = np.linalg.eigvalsh(pseudo_inertia(np.asarray(self.start)[:BODY]))[0]
        if not lowest > 0:
            raise ShapeError(
                "NaturalSlotineLi: body: expected a physically consistent body, with mass and extent in all directions"
            )

    def moved(self, phi: Symbol, rate: Symbol, params: Values, dt: Symbol) -> Symbol:
        """A step of the natural gradient."""
        return natural_step(phi, rate, params["natural_gain"] * dt, params)

    def body_energy(self, phi: NDArray, truth: NDArray) -> NDArray:
        """The log-det divergence of the true body from the estimates (..., 10)."""
        P, P_true = (self.scaled(x) + np.asarray(self.base) * np.eye(4) for x in (phi, truth))
        ratio = np.linalg.solve(P, np.broadcast_to(P_true, P.shape))
        divergence = np.trace(ratio, axis1=-2, axis2=-1) - np.linalg.slogdet(ratio)[1] - 4
        return np.asarray(divergence / np.asarray(self.natural_gain))
