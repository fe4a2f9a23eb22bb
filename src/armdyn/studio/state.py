"""What a tab shows: one frozen `State`, one place where it changes, and who wants to know of changes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import ArmdynError
from armdyn.frozen import PartOf
from armdyn.kinematics.forward import forward_kinematics, link_poses
from armdyn.model.arm import Arm
from armdyn.shapes.obstacles import HalfSpace, Obstacle, mounting_plane
from armdyn.studio.motion import Moment, PlayedMotion

if TYPE_CHECKING:
    from armdyn.identification.fit.result import Fit
    from armdyn.identification.logs.log import Log
    from armdyn.simulation.compare import Comparison
    from armdyn.trajectory.excitation.excite import Excitation


@dataclass(frozen=True, eq=False)
class StudioState:
    """Everything that one tab shows."""

    described: Arm  # as its source has it
    arm: Arm  # as identified, or as described
    moment: Moment
    payload: float = 0.0  # at the tip [kg]
    frame: str | None = None  # that is shown and pulled in the place of the tip
    floor: float | None = None  # height of the mounting plane along z, where a person gave it [m]
    obstacles: tuple[Obstacle, ...] = ()
    motion: PlayedMotion | None = None  # that can be played
    log: Log | None = None
    fit: Fit | None = None
    excitation: Excitation | None = None
    comparison: Comparison | None = None

    @cached_property
    def loaded(self) -> Arm:
        """The arm with the payload at its tip."""
        return _with_payload(self.arm, self.payload) if self.payload else self.arm

    @cached_property
    def described_loaded(self) -> Arm:
        """The arm as described, with the payload."""
        return _with_payload(self.described, self.payload) if self.payload else self.described

    @cached_property
    def tip(self) -> NDArray:
        """Pose (4, 4) of the tip, or of the frame in its place."""
        return forward_kinematics(self.arm, self.moment.q, frame=self.frame)

    @cached_property
    def links(self) -> NDArray:
        """Poses (N, 4, 4) of the links."""
        return link_poses(self.arm, self.moment.q)

    @cached_property
    def plane(self) -> HalfSpace | None:
        """Plane that the arm is mounted on: as given, or as described; None where nothing says it."""
        return mounting_plane(self.described, self.floor)


@lru_cache(maxsize=16)  # states change with every picture, loads seldom
def _with_payload(arm: Arm, payload: float) -> Arm:
    return arm.with_payload(payload)


def first_state(arm: Arm, q: NDArray | None = None) -> StudioState:
    """An arm as described, at rest in a posture (n,)."""
    still = np.zeros(arm.n)
    return StudioState(arm, arm, Moment(rest_posture(arm) if q is None else q, still, still))


Listener = Callable[[StudioState], None]


class ArmState:
    """The state of one tab: `now`, and `change`, through which every change goes.

    Safe to use from several threads; listeners are called one change at a time.
    """

    def __init__(self, start: Arm | StudioState) -> None:
        self._now = start if isinstance(start, StudioState) else first_state(start)
        self._lock = threading.RLock()
        self._listeners: list[Listener] = []

    @property
    def now(self) -> StudioState:
        """State that is shown now."""
        return self._now

    arm = PartOf[Arm]("now.arm", "The arm as identified, or as described.")
    moment = PartOf[Moment]("now.moment", "The arm's posture and motion.")

    def on_change(self, listener: Listener) -> None:
        """Call `listener` now and after every change."""
        with self._lock:
            self._listeners.append(listener)
            listener(self._now)

    def change(self, **fields: Any) -> None:
        """Replace some fields and tell the listeners."""
        with self._lock:
            self._now = replace(self._now, **fields)
            for listener in self._listeners:
                listener(self._now)

    def close(self) -> None:
        """Tell nobody any more."""
        with self._lock:
            self._listeners.clear()

    def rest_at(self, q: ArrayLike) -> None:
        """Put the arm at rest at a posture (n,)."""
        q, n = np.array(q, float), self.arm.n
        if q.shape != (n,) or not np.isfinite(q).all():
            raise ArmdynError(where="studio", expected=f"{n} finite joint positions", got=q)
        self.show(Moment(q, np.zeros(n), np.zeros(n)))

    def move_joint(self, i: int, value: float) -> None:
        """Put one joint elsewhere, at rest."""
        with self._lock:
            q = self.moment.q.copy()
            q[i] = value
            self.rest_at(q)

    def show(self, moment: Moment) -> None:
        """Show a moment."""
        self.change(moment=moment)


def rest_posture(arm: Arm) -> NDArray:
    """Return joint positions (n,): zero where that is well within the range, else its middle."""
    lower, upper = slider_range(arm)
    margin = 0.1 * (upper - lower)
    return np.where((lower + margin <= 0) & (upper - margin >= 0), 0.0, (lower + upper) / 2)


def slider_range(arm: Arm) -> tuple[NDArray, NDArray]:
    """Limits of the sliders (n,) each: the arm's, or one turn or metre to each side where it has none."""
    lower, upper = (x.copy() for x in arm.position_limits)
    wide = np.array([np.pi if joint.kind == "revolute" else 1.0 for joint in arm.coordinate_joints])
    lower = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - 2 * wide, -wide))
    return lower, np.where(np.isfinite(upper), upper, lower + 2 * wide)
