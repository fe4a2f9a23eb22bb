"""Read a log from a file: CSV, NPZ, MAT, Parquet, or a ROS 2 bag (sqlite3 or MCAP)."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import ArmdynError, ReadError, ShapeError, quote
from armdyn.files import require_file
from armdyn.identification.logs.clock import repair
from armdyn.identification.logs.columns import assign
from armdyn.identification.logs.log import FEWEST_POSES, FEWEST_SAMPLES, Log
from armdyn.identification.logs.read_csv import read_csv
from armdyn.identification.logs.read_tables import Table, read_mat, read_npz, read_parquet
from armdyn.model.arm import Arm, require_arm

READERS = {".npz": read_npz, ".mat": read_mat, ".parquet": read_parquet}
KELVIN, COLDEST_KELVIN = 273.15, 200.0  # no joint has 200 °C, or 200 K
LARGEST_ANGLE = 4 * np.pi  # rad: no arm's joint turns further


def read_log(
    path: str | os.PathLike[str],
    arm: Arm,
    *,
    columns: Mapping[str, list[str]] | None = None,
    angle: str | None = None,
    gear_ratio: ArrayLike | None = None,
    drive_gain: ArrayLike | None = None,
    coupling: ArrayLike | None = None,
    offset: ArrayLike | None = None,
    reference_temperature: float = 25.0,
    topic: str | None = None,
) -> Log:
    """Measured motion and torques of an arm from a file.

    Columns are found by their names: `t, q1 .. qn, qd1 .., tau1 ..`, `position_1`, `effort[0]`, or with the
    arm's joint names; a unit may follow, as in `q1_deg`. Joints are put into the arm's order by name.
    Stamps that jitter, repeat, run backward or have gaps, and rows with missing values, are repaired and
    reported in `log.notes`, or rejected. Joints may have no torques: their columns are missing or hold no number, and
    those of `log.tau` are NaN. A table without times whose rows are poses far apart, or with times half a second apart
    and more, is one of poses held still, for `identify(..., terms="gravity")`.

    Parameters
    ----------
    path : str or path
        `.csv`, `.npz`, `.mat`, `.parquet`, `.db3`, `.mcap` or the folder of a ROS 2 bag
        (`sensor_msgs/JointState`).
    arm : Arm
        Whose log it is: number, names and kinds of joints.
    columns : mapping, optional
        Names of the columns of "t", "q", "qd", "tau" where they cannot be guessed.
    angle : {"rad", "deg"}, optional
        Unit of positions and velocities of turning joints; default by name, else radians.
    gear_ratio : array_like, shape (n,), optional
        For motor-side data: motor turns per joint turn. Positions are divided by it, torques multiplied.
    drive_gain : array_like, shape (n,), optional
        For currents: motor torque per unit of the logged quantity [N m/A, N/V].
    coupling : array_like, shape (n, n), optional
        For coupled drives: turns of the gears' outputs are `coupling @ q`; default the arm's, with `gear_ratio`.
    offset : array_like, shape (n,), optional
        Added to the positions, after all else [rad or m].
    reference_temperature : float
        At which the arm's friction holds [°C]; logged temperatures (°C, or kelvin from 200 on) are taken above it.
    topic : str, optional
        Of a bag with several JointState topics, which.

    Returns
    -------
    Log

    Raises
    ------
    ReadError
        If the file cannot be read as a log of this arm.
    """
    where = str(path)
    require_arm(arm)
    if angle not in (None, "rad", "deg"):
        raise ArmdynError(f"read_log: expected angle 'rad' or 'deg', got {angle!r}")
    wanted = {name for names in (columns or {}).values() for name in ([names] if isinstance(names, str) else names)}
    table, repaired = _table(Path(path), arm, topic, wanted)
    found = assign(table, arm, where, columns, angle)
    fewest = FEWEST_POSES if found.still else FEWEST_SAMPLES
    if len(found.t) < fewest:
        raise ReadError(f"{where}: expected at least {fewest} samples, got {len(found.t)}")
    measured = np.isfinite(found.tau).any(axis=0)
    fixed = repair(found.t, (found.q, found.tau if measured.all() else found.tau[:, measured]), where)
    k = slice(None) if fixed.keep.all() else fixed.keep  # a slice copies nothing
    q, tau, qd = found.q[k], found.tau[k], None if found.qd is None else found.qd[k]
    if qd is not None and (why := _unusable(qd)):
        qd = None
        found.notes.append(f"velocities are {why}: not used")
    q, qd, tau = _joint_side(arm, q, qd, tau, gear_ratio, drive_gain, coupling)
    if angle is None and not found.named:
        _require_radians(arm, q, where)
    if offset is not None:
        q = q + _vector(offset, arm.n, "offset")
    silent = [f"joint {j + 1} '{arm.joint_names[j]}'" for j in np.flatnonzero(np.isnan(tau).all(axis=0))]
    notes = (*found.notes, *([f"no torques of {', '.join(silent)}"] if silent else []), *repaired, *fixed.notes)
    warmth = _warmth(found.temperature, k, reference_temperature)
    currents = found.currents if drive_gain is None else ()
    options = _options(arm, columns, angle, gear_ratio, drive_gain, offset, topic)
    return Log(fixed.t, q, tau, qd, Path(path).name, notes, warmth, found.still, Path(path), options, currents)


def _unusable(qd: NDArray) -> str:
    """Why velocities cannot be used; empty where they can. Positions tell them too, so nothing is filled in."""
    missing = ~np.isfinite(qd).all(axis=1)
    if missing.all() or not np.nan_to_num(qd).any():
        return "missing or zero throughout"
    return f"missing in {missing.sum()} of the {len(qd)} rows that are left" if missing.any() else ""


def _options(
    arm: Arm,
    columns: Mapping[str, list[str]] | None,
    angle: str | None,
    gear_ratio: ArrayLike | None,
    drive_gain: ArrayLike | None,
    offset: ArrayLike | None,
    topic: str | None,
) -> tuple[str, ...]:
    """What a command has to be told to read the file in the same way."""
    words = ["--degrees"] if angle == "deg" else []
    if offset is not None and angle == "deg":
        turns = np.array([joint.kind == "revolute" for joint in arm.joints])
        offset = np.where(turns, np.degrees(offset), offset)
    numbers = {"--gear-ratio": gear_ratio, "--drive-gain": drive_gain, "--offset": offset}
    for option, values in numbers.items():
        if values is not None:
            words += [option, ",".join(f"{x:.10g}" for x in np.ravel(np.asarray(values, float)))]
    for role, names in (columns or {}).items():
        words += ["--columns", f"{role}={names if isinstance(names, str) else ','.join(names)}"]
    return (*words, *(() if topic is None else ("--topic", topic)))


def log_columns(path: str | os.PathLike[str], arm: Arm) -> tuple[str, ...]:
    """Names of all columns of a log, for `columns` of `read_log` where they cannot be guessed."""
    return tuple(_table(Path(path), arm, None, ())[0])


def _warmth(temperature: NDArray | None, keep: NDArray | slice, reference: float) -> NDArray | None:
    """Temperatures above the reference; None where there are none, or only some."""
    if temperature is None or not np.isfinite(temperature[keep]).all():
        return None
    zero = KELVIN if np.median(temperature[keep]) > COLDEST_KELVIN else 0.0
    return temperature[keep] - zero - reference


def _vector(values: ArrayLike, n: int, what: str) -> NDArray:
    array = np.asarray(values, float)
    if array.shape not in ((), (n,)) or not np.isfinite(array).all():
        raise ShapeError(f"read_log: expected {what} to be a finite number, or {n} of them, got {quote(values)}")
    return np.broadcast_to(array, (n,))


def _joint_side(
    arm: Arm,
    q: NDArray,
    qd: NDArray | None,
    tau: NDArray,
    gear_ratio: ArrayLike | None,
    drive_gain: ArrayLike | None,
    coupling: ArrayLike | None,
) -> tuple[NDArray, NDArray | None, NDArray]:
    """Motor-side data seen at the joints: q = C^-1 (motor / ratio), tau = C' (ratio gain current)."""
    if drive_gain is not None:
        tau = tau * _vector(drive_gain, arm.n, "drive_gain")
    if gear_ratio is None and coupling is None:
        return q, qd, tau
    ratio = _vector(1.0 if gear_ratio is None else gear_ratio, arm.n, "gear_ratio")
    if not ratio.all():
        raise ShapeError("read_log: expected gear ratios other than 0")
    C = _coupling(arm, coupling)
    inverse = np.linalg.inv(C)
    turned = [None if x is None else x / ratio @ inverse.T for x in (q, qd)]
    silent = np.isnan(tau).all(axis=0)
    torques = np.where(silent, 0.0, tau) * ratio @ C
    torques = np.where(silent @ (C != 0), np.nan, torques) if silent.any() else torques
    return turned[0], turned[1], torques  # type: ignore[return-value]


def _coupling(arm: Arm, given: ArrayLike | None) -> NDArray:
    C = arm.coupling if given is None else np.asarray(given, float)
    C = np.eye(arm.n) if C is None else C
    if C.shape != (arm.n, arm.n) or not np.isfinite(C).all() or np.linalg.matrix_rank(C) < arm.n:
        raise ShapeError(f"read_log: expected an invertible coupling of shape ({arm.n}, {arm.n}), got shape {C.shape}")
    return C


def _require_radians(arm: Arm, q: NDArray, where: str) -> None:
    """Reject angles that no joint reaches, unless their unit was said."""
    turns = np.array([joint.kind == "revolute" for joint in arm.joints])
    # Extremes of both signs: a copy of all absolute values would be as large as the log.
    largest = np.abs([q.min(axis=0), q.max(axis=0)])[:, turns].max(initial=0.0)
    if largest > LARGEST_ANGLE:
        raise ReadError(
            f"{where}: positions reach {largest:.0f} rad: degrees, or turns of the motors? For degrees give "
            "angle='deg', for motors gear_ratio; or name columns with their unit, as q1_deg (q1_rad if meant so)"
        )


def _table(path: Path, arm: Arm, topic: str | None, wanted: Collection[str]) -> tuple[Table, list[str]]:
    """Columns by name, and what was repaired."""
    suffix = path.suffix.lower()
    if not path.exists():
        raise ReadError(f"{path}: no such file")
    if suffix in (".db3", ".mcap") or path.is_dir():
        from armdyn.identification.logs.read_bag import read_bag

        return read_bag(path, arm.joint_names, topic)
    return read_table(path, arm.joint_names, wanted, " or a bag")


def read_table(path: Path, joints: tuple[str, ...], wanted: Collection[str], others: str) -> tuple[Table, list[str]]:
    """Columns of a file by name, and what was repaired; `others` are further kinds of logs, in words."""
    suffix = path.suffix.lower()
    if suffix != ".npz":  # which is mapped, however large
        require_file(path)
    if suffix in (".csv", ".txt", ".tsv", ".dat"):
        return read_csv(path, joints, wanted)
    if suffix not in READERS:
        raise ReadError(
            f"{path}: unknown kind of log '{suffix}'; expected .csv, .npz, .mat, .parquet, .db3, .mcap{others}"
        )
    return READERS[suffix](path, joints), []
