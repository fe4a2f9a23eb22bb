"""Payloads picked up and put down during a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import is_number
from armdyn.dynamics.mass_matrix import mass_matrix
from armdyn.errors import ModelError, expect
from armdyn.model.arm import Arm
from armdyn.simulation.plant.elasticity import inertias


@dataclass(frozen=True)
class Change:
    """A change of what the arm carries, at a time [s]."""

    t: float

    def __post_init__(self) -> None:
        fits = is_number(self.t) and self.t >= 0
        expect(fits, type(self).__name__, "a time t >= 0 in seconds", self.t, ModelError)


@dataclass(frozen=True, eq=False)
class PickUp(Change):
    """A body picked up at a time; see `Arm.with_payload` for its description.

    Parameters
    ----------
    t : float
        When [s]; moved to the controller's next sample.
    mass : float
        [kg]
    com : array_like, shape (3,)
        Its centre of mass in the tip's frame [m].
    inertia : array_like, shape (3, 3), optional
        Tensor about its centre of mass, in the tip's axes [kg m²]; default a point mass.
    at_rest : bool
        Whether the body stands still until then. The grip is then a blow which the drives are too slow to
        answer: the generalised momentum M qd stays and the velocities jump. Otherwise it moves with the tip already,
        and only M changes.
    """

    mass: float
    com: ArrayLike = (0.0, 0.0, 0.0)
    inertia: ArrayLike | None = None
    at_rest: bool = True


@dataclass(frozen=True)
class Drop(Change):
    """All bodies picked up before are dropped: velocities stay, the bodies take their momentum with them."""


def added_parameters(arm: Arm, change: PickUp) -> NDArray:
    """Return what a body adds to the arm's parameters (10 n,); they are linear in it."""
    carrying = arm.with_payload(change.mass, change.com, change.inertia)
    return carrying.theta - arm.theta


def after_grip(
    arm: Arm, q: NDArray, qd: NDArray, before: NDArray, after: NDArray, rotors: bool, elastic: Sequence[int] = ()
) -> NDArray:
    """Velocities (..., n) after a body at rest was seized: M_after qd_after = M_before qd_before.

    The momentum of the arm along its joints includes the body's, which was at rest; impulses of the drives
    vanish with the duration of the blow, and those of dry friction are neglected. Springs pass no blow on: the rotors
    of `elastic` joints keep their velocities.
    """

    def M(theta: NDArray) -> NDArray:
        return inertias(arm, elastic, q, theta)[0] if rotors else mass_matrix(arm, q, theta=theta)

    return np.linalg.solve(M(after), M(before) @ qd[..., None])[..., 0]
