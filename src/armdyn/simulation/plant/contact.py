"""Contact of an arm's points with what stands around it, and end stops of its joints.

A point at depth d below a surface, going deeper at the rate d', feels

    f_n = stiffness d max(0, 1 + damping d')      along the normal, never a pull (Hunt and Crossley 1975)
    f_t = -friction f_n v_t / sqrt(v_t² + slip²)  against its sliding, Coulomb's law below `slip` made smooth

The force is continuous where contact begins and ends, so that fixed steps stay accurate through impacts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import is_number, row_of
from armdyn.errors import ModelError, expect, quote
from armdyn.kinematics.forward import link_frames, tip_frame
from armdyn.kinematics.jacobian import jacobian
from armdyn.model.arm import Arm
from armdyn.shapes.obstacles import Box, HalfSpace, Obstacle, Sphere
from armdyn.trace.symbols import Symbol, ca

if TYPE_CHECKING:
    from armdyn.control.protocol import Values
    from armdyn.simulation.plant.parts import PlantFeatures

KINDS = {HalfSpace: "half_space", Box: "box", Sphere: "sphere"}
# Depth at which the rates of contacts are judged [m].
TYPICAL_DEPTH = 1e-3


@dataclass(frozen=True, eq=False)
class Contact:
    """Surfaces that points of an arm may touch.

    Parameters
    ----------
    obstacles : sequence of HalfSpace, Box or Sphere
        In base axes; see `armdyn.shapes.obstacles`.
    stiffness : float
        Force a metre of depth [N/m].
    damping : float
        Part by which the force grows a unit of velocity into the surface [s/m]; an impact at the velocity v comes back
        with about v (1 - 2 damping v / 3).
    friction : float
        Coulomb's coefficient.
    slip : float
        Velocity below which friction fades out [m/s].
    points : mapping of str to (link, point)
        Points that touch, by name: the link's number from 0, or the name of any frame or link (None: the tip), and the
        place in its frame [m]; default the tip.
    """

    obstacles: Sequence[Obstacle]
    stiffness: float = 1e4
    damping: float = 1.0
    friction: float = 0.0
    slip: float = 0.01
    points: Mapping[str, tuple[int | str | None, ArrayLike]] = field(default_factory=lambda: {"tip": (None, (0, 0, 0))})

    def __post_init__(self) -> None:
        obstacles = (self.obstacles,) if isinstance(self.obstacles, Box | HalfSpace | Sphere) else tuple(self.obstacles)
        if not obstacles or not all(isinstance(x, Box | HalfSpace | Sphere) for x in obstacles):
            raise ModelError(where="Contact", expected="half-spaces, boxes or spheres", got=quote(self.obstacles))
        object.__setattr__(self, "obstacles", obstacles)
        for name, least in (("stiffness", True), ("damping", False), ("friction", False), ("slip", True)):
            value = getattr(self, name)
            fits = is_number(value) and (value > 0 or (value == 0 and not least))
            expect(fits, f"Contact: {name}", f"a number {'>' if least else '>='} 0", value, ModelError)
        expect(self.points, "Contact: points", "at least one point", error=ModelError)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds that decide the formula of each surface."""
        return tuple(KINDS[type(x)] for x in self.obstacles)

    def links(self, arm: Arm) -> tuple[int | None, ...]:
        """The link of each point, None for the tip."""
        links: list[int | None] = []
        for name, (link, point) in self.points.items():
            expect(np.shape(point) == (3,), f"Contact: point '{name}'", "three coordinates", point, ModelError)
            if isinstance(link, str) and link != arm.tip_name:
                links.append(arm.frame(link)[0])
                continue
            fits = link is None or isinstance(link, str) or (isinstance(link, int) and 0 <= link < arm.n_joints)
            expected = f"a link from 0 to {arm.n_joints - 1}, a name or None"
            expect(fits, f"Contact: point '{name}'", expected, link, ModelError)
            links.append(link if isinstance(link, int) else None)
        return tuple(links)

    def places(self, arm: Arm) -> NDArray:
        """Places of the points in their links, (P, 3)."""
        rows = []
        for link, point in self.points.values():
            named = isinstance(link, str) and link != arm.tip_name
            T = arm.frame(str(link))[1] if named else np.eye(4)
            rows.append(T[:3, :3] @ np.asarray(point, float) + T[:3, 3])
        return np.array(rows)

    @property
    def rows(self) -> NDArray:
        """Numbers of the surfaces (S, k): shape, filled up with zeros; stiffness, damping, friction, slip."""
        shapes = [_geometry(x) for x in self.obstacles]
        widest = max(len(numbers) for numbers in shapes)
        law = [self.stiffness, self.damping, self.friction, self.slip]
        return np.array([[*numbers, *[0.0] * (widest - len(numbers)), *law] for numbers in shapes])

    def stiffness_at(self, arm: Arm, q: NDArray) -> tuple[NDArray, NDArray]:
        """Stiffness and damping (P, n, n) at poses q (P, n), were all points to touch in all directions."""
        K = np.zeros((len(q), arm.n, arm.n))
        for link, place in zip(self.links(arm), self.places(arm), strict=True):
            J = jacobian(arm, q, place, link=link)[:, :3]
            K += J.swapaxes(-1, -2) @ J
        normal, K = self.stiffness * TYPICAL_DEPTH, self.stiffness * K
        return K, K / self.stiffness * normal * (self.damping + self.friction / self.slip)


def _geometry(obstacle: Obstacle) -> list[float]:
    """The numbers of a surface's shape."""
    if isinstance(obstacle, HalfSpace):
        return [*map(float, obstacle.normal), float(obstacle.offset)]
    if isinstance(obstacle, Sphere):
        return [*map(float, obstacle.center), float(obstacle.radius)]
    return [*map(float, (*obstacle.T[:3, :3].ravel(), *obstacle.T[:3, 3], *obstacle.size))]


@dataclass(frozen=True, eq=False)
class EndStops:
    """Springs at the joints' limits of position.

    Parameters
    ----------
    stiffness : array_like, shape (n,)
        [N m/rad or N/m]
    damping : array_like, shape (n,)
        Part by which the torque grows a unit of velocity into the stop [s/rad or s/m].
    """

    stiffness: ArrayLike = 1e4
    damping: ArrayLike = 1.0

    def rows(self, arm: Arm) -> NDArray:
        """Lower and upper limit, stiffness and damping of every joint, (n, 4)."""
        limits = [[joint.limits.lower, joint.limits.upper] for joint in arm.coordinate_joints]
        stiffness = row_of(self.stiffness, arm.n, "EndStops: stiffness", ModelError, sign=">")
        return np.column_stack(
            [limits, stiffness, row_of(self.damping, arm.n, "EndStops: damping", ModelError, sign=">=")]
        )


# -- symbols -------------------------------------------------------------------------------------------------


def depth_and_normal(kind: str, row: Symbol, p: Symbol) -> tuple[Symbol, Symbol]:
    """Return how deep a point is below a surface (negative: outside, where a box may say too little), and the way
    out.
    """
    if kind == "half_space":
        return row[3] - ca.dot(row[:3], p), row[:3]
    if kind == "sphere":
        gap = p - row[:3]
        far = ca.sqrt(ca.dot(gap, gap) + 1e-300)
        return row[3] - far, gap / far
    R = ca.reshape(row[:9], 3, 3)  # columns of R' as rows: base to box
    local = ca.mtimes(R, p - row[9:12])
    beyond = ca.fabs(local) - row[12:15] / 2
    nearest = ca.mmax(beyond)
    wall = ca.if_else(beyond == nearest, 1, 0)
    return -nearest, ca.mtimes(R.T, wall * ca.sign(local) / ca.sum1(wall))


def surface_force(kind: str, row: Symbol, p: Symbol, v: Symbol) -> Symbol:
    """Force (3,) of a surface on a point p that moves with v, in base axes."""
    depth, normal = depth_and_normal(kind, row, p)
    stiffness, damping, friction, slip = ca.vertsplit(row[-4:])
    into = -ca.dot(normal, v)
    pressed = stiffness * ca.fmax(depth, 0) * ca.fmax(1 + damping * into, 0)
    along = v + into * normal
    return pressed * (normal - friction * along / ca.sqrt(ca.dot(along, along) + slip * slip))


def contact_forces(arm: Arm, kind: PlantFeatures, data: Values, q: Symbol, qd: Symbol) -> list[tuple[Symbol, Symbol]]:
    """For every point the force on it (3,), in base axes, and the Jacobian (3, n) of its position."""
    forces = []
    for k, link in enumerate(kind.touching):
        place = data["points"][k, :].T
        J = jacobian(arm, q, place, link=link)[:3, :]
        p = place_of(arm, q, place, link)
        v = ca.mtimes(J, qd)
        force = ca.SX.zeros(3)
        for s, surface in enumerate(kind.surfaces):
            force = force + surface_force(surface, data["surfaces"][s, :].T, p, v)
        forces.append((force, J))
    return forces


def place_of(arm: Arm, q: Symbol, place: Symbol, link: int | None) -> Symbol:
    """A point of the tip, or of a link, in base axes."""
    R, p = tip_frame(arm, q) if link is None else link_frames(arm, q)[link]
    return p + ca.mtimes(R, place)


def wrench_at_tip(arm: Arm, q: Symbol, touching: list[tuple[int | None, Symbol, Symbol]]) -> Symbol:
    """Force and moment (6,) at the tip, in base axes, of forces on points (link, place, force) beyond the wrist."""
    total, tip = ca.SX.zeros(6), tip_frame(arm, q)[1]
    for link, place, force in touching:
        if link in (None, arm.tip_index):
            lever = place_of(arm, q, place, link) - tip
            total = total + ca.vertcat(force, ca.cross(lever, force))
    return total


def stop_torques(stops: Symbol, q: Symbol, qd: Symbol) -> Symbol:
    """Torques (n,) of the end stops."""
    lower, upper, stiffness, damping = (stops[:, k] for k in range(4))
    below, above = ca.fmax(lower - q, 0), ca.fmax(q - upper, 0)
    pushed = below * ca.fmax(1 - damping * qd, 0) - above * ca.fmax(1 + damping * qd, 0)
    return stiffness * pushed
