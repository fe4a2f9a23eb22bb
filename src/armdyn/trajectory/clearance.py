"""Links as capsules that keep clear of each other and of boxes (a simple check, not of the links' true shapes).

The arm's skeleton leads from the base through the origins of the link frames to the tip; a capsule is a
piece of it with a radius.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import LimitError
from armdyn.kinematics.forward import forward_kinematics, link_poses
from armdyn.model.arm import Arm
from armdyn.trace.symbols import ca
from armdyn.trace.traced import traced
from armdyn.trajectory.motion_constraints import Pull, States

# Pieces shorter than this are points within their neighbours [m].
SHORTEST = 1e-6
# Points of a capsule's axis that are compared with a box, about the nearest so far; rounds of ever closer ones
# find it within 1e-5 of the length. Searches, which keep a margin, do with fewer.
ALONG = np.linspace(-0.5, 0.5, 9)
ROUNDS = 8
ROUNDS_OF_SEARCHES = 2
# Random configurations by which pairs that touch by construction are told from the others.
PROBES = 300
ALWAYS = 0.5


@traced(q="n", returns={"points": "n + 2, 3"})
def skeleton(arm: Arm, q: Any) -> Any:
    """Base, origins of the link frames and tip (n + 2, 3), in base axes.

    Parameters
    ----------
    arm : Arm
    q : array_like, shape (..., n)
        Joint positions [rad or m].

    Returns
    -------
    points : ndarray, shape (..., n + 2, 3)
    """
    origins = [pose[:3, 3].T for pose in link_poses(arm, q)]
    return ca.vertcat(ca.SX(arm.base_pose[:3, 3]).T, *origins, forward_kinematics(arm, q)[:3, 3].T)


@traced(q="n", weights="n + 2, 3", returns={"dq": "n"})
def skeleton_gradient(arm: Arm, q: Any, weights: Any) -> Any:
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
        rounds = ROUNDS_OF_SEARCHES if smooth else ROUNDS
        columns += [self._to_box(points, k, box, rounds)[0] for k in self.pieces[1:] for box in self.boxes]
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
                _, s, outward = self._to_box(points, k, box, ROUNDS_OF_SEARCHES)
                _spread(on_points, k, s, next(column)[:, None] * outward)
        return Pull(skeleton_gradient(self.arm, states[0], on_points))

    def _to_box(self, points: NDArray, k: int, box: NDArray, rounds: int = ROUNDS) -> tuple[NDArray, NDArray, NDArray]:
        """Free distance (N,) of a capsule from a box, where on its axis, and the direction away from the box."""
        a, way = points[:, k, None], (points[:, k + 1] - points[:, k])[:, None]
        s, width = np.full((len(points), 1), 0.5), 1.0
        # The distance from a box is convex along a line: its least value is next to the least of any samples.
        for _ in range(rounds):
            tried = np.clip(s + width * ALONG, 0, 1)
            nearest = _beyond(a + tried[..., None] * way, box)[0].argmin(1, keepdims=True)
            s, width = np.take_along_axis(tried, nearest, 1), 2 * width * (ALONG[1] - ALONG[0])
        p = (a + s[..., None] * way)[:, 0]
        signed, deep = _beyond(p, box)
        side = np.where(p < (box[0] + box[1]) / 2, -1.0, 1.0)
        out = np.where(deep > 0, deep, 0.0) * side
        norm = np.linalg.norm(out, axis=1, keepdims=True)
        out = np.where(norm > 0, out / np.maximum(norm, 1e-12), side * (deep == deep.max(1, keepdims=True)))
        return signed - self.radius[k], s[:, 0], out


def _beyond(p: NDArray, box: NDArray) -> tuple[NDArray, NDArray]:
    """Signed distance (...) of points (..., 3) from a box, and how far they are beyond its walls (..., 3)."""
    beyond = np.maximum(box[0] - p, p - box[1])
    inside = beyond.max(-1)
    return np.where(inside > 0, np.sqrt((np.maximum(beyond, 0.0) ** 2).sum(-1)), inside), beyond


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
