"""Several files of one run, such as positions in one and torques in another, as one table: joined on time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ReadError
from armdyn.identification.logs.column_names import understand
from armdyn.identification.logs.columns import times_of
from armdyn.identification.logs.guess_columns import numbered
from armdyn.identification.logs.log import DYNAMICS_SECONDS

Tables = list[tuple[Path, Mapping[str, NDArray]]]


def join_tables(tables: Tables, joints: tuple[str, ...]) -> tuple[dict[str, NDArray], list[str]]:
    """One table at the times of the file that has positions, and what was done.

    Columns whose names say nothing are named by their file: column 3 of tau.csv is a torque.
    """
    several = [(path, *_named(path, table, joints)) for path, table in tables]
    first = next((k for k, (*_, columns) in enumerate(several) if _has(columns, "q", joints)), 0)
    path, t, columns = several[first]
    if t is None:
        lengths = {path.name: len(next(iter(columns.values()), ())) for path, _, columns in several}
        if any(t is not None for _, t, _ in several) or len(set(lengths.values())) > 1:
            row_counts = ", ".join(f"{name} has {count} rows" for name, count in lengths.items())
            cause = f"no column of times to join on, and {row_counts}"
            raise ReadError(cause, path=path, remedy="log times in every file")
        return _merged([(path, columns) for path, _, columns in several]), ["joined row by row, without times"]
    keep = np.isfinite(t)
    for other, times, _ in several:
        if times is None:
            cause = f"no column of times to join on with {path.name}"
            raise ReadError(cause, path=other, remedy="log times in every file")
        keep &= (t >= np.nanmin(times)) & (t <= np.nanmax(times))
    common = np.ptp(t[keep]) if keep.any() else 0.0
    if common < DYNAMICS_SECONDS:
        spans = ", ".join(f"{other.name} {np.nanmin(x):.6g} to {np.nanmax(x):.6g} s" for other, x, _ in several)  # type: ignore[arg-type]
        cause = f"files of one run have no time in common ({spans})"
        raise ReadError(cause, path=path, remedy="use the same clock for all")
    at = t[keep]
    joined = [(other, columns if x is t else _at(at, x, columns)) for other, x, columns in several]  # type: ignore[arg-type]
    joined = [(other, {name: x[keep] for name, x in c.items()} if c is columns else c) for other, c in joined]
    names = " and ".join(other.name for other, *_ in several)
    return {"t_s": at, **_merged(joined)}, [f"{names} joined on time, {common:.1f} s in common"]


def _named(
    path: Path, table: Mapping[str, NDArray], joints: tuple[str, ...]
) -> tuple[NDArray | None, dict[str, NDArray]]:
    """Times [s] and other columns of a file, by names that tell their role where the file's own name does."""
    stem = path.stem
    if list(table) == numbered(len(table)):
        first, *others = table
        rises = bool((np.diff(table[first]) > 0).all())
        head = {"t": table[first]} if rises else {}
        table = head | {f"{stem}_{k + 1}": table[name] for k, name in enumerate(others if rises else table)}
    t, used, _ = times_of(table, joints)
    columns = {}
    for name, x in table.items():
        if name not in used:
            prefixed = understand(name, joints) is None and understand(f"{stem} {name}", joints) is not None
            columns[f"{stem} {name}" if prefixed else name] = np.asarray(x, float)
    return t, columns


def _has(columns: Mapping[str, NDArray], role: str, joints: tuple[str, ...]) -> bool:
    return any(column is not None and column.role == role for column in (understand(name, joints) for name in columns))


def _at(times: NDArray, t: NDArray, columns: Mapping[str, NDArray]) -> dict[str, NDArray]:
    """Columns at other times, linearly; missing values are passed over."""
    resampled = {name: np.full(len(times), np.nan) for name in columns}
    for name, x in columns.items():
        known = np.isfinite(t) & np.isfinite(x)
        order = np.argsort(t[known], kind="stable")
        if known.any():
            resampled[name] = np.interp(times, t[known][order], x[known][order])
    return resampled


def _merged(several: list[tuple[Path, dict[str, NDArray]]]) -> dict[str, NDArray]:
    merged: dict[str, NDArray] = {}
    for path, columns in several:
        for name, x in columns.items():
            unique = f"{path.stem} {name}" if name in merged else name
            if unique in merged:
                cause = f"column '{name}' stands in several of the files"
                raise ReadError(cause, path=path, remedy="name it otherwise in one", names=(name,))
            merged[unique] = x
    return merged
