"""Whether a sampled loop is stable, asked before it runs.

The state after one period of the controller is a function of the state before it. Its Jacobian about the reference,
by central differences through the very kernel that will run, has all eigenvalues inside the unit circle if
errors die away. A continuous-time design says nothing about this: damping a joint of inertia J with a gain kd
is unstable in steps of dt once kd dt > 2 J.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.control.protocol import Law
from armdyn.dynamics.friction import friction_torque
from armdyn.errors import ShapeError
from armdyn.simulation.loop.batch import BatchLoop
from armdyn.simulation.loop.desired import scatter
from armdyn.simulation.loop.programs import OUTPUTS, sensor_shapes
from armdyn.simulation.loop.schedule import Schedule
from armdyn.simulation.plant.step_length import N_EXAMPLES
from armdyn.simulation.sensors import Sensors

# Disturbances of the state for central differences: rounding is as small as curvature.
DISTURBANCE = float(np.cbrt(np.finfo(float).eps))
# Joints are looked at while they slide at least this fast [rad/s or m/s]: at rest, friction would hide an instability.
# Not faster, as adaptive laws learn the more, the faster they believe to move.
SLIDING_VELOCITY = 0.2
# Sampling is to blame for a growth of errors [1/s] that exceeds that of the same law at a much higher rate by half
# and this much; what both have in common (gravity on a soft joint) is the law's own. Of two higher rates the slower
# growth counts: the lower rate may be too low still, and at the higher one differences are less accurate.
MIN_GROWTH = 1.0
HIGHER_RATE_FACTORS = (16, 256)
MIN_FACTOR = 10.0  # by which an error must grow along the motion, or an estimate, to run away
INSTANTS_MULTIPLIED = 32  # of a motion, whose period maps make up that of a stretch
PARTS_OF_CHECK = 9  # maps at the first instants, along the motion, at two higher rates, and what is not steps: one run
# Entries of a state of which all are disturbed; of a larger one, those through which errors come back.
MAX_STATE = 64
MISSING_FRICTION = (
    "the law compensates friction that the plant lacks; give it to the plant, or take it from the law's model"
)
OVERFLOWED_ENTRY = 1e9  # stands for entries of a Jacobian that overflow


@dataclass(frozen=True, eq=False)
class PeriodMap:
    """Jacobians (points, z, z) of one period about the reference; `rows` tells which joint each entry belongs to."""

    samples: NDArray  # of the controller
    jacobian: NDArray
    rows: NDArray  # (z,), -1: the controller's own state

    @cached_property
    def radius(self) -> NDArray:
        """Largest magnitude of an eigenvalue at each point."""
        return np.maximum(np.abs(np.linalg.eigvals(self.jacobian)).max(-1), 1e-300)

    def fastest(self) -> PeriodMap:
        """The points at which errors grow fastest, a third of all: the law and the plant are told apart there."""
        points = np.sort(np.argsort(-self.radius)[: max(len(self.samples) // 3, 1)])
        return PeriodMap(self.samples[points], self.jacobian[points], self.rows)

    def worst(self) -> Mode:
        """The mode that grows fastest."""
        k = int(np.argmax(self.radius))
        values, vectors = np.linalg.eig(self.jacobian[k])
        mode = vectors[:, np.argmax(np.abs(values))]
        joint = int(self.rows[np.argmax(np.where(self.rows < 0, 0.0, np.abs(mode)))])
        turned = mode * np.exp(-1j * np.angle(mode[np.argmax(np.abs(mode))]))
        return Mode(float(self.radius[k]), int(self.samples[k]), joint, turned.real)


class Mode(NamedTuple):
    """An eigenvector of one period: its growth, the sample, the joint that moves most in it, and its real part (z,)."""

    radius: float
    sample: int
    joint: int
    direction: NDArray


def period_map(
    schedule: Schedule, law: Law, sensors: Sensors | None = None, instants: NDArray | None = None
) -> PeriodMap:
    """The linearised loop of an unbatched law, one period of the controller per step.

    `schedule` holds the law's channels (`schedule.for_law(law)`); of the sensors, delay and differences matter.
    Of a large state only the parts count through which an error of a joint comes back to the joints: what a law
    writes down and does not act on, such as its records, takes no part.
    """
    return Period(schedule, law, sensors).map(instants)


class Period:
    """One period of a loop, beginning near the reference."""

    def __init__(self, schedule: Schedule, law: Law, sensors: Sensors | None) -> None:
        self.loop = BatchLoop(schedule, law, sensors)
        self.loop.resolution = Sensors().resolutions(schedule.plant.arm.n)  # marks of encoders have no derivative
        self.theta = schedule.plant.own_theta.reshape(-1, 10 * schedule.plant.arm.n_joints)[:1].copy()
        self.rollout = self.loop.rollout(self.theta)
        self.shapes = {port.name: port.shape for port in self.rollout.outputs}
        self.states = [name for name in self.shapes if name not in OUTPUTS | {"direction"}]

    @cached_property
    def acting(self) -> list[str]:
        """The parts of the state that count."""
        return self.states if self.size(self.states) <= MAX_STATE else self.feedback()

    def map(self, instants: NDArray | None = None) -> PeriodMap:
        """Jacobians about the reference, at samples of it."""
        samples = self.instants if instants is None else instants
        rows = np.concatenate([self.joints(name) for name in self.acting])
        return PeriodMap(samples, self.jacobian(samples, self.acting), rows)

    @property
    def instants(self) -> NDArray:
        """The samples that are looked at first: their periods are a part of those of the run."""
        return _instants(self.loop.schedule, PARTS_OF_CHECK * self.size(self.acting))

    def size(self, states: list[str]) -> int:
        """Number of entries of some parts of the state."""
        return sum(int(np.prod(self.shapes[name])) for name in states)

    def joints(self, name: str) -> NDArray:
        """The joint of each entry of a part of the state, -1 for the controller's own."""
        if "." in name:
            return np.full(self.size([name]), -1)
        return np.array(self.loop.kind.elastic if name.startswith("rotor_") else range(self.size([name])), int)

    def jacobian(self, samples: NDArray, states: list[str]) -> NDArray:
        """Derivatives (points, z, z) of some parts of the state with respect to themselves."""
        ends = self.change(samples, np.eye(self.size(states)), states)
        return np.concatenate([ends[name] for name in states], axis=-1).swapaxes(-1, -2)

    def feedback(self) -> list[str]:
        """The parts of the state that joints act on, at once or through others, and that act on joints likewise."""
        sizes = [self.size([name]) for name in self.states]
        rng, parts = np.random.default_rng(0), np.repeat(np.arange(len(sizes)), sizes)
        probes = np.where(parts == np.arange(len(sizes))[:, None], rng.standard_normal(len(parts)), 0.0)
        ends = self.change(_instants(self.loop.schedule, len(sizes)), probes, self.states)
        acts = np.stack([(ends[name] != 0).any((0, 2)) for name in self.states], axis=1)
        acts |= np.eye(len(sizes), dtype=bool)
        for _ in sizes:
            acts = acts @ acts
        moving = np.array(["." not in name for name in self.states])
        back = acts[moving].any(0) & acts[:, moving].any(1)
        return [name for name, counts in zip(self.states, back, strict=True) if counts]

    def change(
        self, samples: NDArray, directions: NDArray, states: list[str], size: float = DISTURBANCE
    ) -> dict[str, NDArray]:
        """Slopes (points, k, entries) of all parts after the period, and of torques, along directions (k, z)."""
        schedule, k, points = self.loop.schedule, len(directions), len(samples)
        at = samples * schedule.clock.substeps
        start = self.loop.start(schedule.motion.q[at], _sliding(schedule.motion.qd[at]))
        inputs, outputs = _inputs(self.loop, self.theta, at, 2 * k), {}
        for name, shape in self.shapes.items():
            rows = np.empty((points * 2 * k, schedule.clock.substeps + (name not in OUTPUTS), *shape))
            if name in OUTPUTS:
                outputs[name] = rows
            else:
                inputs[name], outputs[name] = rows[:, :-1], rows[:, 1:]
                rows[:, 0] = np.repeat(start[name], 2 * k, axis=0)
        both = size * np.tile(np.concatenate([directions, -directions]), (points, 1))
        for name, part in zip(states, np.split(both, np.cumsum([self.size([s]) for s in states])[:-1], 1), strict=True):
            inputs[name][:, 0] += part.reshape(-1, *self.shapes[name])
        self.rollout(inputs, outputs)
        ends = {name: outputs[name][:, -1].reshape(points, 2, k, -1) for name in [*self.states, "tau"]}
        with np.errstate(invalid="ignore", over="ignore"):
            slopes = {name: (rows[:, 0] - rows[:, 1]) / (2 * size) for name, rows in ends.items()}
        most = OVERFLOWED_ENTRY
        return {name: np.clip(np.nan_to_num(rows, nan=most), -most, most) for name, rows in slopes.items()}

    def growth(self, first: int, count: int, direction: NDArray) -> float:
        """Growth of a small error along a direction (z,) over some samples of the motion, joints sliding.

        The period maps of instants between are multiplied; each holds until the next.
        """
        pieces = min(INSTANTS_MULTIPLIED, max(2 * len(self.instants), 2))
        edges = np.unique(np.linspace(first, first + count, pieces + 1).astype(int))
        error = direction / np.linalg.norm(direction)
        for jacobian, samples in zip(self.jacobian(edges[:-1], self.acting), np.diff(edges), strict=True):
            error = np.linalg.matrix_power(jacobian, int(samples)) @ error
        return float(np.linalg.norm(error))


def _instants(schedule: Schedule, directions: int) -> NDArray:
    """The samples that are looked at, ascending; so few that the check takes no more steps than the run."""
    clock = schedule.clock
    spread = (scatter(N_EXAMPLES) * clock.samples).astype(int)
    fastest = np.argmax(np.abs(schedule.motion.qd[:: clock.substeps]), axis=0)
    return np.unique(np.concatenate([spread, fastest])[: max(clock.samples // (2 * directions), 1)])


def _inputs(loop: BatchLoop, theta: NDArray, at: NDArray, repeats: int) -> dict[str, NDArray]:
    """All inputs but the state, those that change with time frozen at the points."""
    schedule, inputs = loop.schedule, {}
    for name, rows in loop.inputs(theta, 0, schedule.clock.steps).items():
        if name == "flags":
            inputs[name] = schedule.clock.flags(schedule.clock.substeps, schedule.clock.substeps)
        elif rows.shape[1] == schedule.clock.steps and rows.shape[1] > 1:
            inputs[name] = np.ascontiguousarray(np.repeat(rows[0, at], repeats, axis=0)[:, None])
        else:
            inputs[name] = rows
    inputs["ref"] = inputs["ref"].copy()
    inputs["ref"][..., 1, :] = _sliding(inputs["ref"][..., 1, :])
    if loop.sensing is not None:  # what comes by chance stays away
        by_chance = sensor_shapes(loop.sensing, schedule.plant.arm.n)[1].items()
        inputs |= {name: np.zeros((1, 1, *shape)) for name, shape in by_chance if name != "resolution"}
    if "limit" in inputs:
        inputs["limit"][:] = np.inf  # a saturated drive has no gain, which says nothing about small errors
    return inputs


def _sliding(qd: NDArray) -> NDArray:
    """Velocities of the reference, slow ones raised; a joint that will stop within a period tells nothing."""
    return np.where(qd < 0, -1.0, 1.0) * np.maximum(np.abs(qd), SLIDING_VELOCITY)


def expected_instability(schedule: Schedule, law: Law, sensors: Sensors | None = None) -> str | None:
    """One sentence if the loop is unstable about its reference or settles far off, None otherwise and of a batch.

    A mode that grows at one instant of the motion is a suspicion: the arm may have moved on before. It is confirmed
    where a small error grows tenfold along the motion, in the time in which the mode alone would grow a hundredfold.
    """
    batched = any(value.ndim > len(law.core_shape(name)) for name, value in law.params.items())
    if batched or any(schedule.plant.batches.values()) or schedule.plant.servo or schedule.clock.samples < 2:
        return None
    loop = Period(schedule, law, sensors)
    return _instability(loop, law, sensors) or _drift(loop, law)


def _instability(loop: Period, law: Law, sensors: Sensors | None) -> str | None:
    """One sentence on the mode that grows fastest, where it grows along the motion."""
    schedule, everywhere = loop.loop.schedule, loop.map()
    period, names = schedule.clock.period, schedule.plant.arm.coordinate_names
    if (np.log(everywhere.radius) <= MIN_GROWTH * period).all():
        return None
    growth = everywhere.fastest()
    mode = growth.worst()
    samples = min(int(np.ceil(2 * np.log(MIN_FACTOR) / np.log(mode.radius))) + 1, schedule.clock.samples)
    first = min(mode.sample, schedule.clock.samples - samples)
    if loop.growth(first, samples, mode.direction) < MIN_FACTOR:
        return None
    rates = [period_map(schedule.at_rate(by), law, sensors, growth.samples) for by in HIGHER_RATE_FACTORS]
    plant_growth = np.min(
        [by * np.log(fast.radius) for by, fast in zip(HIGHER_RATE_FACTORS, rates, strict=True)], axis=0
    )
    to_blame = np.log(growth.radius) > 1.5 * np.maximum(plant_growth, 0.0) + MIN_GROWTH * period
    cause = "raise the rate, lower the gains of that joint, or give it its rotor inertia"
    if not to_blame.any():
        if not _missing_friction(schedule, law, sensors, growth):
            return None
        cause = MISSING_FRICTION
    soon = np.log(10) / np.log(mode.radius) * period
    return (
        f"the loop is unstable at {1 / period:g} Hz: near the reference at t = {mode.sample * period:.3g} s an error "
        f"of joint '{names[mode.joint]}' grows tenfold within {soon:.2g} s; {cause}"
    )


def _missing_friction(schedule: Schedule, law: Law, sensors: Sensors | None, growth: PeriodMap) -> bool:
    """Whether errors grow because the law counts on friction that does not act in the plant: a negative damping.

    The law without its friction is the test, or, where friction is estimated, the plant with it, joints sliding: there
    errors must grow less than two thirds as fast.
    """
    if not _lacks_friction(schedule, law):
        return False
    plant, friction = schedule.plant, law.arm.trace_data("friction")
    other = replace(
        schedule, plant=replace(plant, friction=True, numbers=replace(plant.numbers, friction_data=friction))
    )
    if law.compensates_friction:
        with suppress(ShapeError):  # of a law that cannot be without
            law, other = law.without_friction(), schedule
    agreeing = np.maximum(np.log(period_map(other.for_law(law), law, sensors, growth.samples).radius), 0.0)
    return bool((np.log(growth.radius) > 1.5 * agreeing).any())


def _lacks_friction(schedule: Schedule, law: Law) -> bool:
    """Whether the law counts on friction of joints that the plant moves without any."""
    plant, shape = schedule.plant, law.arm.trace_data("friction").shape
    return plant.kind.friction == "none" and law.models_friction and shape == plant.own_friction.shape


def _drift(period: Period, law: Law) -> str | None:
    """One sentence on joints that torques against friction, which does not act, push farther than the motion goes.

    A law without a state of its own holds them where its stiffness, the slope of its torques, balances these torques.
    """
    schedule = period.loop.schedule
    own_state = any("." in name for name in period.acting)
    if own_state or not law.compensates_friction or not _lacks_friction(schedule, law):
        return None
    rows = np.concatenate([np.full(period.size([name]), name == "q") for name in period.acting])
    directions = np.eye(len(rows))[rows]
    samples = _instants(schedule, PARTS_OF_CHECK * len(directions))
    stiffness = -period.change(samples, directions, period.acting)["tau"].swapaxes(-1, -2)
    at = samples * schedule.clock.substeps
    push = np.asarray(friction_torque(law.arm, schedule.motion.q[at], schedule.motion.qd[at]))
    offset = np.abs(np.linalg.pinv(stiffness) @ push[..., None])[..., 0].max(0)
    beyond = offset / np.maximum(np.ptp(schedule.motion.q, axis=0) / 2, 1e-300)
    j = int(np.argmax(beyond))
    if not beyond[j] > 1:
        return None
    joint = schedule.plant.arm.coordinate_joints[j]
    return (
        f"joint '{schedule.plant.arm.coordinate_names[j]}' will settle {offset[j]:.2g} "
        f"{'rad' if joint.kind == 'revolute' else 'm'} off the reference, farther than the motion takes it: "
        f"{MISSING_FRICTION}"
    )
