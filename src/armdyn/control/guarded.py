"""A law behind a guard: measurements that are no numbers, and torques that are too large."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.protocol import Answer, Law, Reference, Values
from armdyn.control.wrapped import Wrapped
from armdyn.errors import ShapeError, shown
from armdyn.model.arm import Arm
from armdyn.trace.symbols import ca
from armdyn.trace.traced import traced


@traced(q="n", qd="n", q_held="n", qd_held="n", lost="1", returns={"q": "n", "qd": "n", "lost": "1"})
def held_measurement(arm: Arm, q: Any, qd: Any, q_held: Any, qd_held: Any, lost: Any) -> Any:
    """The measurement if all its numbers are finite, else the last good one, and how many were lost in a row.

    Parameters
    ----------
    arm : Arm
    q, qd : array_like, shape (..., n)
        What the sensors show, perhaps NaN or infinite.
    q_held, qd_held : array_like, shape (..., n)
        The last good measurement.
    lost : array_like, shape (..., 1)
        Samples lost in a row until now; negative before the first good one.

    Returns
    -------
    q, qd : ndarray, shape (..., n)
    lost : ndarray, shape (..., 1)
    """
    good = ca.SX(1)
    for x in (*ca.vertsplit(q), *ca.vertsplit(qd)):
        good = ca.logic_and(good, ca.fabs(x) < np.inf)  # false for NaN too
    held = ca.if_else(good, q, q_held), ca.if_else(good, qd, qd_held)
    return *held, ca.if_else(good, 0, ca.if_else(lost < 0, lost, lost + 1))


@traced(tau="n", lost="1", patience="1", largest="n", returns={"tau": "n"})
def guarded_torque(arm: Arm, tau: Any, lost: Any, patience: Any, largest: Any) -> Any:
    """Torques within limits; none where they are no numbers, or once too many measurements are lost in a row.

    Parameters
    ----------
    arm : Arm
    tau : array_like, shape (..., n)
    lost, patience : array_like, shape (..., 1)
        Samples lost in a row, and how many may be.
    largest : array_like, shape (..., n)
        Largest torques.

    Returns
    -------
    tau : ndarray, shape (..., n)
    """
    use = ca.logic_and(ca.logic_and(lost >= 0, lost <= patience), ca.fabs(tau) < np.inf)
    return ca.if_else(use, ca.fmax(ca.fmin(tau, largest), -largest), 0)


@dataclass(frozen=True, eq=False)
class Guarded(Wrapped):
    """Any law with defined behaviour when measurements fail or torques are beyond the drives.

    * Torques are limited to `limit`.
    * A sample with NaN or infinity counts as lost: the law sees the last good measurement instead. The state `lost`
      counts how many were lost in a row, 0 while all is well.
    * After more than `patience` lost samples, and before the first good one, the torques are zero.

    Parameters
    ----------
    law : Law
    patience : int
        Samples in a row that may be lost.
    limit : array_like, shape (n,), optional
        Largest torques; default the joints' effort limits.
    """

    own_shapes: ClassVar = {"patience": "1", "largest": "n"}
    law: Law
    patience: ArrayLike = 5
    limit: ArrayLike | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        patience = np.array(self.patience, float).reshape(-1)
        if patience.shape != (1,) or not patience[0] >= 0:
            raise ShapeError(f"Guarded: patience: expected a number of samples >= 0, got {shown(self.patience)}")
        effort = np.array([joint.limits.effort for joint in self.arm.joints])
        limit = np.array(effort if self.limit is None else np.broadcast_to(self.limit, effort.shape), float)
        if not (limit > 0).all():
            raise ShapeError("Guarded: limit: expected torques > 0")
        object.__setattr__(self, "patience", patience)
        object.__setattr__(self, "limit", limit)

    @property
    def largest(self) -> NDArray:
        """The limit, under a name of its own among the parameters."""
        return np.asarray(self.limit)

    @property
    def own_state(self) -> dict[str, NDArray]:
        """The last good measurement, and how many were lost since."""
        n = self.arm.n
        return {"q_held": np.zeros(n), "qd_held": np.zeros(n), "lost": np.full(1, -1.0)}

    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample; see `held_measurement` and `guarded_torque`."""
        q, qd, lost = held_measurement(arm, q, qd, state["q_held"], state["qd_held"], state["lost"])
        tau, after = self.inner(params, state, q, qd, ref, dt)
        after |= {"q_held": q, "qd_held": qd, "lost": lost}
        return guarded_torque(arm, tau, lost, params["patience"], params["largest"]), after
