"""How much capsules of an arm come too near to each other and to planes, as one kernel: searches ask for it often."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.frozen import PartOf
from armdyn.kinematics.forward import link_frames
from armdyn.model.arm import Arm
from armdyn.model.quantities import Number, Q
from armdyn.shapes.bodies import Bodies
from armdyn.trace.formula import Array, Vector, ca, on_symbols, traced


@dataclass(frozen=True, eq=False)
class Crowd:
    """Pairs `one`, `two` (P,) of capsules, and capsules `body` (H,) off half-spaces `planes` (H, 4): normal, offset."""

    bodies: Bodies
    one: NDArray
    two: NDArray
    body: NDArray
    planes: NDArray

    arm = PartOf[Arm]("bodies.arm", "Whose links they are.")
    trace_sizes = PartOf[Mapping[str, int]]("arm.trace_sizes", "Sizes that shapes may mention.")

    @cached_property
    def trace_key(self) -> str:
        """Key of its kernels."""
        digest = hashlib.sha256()
        bodies = self.bodies
        for part in (bodies.link, bodies.radius, bodies.ends, self.one, self.two, self.body, self.planes):
            digest.update(repr((part.shape, np.asarray(part, float).tobytes())).encode())
        return f"{self.arm.trace_key} crowd {digest.hexdigest()}"

    def trace_data(self, name: str) -> NDArray:
        """The data input `name` bound to the arm."""
        return self.arm.trace_data(name)


class Shortfall(NamedTuple):
    """Result of `shortfall`."""

    squares: Annotated[Array, ""]
    dq: Vector


@traced()
def shortfall(crowd: Crowd, q: Q, margin: Number) -> Shortfall:
    """Sum of the squares by which free distances fall short of a margin, and its gradient.

    Parameters
    ----------
    crowd : Crowd
    margin
        [m].
    """
    return Shortfall(*on_symbols(lambda q, margin: _squares(crowd, q, margin), q, margin))


def _squares(crowd: Crowd, q: Any, margin: Any) -> tuple[Any, Any]:
    """The nearest points may be held fixed on their capsules while the sum is differentiated."""
    a, way = _axes(crowd, q)
    radius, total = crowd.bodies.radius, ca.SX(0)
    held: list[Any] = []
    places: list[Any] = []

    def hold(place: Any) -> Any:
        held.append(ca.SX.sym(f"place{len(held)}"))
        places.append(place)
        return held[-1]

    for i, j in zip(crowd.one.tolist(), crowd.two.tolist(), strict=True):
        s, t = map(hold, _nearest(crowd, a[i] - a[j], (way[i], way[j]), (i, j)))
        gap = a[i] + s * way[i] - a[j] - t * way[j]
        # Axes that meet have a direction from one to the other, too: nothing is divided by zero.
        distance = ca.sqrt(ca.dot(gap, gap) + np.finfo(float).tiny) - radius[i] - radius[j]
        total += ca.fmax(0, margin - distance) ** 2
    for k, (*normal, offset) in zip(crowd.body.tolist(), crowd.planes.tolist(), strict=True):
        up = ca.SX(ca.DM(normal))
        s = hold(ca.if_else(ca.dot(way[k], up) < 0, 1, 0))
        distance = ca.dot(a[k] + s * way[k], up) - offset - radius[k]
        total += ca.fmax(0, margin - distance) ** 2
    outputs = [total, ca.gradient(total, q)]
    return tuple(ca.substitute(outputs, held, places)) if held else tuple(outputs)


def _axes(crowd: Crowd, q: Any) -> tuple[list[Any], list[Any]]:
    """Beginnings and ways of the capsules' axes in base axes."""
    base = crowd.arm.base_pose
    frames = [(ca.SX(ca.DM(base[:3, :3])), ca.SX(ca.DM(base[:3, 3]))), *link_frames(crowd.arm, q)]
    first, last = crowd.bodies.ends
    a, way = [], []
    for link, one, two in zip(crowd.bodies.link, first, last, strict=True):
        R, p = frames[int(link)]
        a.append(p + ca.mtimes(R, ca.DM(one)))
        way.append(ca.mtimes(R, ca.DM(two - one)))
    return a, way


def _nearest(crowd: Crowd, w: Any, ways: tuple[Any, Any], pair: tuple[int, int]) -> tuple[Any, Any]:
    """Places from 0 to 1 where pieces w apart are nearest; as `shapes.distances.between_pieces`, lengths known."""
    d, e = ways
    dd, ee = (float(np.sum(np.subtract(*crowd.bodies.ends[:, k]) ** 2)) for k in pair)
    dw, ew, de = ca.dot(d, w), ca.dot(e, w), ca.dot(d, e)

    def part(numerator: Any, square: float) -> Any:
        return ca.fmin(1, ca.fmax(0, numerator / square)) if square > 0 else ca.SX(0)

    if dd == 0 or ee == 0:
        return part(-dw, dd), part(ew, ee)
    det = dd * ee - de * de
    slanted = det > 1e-12 * dd * ee
    s = ca.if_else(slanted, part((de * ew - ee * dw) / ca.if_else(slanted, det, 1), 1.0), 0)
    t = (de * s + ew) / ee
    s = ca.if_else(t < 0, part(-dw, dd), ca.if_else(t > 1, part(de - dw, dd), s))
    return s, part(t, 1.0)
