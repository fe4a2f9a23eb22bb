"""The joint axes of an arm at q = 0, as lines, whatever description the arm came from.

With them the tip is `T(q) = base @ E_1(q_1) @ ... @ E_n(q_n) @ home`, where E_i turns about (or slides
along) line i. Closed-form inverse kinematics looks at nothing else, so it applies to an arm given by
URDF, standard or modified DH alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.model.arm import Arm
from armdyn.precision import FIVE_DIGITS, SOLUTION_ERROR
from armdyn.spatial.transform import exact, transform


class Axis(NamedTuple):
    """A joint axis: a line through `p` along the unit vector `z`."""

    kind: str
    z: NDArray
    p: NDArray

    @property
    def is_revolute(self) -> bool:
        """Whether the joint turns (else it slides)."""
        return self.kind == "revolute"

    def through(self, point: NDArray) -> Axis:
        """The same line, given by its point nearest to `point`."""
        return self._replace(p=exact(self.p + self.z * (self.z @ (point - self.p)), SOLUTION_ERROR))


class AxisChain(NamedTuple):
    """An arm at q = 0: `base @ E_1 ... E_n @ home`, the axes given in the frame `base`."""

    base: NDArray
    axes: tuple[Axis, ...]
    home: NDArray


def chain(arm: Arm) -> AxisChain:
    """The axes and the tip of an arm at q = 0, seen from the frame of its first joint (whose axis is z)."""
    base = transform(arm.segments[0].R_before, arm.segments[0].p_before)
    T = np.eye(4)
    axes = []
    for i, segment in enumerate(arm.segments):
        if i:
            T = T @ transform(segment.R_before, segment.p_before)
        axes.append(Axis(segment.kind, exact(T[:3, 2], SOLUTION_ERROR), exact(T[:3, 3], SOLUTION_ERROR)))
        T = T @ transform(segment.R_after, segment.p_after)
    return AxisChain(base, tuple(axes), exact(T @ transform(*arm.tool), SOLUTION_ERROR))


def parallel(a: Axis, b: Axis) -> bool:
    """Whether two axes have the same direction, or opposite ones."""
    return bool(np.linalg.norm(np.cross(a.z, b.z)) < FIVE_DIGITS)


def meeting_point(axes: Sequence[Axis]) -> NDArray | None:
    """The point in which two or more axes meet, no two neighbours being parallel; None if there is none."""
    if any(parallel(a, b) for a, b in pairwise(axes)):
        return None
    # Nearest to all lines: sum (1 - z z')(x - p) = 0
    across = [np.eye(3) - np.outer(a.z, a.z) for a in axes]
    x = np.linalg.solve(sum(across), sum(A @ a.p for A, a in zip(across, axes, strict=True)))
    gap = max(np.linalg.norm(A @ (x - a.p)) for A, a in zip(across, axes, strict=True))
    return exact(x, SOLUTION_ERROR) if gap < FIVE_DIGITS else None
