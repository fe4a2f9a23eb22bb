"""Links, as capsules, that keep clear of each other, of what the arm is mounted on and of obstacles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.frozen import PartOf
from armdyn.model.arm import Arm
from armdyn.shapes.bodies import Bodies, Posed, link_depths
from armdyn.shapes.distances import Nearest, between_pieces, to_obstacle
from armdyn.shapes.obstacles import HalfSpace, Obstacle
from armdyn.trajectory.excitation.between_samples import SlackBounds, grid, refined_least
from armdyn.trajectory.excitation.crowding import Crowd, Shortfall, shortfall
from armdyn.trajectory.excitation.guarantees import Pairs
from armdyn.trajectory.excitation.motion_constraints import Pull, States
from armdyn.trajectory.motion_limits import RANDOM_POSES, MotionLimits
from armdyn.trajectory.protocol import Trajectory

OVERLAP_RATIO = 0.95  # part of all random configurations in which things overlap that cannot be kept apart
TOUCHING_DISTANCE_M = 0.02  # clearance below which they do [m]
NEVER_NEAR_DISTANCE_M = 0.1  # clearance of all of them beyond which searches need not look [m]
MAX_PAIRS = 60  # of capsules that are compiled into a kernel, at some ten milliseconds each
DISTANCE_RATE_HZ = 500.0  # samples per second of the first grid: speeds and accelerations bound what is between them
TIGHT_M = 0.0005  # how near a tight bound is to the least distance [m]


class Columns(NamedTuple):
    """Pairs of capsules that are kept apart, and capsules that are kept off obstacles."""

    one: NDArray  # (P,)
    two: NDArray  # (P,)
    body: NDArray  # (O,) capsules
    obstacle: NDArray  # (O,) numbers of obstacles

    def chosen(self, which: NDArray) -> Columns:
        """Some of them, by a mask (P + O,)."""
        pairs, rest = which[: len(self.one)], which[len(self.one) :]
        return Columns(self.one[pairs], self.two[pairs], self.body[rest], self.obstacle[rest])


@dataclass(frozen=True, eq=False)
class Clearance:
    """Capsules clear of each other and of obstacles.

    Parameters
    ----------
    bodies : Bodies
    obstacles : tuple of Obstacle
        Obstacles that the links clear, base and first link excepted; the mounting plane is one of them.
    apart : bool
        Whether the links keep clear of each other, neighbours excepted, and of the base's boxes.
    """

    bodies: Bodies
    obstacles: tuple[Obstacle, ...] = ()
    apart: bool = True
    name: str = "clearance"

    arm = PartOf[Arm]("bodies.arm", "Whose links they are.")

    @cached_property
    def _around(self) -> tuple[Obstacle, ...]:
        return (*self.obstacles, *(self.bodies.fixed if self.apart else ()))

    @cached_property
    def _every(self) -> Columns:
        """Everything but neighbours: capsules of one link, or of links with none between them that has a body."""
        link, K = self.bodies.link, len(self.bodies.capsules)
        pairs = [
            (i, j)
            for i in range(K)
            for j in range(K)
            if self.apart and link[i] < link[j] and not self._are_neighbours(int(link[i]), int(link[j]))
        ]
        rest = [(k, o) for o in range(len(self._around)) for k in range(K) if link_depths(self.arm)[link[k]] >= 2]
        one, two = np.array(pairs, int).reshape(-1, 2).T
        body, obstacle = np.array(rest, int).reshape(-1, 2).T
        return Columns(one, two, body, obstacle)

    def _are_neighbours(self, one: int, two: int) -> bool:
        """Whether no link with a body is between two, or both are carried by one."""
        solid = {*self.bodies.link.tolist(), *self._base}
        above = [self._way_down(link) for link in (one, two)]
        shared = next(link for link in above[0] if link in above[1])
        inner = [link for way in above for link in way[1 : way.index(shared)] if link in solid]
        return not inner

    def _way_down(self, link: int) -> list[int]:
        """A link and those that carry it, down to the base, which is 0."""
        way = [link]
        while way[-1]:
            way.append(self.arm.parents[way[-1] - 1] + 1)
        return way

    @cached_property
    def _barred(self) -> NDArray:
        """Columns that the arm's file keeps from colliding; planes and obstacles that were given stay."""
        return np.array([frozenset(pair) in self.bodies.excluded for pair in self._pairs(self._every)], bool)

    @cached_property
    def _all(self) -> Columns:
        """Everything that may collide."""
        return self._every.chosen(~self._barred)

    @cached_property
    def excluded(self) -> Pairs:
        """Pairs that the arm's file keeps from colliding."""
        return tuple(dict.fromkeys(self._pairs(self._every.chosen(self._barred))))

    @property
    def _base(self) -> set[int]:
        return {0} if self.bodies.fixed else set()

    @cached_property
    def _probe(self) -> NDArray:
        """Slacks (RANDOM_POSES, ...) of everything."""
        return self._slack(self._all, self.bodies.at(random_poses(self.arm)))

    @cached_property
    def _overlaps(self) -> NDArray:
        """Columns that cannot be kept apart; of an obstacle that leaves no link any room none is left out."""
        touching = np.asarray((self._probe < TOUCHING_DISTANCE_M).mean(0) > OVERLAP_RATIO)
        for o in range(len(self.obstacles)):
            mine = np.concatenate([np.zeros(len(self._all.one), bool), self._all.obstacle == o])
            if touching[mine].all():
                touching[mine] = False
        return touching

    @cached_property
    def columns(self) -> Columns:
        """Pairs that are kept apart."""
        return self._all.chosen(~self._overlaps)

    @cached_property
    def _near(self) -> Columns:
        """Columns that searches look at: all that came near in some random pose."""
        return self._all.chosen(~self._overlaps & (self._probe.min(0) < NEVER_NEAR_DISTANCE_M))

    @cached_property
    def left_out(self) -> Pairs:
        """Pairs that overlap in nearly all poses, so that they cannot be kept apart."""
        return tuple(dict.fromkeys(self._pairs(self._all.chosen(self._overlaps))))

    @cached_property
    def pairs(self) -> Pairs:
        """Pairs that are kept apart wholly: no piece of the two is left out."""
        lost = {*self.left_out}
        return tuple(pair for pair in self.named_columns if pair not in lost)

    @cached_property
    def links(self) -> tuple[str, ...]:
        """Links of the arm that keep clear, of which nothing is left out."""
        lost, clear = (
            {*self.bodies.link[[*some.one, *some.two, *some.body]].tolist()}
            for some in (self._all.chosen(self._overlaps), self.columns)
        )
        return tuple(name for i, name in enumerate(self.arm.link_names, start=1) if i in clear - lost)

    def _pairs(self, columns: Columns) -> list[tuple[str, str]]:
        name = [one.name for one in self.bodies.capsules]
        pairs = [(name[i], name[j]) for i, j in zip(columns.one, columns.two, strict=True)]
        rest = [(name[k], self._around[o].name) for k, o in zip(columns.body, columns.obstacle, strict=True)]
        return pairs + rest

    @cached_property
    def named_columns(self) -> dict[tuple[str, str], list[int]]:
        """The columns of `slack` by what they keep apart."""
        columns: dict[tuple[str, str], list[int]] = {}
        for k, pair in enumerate(self._pairs(self.columns)):
            columns.setdefault(pair, []).append(k)
        return columns

    def label(self, column: int) -> str:
        """Return the names of what a column of `slack` keeps apart."""
        one, two = self._pairs(self.columns)[column]
        return f"{one} and {'' if column < len(self.columns.one) else 'the '}{two}"

    def obstacle(self, column: int) -> Obstacle:
        """The obstacle of a column of `slack` behind those of pairs."""
        return self._around[self.columns.obstacle[column - len(self.columns.one)]]

    def guessed(self, column: int) -> bool:
        """Whether a body of a column of `slack` has no shape in a file."""
        pairs = len(self.columns.one)
        bodies = self.columns.body[[column - pairs]] if column >= pairs else np.array(self.columns[:2])[:, column]
        return bool({*self.bodies.link[bodies].tolist()} & self.bodies.guessed)

    def worst(self, q: NDArray) -> tuple[float, str]:
        """The least free distance of configurations (N, n), and of what."""
        slack = self._slack(self.columns, self.bodies.at(q))
        if not slack.size:
            return np.inf, "nothing"
        column = int(slack.min(0).argmin())
        return float(slack.min()), self.label(column)

    def describe(self, states: States) -> str:
        """Return the pair that overlaps most, and by how much."""
        slack, names = self.worst(states[0])
        return f"misses the clearance between {names} by {-slack:.3g} m"

    def slack(self, states: States) -> NDArray:
        """Free distances (N, s) [m]."""
        return self._slack(self.columns, self.bodies.at(states[0]))

    def _slack(self, columns: Columns, posed: Posed) -> NDArray:
        return self._distances(columns, posed).distance

    def _distances(self, columns: Columns, posed: Posed) -> Nearest:
        """Free distances (N, P + O), places on the first and the second capsule, and ways apart."""
        a, way, radius = posed.a, posed.b - posed.a, self.bodies.radius
        i, j, k = columns.one, columns.two, columns.body
        near = between_pieces(a[:, i], way[:, i], a[:, j], way[:, j])
        parts = [near._replace(distance=near.distance - radius[i] - radius[j])]
        for o, obstacle in enumerate(self._around):
            mine = k[columns.obstacle == o]
            if len(mine):
                s, distance, away = to_obstacle(a[:, mine], way[:, mine], obstacle)
                parts.append(Nearest(s, s, distance - radius[mine], away))
        return Nearest(*(np.concatenate(x, axis=1) for x in zip(*parts, strict=True)))

    def penalty(self, states: States, margin: float) -> tuple[float, Pull]:
        """Mean over the samples of the squares by which distances fall short of a margin, and its derivatives."""
        q = states[0]
        squares, dq = shortfall(self._crowd, q, np.array(margin))
        if len(self._others.one) + len(self._others.body):
            more = self._shortfall(self._others, q, margin)
            squares, dq = squares + more.squares, dq + more.dq
        value = float(squares.sum()) / len(q)
        return (value, Pull(dq / len(q))) if value else (0.0, Pull(0.0))

    @cached_property
    def _in_kernel(self) -> NDArray:
        """Columns of those that searches look at that go into a kernel: half-spaces, and pairs if there are not too
        many.
        """
        few = len(self._near.one) <= MAX_PAIRS
        planes = [isinstance(self._around[o], HalfSpace) for o in self._near.obstacle]
        return np.array([few] * len(self._near.one) + planes, bool)

    @cached_property
    def _crowd(self) -> Crowd:
        columns = self._near.chosen(self._in_kernel)
        planes = [(*self._around[o].normal, self._around[o].offset) for o in columns.obstacle]  # type: ignore[union-attr]
        return Crowd(self.bodies, columns.one, columns.two, columns.body, np.array(planes).reshape(-1, 4))

    @cached_property
    def _others(self) -> Columns:
        return self._near.chosen(~self._in_kernel)

    def _shortfall(self, columns: Columns, q: NDArray, margin: float) -> Shortfall:
        """The same as `shortfall`, for everything. The nearest points may be held fixed on their capsules."""
        posed = self.bodies.at(q)
        nearest = self._distances(columns, posed)
        short = np.maximum(0.0, margin - nearest.distance)
        force = (-2 * short)[..., None] * nearest.away
        on_a, on_b = np.zeros_like(posed.a), np.zeros_like(posed.b)
        pairs = len(columns.one)
        for c in np.flatnonzero(short.any(0)):
            first = columns.one[c] if c < pairs else columns.body[c - pairs]
            _share(on_a[:, first], on_b[:, first], nearest.s[:, c], force[:, c])
            if c < pairs:
                _share(on_a[:, columns.two[c]], on_b[:, columns.two[c]], nearest.t[:, c], -force[:, c])
        return Shortfall((short**2).sum(1), self.bodies.pull(posed, on_a, on_b))

    def least(self, motion: Trajectory, limits: MotionLimits, *, tight: bool = False) -> float:
        """A lower bound of all free distances at all times of a motion within speed and acceleration limits.

        A bound that is not negative is brought no nearer to the least distance unless it shall be `tight`: to TIGHT_M.
        """
        bend = self._bend(limits.velocity, limits.acceleration)
        return refined_least(lambda t: self._bounds(motion, t, bend, tight), grid(motion.duration, DISTANCE_RATE_HZ))

    def _bounds(self, motion: Trajectory, t: NDArray, bend: float, tight: bool) -> SlackBounds:
        """Over an interval h every end of a capsule leaves its chord by h² bend at most.

        A free distance changes no more than its two bodies move: with a chord of length d it is at least
        (s_1 + s_2 - d) / 2 in between.
        """
        columns, posed = self.columns, self.bodies.at(motion(t).q)
        slack = self._slack(columns, posed)
        moved = np.maximum(*(np.linalg.norm(np.diff(end, axis=0), axis=-1) for end in (posed.a, posed.b)))
        chord = np.hstack([moved[:, columns.one] + moved[:, columns.two], moved[:, columns.body]])
        bound = (slack[1:] + slack[:-1] - chord) / 2 - 2 * bend * (t[1] - t[0]) ** 2
        least = slack.min(initial=np.inf)
        wanted = least - TIGHT_M if tight else 0.0
        return SlackBounds(bound, (bound < wanted).any(1) & (least >= 0))

    def _bend(self, speed: NDArray, acceleration: NDArray) -> float:
        """An eighth of the largest acceleration that a point of the arm may have [m/s²].

        A point farther than L from no axis has sum_j |qdd_j| L from the accelerations, and (sum_j |qd_j|)² L from the
        speeds; a sliding joint adds its own acceleration and, to the turning ones, twice its speed.
        """
        turns = np.array([joint.kind == "revolute" for joint in self.arm.joints])
        if self.arm.G is not None:  # of all joints, from those of the coordinates
            speed, acceleration = np.abs(self.arm.G) @ speed, np.abs(self.arm.G) @ acceleration
        turning, sliding = float(speed[turns].sum()), float(speed[~turns].sum())
        largest = self._length * (float(acceleration[turns].sum()) + turning**2)
        return (largest + float(acceleration[~turns].sum()) + 2 * turning * sliding) / 8

    @cached_property
    def _length(self) -> float:
        """Largest distance of a point of a body from any axis: all offsets and strokes one after the other."""
        arm = self.arm
        offsets = [np.linalg.norm(T[:3, 3]) for joint in arm.joints for T in (joint.before, joint.after)]
        strokes = [
            max(abs(joint.limits.lower), abs(joint.limits.upper)) for joint in arm.joints if joint.kind == "prismatic"
        ]
        far = np.linalg.norm(self.bodies.ends, axis=-1).max(initial=0.0) + self.bodies.radius.max(initial=0.0)
        return float(sum(offsets) + sum(strokes) + far)

    def lowest(self, motion: Trajectory, up: NDArray) -> float:
        """The least height along `up` of links 2 to n during a motion, above the origin of the base axes [m]."""
        # 5 ms apart, a point at 10 m/s² is missed by 0.03 mm at most.
        t = np.linspace(0.0, motion.duration, max(4, int(200 * motion.duration)) + 1)
        posed = self.bodies.at(motion(t).q)
        heights = np.minimum(posed.a @ up, posed.b @ up) - self.bodies.radius
        beyond = np.array(link_depths(self.arm))[self.bodies.link] >= 2
        return float(heights[:, beyond].min(initial=np.inf))


def _share(on_a: NDArray, on_b: NDArray, s: NDArray, force: NDArray) -> None:
    """Add a force at part s of a piece to its ends."""
    part = s[:, None] * force
    on_a += force - part
    on_b += part


def random_poses(arm: Arm, count: int = RANDOM_POSES, seed: int = 0) -> NDArray:
    """Configurations (count, n) within the arm's limits, the same every time."""
    lower, upper = (np.clip(x, -np.pi, np.pi) for x in arm.position_limits)
    return np.random.default_rng(seed).uniform(lower, upper, (count, arm.n))
