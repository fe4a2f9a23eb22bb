"""Read a log from a file: CSV, NPZ, MAT, Parquet, or a ROS 2 bag (sqlite3 or MCAP)."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import ArmdynError, ReadError, ShapeError, quote, reads_file
from armdyn.files import require_file
from armdyn.identification.logs.clock import repair
from armdyn.identification.logs.columns import assign
from armdyn.identification.logs.join_tables import join_tables
from armdyn.identification.logs.log import MIN_POSES, MIN_SAMPLES, Log, LogFormat, turns_too_far
from armdyn.identification.logs.read_csv import read_csv
from armdyn.identification.logs.read_json import read_json
from armdyn.identification.logs.read_tables import Table, read_mat, read_npz, read_parquet
from armdyn.model.arm import Arm, require_arm

JSON = (".json", ".jsonl", ".ndjson")
READERS = {".npz": read_npz, ".mat": read_mat, ".parquet": read_parquet, **dict.fromkeys(JSON, read_json)}


def read_log(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    arm: Arm,
    *,
    columns: Mapping[str, list[str]] | None = None,
    angle: str | None = None,
    gear_ratio: ArrayLike | None = None,
    drive_gain: ArrayLike | None = None,
    coupling: ArrayLike | None = None,
    offset: ArrayLike | None = None,
    reference_temperature: float = 25.0,
    rate: float | None = None,
    topic: str | None = None,
) -> Log:
    """Measured motion and torques of an arm from a file.

    Columns are found by their names: `t, q1 .. qn, qd1 .., tau1 ..`, `position_1`, `effort[0]`, or with the
    arm's joint names; a unit may follow, as in `q1_deg`. Joints are put into the arm's order by name.
    Columns named after motors (`motor1_position`, `motor_torque[0]`) are of the drives' shafts: where drives are
    coupled, they are turned into those of the joints.
    Stamps that jitter, repeat, run backward or have gaps, and rows with missing values, are repaired and
    reported in `log.notes`, or rejected. Joints may have no torques: their columns are missing or hold no number, and
    those of `log.tau` are NaN. A table without times whose rows are poses far apart, or with times half a second apart
    and more, is one of poses held still, for `identify(..., terms="gravity")`.

    Parameters
    ----------
    path : str or path, or sequence of them
        `.csv`, `.json`, `.npz`, `.mat`, `.parquet`, `.db3`, `.mcap` or the folder of a ROS 2 bag
        (`sensor_msgs/JointState`). Several files are those of one run (positions in one, torques in another), joined on
        time; columns whose names say nothing are named by their file (tau.csv).
    arm : Arm
        Whose log it is: number, names and kinds of joints.
    columns : mapping, optional
        Names of the columns of "t", "q", "qd", "tau" where they cannot be guessed, or the word that they begin with.
        Columns without names are numbered from 1; their roles are guessed, and the guess is in `log.notes`.
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
        Temperature at which the arm's friction holds [°C]; logged ones (°C, or kelvin from 137 on) count above it.
    rate : float, optional
        Rows a second, for files without times [Hz]; a column of times is then not used.
    topic : str, optional
        JointState topic to read, if the bag has several.

    Returns
    -------
    Log

    Raises
    ------
    ReadError
        If the file cannot be read as a log of this arm.

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> t = np.arange(2000) / 200
    >>> q = np.stack([np.sin(2 * t) + 0.3 * np.sin(5 * t), np.cos(3 * t)], axis=1)
    >>> qd, qdd = np.gradient(q, t, axis=0), np.gradient(np.gradient(q, t, axis=0), t, axis=0)
    >>> log = armdyn.Log(t, q, armdyn.joint_torque(arm, q, qd, qdd))
    >>> table = np.column_stack([log.t, log.q, log.tau])
    >>> np.savetxt("log.csv", table, delimiter=",", header="t,q1,q2,tau1,tau2", comments="")
    >>> len(armdyn.read_log("log.csv", arm))
    2000
    """
    paths = [Path(path)] if isinstance(path, str | os.PathLike) else [Path(one) for one in path]
    if not paths:
        raise ArmdynError(where="read_log", expected="a file", got="none")
    where = " and ".join(str(one) for one in paths)
    require_arm(arm)
    if rate is not None and not 0 < rate < np.inf:
        raise ArmdynError(where="read_log", expected="rate > 0 [Hz]", got=rate)
    if angle not in (None, "rad", "deg"):
        raise ArmdynError(where="read_log", expected="angle 'rad' or 'deg'", got=f"{angle!r}")
    wanted = {name for names in (columns or {}).values() for name in ([names] if isinstance(names, str) else names)}
    table, repaired = _tables(paths, arm, topic, wanted)
    assigned = assign(table, arm, where, columns, angle, rate)
    fewest = MIN_POSES if assigned.still else MIN_SAMPLES
    if len(assigned.t) < fewest:
        raise ReadError(where=where, expected=f"at least {fewest} samples", got=len(assigned.t))
    measured = np.isfinite(assigned.tau).any(axis=0)
    fixed = repair(assigned.t, (assigned.q, assigned.tau if measured.all() else assigned.tau[:, measured]), where)
    k = slice(None) if fixed.keep.all() else fixed.keep  # a slice copies nothing
    q, tau, qd = assigned.q[k], assigned.tau[k], None if assigned.qd is None else assigned.qd[k]
    if qd is not None and (why := _unusable(qd)):
        qd = None
        assigned.notes.append(f"velocities are {why}: not used")
    if assigned.motors and gear_ratio is None and coupling is None and arm.coupling is not None:
        joints = _joint_side(arm, q, qd, tau, None, None, arm.coupling)
        q = joints[0] if "q" in assigned.motors else q
        tau = joints[2] if "tau" in assigned.motors else tau
        qd = joints[1] if "qd" in assigned.motors else qd
        assigned.notes.append("columns named after motors are turned into those of joints by the arm's coupling")
    q, qd, tau = _joint_side(arm, q, qd, tau, gear_ratio, drive_gain, coupling)
    if angle is None and not assigned.named:
        _require_radians(arm, q, where)
    if offset is not None:
        q = q + _vector(offset, arm.n, "offset")
    repairs = (*repaired, *fixed.notes)
    silent = [f"joint {j + 1} '{arm.coordinate_names[j]}'" for j in np.flatnonzero(np.isnan(tau).all(axis=0))]
    notes = (*assigned.notes, *([f"no torques of {', '.join(silent)}"] if silent else []), *repairs)
    warmth = _warmth(assigned.temperature, k, reference_temperature)
    currents = assigned.currents if drive_gain is None else ()
    how = LogFormat(
        _names(columns), angle, _numbers(gear_ratio), _numbers(drive_gain), _numbers(offset), rate, topic,
        tuple(paths[1:]), assigned.named, repairs, assigned.guess,
    )  # fmt: skip
    return Log(fixed.t, q, tau, qd, paths[0].name, notes, warmth, assigned.still, paths[0], how, currents)


def _unusable(qd: NDArray) -> str:
    """Why velocities cannot be used; empty where they can. Positions tell them too, so nothing is filled in."""
    missing = ~np.isfinite(qd).all(axis=1)
    if missing.all() or not np.nan_to_num(qd).any():
        return "missing or zero throughout"
    return f"missing in {missing.sum()} of the {len(qd)} rows that are left" if missing.any() else ""


def _numbers(values: ArrayLike | None) -> tuple[float, ...]:
    return () if values is None else tuple(np.ravel(np.asarray(values, float)).tolist())


def _names(columns: Mapping[str, list[str]] | None) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Names of columns by role, as data that do not change."""
    return tuple((role, (some,) if isinstance(some, str) else tuple(some)) for role, some in (columns or {}).items())


@reads_file
def log_columns(path: str | os.PathLike[str], arm: Arm) -> tuple[str, ...]:
    """Names of all columns of a log, for `columns` of `read_log` where they cannot be guessed."""
    return tuple(_table(Path(path), arm, None, ())[0])


def _warmth(temperature: NDArray | None, keep: NDArray | slice, reference: float) -> NDArray | None:
    """Temperatures above the reference; None where there are none, or only some."""
    if temperature is None or not np.isfinite(temperature[keep]).all():
        return None
    from scipy.constants import zero_Celsius

    zero = zero_Celsius if np.median(temperature[keep]) > zero_Celsius / 2 else 0.0  # no joint is as hot, or as cold
    return temperature[keep] - zero - reference


def _vector(values: ArrayLike, n: int, what: str) -> NDArray:
    array = np.asarray(values, float)
    if array.shape not in ((), (n,)) or not np.isfinite(array).all():
        raise ShapeError(where="read_log", expected=f"{what} to be a finite number, or {n} of them", got=quote(values))
    if what != "offset" and not array.all():
        raise ShapeError(where="read_log", expected=f"{what} other than 0", got=quote(values))
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
    C = _coupling(arm, coupling)
    inverse = np.linalg.inv(C)
    turned = [None if x is None else x / ratio @ inverse.T for x in (q, qd)]
    silent = np.isnan(tau).all(axis=0)
    torques = np.where(silent, 0.0, tau) * ratio @ C
    torques = np.where(silent @ (C != 0), np.nan, torques) if silent.any() else torques
    return turned[0], turned[1], torques  # type: ignore[return-value]


def _coupling(arm: Arm, coupling: ArrayLike | None) -> NDArray:
    C = arm.coupling if coupling is None else np.asarray(coupling, float)
    C = np.eye(arm.n) if C is None else C
    if C.shape != (arm.n, arm.n) or not np.isfinite(C).all() or np.linalg.matrix_rank(C) < arm.n:
        expected = f"an invertible coupling of shape ({arm.n}, {arm.n})"
        raise ShapeError(where="read_log", expected=expected, got=f"shape {C.shape}")
    return C


def _require_radians(arm: Arm, q: NDArray, where: str) -> None:
    """Reject angles that no joint reaches, unless their unit was said."""
    if turns_too_far(arm, q):
        raise ReadError(
            f"positions reach {np.abs([q.min(), q.max()]).max():.0f} rad: degrees, or turns of the motors? For "
            "degrees give angle='deg', for joints that really turn that far angle='rad', for motors gear_ratio; "
            "or name columns with their unit, as q1_deg",
            where=where,
        )


def _tables(paths: list[Path], arm: Arm, topic: str | None, wanted: Collection[str]) -> tuple[Table, list[str]]:
    """Columns of one file, or of several that are joined, by name, and what was repaired."""
    if len(paths) == 1:
        return _table(paths[0], arm, topic, wanted)
    several = [(path, *_table(path, arm, topic, wanted)) for path in paths]
    joined, notes = join_tables([(path, table) for path, table, _ in several], arm.coordinate_names)
    return joined, [*notes, *(f"{path.name}: {note}" for path, _, some in several for note in some)]


@reads_file
def _table(path: Path, arm: Arm, topic: str | None, wanted: Collection[str]) -> tuple[Table, list[str]]:
    """Columns by name, and what was repaired."""
    suffix = path.suffix.lower()
    if not path.exists():
        raise ReadError("no such file", path=path)
    if suffix in (".db3", ".mcap") or path.is_dir():
        from armdyn.identification.logs.read_bag import read_bag

        return read_bag(path, arm.coordinate_names, topic)
    return read_table(path, arm.coordinate_names, wanted, " or a bag")


@reads_file
def read_table(path: Path, joints: tuple[str, ...], wanted: Collection[str], others: str) -> tuple[Table, list[str]]:
    """Columns of a file by name, and what was repaired; `others` are further kinds of logs, in words."""
    suffix = path.suffix.lower()
    if suffix != ".npz":  # which is mapped, however large
        require_file(path)
    if suffix in (".csv", ".txt", ".tsv", ".dat"):
        return read_csv(path, joints, wanted)
    if suffix not in READERS:
        raise ReadError(
            path=path,
            expected=f"a log that ends in .csv, .json, .npz, .mat, .parquet, .db3, .mcap{others}",
            got=f"the ending '{suffix}'" if suffix else "a file without an ending",
        )
    return READERS[suffix](path, joints), []
