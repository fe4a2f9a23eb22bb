"""`armdyn torque ARM`: joint torques of a motion, and what they are made of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from armdyn.cli.resolve import resolve
from armdyn.cli.show import number, print_json, print_table
from armdyn.cli.states import StateOptions, States, matrix_columns, numbers, print_columns, write_columns

if TYPE_CHECKING:
    from armdyn.model.arm import Arm


def torque(
    arm: str, *, asked: StateOptions,
    wrench: str | None = None, degrees: bool = False, out: Path | None = None, base: str | None = None,
    tip: str | None = None, json: bool = False,
) -> None:  # fmt: skip
    """Inverse dynamics: joint torques, split into inertia, velocity, gravity, tip load, friction and drive."""
    subject = resolve(arm, base, tip)
    inputs = asked.read(subject, degrees)
    parts = torque_parts(subject, inputs, None if wrench is None else numbers(wrench, 6, "--wrench"))
    columns = matrix_columns("tau", parts["total"], inputs.q.ndim - 1)
    if out is not None:
        write_columns(out, inputs.t, columns, json)
    if json:
        print_json({"arm": subject.name, "joints": subject.coordinate_names} | parts)
    elif asked.states is not None and out is None:
        print_columns(_title(subject), inputs.t, columns)
    elif asked.states is None:
        _show(subject, parts)


def torque_parts(arm: Arm, states: States, wrench: NDArray | None) -> dict[str, NDArray]:
    """Torques (..., n) by what causes them; `total` is their sum."""
    from armdyn.dynamics.full import joint_torque
    from armdyn.dynamics.newton_euler import inverse_dynamics

    q, qd, qdd, _ = states
    rest = np.zeros_like(q)
    gravity = np.asarray(inverse_dynamics(arm, q, rest, rest))
    weightless = np.zeros(3)
    inertia = np.asarray(inverse_dynamics(arm, q, rest, qdd, gravity=weightless))
    velocity = np.asarray(inverse_dynamics(arm, q, qd, rest, gravity=weightless))
    load = rest
    if wrench is not None:
        load = np.asarray(inverse_dynamics(arm, q, rest, rest, wrench, gravity=weightless))
    total = np.asarray(joint_torque(arm, q, qd, qdd, wrench))
    drive = total - (gravity + inertia + velocity + load)
    return {
        "total": total,
        "inertia": inertia,
        "velocity": velocity,
        "gravity": gravity,
        "tip load": load,
        "friction and drive": drive,
    }


def _show(arm: Arm, parts: dict[str, NDArray]) -> None:
    used = {name: values for name, values in parts.items() if name == "total" or np.abs(values).max() > 1e-12}
    rows = []
    for i, joint in enumerate(arm.coordinate_joints):
        limit = joint.limits.effort
        share = f"{abs(parts['total'][i]) / limit:.0%}" if np.isfinite(limit) and limit > 0 else "-"
        rows.append((joint.name, *(number(0.0 if abs(x[i]) < 1e-12 else x[i]) for x in used.values()), share))
    headings = ("joint", *(f"{name} " for name in used), "of limit ")
    print_table(_title(arm), headings, rows)


def _title(arm: Arm) -> str:
    kinds = {joint.kind for joint in arm.coordinate_joints}
    unit = {"revolute": "N m", "prismatic": "N"}[kinds.pop()] if len(kinds) == 1 else "N m, prismatic joints N"
    return f"{arm.name}: joint torques [{unit}]"
