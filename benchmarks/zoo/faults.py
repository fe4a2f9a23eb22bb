"""What goes wrong between a robot and its log: each spoils the logs to fit (or the description), never the test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

import armdyn
from armdyn.model.joint import Joint
from zoo.cases import Case
from zoo.plain import STEP, low
from zoo.sensors import Table

Fault = Callable[[Case, np.random.Generator], Case]


def _each(case: Case, change: Callable[[Table], Table]) -> Case:
    return replace(case, train=tuple(change(table) for table in case.train))


def _busy(case: Case, rng: np.random.Generator, turning: bool = False) -> int:
    """A joint that moves and whose torque matters."""
    tau = np.vstack([table.tau for table in case.train]).std(axis=0)
    moved = np.vstack([table.q for table in case.train]).std(axis=0) > 1e-3
    kinds = np.array([joint.kind == "revolute" or not turning for joint in case.arm.joints])
    able = np.flatnonzero(kinds & moved & (tau > 0.05 * tau.max()))
    return int(rng.choice(able if len(able) else np.flatnonzero(kinds)))


def _pair(case: Case, rng: np.random.Generator) -> tuple[int, int]:
    i = int(rng.integers(case.arm.n - 1))
    return i, i + 1


def _swapped(x: NDArray, i: int, j: int) -> NDArray:
    x = x.copy()
    x[:, [i, j]] = x[:, [j, i]]
    return x


def delay(case: Case, rng: np.random.Generator) -> Case:
    late = rng.uniform(0.06, 0.15)

    def change(x: Table) -> Table:
        return x._replace(tau=np.stack([np.interp(x.t - late, x.t, column) for column in x.tau.T], axis=1))

    return _each(case, change)


def clock(case: Case, rng: np.random.Generator) -> Case:
    factor, scaled = float(rng.choice([0.5, 2.0])), rng.random() < 0.5

    def change(x: Table) -> Table:
        qd = x.qd / factor if x.qd is not None and scaled else x.qd
        return x._replace(t=x.t * factor, qd=qd)

    return _each(case, change)


def zero(case: Case, rng: np.random.Generator) -> Case:
    off, j = np.zeros(case.arm.n), _busy(case, rng, turning=True)
    off[j] = rng.choice([-1, 1]) * rng.uniform(0.15, 0.4)
    return _about(_each(case, lambda x: x._replace(q=x.q + off)), j)


def step(case: Case, rng: np.random.Generator) -> Case:
    j, size, at = _busy(case, rng), rng.uniform(0.3, 1.0), rng.uniform(0.3, 0.7)

    def change(x: Table) -> Table:
        tau = x.tau.copy()
        tau[int(at * len(tau)) :, j] += size * tau[:, j].std()
        return x._replace(tau=tau)

    return _about(replace(case, train=(change(case.train[0]), *case.train[1:])), j)


def spikes(case: Case, rng: np.random.Generator) -> Case:
    share, size = rng.uniform(0.002, 0.01), rng.uniform(20, 50)

    def change(x: Table) -> Table:
        hit = rng.random(len(x.t)) < share
        return x._replace(tau=x.tau + hit[:, None] * size * x.tau.std(axis=0) * rng.normal(size=x.tau.shape))

    return _each(case, change)


def stuck(case: Case, rng: np.random.Generator) -> Case:
    j, at = _busy(case, rng), rng.uniform(0.3, 0.6)

    def change(x: Table) -> Table:
        tau, k = x.tau.copy(), int(at * len(x.t))
        tau[k:, j] = tau[k, j]
        return x._replace(tau=tau)

    return _about(_each(case, change), j)


def frozen(case: Case, rng: np.random.Generator) -> Case:
    j, at = _busy(case, rng), rng.uniform(0.3, 0.6)

    def change(x: Table) -> Table:
        q, k = x.q.copy(), int(at * len(x.t))
        q[k:, j] = q[k, j]
        qd = None if x.qd is None else x.qd.copy()
        if qd is not None:
            qd[k:, j] = 0.0
        return x._replace(q=q, qd=qd)

    return _about(_each(case, change), j)


def dead(case: Case, rng: np.random.Generator) -> Case:
    j = _busy(case, rng)

    def change(x: Table) -> Table:
        tau = x.tau.copy()
        tau[:, j] = 0.1 * tau[:, j].std() * rng.normal(size=len(tau))
        return x._replace(tau=tau)

    return _about(_each(case, change), j)


def amperes(case: Case, rng: np.random.Generator) -> Case:
    gain = np.exp(rng.uniform(np.log(4), np.log(16), case.arm.n))
    return _each(case, lambda x: x._replace(tau=x.tau / gain))


def equal_amperes(case: Case, rng: np.random.Generator) -> Case:
    gain = np.exp(rng.uniform(np.log(4), np.log(16)))
    return _each(case, lambda x: x._replace(tau=x.tau / gain))


def sign(case: Case, rng: np.random.Generator) -> Case:
    side, torque = np.ones(case.arm.n), rng.random() < 0.6
    j = _busy(case, rng)
    side[j] = -1

    def change(x: Table) -> Table:
        if torque:
            return x._replace(tau=x.tau * side)
        return x._replace(q=x.q * side, qd=None if x.qd is None else x.qd * side)

    return _about(_each(case, change), j)


def exchange(case: Case, rng: np.random.Generator) -> Case:
    (i, j), torque = _pair(case, rng), rng.random() < 0.5

    def change(x: Table) -> Table:
        if torque:
            return x._replace(tau=_swapped(x.tau, i, j))
        return x._replace(q=_swapped(x.q, i, j), qd=None if x.qd is None else _swapped(x.qd, i, j))

    return _about(_each(case, change), i, j)


def both_exchanged(case: Case, rng: np.random.Generator) -> Case:
    i, j = _pair(case, rng)

    def change(x: Table) -> Table:
        return Table(x.t, _swapped(x.q, i, j), _swapped(x.tau, i, j), None if x.qd is None else _swapped(x.qd, i, j))

    return _about(_each(case, change), i, j)


def other_arm(case: Case, rng: np.random.Generator) -> Case:
    """The description has links turned and stretched."""

    def moved(joint: Joint) -> Joint:
        before = joint.before.copy()
        before[:3, 3] = before[:3, 3] * rng.uniform(0.5, 2.0) + 0.1 * rng.normal(size=3)
        angle = float(rng.choice([0.0, np.pi / 2]))
        c, s = np.cos(angle), np.sin(angle)
        before[:3, :3] = before[:3, :3] @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
        return replace(joint, before=before)

    return replace(case, arm=replace(case.arm, joints=tuple(moved(joint) for joint in case.arm.joints)))


def gravity(case: Case, rng: np.random.Generator) -> Case:
    """The description stands on the floor, the arm does not, or the other way round."""
    g = np.asarray(case.arm.gravity)
    turned = -g if rng.random() < 0.3 else np.linalg.norm(g) * np.array([0.0, 1.0, 0.0]) * (abs(g[1]) < 1)
    turned = turned if turned.any() else np.array([0.0, 0.0, -np.linalg.norm(g)])
    return replace(case, arm=replace(case.arm, gravity=turned))


def clipped(case: Case, rng: np.random.Generator) -> Case:
    j = _busy(case, rng)
    most = np.percentile(np.abs(np.vstack([x.tau for x in case.train])[:, j]), rng.uniform(50, 80))

    def change(x: Table) -> Table:
        tau = x.tau.copy()
        tau[:, j] = np.clip(tau[:, j], -most, most)
        return x._replace(tau=tau)

    return _about(_each(case, change), j)


FAULTS: dict[str, Fault] = {
    name: fault
    for name, fault in (
        ("delay", delay), ("step", step), ("spikes", spikes), ("stuck", stuck), ("frozen", frozen), ("dead", dead),
        ("sign", sign), ("exchange", exchange), ("both exchanged", both_exchanged), ("clock", clock), ("zero", zero),
        ("amperes", amperes), ("equal amperes", equal_amperes), ("other arm", other_arm), ("gravity", gravity),
        ("clipped", clipped),
    )
}  # fmt: skip


def gain(case: Case, rng: np.random.Generator) -> Case:
    """The torque of one joint out of scale."""
    j, factor = _busy(case, rng), float(np.exp(rng.choice([-1, 1]) * rng.uniform(np.log(1.25), np.log(1.8))))
    factors = np.where(np.arange(case.arm.n) == j, factor, 1.0)
    return _about(_each(case, lambda x: x._replace(tau=x.tau * factors)), j)


def quarter_turn(case: Case, rng: np.random.Generator) -> Case:
    j, off = _busy(case, rng, turning=True), float(rng.choice([-0.5, 0.5, 1.0])) * np.pi
    turned = off * (np.arange(case.arm.n) == j)
    return _about(_each(case, lambda x: x._replace(q=x.q + turned)), j)


def signs(case: Case, rng: np.random.Generator) -> Case:
    """Torques of any set of joints reversed."""
    side = np.where(rng.random(case.arm.n) < 0.5, -1.0, 1.0)
    side[_busy(case, rng)] = -1
    return _about(_each(case, lambda x: x._replace(tau=x.tau * side)), *np.flatnonzero(side < 0).tolist())


def no_gravity(case: Case, rng: np.random.Generator) -> Case:
    """Gravity subtracted by the robot, with its own exact model."""
    arm = case.plant.arm if case.plant is not None else case.arm
    return _each(case, lambda x: x._replace(tau=x.tau - armdyn.gravity_torque(arm, x.q)))


def by_hand(case: Case, rng: np.random.Generator) -> Case:
    """Led by hand under gravity compensation."""
    arm = case.plant.arm if case.plant is not None else case.arm

    def change(x: Table) -> Table:
        tau = np.asarray(armdyn.gravity_torque(arm, x.q))
        return x._replace(tau=tau + 0.005 * max(tau.std(axis=0).max(), 1e-9) * rng.normal(size=tau.shape))

    return _each(case, change)


def _smooth(table: Table) -> tuple[NDArray, NDArray, NDArray]:
    """Positions, velocities and accelerations at the samples, of splines through low-passed positions."""
    from scipy.interpolate import CubicSpline

    grid = np.arange(table.t[0], table.t[-1] + STEP, STEP)
    q = np.stack([low(np.interp(grid, table.t, column), 10.0) for column in table.q.T], axis=1)
    spline = CubicSpline(grid, q)
    return spline(table.t), spline(table.t, 1), spline(table.t, 2)


def payload(case: Case, rng: np.random.Generator) -> Case:
    """The logs were taken with a load that the description lacks, of a tenth of the arm's mass or so."""
    arm = case.plant.arm if case.plant is not None else case.arm
    mass = rng.uniform(0.03, 0.15) * sum(link.inertia.mass for link in arm.links)
    loaded = arm.with_payload(mass, 0.05 * rng.normal(size=3))

    def change(x: Table) -> Table:
        motion = _smooth(x)
        return x._replace(tau=x.tau + armdyn.inverse_dynamics(loaded, *motion) - armdyn.inverse_dynamics(arm, *motion))

    return _each(case, change)


def _about(case: Case, *joints: int) -> Case:
    """The task with the joints of its fault, which a finding should name."""
    return replace(case, tags={**case.tags, "joints": tuple(joints)})


ALL_FAULTS: dict[str, Fault] = {
    **FAULTS, "gain": gain, "quarter turn": quarter_turn, "signs": signs, "no gravity": no_gravity, "by hand": by_hand,
    "payload": payload,
}  # fmt: skip
# Kinds of findings that name a fault, where more than one does.
NAMED: dict[str, tuple[str, ...]] = {
    **{fault: (fault,) for fault in ALL_FAULTS}, "frozen": ("stuck",), "dead": ("stuck",), "signs": ("sign",),
    "both exchanged": ("exchange",), "clock": ("time_scale",), "amperes": ("gain",), "equal amperes": ("gain",),
    "other arm": ("other_arm", "gravity", "zero", "sign", "exchange"), "no gravity": ("gravity",),
    "by hand": ("led_by_hand", "computed"), "quarter turn": ("zero",), "stuck": ("stuck", "clipped"),
}  # fmt: skip


def spoil(case: Case, fault: str) -> Case:
    """The task with that fault; always the same for the same task."""
    rng = np.random.default_rng([list(ALL_FAULTS).index(fault), *case.name.encode()])
    spoilt = ALL_FAULTS[fault](case, rng)
    return replace(spoilt, name=f"{case.name}|{fault}", tags={**spoilt.tags, "fault": fault})
