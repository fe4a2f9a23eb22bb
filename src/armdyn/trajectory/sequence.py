"""Motions one after the other, and one motion again and again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynError, ShapeError, expect
from armdyn.precision import SIX_DIGITS
from armdyn.trajectory.protocol import HoldAtEnds, JointMotion, Trajectory


@dataclass(frozen=True, eq=False)
class Sequence(HoldAtEnds):
    """Parts one after the other; each must begin where, and as fast as, the one before ends."""

    parts: tuple[Trajectory, ...]

    def __post_init__(self) -> None:
        expect(self.parts, "Sequence", "at least one part")
        for k, (one, two) in enumerate(pairwise(self.parts), 1):
            if one.n != two.n:
                cause = f"part {k} has {one.n} joints, part {k + 1} has {two.n}"
                raise ShapeError(cause, where="Sequence", expected="motions of one arm")
            end, begin = one(one.duration), two(0.0)
            for name, gap in (("positions", begin.q - end.q), ("velocities", begin.qd - end.qd)):
                if np.abs(gap).max() > SIX_DIGITS:
                    i = int(np.abs(gap).argmax())
                    cause = f"{name} jump by {gap[i]:.3g} at joint {i + 1} from part {k} to part {k + 1}"
                    raise ArmdynError(cause, where="Sequence", expected="each part to begin as the one before ends")

    @cached_property
    def starts(self) -> NDArray:
        """When the parts begin, and when the last ends [s]."""
        return np.concatenate([[0.0], np.cumsum([part.duration for part in self.parts])])

    @property
    def duration(self) -> float:
        """[s]."""
        return float(self.starts[-1])

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.parts[0].n

    def inside(self, t: NDArray) -> JointMotion:
        """Joint motion at times from 0 to `duration`."""
        which = np.clip(np.searchsorted(self.starts, t, side="right") - 1, 0, len(self.parts) - 1)
        out = JointMotion(*(np.empty((*t.shape, self.n)) for _ in range(3)))
        for k, part in enumerate(self.parts):
            mine = which == k
            if mine.any():
                # Within round-off of its end a part must not be taken as over.
                local = np.clip(t[mine] - self.starts[k], 0.0, part.duration)
                for whole, piece in zip(out, part(local), strict=True):
                    whole[mine] = piece
        return out


def concatenate(*parts: Trajectory) -> Sequence:
    """Motions one after the other.

    Parameters
    ----------
    *parts : Trajectory
        Each begins where, and as fast as, the one before ends.
    """
    return Sequence(parts)


def repeat(part: Trajectory, count: int) -> Sequence:
    """One motion again and again.

    Parameters
    ----------
    part : Trajectory
        It must end where, and as fast as, it begins.
    count : int
        How many times.
    """
    expect(isinstance(count, int | np.integer) and count >= 1, "repeat", "a count >= 1", count)
    return Sequence((part,) * int(count))
