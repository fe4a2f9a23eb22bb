"""How many digits are right where numbers are hard: a table against 80-bit arithmetic, and round trips.

    python benchmarks/accuracy.py

Every formula is evaluated from its own graph in 80-bit long double as reference; errors are parts of the largest entry
of a result. `ARMDYN_BENCHMARK=small` uses fewer states. Exit code 1 if an error exceeds what the page on reliability
states.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import armdyn
from armdyn import Arm
from armdyn.spatial.rotation import from_rpy, from_zyz, to_rpy, to_zyz
from armdyn.trace.graphs.graph import graph_of
from armdyn.trace.graphs.interpret import evaluate_graph
from armdyn.trajectory.fourier import FourierSeries

STATES = 20 if os.environ.get("ARMDYN_BENCHMARK") == "small" else 1000


class Row(NamedTuple):
    """One line of the table: an error, and what it may be."""

    case: str
    what: str
    error: float
    may_be: float


def apart(mine: Any, reference: Any) -> float:
    """The largest difference, in parts of the largest entry."""
    mine, reference = np.asarray(mine, float), np.asarray(reference, float)
    return float(np.abs(mine - reference).max() / np.abs(reference).max())


def reference(function: Any, arm: Arm, *states: NDArray) -> NDArray:
    """The first result of a traced function in 80-bit arithmetic."""
    traced = function.traced
    values, options = traced.sort_arguments(states, {})
    program = traced.program(arm, traced.variant(values, options))
    inputs = [np.atleast_2d(values[p.name]) if p.name in values else arm.trace_data(p.name).reshape(1, -1)
              for p in program.inputs]  # fmt: skip
    return evaluate_graph(graph_of(program), inputs, np.longdouble)[0]


def scaled(arm: Arm, length: float, mass: float) -> Arm:
    """The same arm with its lengths and masses multiplied."""

    def pose(T: NDArray) -> NDArray:
        out = T.copy()
        out[:3, 3] *= length
        return out

    joints = [armdyn.Joint(j.name, j.kind, j.axis, pose(j.before), pose(j.after)) for j in arm.joints]
    factors = mass * np.array([1, *[length] * 3, *[length**2] * 6])
    links = [armdyn.Link(k.name, armdyn.Inertia(k.inertia.theta * factors)) for k in arm.links]
    return Arm(joints, links, arm.name, arm.gravity, pose(arm.base_pose), pose(arm.tool_pose))


def states(arm: Arm, seed: int = 0) -> tuple[NDArray, NDArray, NDArray]:
    q, qd, qdd = np.random.default_rng(seed).uniform(-2, 2, (3, STATES, arm.n))
    return q, qd, qdd


def dynamics() -> list[Row]:
    """Torques and accelerations of ordinary, tiny and huge arms."""
    rows = []
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    for name, arm in (
        ("PUMA 560", armdyn.arms.puma560()),
        ("PUMA 560 of 1 mm and 1 mg", scaled(armdyn.arms.puma560(), 1e-3, 1e-7)),
        ("PUMA 560 of 100 m and 100 t", scaled(armdyn.arms.puma560(), 100.0, 1e4)),
        ("Panda", armdyn.arms.panda()),
    ):
        q, qd, qdd = states(arm)
        tau = armdyn.inverse_dynamics(arm, q, qd, qdd)
        rows.append(
            Row(name, "inverse dynamics", apart(tau, reference(armdyn.inverse_dynamics, arm, q, qd, qdd)), 1e-13)
        )
        rows.append(Row(name, "mass matrix", apart(armdyn.mass_matrix(arm, q).reshape(STATES, -1),
                                                   reference(armdyn.mass_matrix, arm, q)), 1e-13))  # fmt: skip
        rows.append(
            Row(name, "forward of inverse dynamics", apart(armdyn.forward_dynamics(arm, q, qd, tau), qdd), 1e-9)
        )
        if compiler:
            rows.append(Row(name, "inverse dynamics as C in single precision", single_precision(arm, compiler), 1e-5))
    return rows


def single_precision(arm: Arm, compiler: str) -> float:
    """Error of exported C that computes with floats, compiled and called."""
    q, qd, qdd = (x.astype(np.float32) for x in states(arm))
    tau = np.empty_like(q)
    with tempfile.TemporaryDirectory() as folder:
        code = armdyn.c_code(armdyn.inverse_dynamics, arm, folder, prefix="arm", dtype="float")
        library = str(Path(folder) / "arm.so")
        subprocess.run(
            [compiler, "-std=c99", "-O2", "-shared", "-fPIC", str(code.source), "-o", library, "-lm"], check=True
        )
        function = ctypes.CDLL(library).arm_inverse_dynamics
        for k in range(STATES):
            function(*(ctypes.c_void_p(x[k].ctypes.data) for x in (q, qd, qdd, tau)))
    return apart(tau, reference(armdyn.inverse_dynamics, arm, *(x.astype(float) for x in (q, qd, qdd))))


def near_singular() -> list[Row]:
    """A wrist of less and less inertia: accelerations lose the digits that the mass matrix's condition costs."""
    rows = []
    for weight in (1.0, 1e-4, 1e-8):
        arm = armdyn.arms.puma560()
        theta = arm.theta.reshape(6, 10).copy()
        theta[3:] *= weight
        arm = arm.with_theta(theta.ravel())
        q, qd, qdd = states(arm)
        tau = armdyn.inverse_dynamics(arm, q, qd, qdd)
        condition = float(np.linalg.cond(armdyn.mass_matrix(arm, q)).max())
        error = apart(armdyn.forward_dynamics(arm, q, qd, tau), qdd)
        # The recursion keeps the digits of light links apart: the condition costs nothing as long as masses do not mix.
        case = f"wrist of {weight:g} of its mass, condition {condition:.0e}"
        rows.append(Row(case, "forward of inverse dynamics", error, 1e-12))
    return rows


def gimbal() -> list[Row]:
    """Angles where two axes fall in line: the angles are arbitrary, the rotation must not be."""
    near = np.pi / 2 - np.array([0.0, 1e-15, 1e-12, 1e-9, 1e-6])
    rows = []
    for name, to, back, middle in (
        ("roll, pitch, yaw", to_rpy, from_rpy, near),
        ("ZYZ", to_zyz, from_zyz, np.pi / 2 - near),
    ):
        angles = np.stack([np.full_like(middle, 0.3), middle, np.full_like(middle, -0.7)], -1)
        R = back(angles)
        rows.append(Row(f"{name} in and near gimbal lock", "rotation there and back", apart(back(to(R)), R), 1e-14))
    arm = armdyn.arms.puma560()
    q = np.tile([0.1, -0.7, 0.4, 0.3, 0.0, -0.2], (5, 1))
    q[:, 4] = [0.0, 1e-12, 1e-9, 1e-6, 1e-3]
    found = armdyn.inverse_kinematics(arm, armdyn.forward_kinematics(arm, q))
    rows.append(
        Row("PUMA's wrist in line, and near", "tip of the inverse kinematics", float(found.residual.max()), 1e-9)
    )
    return rows


def tip() -> list[Row]:
    """Inverse kinematics by iteration of tiny and huge arms, as a part of their length."""
    rows = []
    for size in (1e-3, 1.0, 100.0):
        arm = scaled(armdyn.arms.puma560(), size, 1.0)
        poses = armdyn.forward_kinematics(arm, states(arm)[0])
        found = armdyn.inverse_kinematics(arm, poses, method="numeric")
        worst = float(found.error[:, 0].max()) / size if found.success.all() else np.inf
        rows.append(
            Row(f"PUMA 560 of {size:g} m", "tip of the iterated inverse kinematics", worst, 1e-9 / min(size, 1))
        )
    return rows


def late() -> list[Row]:
    """A motion after a million seconds, when time has 1e-10 s of round-off, and one that takes so long."""
    motion = FourierSeries(np.random.default_rng(0).normal(size=(6, 11)), 0.1, 2e6)
    t = np.linspace(0, 10, 101)
    error = apart(motion(t + 1e6).q, motion(t).q)
    arm, q = armdyn.arms.puma560(), np.array([0.3, -0.7, 0.4, 0.5, 0.6, -0.2])
    line = armdyn.Line(*armdyn.forward_kinematics(arm, np.array([q, q + 0.1])))
    quick, slow = (
        armdyn.joint_trajectory(arm, armdyn.TipMotion(line, armdyn.Quintic(line.length, T)), q) for T in (1.0, 1e6)
    )
    x = np.linspace(0, 1, 101)
    return [
        Row("Fourier series after 1e6 s", "positions, against the first period", error, 1e-8),
        Row("line of the tip in 1e6 s", "positions, against the same in 1 s", apart(slow(1e6 * x).q, quick(x).q), 1e-7),
    ]


def all_rows() -> list[Row]:
    """The whole table."""
    parts: tuple[Callable[[], list[Row]], ...] = (dynamics, near_singular, gimbal, tip, late)
    return [row for part in parts for row in part()]


def main() -> int:
    table = Table(title="errors in parts of the largest entry, worst of all states")
    for heading in ("case", "what", "error", "stated"):
        table.add_column(heading, justify="left" if heading in ("case", "what") else "right")
    rows = all_rows()
    for row in rows:
        table.add_row(
            row.case, row.what, f"{row.error:.0e}" + ("" if row.error <= row.may_be else " !"), f"{row.may_be:.0e}"
        )
    Console(width=120).print(table)
    return 0 if all(row.error <= row.may_be for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
