"""From what a run computed to its result."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armdyn.simulation.loop.plan import Plan
from armdyn.simulation.loop.programs import SEEN, SHOWN
from armdyn.simulation.loop.record import Record
from armdyn.simulation.loop.schedule import Schedule
from armdyn.simulation.readings import Readings
from armdyn.simulation.result import SimulationResult
from armdyn.simulation.sensing import Chance


def finish(plan: Plan, record: Record) -> SimulationResult:
    """The record with its times and reference, cut where it ends."""
    schedule, batch, every = plan.schedule, plan.batch, plan.every
    rows, stopped = record.rows, record.diverged_step
    record.forget_after_divergence()
    if not record.complete and (stopped >= 0).all():
        rows = min(rows, int(record.good_rows.max()))
    t = np.arange(rows) * (every * schedule.clock.period)
    arrays = {key: x[:, :rows].reshape(*batch, *x[:, :rows].shape[1:]) for key, x in record.arrays.items()}
    own = {"q", "qd"} | SHOWN
    states = {key.removeprefix("law."): x for key, x in arrays.items() if key not in own}
    states |= {key: arrays[key] for key in ("contact",) if key in arrays}
    q_ref, qd_ref, qdd_ref = (x[:: record.stride][:rows] for x in plan.desired)
    diverged = np.where(stopped < 0, np.nan, stopped * schedule.clock.h).reshape(batch)
    arm, kind = schedule.plant.arm, schedule.plant.kind
    return SimulationResult(
        t=t,
        q=arrays["q"],
        qd=arrays["qd"],
        tau=arrays["tau"],
        q_ref=q_ref,
        qd_ref=qd_ref,
        qdd_ref=qdd_ref,
        diverged=diverged,
        joint_names=arm.joint_names,
        name=plan.name,
        complete=record.complete,
        notes=(*plan.notes, *plan.remarks, *record.notes),
        states=states,
        arm=arm,
        measured=_measure(plan, record, t, arrays),
        elastic=kind.elastic,
        motor_encoders=kind.motor_encoders,
        held=_held(schedule, every),
    )


def _measure(plan: Plan, record: Record, t: NDArray, arrays: dict[str, NDArray]) -> Readings | None:
    """What instruments showed of the rows that are kept."""
    schedule, every, sensors, seed = plan.schedule, plan.every, plan.sensors, plan.seed
    if sensors is None:
        return None
    lost = Chance(sensors, schedule.plant.arm.n, len(record.diverged_step), seed).losses(len(t) * every, every)
    copies = (1 - lost).reshape(*plan.batch, len(t))
    q, qd = (arrays[key] for key in SEEN)
    seen = Readings(np.broadcast_to(t, copies.shape), q, qd, arrays["tau"], copies)
    return sensors.logged(seen, arrays["q"], seed)


def _held(schedule: Schedule, every: int) -> float:
    """For which part of a kept sample its torque lasts; with a lag, or samples left out, half is the best guess."""
    if every > 1 or schedule.plant.kind.lag:
        return 0.5
    return schedule.clock.delay / schedule.clock.substeps or 1.0
