"""Links as capsules that keep clear of each other and of boxes (a simple check, not of the links' true shapes).

The arm's skeleton leads from the base through the origins of the link frames to the tip; a capsule is a
piece of it with a radius.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import LimitError
from armdyn.kinematics.forward import forward_kinematics, link_poses
from armdyn.model.arm import Arm
from armdyn.model.quantities import Q
from armdyn.trace.shapes import Array
from armdyn.trace.symbols import ca
from armdyn.trace.traced import traced
from armdyn.trajectory.excitation.motion_constraints import Pull, States

# Pieces shorter than this are points within their neighbours [m].
SHORTEST = 1e-6
# Random configurations by which pairs that touch by construction are told from the others.
PROBES = 300
ALWAYS = 0.5


@traced(returns={"points": "n + 2, 3"})
def skeleton(arm: Arm, q: Q) -> Array:
    """Base, origins of the link frames and tip (n + 2, 3), in base axes."""
    origins = [pose[:3, 3].T for pose in link_poses(arm, q)]
    return ca.vertcat(ca.SX(arm.base_pose[:3, 3]).T, *origins, forward_kinematics(arm, q)[:3, 3].T)


@traced(returns={"dq": "n"})
def skeleton_gradient(arm: Arm, q: Q, weights: Annotated[Any, "n + 2, 3"]) -> Array:
    """Gradient of sum(weights * skeleton) with respect to q."""
    own = ca.SX.sym("q", arm.n)
    slope = ca.jtimes(ca.vec(skeleton(arm, own)), own, ca.vec(ca.densify(weights)), True)
    return ca.substitute(slope, own, q)


@dataclass(frozen=True, eq=False)
class Clearance:
    """Capsules along the skeleton clear of each other and of boxes.

    Parameters
    ----------
    arm : Arm
    radius : ndarray, shape (n + 1,)
        Of the capsules, from the base [m].
    boxes : ndarray, shape (B, 2, 3)
        Lower and upper corners, in base axes [m].
    """

    arm: Arm
    radius: NDArray
    boxes: NDArray
    name: str = "clearance"

    def __post_init__(self) -> None:
        try:
            radius = np.broadcast_to(np.asarray(self.radius, float), (self.arm.n + 1,))
            boxes = np.asarray(self.boxes, float).reshape(-1, 2, 3)
        except (TypeError, ValueError):
            raise LimitError(
                f"clearance: expected a radius, or {self.arm.n + 1}, and boxes (B, 2, 3), got {self.radius!r:.60}"
            ) from None
        if not (np.isfinite(radius).all() and (radius >= 0).all() and (boxes[:, 0] < boxes[:, 1]).all()):
            raise LimitError("clearance: expected radii >= 0 and boxes with lower < upper corners")
        object.__setattr__(self, "radius", radius)
        object.__setattr__(self, "boxes", boxes)

    def check_purpose(self) -> None:
        """Refuse to keep clear what has nothing to keep clear of."""
        if not len(self.boxes) and not self.pairs:
            raise LimitError(
                f"clearance: with radius {self.radius.max():g} m no two links of arm '{self.arm.name}' can be kept "
                "clear: all are neighbours, or overlap most of the time; give smaller radii, or boxes"
            )

    @cached_property
    def pieces(self) -> list[int]:
        """Pieces k (from point k to k + 1) that have a length."""
        points = self._probe()
        length = np.linalg.norm(np.diff(points, axis=1), axis=2).max(0)
        return [k for k in range(self.arm.n + 1) if length[k] > SHORTEST]

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Pieces compared with each other: no neighbours, none that touch in most configurations."""
        points, found = self._probe(), []
        for i, one in enumerate(self.pieces):
            for two in self.pieces[i + 2 :]:
                distance = closest(points, one, two)[2]
                if (distance < self.radius[one] + self.radius[two]).mean() < ALWAYS:
                    found.append((one, two))
        return found

    def _probe(self) -> NDArray:
        lower, upper = (np.clip(x, -np.pi, np.pi) for x in self.arm.position_limits)
        return skeleton(self.arm, np.random.default_rng(0).uniform(lower, upper, (PROBES, self.arm.n)))

    def slack(self, states: States, smooth: bool = False) -> NDArray:
        """Free distances (N, pairs + boxes times pieces) [m]."""
        points = skeleton(self.arm, states[0])
        columns = [closest(points, i, j)[2] - self.radius[i] - self.radius[j] for i, j in self.pairs]
        columns += [self._to_box(points, k, box)[0] for k in self.pieces[1:] for box in self.boxes]
        return np.array(columns).T.reshape(len(points), -1)

    def pull(self, states: States, weights: NDArray) -> Pull:
        """Through the nearest points, which may be held fixed on their capsules."""
        points = skeleton(self.arm, states[0])
        on_points = np.zeros_like(points)
        column = iter(weights.T)
        for i, j in self.pairs:
            s, t, distance, gap = closest(points, i, j)
            push = next(column)[:, None] * gap / np.maximum(distance, 1e-12)[:, None]
            _spread(on_points, i, s, push)
            _spread(on_points, j, t, -push)
        for k in self.pieces[1:]:
            for box in self.boxes:
                _, s, outward = self._to_box(points, k, box)
                _spread(on_points, k, s, next(column)[:, None] * outward)
        return Pull(skeleton_gradient(self.arm, states[0], on_points))

    def _to_box(self, points: NDArray, k: int, box: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        """Free distance (N,) of a capsule from a box, where on its axis, and the direction away from the box."""
        a, way = points[:, k], points[:, k + 1] - points[:, k]
        s = nearest_to_box(a, way, box)
        p = a + s[:, None] * way
        free = _beyond(p, box)
        out = np.maximum(p - box[1], 0) - np.maximum(box[0] - p, 0)
        out /= np.maximum(free, 1e-12)[:, None]
        within = np.flatnonzero(free <= 0)
        s[within], out[within] = _deepest(a[within], way[within], box)
        free[within] = _beyond(a[within] + s[within, None] * way[within], box)
        return free - self.radius[k], s, out


def nearest_to_box(a: NDArray, way: NDArray, box: NDArray) -> NDArray:
    """Where (N,) on pieces a + s way, 0 <= s <= 1, a and way (N, 3), they are nearest to a box.

    The square of the distance is convex in s, and its slope straight between the places where the line crosses the
    planes of the walls.
    """
    N = len(a)
    with np.errstate(divide="ignore", invalid="ignore"):
        cuts = np.concatenate([(box[0] - a) / way, (box[1] - a) / way], axis=1)
    cuts = np.nan_to_num(np.clip(cuts, 0, 1))
    s = np.sort(np.concatenate([np.zeros((N, 1)), cuts, np.ones((N, 1))], axis=1), axis=1)
    p = a[:, None] + s[..., None] * way[:, None]
    outward = np.maximum(p - box[1], 0) - np.maximum(box[0] - p, 0)
    slope = (outward * way[:, None]).sum(-1)
    # It rises: the last place where it is below zero, or the first, and on along the straight line to zero.
    rows, last = np.arange(N), s.shape[1] - 2
    k = np.clip((slope < 0).sum(1) - 1, 0, last)
    rise = slope[rows, k + 1] - slope[rows, k]
    part = np.divide(-slope[rows, k], rise, out=np.zeros(N), where=rise > 0)
    return s[rows, k] + np.clip(part, 0, 1) * (s[rows, k + 1] - s[rows, k])


def _deepest(a: NDArray, way: NDArray, box: NDArray) -> tuple[NDArray, NDArray]:
    """Where (N,) pieces are deepest in a box, and how the depth there changes with the place (N, 3).

    It is where the piece ends, or where two walls are equally near: as much of both then as leaves no change along
    the piece.
    """
    start, rate = np.concatenate([box[0] - a, a - box[1]], axis=1), np.concatenate([-way, way], axis=1)
    i, j = np.triu_indices(6, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        equal = np.nan_to_num(np.clip((start[:, j] - start[:, i]) / (rate[:, i] - rate[:, j]), 0, 1))
        share = np.nan_to_num(np.clip(rate[:, j] / (rate[:, j] - rate[:, i]), 0, 1))
    s = np.concatenate([np.zeros((len(a), 1)), np.ones((len(a), 1)), equal], axis=1)
    best = _beyond(a[:, None] + s[..., None] * way[:, None], box).argmin(1)
    rows, normals = np.arange(len(a)), np.concatenate([-np.eye(3), np.eye(3)])
    found = s[rows, best]
    pair = np.maximum(best - 2, 0)
    both = share[rows, pair, None] * normals[i[pair]] + (1 - share[rows, pair, None]) * normals[j[pair]]
    one = normals[(start + found[:, None] * rate).argmax(1)]
    return found, np.where((best < 2)[:, None], one, both)


def _beyond(p: NDArray, box: NDArray) -> NDArray:
    """Signed distance (...) of points (..., 3) from a box."""
    beyond = np.maximum(box[0] - p, p - box[1])
    inside = beyond.max(-1)
    return np.where(inside > 0, np.sqrt((np.maximum(beyond, 0.0) ** 2).sum(-1)), inside)


def closest(points: NDArray, i: int, j: int) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Where on pieces i and j (N,) (N,) they are nearest, their distance (N,) and the vector from j to i (N, 3).

    Ericson (2005), Real-Time Collision Detection, section 5.1.9.
    """
    p, d = points[:, i], points[:, i + 1] - points[:, i]
    r, e = points[:, j], points[:, j + 1] - points[:, j]
    w = p - r
    a, b, c = (d * d).sum(1), (d * e).sum(1), (e * e).sum(1)
    dw, ew = (d * w).sum(1), (e * w).sum(1)
    det = a * c - b * b
    s = np.clip(np.where(det > 1e-12 * a * c, (b * ew - c * dw) / np.maximum(det, 1e-300), 0.0), 0, 1)
    t = (b * s + ew) / c
    s = np.where(t < 0, np.clip(-dw / a, 0, 1), np.where(t > 1, np.clip((b - dw) / a, 0, 1), s))
    t = np.clip(t, 0, 1)
    gap = p + s[:, None] * d - r - t[:, None] * e
    return s, t, np.linalg.norm(gap, axis=1), gap


def _spread(on_points: NDArray, k: int, s: NDArray, push: NDArray) -> None:
    """Share a push at part s of piece k among its ends."""
    on_points[:, k] += (1 - s)[:, None] * push
    on_points[:, k + 1] += s[:, None] * push
