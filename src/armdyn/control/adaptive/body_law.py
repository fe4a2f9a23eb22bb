"""What laws share whose estimate of the load is kept a physically consistent body."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.adaptive.body import BODY, is_body, small_ball
from armdyn.control.adaptive.estimate import Adaptive
from armdyn.control.adaptive.unknowns import Unknowns
from armdyn.control.design.gains import gain_matrix
from armdyn.control.design.lyapunov import Lyapunov, parameter_energy, quadratic, surface
from armdyn.control.settings import as_numbers
from armdyn.dynamics.drive import augmented_mass_matrix
from armdyn.errors import ShapeError
from armdyn.model.arm import Arm


class BodyLaw(Adaptive):
    """Base of Slotine and Li's law where the first ten unknowns are a body's; fields `body`, `lam`, `k`, `gain`."""

    body: ArrayLike | None
    lam: ArrayLike
    k: ArrayLike
    gain: ArrayLike

    def _prepare(self) -> None:
        """Start from `body`, which is small by default, and check the gains."""
        if isinstance(self.unknowns, Unknowns) and not is_body(self.unknowns):
            raise ShapeError(f"{type(self).__name__}: expected adapt(unknown_payload(arm), ...), whose load is a body")
        if getattr(self, "start", None) is None and isinstance(self.unknowns, Unknowns):
            where = f"{type(self).__name__}: body"
            body = small_ball() if self.body is None else as_numbers(self.body, where, "ten numbers")
            if body.shape != (BODY,):
                raise ShapeError(f"{where}: expected the ten parameters of a body, got shape {body.shape}")
            object.__setattr__(self, "start", np.concatenate([body, self.unknowns.phi[BODY:]]))
        super()._prepare()
        gain_matrix(self, "lam")
        gain_matrix(self, "k")

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
        k, phi, true = np.asarray(self.k), run.states["phi"], np.asarray(truth, float)
        s = surface(run, np.asarray(self.lam))
        others = parameter_energy(phi[..., BODY:], true[BODY:], np.asarray(self.gain)[BODY:])
        V = quadratic(augmented_mass_matrix(plant, run.q), s) / 2 + self.body_energy(phi[..., :BODY], true[:BODY])
        return Lyapunov(V + others, -quadratic(k, s), np.full(len(V), np.linalg.eigvalsh(k + k.T).min() / 2))
