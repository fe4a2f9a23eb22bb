"""Joint states as commands take them, from the line or a CSV file, and results by state as they give them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray

from armdyn.cli.show import number, print_line, print_table
from armdyn.errors import ArmdynWarning, ReadError

if TYPE_CHECKING:
    from armdyn.model.arm import Arm


ROWS_SHOWN = 12  # rows of a long table that are printed


class States(NamedTuple):
    """States of an arm: one, of shape (n,), or many (N, n), with their times (N,) where the file has them."""

    q: NDArray
    qd: NDArray
    qdd: NDArray
    t: NDArray | None


@dataclass(frozen=True)
class StateOptions:
    """States that a command is asked about, on its line or in a file."""

    q: str | None = None
    qd: str | None = None
    qdd: str | None = None
    states: Path | None = None

    def read(self, arm: Arm, degrees: bool) -> States:
        """Return the states in SI units."""
        texts, t = {"q": self.q, "qd": self.qd, "qdd": self.qdd}, None
        if self.states is None:
            values = [numbers(text, arm.n, f"--{name}") for name, text in texts.items()]
        elif any(texts.values()):
            raise typer.BadParameter("give --states, or --q, --qd and --qdd, not both")
        else:
            from armdyn.identification.logs.read_csv import read_csv

            table, _ = read_csv(self.states, (), ())
            values = [_columns(table, kind, arm.n, self.states) for kind in texts]
            t = table.get("t")
        q, qd, qdd = (in_radians(arm, x, degrees) for x in values)
        turns = np.array([joint.kind == "revolute" for joint in arm.coordinate_joints])
        if not degrees:
            warn_if_degrees(q[..., turns], "positions")
        return States(q, qd, qdd, t)


def warn_if_degrees(angles: NDArray, what: str) -> None:
    """Warn of angles given in radians that can hardly be meant so."""
    largest = np.abs(angles).max(initial=0.0)
    if largest > 4 * np.pi:
        warnings.warn(
            f"{what} up to {largest:.3g} rad are more than two turns. If the angles are degrees, give --degrees",
            ArmdynWarning,
            stacklevel=5,
        )


def numbers(text: str | None, count: int, option: str) -> NDArray:
    """Numbers from a text such as '0.1, -0.2 3', zeros if there is none."""
    if text is None:
        return np.zeros(count)
    try:
        values = np.array([float(word) for word in text.replace(",", " ").split()])
    except ValueError:
        message = f"expected {count} numbers such as '0.1 -0.2 0.3', got '{text[:60]}'"
        raise typer.BadParameter(message, param_hint=option) from None
    if len(values) != count:
        raise typer.BadParameter(f"expected {count} numbers, got {len(values)} in '{text[:60]}'", param_hint=option)
    if not np.isfinite(values).all():
        raise typer.BadParameter(f"expected finite numbers, got '{text[:60]}'", param_hint=option)
    return values


def in_radians(arm: Arm, values: NDArray, degrees: bool) -> NDArray:
    """Values of revolute joints turned from degrees, if they are given so."""
    factor = [np.pi / 180 if degrees and joint.kind == "revolute" else 1.0 for joint in arm.coordinate_joints]
    return values * np.array(factor)


def _columns(table: dict[str, NDArray], kind: str, n: int, file: Path) -> NDArray:
    """Columns `q1 .. qn` of a table (N, n); velocities and accelerations may be absent."""
    names = [f"{kind}{i + 1}" for i in range(n)]
    missing = [name for name in names if name not in table]
    if missing and (kind == "q" or len(missing) < n):
        cause = f"no column '{missing[0]}'"
        raise ReadError(cause, path=file, expected=f"q1 .. q{n}", got=", ".join(list(table)[:12]), names=(missing[0],))
    if missing:
        return np.zeros((len(next(iter(table.values()))), n))
    return whole_columns(table, names, str(file))


def whole_columns(table: dict[str, NDArray], names: Sequence[str], where: str) -> NDArray:
    """Columns by name (N, k), without holes."""
    values = np.column_stack([table[name] for name in names])
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise ReadError(f"no number in column '{names[column]}' of row {row + 1}", where=where, names=(names[column],))
    return values


def matrix_columns(name: str, values: NDArray, batch: int) -> dict[str, NDArray]:
    """Columns of a table for arrays (N, ...) of `batch` leading axes: `M11, M12, ...`, `tau1, ...`."""
    core = values.shape[batch:]
    flat = values.reshape(-1, int(np.prod(core)))
    # 'M1_12' where 'M112' could be read in two ways
    between = "_" if max(core, default=0) > 9 and len(core) > 1 else ""
    labels = [name + between.join(str(i + 1) for i in index) for index in np.ndindex(*core)]
    return dict(zip(labels, flat.T, strict=True))


def write_columns(path: Path, t: NDArray | None, columns: dict[str, NDArray], quiet: bool = False) -> None:
    """Write one row per state, with 17 digits so that nothing is lost; say so unless JSON is printed."""
    from armdyn.files import write_arrays, write_whole

    if t is not None:
        columns = {"t": t, **columns}
    if path.suffix == ".npz":
        write_arrays(path, columns)
    elif path.suffix == ".csv":
        rows = np.column_stack(list(columns.values())).tolist()
        text = "\n".join([",".join(columns), *(",".join(f"{x:.17g}" for x in row) for row in rows)])
        write_whole(path, text + "\n")
    else:
        raise ReadError(f"cannot write '{path}': expected the ending .csv or .npz", names=(path,))
    if not quiet:
        print(f"wrote {path}")


def print_columns(title: str, t: NDArray | None, columns: dict[str, NDArray]) -> None:
    """Print the first rows of results for many states."""
    if t is not None:
        columns = {"t": t, **columns}
    count = len(next(iter(columns.values())))
    rows = [(str(k + 1), *(number(c[k]) for c in columns.values())) for k in range(min(count, ROWS_SHOWN))]
    print_table(title, ("# ", *(f"{name} " for name in columns)), rows)
    if count > ROWS_SHOWN:
        print_line(f"{count - ROWS_SHOWN} more rows; --out FILE.csv writes all", "dim")
