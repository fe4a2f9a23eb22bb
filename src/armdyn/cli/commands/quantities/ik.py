"""`armdyn ik ARM`: joint positions that put the tip at a pose."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import typer
from numpy.typing import NDArray

from armdyn.cli.resolve import resolve
from armdyn.cli.show import attributes, number, print_json, print_line, print_table, vector
from armdyn.cli.states import (
    in_radians,
    matrix_columns,
    numbers,
    print_columns,
    warn_if_degrees,
    whole_columns,
    write_columns,
)
from armdyn.errors import ReadError

if TYPE_CHECKING:
    from armdyn.kinematics.inverse import InverseKinematics
    from armdyn.model.arm import Arm


PLACE, TURNS, QUATERNION = ("x", "y", "z"), ("roll", "pitch", "yaw"), ("qw", "qx", "qy", "qz")


def ik(
    arm: str, position: str | None = None, rpy: str | None = None, quaternion: str | None = None,
    poses: Path | None = None, near: str | None = None, axis: str | None = None, degrees: bool = False,
    out: Path | None = None, base: str | None = None, tip: str | None = None, json: bool = False,
) -> None:  # fmt: skip
    """Inverse kinematics: all solutions where there is a closed form; exit code 1 if a pose cannot be reached."""
    from armdyn.kinematics.inverse import inverse_kinematics

    subject = resolve(arm, base, tip)
    target, task = _target(position, rpy, quaternion, poses, degrees)
    if axis is not None:
        task = _axis_task(axis, task)
    start = None if near is None else in_radians(subject, numbers(near, subject.n, "--near"), degrees)
    if start is None and task == "position":  # of endlessly many postures one that is easy to imagine
        start = np.clip(0.0, *subject.position_limits)
    result = inverse_kinematics(subject, target, start, task=task)
    if out is not None:
        columns = {**matrix_columns("q", result.q, result.success.ndim), "success": np.atleast_1d(result.success) * 1.0}
        write_columns(out, None, columns, json)
    if json:
        one, all_ = "q success residual error reason shortfall at_limit", "all_solutions within_limits branches"
        print_json({"arm": subject.name, "method": result.method} | attributes(result, f"{one} {all_}"))
    elif poses is None:
        _show(subject, result)
    else:
        print(result)
        if out is None:
            print_columns(f"{subject.name}: joint positions [rad or m]", None, matrix_columns("q", result.q, 1))
    if not np.all(result.success):
        raise typer.Exit(1)


def _axis_task(axis: str, task: str) -> str:
    if axis not in ("x", "y", "z"):
        raise typer.BadParameter(f"expected --axis x, y or z, got {axis!r}")
    if task != "pose":
        raise typer.BadParameter("--axis needs an orientation; give --rpy or --quaternion too")
    return f"position+{axis}"


def _target(
    position: str | None, rpy: str | None, quaternion: str | None, poses: Path | None, degrees: bool
) -> tuple[NDArray, str]:
    """Desired poses, and whether their orientation matters."""
    if (poses is None) == (position is None):
        raise typer.BadParameter("expected --position, with --rpy or --quaternion or neither, or --poses FILE.csv")
    if rpy is not None and quaternion is not None:
        raise typer.BadParameter("expected --rpy or --quaternion, got both")
    if poses is not None:
        from armdyn.identification.logs.read_csv import read_csv

        table, _ = read_csv(poses, (), (*PLACE, *TURNS, *QUATERNION))
    else:
        table = _table(position, rpy, quaternion)
    T, task = _poses(table, np.pi / 180 if degrees else 1.0, str(poses or "pose"))
    return (T if poses is not None else T[0]), task


def _table(position: str | None, rpy: str | None, quaternion: str | None) -> dict[str, NDArray]:
    """Return the pose of the command line as a table of one row."""
    table = dict(zip(PLACE, numbers(position, 3, "--position")[:, None], strict=True))
    if rpy is not None:
        table |= zip(TURNS, numbers(rpy, 3, "--rpy")[:, None], strict=True)
    if quaternion is not None:
        table |= zip(QUATERNION, numbers(quaternion, 4, "--quaternion")[:, None], strict=True)
    return table


def _poses(table: dict[str, NDArray], angle: float, where: str) -> tuple[NDArray, str]:
    from armdyn.spatial.rotation import from_quaternion, from_rpy

    def columns(names: tuple[str, ...]) -> NDArray | None:
        return whole_columns(table, names, where) if all(name in table for name in names) else None

    place = columns(PLACE)
    if place is None:
        raise ReadError(where=where, expected="columns x, y, z [m]", got=", ".join(list(table)[:12]))
    T = np.broadcast_to(np.eye(4), (len(place), 4, 4)).copy()
    T[:, :3, 3] = place
    turns, quaternions = columns(TURNS), columns(QUATERNION)
    if quaternions is not None:
        T[:, :3, :3] = from_quaternion(quaternions)
    elif turns is not None:
        if angle == 1.0:
            warn_if_degrees(turns, "roll, pitch, yaw")
        T[:, :3, :3] = from_rpy(turns * angle)
    else:
        return T, "position"
    return T, "pose"


def _show(arm: Arm, result: InverseKinematics) -> None:
    if not result.success:
        print_line(f"{arm.name}: {result.message}")
        print_line(f"joint positions that bring the tip nearest [rad or m]: {vector(result.q, 6)}", whole=True)
        return
    scale = np.array([np.degrees(1) if joint.kind == "revolute" else 1.0 for joint in arm.coordinate_joints])
    rows = []
    for name, q, within in zip(result.branches, result.all_solutions, result.within_limits, strict=True):
        if np.isfinite(q).all():
            mark = "*" if np.allclose(q, result.q) else "" if within else "!"
            rows.append((mark, name, *(number(x) for x in q * scale)))
    headings = ("", "solution", *(f"q{i + 1} " for i in range(arm.n)))
    print_table(f"{arm.name}: {result} [deg or m]", headings, rows)
    print_line("* taken, ! beyond the joint limits", "dim")
    print_line(f"in rad or m: --q '{vector(result.q, 9)}'", whole=True)
