"""Slotine and Li's law with an estimate of the load that is a physically consistent body at every instant."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.adaptive import body as bodies
from armdyn.control.adaptive.body import BODY
from armdyn.control.adaptive.estimate import Adaptive, adapt_estimate
from armdyn.control.adaptive.slotine_li import torques_and_rate
from armdyn.control.adaptive.unknowns import AdaptiveParameters
from armdyn.control.formula import Answer, Arm, Reference, Symbol, Values, ca, traced_step
from armdyn.control.settings import as_numbers
from armdyn.control.theory.lyapunov import Lyapunov, parameter_energy, quadratic, surface
from armdyn.dynamics.drive import augmented_mass_matrix
from armdyn.errors import expect, quote


@dataclass(frozen=True, eq=False)
class BodyLaw(Adaptive):
    """Base of Slotine and Li's law where the first ten unknowns are a body's, with a field `gain`; see `Adaptive`.

    Its other fields are described in `NaturalSlotineLi`.
    """

    gain_shapes: ClassVar = {**Adaptive.gain_shapes, "lam": "n, n", "k": "n, n", "size": "", "least": ""}
    lam: ArrayLike
    k: ArrayLike
    body: ArrayLike | None = field(default=None, kw_only=True)
    size: ArrayLike = field(default=bodies.LOAD_SIZE_M, kw_only=True)
    least: ArrayLike = field(default=bodies.MIN_EIGENVALUE_KG, kw_only=True)

    def __post_init__(self) -> None:
        known = isinstance(self.unknowns, AdaptiveParameters)  # else the base says what it expects
        fits = not known or bodies.is_body(self.unknowns)
        expect(fits, type(self).__name__, "adapt(unknown_payload(arm), ...), whose load is a body")
        if known and self.start is None:
            where = f"{type(self).__name__}: body"
            body = bodies.small_ball() if self.body is None else as_numbers(self.body, where, "ten numbers")
            expect(body.shape == (BODY,), where, "the ten parameters of a body", got=f"shape {body.shape}")
            self._set(start=np.concatenate([body, self.unknowns.phi[BODY:]]))
        super().__post_init__()
        expect((np.asarray(self.size) > 0).all(), f"{type(self).__name__}: size", "a length > 0 in metres", self.size)

    @abstractmethod
    def next_body(self, phi: Symbol, rate: Symbol, params: Values, dt: Symbol) -> Symbol:
        """The body (10,) after a sample, `rate` being Y' s."""

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample: Slotine and Li's torques, and a step of the body and of the other unknowns."""
        phi = state["phi"]
        tau, rate, Y = torques_and_rate(self.unknowns, params, phi, q, qd, ref)
        body = self.next_body(phi[:BODY], rate[:BODY], params, dt)
        return tau, {"phi": ca.vertcat(body, adapt_estimate(phi, rate, Y, params, dt)[BODY:])}

    def scaled_pseudo_inertia(self, phi: NDArray) -> NDArray:
        """Pseudo-inertia (..., 4, 4) of bodies, lengths in `size`."""
        length = np.append(np.full(3, 1 / np.asarray(self.size)), 1.0)
        return np.asarray(bodies.pseudo_inertia(phi) * np.outer(length, length))

    @abstractmethod
    def body_energy(self, phi: NDArray, truth: NDArray) -> NDArray:
        """Return what wrong estimates (..., 10) of the body add to V."""

    def lyapunov(self, plant: Arm, truth: ArrayLike, run: Any) -> Lyapunov:
        """V and the most that its rate can be, -s' K s, along a run.

        Parameters as in `SlotineLi.lyapunov`; the true load must be a physically consistent body.
        """
        gain: Any = self.gain  # type: ignore[attr-defined]
        k, phi, true = np.asarray(self.k), run.states["phi"], np.asarray(truth, float)
        s = surface(run, np.asarray(self.lam))
        others = parameter_energy(phi[..., BODY:], true[BODY:], np.asarray(gain)[BODY:])
        V = quadratic(augmented_mass_matrix(plant, run.q), s) / 2 + self.body_energy(phi[..., :BODY], true[:BODY])
        return Lyapunov.of(V + others, -quadratic(k, s), k)


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
        Gain of the load's adaptation.
    body : array_like, shape (10,)
        The load at the start: small, but possible. Default a ball of 0.1 kg and 5 cm.
    gain : array_like
        Gain of friction's adaptation, as one number or (u,), of which the first ten play no role.
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
        fits = (np.asarray(self.least) < np.asarray(self.heaviest)).all()
        expect(fits, "NaturalSlotineLi", "least < heaviest", got=f"{quote(self.least)} and {quote(self.heaviest)}")
        lowest = np.linalg.eigvalsh(bodies.pseudo_inertia(np.asarray(self.start)[:BODY]))[0]
        expected = "a physically consistent body, with mass and extent in all directions"
        expect(lowest > 0, "NaturalSlotineLi: body", expected)

    def next_body(self, phi: Symbol, rate: Symbol, params: Values, dt: Symbol) -> Symbol:
        """A body after a step of the natural gradient, dP/dt = P B P with tr(B dP) = rate' dphi.

        P is the pseudo-inertia, lengths measured in `size`, plus `base` times the identity. (1 + h P B / 2) P
        (1 + h B P / 2) agrees with the gradient to first order and is positive definite, as P is; h = step / (1 + step
        norm(P B)) bounds what one sample changes. Eigenvalues are then brought between `least` and `heaviest`: of all
        such bodies the one nearest by the log-det divergence, so that no consistent truth gets farther away.
        """
        step, scale, base = params["natural_gain"] * dt, bodies.scaling(params["size"]), params["base"] * ca.SX.eye(4)
        P = scale * bodies.assemble(phi) + base
        B = bodies.dual(rate) / scale
        PB = ca.mtimes(P, B)
        norm = ca.sqrt(ca.fmax(ca.sum1(ca.sum2(PB * PB.T)), 0))  # of P^1/2 B P^1/2, Frobenius
        half = ca.SX.eye(4) + step / (1 + step * norm) / 2 * PB
        moved = ca.mtimes([half, P, half.T]) - base
        return bodies.parameters(bodies.within(moved, params["least"], params["heaviest"]) / scale)

    def body_energy(self, phi: NDArray, truth: NDArray) -> NDArray:
        """The log-det divergence of the true body from the estimates (..., 10)."""
        P, P_true = (self.scaled_pseudo_inertia(x) + np.asarray(self.base) * np.eye(4) for x in (phi, truth))
        ratio = np.linalg.solve(P, np.broadcast_to(P_true, P.shape))
        divergence = np.trace(ratio, axis1=-2, axis2=-1) - np.linalg.slogdet(ratio)[1] - 4
        return np.asarray(divergence / np.asarray(self.natural_gain))


@dataclass(frozen=True, eq=False)
class ProjectedSlotineLi(BodyLaw):
    """Slotine and Li's law whose estimate of the load is projected to physically consistent bodies at every sample.

    Torques as in `SlotineLi`. The load's pseudo-inertia, lengths measured in `size`, follows the gradient and is then
    moved to the nearest matrix whose eigenvalues are not below `least`. V = s' M s / 2 + norm(P - P_true)² /
    (2 body_gain) + ... falls as -s' K s, and the projection only lowers it further. Against `NaturalSlotineLi`: the
    same speed of learning everywhere, at the price of an eigenvalue problem per sample.

    Parameters
    ----------
    body_gain : float
        Gain of the load's adaptation.
    body : array_like, shape (10,)
        The load at the start. Default a ball of 0.1 kg and 5 cm.
    least : float
        Eigenvalue of the scaled pseudo-inertia below which no body is possible [kg].
    unknowns, lam, k, gain, size, start, lower, upper, leak, dead_zone, normalize
        As in `NaturalSlotineLi`.

    References
    ----------
    Lee, Kwon and Park (2018), A natural adaptive control law for robot manipulators, section IV (constant metric).
    """

    gain_shapes: ClassVar = {**BodyLaw.gain_shapes, "body_gain": ""}
    body_gain: ArrayLike
    gain: ArrayLike = 1.0

    def next_body(self, phi: Symbol, rate: Symbol, params: Values, dt: Symbol) -> Symbol:
        """A body after a step against the gradient in kilograms, then moved to the nearest possible one.

        Lengths are measured in `size`, so that all entries of P are masses; the step and the projection use one
        metric, that of Frobenius, which keeps the projection from ever leading away from a possible truth.
        """
        scale = bodies.scaling(params["size"])
        # With P_scaled = scale * P, a change of phi by g moves P_scaled by scale * P(g): the dual of the rate is its
        # matrix over scale squared.
        P = scale * bodies.assemble(phi) + params["body_gain"] * dt * bodies.dual(rate) / scale
        return bodies.parameters(bodies.within(P, params["least"], np.inf) / scale)

    def body_energy(self, phi: NDArray, truth: NDArray) -> NDArray:
        """Squared distance of the estimates (..., 10) from the true body, lengths in `size`."""
        wrong = self.scaled_pseudo_inertia(phi - truth)
        return np.asarray((wrong**2).sum((-1, -2)) / (2 * np.asarray(self.body_gain)))
