"""What laws share whose estimate of the load is kept a physically consistent body."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.adaptive.body import BODY, LEAST_EIGENVALUE_KG, LOAD_SIZE_M, is_body, pseudo_inertia, small_ball
from armdyn.control.adaptive.estimate import Adaptive, adapt_estimate
from armdyn.control.adaptive.slotine_li import torques_and_rate
from armdyn.control.adaptive.unknowns import Unknowns
from armdyn.control.protocol import Answer, Reference, Values
from armdyn.control.settings import as_numbers
from armdyn.control.step import traced_step
from armdyn.control.theory.lyapunov import Lyapunov, parameter_energy, quadratic, surface
from armdyn.dynamics.drive import augmented_mass_matrix
from armdyn.errors import ShapeError
from armdyn.kinematics.motion import Symbol
from armdyn.model.arm import Arm
from armdyn.trace.symbols import ca


@dataclass(frozen=True, eq=False)
class BodyLaw(Adaptive):
    """Base of Slotine and Li's law where the first ten unknowns are a body's, with a field `gain`; see `Adaptive`.

    Parameters
    ----------
    unknowns : Unknowns
        `adapt(unknown_payload(arm), friction)`.
    lam, k : array_like
        Positive definite gains Lambda [1/s] and K [N m s/rad].
    body : array_like, shape (10,)
        The load at the start: small, but possible. Default a ball of 0.1 kg and 5 cm.
    size : float
        Typical extent of loads, the length in which they are measured [m].
    least : float
        Eigenvalue of the scaled pseudo-inertia below which no body is possible [kg].
    start, lower, upper, leak, dead_zone, normalize
        See `Adaptive`; for the unknowns after the load's. `start` includes `body`.
    """

    gain_shapes: ClassVar = {**Adaptive.gain_shapes, "lam": "n, n", "k": "n, n", "size": "", "least": ""}
    lam: ArrayLike
    k: ArrayLike
    body: ArrayLike | None = field(default=None, kw_only=True)
    size: ArrayLike = field(default=LOAD_SIZE_M, kw_only=True)
    least: ArrayLike = field(default=LEAST_EIGENVALUE_KG, kw_only=True)

    def __post_init__(self) -> None:
        if isinstance(self.unknowns, Unknowns) and not is_body(self.unknowns):
            raise ShapeError(f"{type(self).__name__}: expected adapt(unknown_payload(arm), ...), whose load is a body")
        if self.start is None and isinstance(self.unknowns, Unknowns):
            where = f"{type(self).__name__}: body"
            body = small_ball() if self.body is None else as_numbers(self.body, where, "ten numbers")
            if body.shape != (BODY,):
                raise ShapeError(f"{where}: expected the ten parameters of a body, got shape {body.shape}")
            object.__setattr__(self, "start", np.concatenate([body, self.unknowns.phi[BODY:]]))
        super().__post_init__()
        if not (np.asarray(self.size) > 0).all():
            raise ShapeError(f"{type(self).__name__}: size: expected a length > 0")

    @abstractmethod
    def moved(self, phi: Symbol, rate: Symbol, params: Values, dt: Symbol) -> Symbol:
        """The body (10,) after a sample, `rate` being Y' s."""

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample: Slotine and Li's torques, and a step of the body and of the other unknowns."""
        phi = state["phi"]
        tau, rate, Y = torques_and_rate(self.unknowns, params, phi, q, qd, ref)
        body = self.moved(phi[:BODY], rate[:BODY], params, dt)
        return tau, {"phi": ca.vertcat(body, adapt_estimate(phi, rate, Y, params, dt)[BODY:])}

    def scaled(self, phi: NDArray) -> NDArray:
        """Pseudo-inertia (..., 4, 4) of bodies, lengths in `size`."""
        length = np.append(np.full(3, 1 / np.asarray(self.size)), 1.0)
        return np.asarray(pseudo_inertia(phi) * np.outer(length, length))

    @abstractmethod
    def body_energy(self, phi: NDArray, truth: NDArray) -> NDArray:
        """What wrong estimates (..., 10) of the body add to V."""

    def lyapunov(self, plant: Arm, truth: ArrayLike, run: Any) -> Lyapunov:
        """V and the most that its rate can be, -s' K s, along a run.

        Parameters
        ----------
        plant : Arm
            The true arm.
        truth : array_like, shape (u,)
            The true unknowns, the load being a physically consistent body.
        run : SimulationResult
            With the state `phi`.
        """
        gain: Any = self.gain  # type: ignore[attr-defined]
        k, phi, true = np.asarray(self.k), run.states["phi"], np.asarray(truth, float)
        s = surface(run, np.asarray(self.lam))
        others = parameter_energy(phi[..., BODY:], true[BODY:], np.asarray(gain)[BODY:])
        V = quadratic(augmented_mass_matrix(plant, run.q), s) / 2 + self.body_energy(phi[..., :BODY], true[:BODY])
        return Lyapunov(V + others, -quadratic(k, s), np.full(len(V), np.linalg.eigvalsh(k + k.T).min() / 2))
