"""An experiment: approach, rehearsal, the exciting motion some times, return; as files of their own and joined."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import is_whole
from armdyn.errors import ArmdynError, expect
from armdyn.frozen import PartOf
from armdyn.trajectory.excitation.approach import Reversed, approach
from armdyn.trajectory.excitation.excite import Excitation
from armdyn.trajectory.excitation.guarantees import Guarantee
from armdyn.trajectory.protocol import Trajectory
from armdyn.trajectory.retime import Retimed
from armdyn.trajectory.save import save_trajectory
from armdyn.trajectory.sequence import Sequence, repeat

SLOWEST_REHEARSAL, FASTEST_REHEARSAL = 0.1, 0.3  # of a rehearsal
REHEARSAL = 0.2


@dataclass(frozen=True, eq=False)
class Experiment:
    """The parts of an experiment, in their order; all begin and end at rest."""

    design: Excitation
    home: NDArray
    approach: Trajectory  # home to start
    rehearsal: Trajectory  # the motion, slowly
    count: int  # of repetitions

    motion = PartOf[Trajectory]("design.trajectory", "The exciting part alone.")

    @cached_property
    def back(self) -> Trajectory:
        """Start to home."""
        return Reversed(self.approach)

    @cached_property
    def parts(self) -> dict[str, Trajectory]:
        """Trajectories by the name of their files."""
        parts: dict[str, Trajectory] = {"approach": self.approach, "rehearsal": self.rehearsal}
        if self.count > 1:
            parts["repeated"] = repeat(self.motion, self.count)
        return parts | {"return": self.back}

    @cached_property
    def joined(self) -> Sequence:
        """Approach, the repeated motion, return."""
        return Sequence((self.approach, *(self.motion,) * self.count, self.back))

    @cached_property
    def joined_rehearsal(self) -> Sequence:
        """Approach, the slow motion, return."""
        return Sequence((self.approach, self.rehearsal, self.back))

    @cached_property
    def guarantees(self) -> dict[str, tuple[Guarantee, ...]]:
        """Checks of each part that differs from the motion; those of the approach hold for the return."""
        protection, limits = self.design.protection, self.design.limits
        slow = {"approach": self.approach, "rehearsal": self.rehearsal}
        return {name: protection.guarantees(part, limits) for name, part in slow.items()}

    def save(self, motion: str | os.PathLike[str], rate: float | None = None) -> list[Path]:
        """Write the parts beside the file of the motion, as `motion-approach.csv` and so on; their paths."""
        path, arm = Path(motion), self.design.base.source
        suffix = path.suffix if path.suffix in (".csv", ".npz") else ".csv"
        names, kinds = arm.coordinate_names, [joint.kind for joint in arm.coordinate_joints]
        files = {path.with_name(f"{path.stem}-{name}{suffix}"): part for name, part in self.parts.items()}
        return [save_trajectory(x, file, rate=rate, joint_names=names, kinds=kinds) for file, x in files.items()]


def plan_experiment(design: Excitation, home: ArrayLike, *, count: int = 1, rehearsal: float = REHEARSAL) -> Experiment:
    """An experiment with an exciting motion, from a home pose and back to it.

    Parameters
    ----------
    design : Excitation
        At rest at its ends.
    home : array_like, shape (n,)
        Positions in which the robot stands before and after [rad or m].
    count : int
        How many times the motion is made.
    rehearsal : float
        Speed of the rehearsal, as a part of the motion's: 0.1 to 0.3.

    Raises
    ------
    LimitError
        If the home pose is not clear, or no clear way leads from it to the motion.
    """
    require_settings(count, rehearsal, at_rest=design.problem.space.at_rest)
    motion = design.trajectory
    way = approach(design.base.source, design.protection.clearance, home, motion(0.0).q)
    return Experiment(design, way(0.0).q, way, Retimed(motion, 1 / rehearsal), count)


def require_settings(count: int, rehearsal: float, *, at_rest: bool) -> None:
    """Raise where no experiment can be planned, whatever the motion; see `plan_experiment`."""
    expect(is_whole(count, least=1), "repetitions", "a whole number >= 1", count, ArmdynError)
    speed = f"a speed from {SLOWEST_REHEARSAL} to {FASTEST_REHEARSAL} of the motion's"
    expect(SLOWEST_REHEARSAL <= rehearsal <= FASTEST_REHEARSAL, "rehearsal", speed, rehearsal, ArmdynError)
    if not at_rest:
        cause = "a periodic motion does not start at rest: nothing can lead to it"
        raise ArmdynError(cause, where="home", remedy="design it at rest")
