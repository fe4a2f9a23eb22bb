"""What the page shows at this moment: the arm's posture, motion and load, and who wants to know of changes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import ArmdynError
from armdyn.kinematics.forward import forward_kinematics, link_poses
from armdyn.model.arm import Arm


@dataclass(frozen=True, eq=False)
class Moment:
    """One moment of a motion; at rest unless something plays."""

    q: NDArray  # (n,) [rad or m]
    qd: NDArray
    qdd: NDArray
    measured: NDArray | None = None  # (n,) torques [N m or N], where a log or a simulation has them
    time: float | None = None  # within what plays [s]


Listener = Callable[[Moment], None]


class ArmState:
    """The arm and its present moment. Safe to use from several threads; listeners are called one change at a time."""

    def __init__(self, arm: Arm) -> None:
        self.arm = arm
        self.payload = 0.0
        self._loaded = arm
        self._lock = threading.RLock()
        self._listeners: list[Listener] = []
        q = rest_posture(arm)
        self._moment = Moment(q, np.zeros(arm.n), np.zeros(arm.n))

    @property
    def moment(self) -> Moment:
        """What is shown now."""
        return self._moment

    @property
    def loaded(self) -> Arm:
        """The arm with the payload at its tip."""
        return self._loaded

    @property
    def tip(self) -> NDArray:
        """Pose (4, 4) of the tip."""
        return forward_kinematics(self.arm, self._moment.q)

    @property
    def links(self) -> NDArray:
        """Poses (n, 4, 4) of the links."""
        return link_poses(self.arm, self._moment.q)

    def on_change(self, listener: Listener) -> None:
        """Call `listener` now and after every change."""
        with self._lock:
            self._listeners.append(listener)
            listener(self._moment)

    def rest_at(self, q: ArrayLike) -> None:
        """Put the arm at rest at a posture (n,)."""
        q = np.array(q, float)
        if q.shape != (self.arm.n,) or not np.isfinite(q).all():
            raise ArmdynError(f"studio: expected {self.arm.n} finite joint positions, got {q}")
        self.show(Moment(q, np.zeros(self.arm.n), np.zeros(self.arm.n)))

    def move_joint(self, i: int, value: float) -> None:
        """Put one joint elsewhere, at rest."""
        with self._lock:
            q = self._moment.q.copy()
            q[i] = value
            self.rest_at(q)

    def carry(self, payload: float) -> None:
        """Put a mass [kg] at the tip."""
        with self._lock:
            self._loaded = self.arm.with_payload(payload) if payload else self.arm
            self.payload = payload
            self._tell()

    def adopt(self, arm: Arm) -> None:
        """Go on with other parameters of the same joints, such as identified ones."""
        if arm.geometry_fingerprint != self.arm.geometry_fingerprint:
            raise ArmdynError(f"studio: '{arm.name}' has other joints or frames than '{self.arm.name}'")
        with self._lock:
            self.arm = arm
            self.carry(self.payload)

    def show(self, moment: Moment) -> None:
        """Show a moment and tell the listeners."""
        with self._lock:
            self._moment = moment
            self._tell()

    def stop(self) -> None:
        """Stay where the arm is, at rest."""
        with self._lock:
            still = np.zeros(self.arm.n)
            self.show(replace(self._moment, qd=still, qdd=still, measured=None, time=None))

    def _tell(self) -> None:
        for listener in self._listeners:
            listener(self._moment)


def rest_posture(arm: Arm) -> NDArray:
    """Where the arm begins: zero where that is allowed, else the middle of the range."""
    lower, upper = slider_range(arm)
    return np.where((lower <= 0) & (upper >= 0), 0.0, (lower + upper) / 2)


def slider_range(arm: Arm) -> tuple[NDArray, NDArray]:
    """Limits of the sliders (n,) each: the arm's, or one turn or metre to each side where it has none."""
    lower, upper = (x.copy() for x in arm.position_limits)
    wide = np.array([np.pi if joint.kind == "revolute" else 1.0 for joint in arm.joints])
    lower = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - 2 * wide, -wide))
    return lower, np.where(np.isfinite(upper), upper, lower + 2 * wide)
