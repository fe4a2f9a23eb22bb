"""Whether a sampled loop is stable, asked before it runs.

The state after one period of the controller is a function of the state before it. Its Jacobian about the reference,
by central differences through the very kernel that will run, has all eigenvalues inside the unit circle if
errors die away. A continuous-time design says nothing about this: damping a joint of inertia J with a gain kd
is unstable in steps of dt once kd dt > 2 J.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.control.protocol import Law
from armdyn.simulation.loop.batch import Loop
from armdyn.simulation.loop.desired import scatter
from armdyn.simulation.loop.programs import SHOWN
from armdyn.simulation.loop.schedule import Schedule
from armdyn.simulation.sensors import Sensors

# Instants of the reference that are looked at, besides those at which joints are fastest.
POSES_LOOKED_AT = 7
# Disturbances of the state for differences: rounding and curvature both stay near 1e-9.
DISTURBANCE = 1e-5
# Joints are looked at while they slide at least this fast [rad/s or m/s]: at rest, friction would hide an instability.
# Not faster, as adaptive laws learn the more, the faster they believe to move.
SLIDING_VELOCITY = 0.2
# Sampling is to blame for a growth of errors [1/s] that exceeds that of the same law at a much higher rate by half
# and this much; what both have in common (gravity on a soft joint) is the law's own. Of two higher rates the slower
# growth counts: the lower rate may be too low still, and at the higher one differences are less accurate.
LEAST_GROWTH = 1.0
HIGHER_RATE_FACTORS = (16, 256)
OVERFLOWED_ENTRY = 1e9  # stands for entries of a Jacobian that overflow


class PeriodMap(NamedTuple):
    """Jacobians (points, z, z) of one period about the reference; `rows` tells which joint each entry belongs to."""

    t: NDArray
    jacobian: NDArray
    rows: NDArray  # (z,), -1: the controller's own state

    @property
    def radius(self) -> NDArray:
        """Largest magnitude of an eigenvalue at each point."""
        return np.maximum(np.abs(np.linalg.eigvals(self.jacobian)).max(-1), 1e-300)

    def worst(self) -> tuple[float, float, int]:
        """Largest radius, its time and the joint that moves most in it."""
        k = int(np.argmax(self.radius))
        values, vectors = np.linalg.eig(self.jacobian[k])
        mode = np.abs(vectors[:, np.argmax(np.abs(values))])
        mode[self.rows < 0] = 0.0
        return float(self.radius[k]), float(self.t[k]), int(self.rows[np.argmax(mode)])


def period_map(schedule: Schedule, law: Law, sensors: Sensors | None = None) -> PeriodMap:
    """The linearised loop of an unbatched law, one period of the controller per step.

    `schedule` holds the law's channels (`schedule.for_law(law)`); of the sensors, delay and differences matter.
    """
    clock, n = schedule.clock, schedule.plant.arm.n
    loop = Loop(schedule, law, sensors)
    theta = schedule.plant.own_theta.reshape(-1, 10 * n)[:1].copy()
    rollout = loop.rollout(theta)
    samples = _instants(schedule)
    at = samples * clock.substeps
    centre = loop.start(schedule.motion.q[at], _sliding(schedule.motion.qd[at]))
    states = {port.name: port.shape for port in rollout.outputs if port.name not in SHOWN | {"direction"}}
    z = sum(int(np.prod(shape)) for shape in states.values())
    lanes = len(at) * 2 * z
    inputs, outputs = _inputs(loop, theta, at, 2 * z), {}
    for port in rollout.outputs:
        rows = np.empty((lanes, clock.substeps + (port.name not in SHOWN), *port.shape))
        if port.name not in SHOWN:
            rows[:, 0] = np.repeat(centre[port.name], 2 * z, axis=0)
            inputs[port.name], outputs[port.name] = rows[:, :-1], rows[:, 1:]
        else:
            outputs[port.name] = rows
    _disturb({name: inputs[name][:, 0] for name in states}, len(at), z)
    rollout(inputs, outputs)
    ends = np.concatenate([outputs[name][:, -1].reshape(len(at), 2, z, -1) for name in states], axis=-1)
    with np.errstate(invalid="ignore", over="ignore"):
        jacobian = (ends[:, 0] - ends[:, 1]).swapaxes(-1, -2) / (2 * DISTURBANCE)
    jacobian = np.clip(np.nan_to_num(jacobian, nan=OVERFLOWED_ENTRY), -OVERFLOWED_ENTRY, OVERFLOWED_ENTRY)
    elastic = np.array(loop.kind.elastic, int)
    moving = {"rotor_q": elastic, "rotor_qd": elastic}
    joints = [
        np.full(int(np.prod(shape)), -1) if "." in name else moving.get(name, np.arange(n))
        for name, shape in states.items()
    ]
    return PeriodMap(samples * clock.period, jacobian, np.concatenate(joints))


def _instants(schedule: Schedule) -> NDArray:
    """The samples that are looked at, ascending."""
    clock = schedule.clock
    spread = (scatter(POSES_LOOKED_AT) * clock.samples).astype(int)
    fastest = np.argmax(np.abs(schedule.motion.qd[:: clock.substeps]), axis=0)
    return np.unique(np.concatenate([spread, fastest]))


def _inputs(loop: Loop, theta: NDArray, at: NDArray, repeats: int) -> dict[str, NDArray]:
    """All inputs but the state, those that change with time frozen at the points."""
    schedule, found = loop.schedule, {}
    for name, rows in loop.inputs(theta, 0, schedule.clock.steps).items():
        if name == "flags":
            found[name] = schedule.clock.flags(schedule.clock.substeps, schedule.clock.substeps)
        elif rows.shape[1] == schedule.clock.steps and rows.shape[1] > 1:
            found[name] = np.ascontiguousarray(np.repeat(rows[0, at], repeats, axis=0)[:, None])
        else:
            found[name] = rows
    found["ref"] = found["ref"].copy()
    found["ref"][..., 1, :] = _sliding(found["ref"][..., 1, :])
    if "limit" in found:
        found["limit"][:] = np.inf  # a saturated drive has no gain, which says nothing about small errors
    return found


def _sliding(qd: NDArray) -> NDArray:
    """Velocities of the reference, slow ones raised; a joint that will stop within a period tells nothing."""
    return np.where(qd < 0, -1.0, 1.0) * np.maximum(np.abs(qd), SLIDING_VELOCITY)


def _disturb(rows: dict[str, NDArray], points: int, z: int) -> None:
    """Move entry i of the state of rollouts (point, sign, i) by plus or minus the disturbance."""
    first = 0
    for array in rows.values():
        flat = array.reshape(points, 2, z, -1)  # a copy: rows lie apart in memory
        for i in range(flat.shape[-1]):
            flat[:, 0, first + i, i] += DISTURBANCE
            flat[:, 1, first + i, i] -= DISTURBANCE
        array[...] = flat.reshape(array.shape)
        first += flat.shape[-1]


def expected_instability(schedule: Schedule, law: Law, sensors: Sensors | None = None) -> str | None:
    """One sentence if the loop is unstable about its reference, None if it is not or is one of a batch."""
    sensors = sensors.smooth if sensors is not None and (sensors.delay or sensors.difference) else None
    batched = any(value.ndim > len(law.core_shape(name)) for name, value in law.params.items())
    if batched or any(schedule.plant.batches.values()) or schedule.plant.servo or schedule.clock.samples < 2:
        return None
    period, names = schedule.clock.period, schedule.plant.arm.joint_names
    found = period_map(schedule, law, sensors)
    own = np.min(
        [by * np.log(period_map(schedule.at_rate(by), law, sensors).radius) for by in HIGHER_RATE_FACTORS], axis=0
    )
    to_blame = np.log(found.radius) > 1.5 * np.maximum(own, 0.0) + LEAST_GROWTH * period
    if not to_blame.any():
        return None
    radius, t, joint = found.worst()
    return (
        f"the loop is unstable at {1 / period:g} Hz: near the reference at t = {t:.3g} s an error of joint "
        f"'{names[joint]}' grows {radius:.3g}-fold each sample; raise the rate, lower the gains of that joint, "
        "or give it its rotor inertia"
    )
