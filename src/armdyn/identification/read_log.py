"""Read a log from a file: CSV, NPZ, MAT, Parquet, or a ROS 2 bag (sqlite3 or MCAP)."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import ArmdynError, MissingExtraError, ReadError, ShapeError
from armdyn.files import read_arrays
from armdyn.identification.clock import repair
from armdyn.identification.columns import assign
from armdyn.identification.log import FEWEST, Log
from armdyn.identification.mapped import mapped_arrays
from armdyn.identification.read_csv import read_csv
from armdyn.model.arm import Arm

KELVIN, COLDEST_KELVIN = 273.15, 200.0  # no joint has 200 °C, or 200 K
Table = dict[str, NDArray]


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
    reported in `log.notes`, or refused.

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
        For motor-side data: motor turns a joint turn. Positions are divided by it, torques multiplied.
    drive_gain : array_like, shape (n,), optional
        For currents: motor torque a unit of the logged quantity [N m/A, N/V].
    coupling : array_like, shape (n, n), optional
        For coupled drives: turns of the gears' outputs are `coupling @ q`; default the arm's.
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
    if angle not in (None, "rad", "deg"):
        raise ArmdynError(f"read_log: expected angle 'rad' or 'deg', got {angle!r}")
    wanted = {name for names in (columns or {}).values() for name in names}
    table, repaired = _table(Path(path), arm, topic, wanted)
    found = assign(table, arm, where, columns, angle)
    if len(found.t) < FEWEST:
        raise ReadError(f"{where}: expected at least {FEWEST} samples, got {len(found.t)}")
    fixed = repair(found.t, (found.q, found.tau), where)
    k = slice(None) if fixed.keep.all() else fixed.keep  # a slice copies nothing
    q, tau, qd = found.q[k], found.tau[k], None if found.qd is None else found.qd[k]
    if qd is not None and not np.isfinite(qd).all():
        qd = None
    q, qd, tau = _joint_side(arm, q, qd, tau, gear_ratio, drive_gain, coupling)
    if offset is not None:
        q = q + _vector(offset, arm.n, "offset")
    notes = (*found.notes, *repaired, *fixed.notes)
    return Log(fixed.t, q, tau, qd, Path(path).name, notes, _warmth(found.temperature, k, reference_temperature))


def _warmth(temperature: NDArray | None, keep: NDArray | slice, reference: float) -> NDArray | None:
    """Temperatures above the reference; None where there are none, or only some."""
    if temperature is None or not np.isfinite(temperature[keep]).all():
        return None
    zero = KELVIN if np.median(temperature[keep]) > COLDEST_KELVIN else 0.0
    return temperature[keep] - zero - reference


def _vector(values: ArrayLike, n: int, what: str) -> NDArray:
    array = np.asarray(values, float)
    if array.shape not in ((), (n,)) or not np.isfinite(array).all():
        raise ShapeError(f"read_log: expected {what} of shape ({n},), got {array.shape}")
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
    if gear_ratio is None:
        return q, qd, tau
    ratio = _vector(gear_ratio, arm.n, "gear_ratio")
    if not ratio.all():
        raise ShapeError("read_log: expected gear ratios other than 0")
    C = arm.coupling if coupling is None else np.asarray(coupling, float)
    C = np.eye(arm.n) if C is None else C
    inverse = np.linalg.inv(C)
    turned = [None if x is None else x / ratio @ inverse.T for x in (q, qd)]
    return turned[0], turned[1], tau * ratio @ C  # type: ignore[return-value]


# -- tables ------------------------------------------------------------------------------------------------


def _table(path: Path, arm: Arm, topic: str | None, wanted: Collection[str]) -> tuple[Table, list[str]]:
    """Columns by name, and what was repaired."""
    suffix = path.suffix.lower()
    if not path.exists():
        raise ReadError(f"{path}: no such file")
    if suffix in (".db3", ".mcap") or path.is_dir():
        from armdyn.identification.read_bag import read_bag

        return read_bag(path, arm.joint_names, topic), []
    if suffix in (".csv", ".txt", ".tsv", ".dat"):
        return read_csv(path, arm.joint_names, wanted)
    readers: dict[str, Callable[[Path], Table]] = {".npz": _npz, ".mat": _mat, ".parquet": _parquet}
    if suffix not in readers:
        raise ReadError(
            f"{path}: unknown kind of log '{suffix}'; expected .csv, .npz, .mat, .parquet, .db3, .mcap or a bag"
        )
    return readers[suffix](path), []


def _expanded(arrays: Mapping[str, NDArray]) -> Table:
    """Matrices as one column a joint, named with its number; whichever axis is the longest is time."""
    lengths = [max(np.shape(array)) for array in arrays.values() if np.ndim(array) in (1, 2) and np.size(array)]
    if not lengths:
        return {}
    N = max(set(lengths), key=lengths.count)
    table: Table = {}
    for name, raw in arrays.items():
        array = np.squeeze(np.asarray(raw))
        if array.dtype.kind not in "fiu" or array.ndim not in (1, 2) or N not in array.shape:
            continue
        array = array if array.shape[0] == N else array.T
        if array.ndim == 1:
            table[name] = np.asarray(array, float)
        else:
            head, _, unit = name.rpartition("_")
            plain, tail = (head, f"_{unit}") if head and unit.lower() in ("deg", "rad", "nm", "a") else (name, "")
            table |= {f"{plain}_{k + 1}{tail}": column for k, column in enumerate(np.asarray(array, float).T)}
    return table


def _npz(path: Path) -> Table:
    arrays = mapped_arrays(path)
    arrays = read_arrays(path) if arrays is None else arrays
    return _expanded({name: array for name, array in arrays.items() if array.dtype.kind in "fiu"})


def _mat(path: Path) -> Table:
    from scipy.io import loadmat

    try:
        data = loadmat(path, simplify_cells=True)
    except NotImplementedError:
        raise ReadError(f"{path}: MATLAB 7.3 files are HDF5; save with '-v7' or as CSV") from None
    except Exception as error:  # SciPy raises many kinds for damaged files
        raise ReadError(f"{path}: cannot be read as a MATLAB file ({error})") from None
    return _expanded(dict(_leaves({name: x for name, x in data.items() if not name.startswith("__")})))


def _leaves(data: Mapping[str, Any]) -> Iterator[tuple[str, NDArray]]:
    """The arrays inside structures, by their own names."""
    for name, x in data.items():
        if isinstance(x, Mapping):
            yield from _leaves(x)
        else:
            yield name, np.asarray(x)


def _parquet(path: Path) -> Table:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise MissingExtraError("Parquet logs need pyarrow: pip install armdyn[logs]") from None
    try:
        table = parquet.read_table(path)
    except Exception as error:  # pyarrow's errors derive from several
        raise ReadError(f"{path}: cannot be read as Parquet ({' '.join(str(error).split())})") from None
    return _expanded({name: _numbers(table[name]) for name in table.column_names})


def _numbers(column: Any) -> NDArray:
    """A column of numbers, of lists of numbers (one a joint), or of times [s]; empty for all else."""
    kind = str(column.type)
    if kind.startswith("timestamp"):
        return column.cast("timestamp[ns]").cast("int64").to_numpy() * 1e-9
    if "list" in kind:
        rows = column.to_pylist()
        even = rows and all(row is not None and len(row) == len(rows[0] or ()) for row in rows)
        return np.array(rows, float) if even else np.empty(0)
    if kind.startswith(("int", "uint", "float", "double", "half")):
        return np.asarray(column.to_numpy(), float)
    return np.empty(0)
