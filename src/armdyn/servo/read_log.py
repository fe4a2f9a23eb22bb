"""Read a log of servos: CSV, NPZ, MAT, Parquet, a LeRobot data set, or a ROS 2 bag."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import row_of
from armdyn.errors import ReadError, ShapeError, check_choice, reads_file
from armdyn.identification.logs.clock import repair
from armdyn.identification.logs.columns import some_names, times_of
from armdyn.identification.logs.read_log import read_table
from armdyn.model.arm import Arm
from armdyn.servo.columns import COMMANDED, MEASURED, find, unit_of
from armdyn.servo.lerobot import episodes_of, is_lerobot
from armdyn.servo.log import ServoLog
from armdyn.servo.units import UNITS, require_units, to_radians


class PositionFormat(NamedTuple):
    """Units, signs and zeros that a user gives for positions."""

    units: str | None
    sign: NDArray  # (n,)
    offset: NDArray  # (n,)

    def si(self, arm: Arm, x: NDArray, units: str, where: str) -> NDArray:
        """Positions (N, n) as the arm counts them."""
        return self.sign * to_radians(arm, x, units, where) + self.offset


@reads_file
def read_servo_log(
    path: str | os.PathLike[str],
    arm: Arm,
    *,
    command: str | None = None,
    measured: str | None = None,
    units: str | None = None,
    motors: Sequence[str] | None = None,
    episodes: Collection[int] | None = None,
    sign: ArrayLike = 1.0,
    offset: ArrayLike = 0.0,
) -> tuple[ServoLog, ...]:
    """Commanded and measured positions of an arm from a file or folder.

    Parameters
    ----------
    path : str or path
        `.csv`, `.npz`, `.mat`, `.parquet`; the folder of a LeRobot data set (v2 or v3); a ROS 2 bag (`.db3`, `.mcap`
        or its folder).
    arm : Arm
        Whose log it is: number, names and limits of joints.
    command, measured : str, optional
        The word that names of the columns share (`action`, `observation.state`, `goal_position`), or the topics of a
        bag; default the usual ones.
    units : {"rad", "deg", "ticks", "normalised"}, optional
        Units of positions. Ticks are 4096 to a turn, 2048 at zero; normalised ones go from -100 to 100 over each
        joint's limits. Default by the columns' names, else radians if they can be; LeRobot data sets do not say it.
    motors : sequence of str, optional
        Names (or numbers) of the motors in the order of the arm's joints, where they have other names.
    episodes : collection of int, optional
        Episodes of a LeRobot data set; default all.
    sign, offset : array_like, shape (n,)
        Joint position = sign x + offset [rad or m], for motors with another sign or zero.

    Returns
    -------
    tuple of ServoLog
        One per episode; a single one for other files.

    Raises
    ------
    ReadError
        If the file cannot be read as a log of this arm's servos.
    """
    if units is not None:
        check_choice("read_servo_log", "units", units, UNITS)
    file, where = Path(path), str(path)
    signs, offsets = (
        row_of(value, arm.n, f"read_servo_log: {name}", ShapeError, finite=True)
        for name, value in (("sign", sign), ("offset", offset))
    )
    how = PositionFormat(units, signs, offsets)
    if not (np.abs(how.sign) == 1).all():
        raise ShapeError(where="read_servo_log: sign", expected="1 or -1 per joint", got=how.sign)
    if not file.exists():
        raise ReadError("no such file", where=where)
    named = arm if motors is None else _rename_joints(arm, motors)
    if is_lerobot(file):
        return tuple(
            _log(table, named, (command, measured), how, Place(f"{where}, episode {number}", file, True, ()))
            for number, table in episodes_of(file, episodes)
        )
    if episodes is not None:
        raise ReadError("episodes are of LeRobot data sets, folders with meta/info.json", where=where)
    if file.suffix.lower() in (".db3", ".mcap") or file.is_dir():
        return (_log_of_bag(named, command, measured, how, file),)
    words = {command or "", measured or ""}
    table, notes = read_table(file, arm.joint_names, words, ", a bag or a LeRobot data set")
    return (_log(table, named, (command, measured), how, Place(where, file, False, tuple(notes))),)


class Place(NamedTuple):
    """Origin of a table, whether its unit must be given, and what was repaired on the way."""

    where: str
    path: Path
    ask: bool
    notes: tuple[str, ...]


def _log(
    table: Mapping[str, NDArray], arm: Arm, words: tuple[str | None, str | None], how: PositionFormat, place: Place
) -> ServoLog:
    """A log from the columns of a table, in which every row has a command and a measurement."""
    where = place.where
    sent, command = find(table, arm, words[0], COMMANDED, "commanded", where)
    positions, measured = find(table, arm, words[1], MEASURED, "measured", where)
    if sent == positions:
        cause = f"'{command}' and '{measured}' are the same columns"
        raise ReadError(cause, where=where, remedy="name both, command= and measured=", names=(command, measured))
    x, u = (np.column_stack([np.asarray(table[name], float) for name in names]) for names in (positions, sent))
    t, _, clock_notes = times_of(table, arm.joint_names)
    if t is None:
        remedy = "name it t, time or timestamp"
        raise ReadError(path=where, expected="a column of times", got=some_names(table), remedy=remedy)
    fixed = repair(t, (x, u), where)
    x, u = x[fixed.keep], u[fixed.keep]
    units = require_units(arm, x, how.units or unit_of(positions), where, place.ask)
    columns = f"commands: {sent[0]} .. {sent[-1]}; measured: {positions[0]} .. {positions[-1]}; in {units}"
    q, wanted = (how.si(arm, array, units, where) for array in (x, u))
    notes = (columns, *place.notes, *clock_notes, *fixed.notes)
    return ServoLog(fixed.t, q, wanted, None, where.rpartition(os.sep)[2], notes, place.path)


def _log_of_bag(arm: Arm, command: str | None, measured: str | None, how: PositionFormat, path: Path) -> ServoLog:
    from armdyn.servo.read_bag import read_servo_bag

    sent, states = read_servo_bag(path, arm.joint_names, command, measured)
    units = require_units(arm, states.x, how.units, str(path), ask=False)
    q, wanted = (how.si(arm, track.x, units, str(path)) for track in (states, sent))
    zero = states.t[0]  # epochs would lose digits
    notes = (f"commands: {sent.note}", f"measured: {states.note}")
    return ServoLog(states.t - zero, q, wanted, sent.t - zero, path.name, notes, path)


def _rename_joints(arm: Arm, motors: Sequence[str]) -> Arm:
    """The arm with joints called as the motors are."""
    if len(motors) != arm.n or len(set(motors)) != arm.n:
        expected = f"{arm.n} different names, one per joint"
        raise ShapeError(where="read_servo_log: motors", expected=expected, got=list(motors))
    joints = [replace(joint, name=str(name)) for joint, name in zip(arm.joints, motors, strict=True)]
    return arm.with_joints(joints)
