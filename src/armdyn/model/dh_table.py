"""Denavit-Hartenberg tables in files: CSV (a spreadsheet of a paper's table) and TOML.

The formats are described in `docs/formats.md`.
"""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from armdyn.errors import ModelError, ReadError, reads_file
from armdyn.files import read_text
from armdyn.model.dh import number
from armdyn.precision import ROUND_OFF
from armdyn.spatial import inertia as inertial
from armdyn.spatial.transform import exact

if TYPE_CHECKING:
    from armdyn.model.arm import Arm


TEXT = ("name", "link", "kind")
NUMBERS = ("a", "alpha", "d", "theta", "alpha_deg", "theta_deg", "mass")
COM = ("cx", "cy", "cz")
TENSOR = ("ixx", "ixy", "iyy", "ixz", "iyz", "izz")  # in the order of `spatial.inertia`
PARTS = {
    "limits": ("lower", "upper", "velocity", "effort"),
    "friction": ("viscous", "coulomb", "offset"),
    "drive": ("rotor_inertia", "gear_ratio", "torque_constant"),
}
COLUMNS = (*TEXT, *NUMBERS, *COM, *TENSOR, *(name for names in PARTS.values() for name in names))


class Table(NamedTuple):
    """Rows for `arm_from_dh` and the options that the file gives."""

    rows: Sequence[Mapping[str, Any]]
    options: Mapping[str, Any]


@reads_file
def read_table(path: str | os.PathLike[str]) -> Table:
    """Read a DH table from a `.csv` or `.toml` file."""
    suffix = Path(path).suffix.lower()
    if suffix == ".csv":
        return parse_csv(read_text(path), str(path))
    if suffix == ".toml":
        from armdyn.model.toml_format import parse_toml

        return table_from_toml(parse_toml(read_text(path), str(path)), str(path))
    raise ReadError(f"unknown kind of DH table '{suffix}'", path=path, expected=".csv or .toml", names=(suffix,))


def table_from_toml(document: Mapping[str, Any], where: str) -> Table:
    """The DH table in a TOML document: options at the top and one `[[row]]` a joint."""
    from armdyn.model.toml_format import arm_options

    rows = document.get("row")
    if not isinstance(rows, list):
        raise ReadError(where=where, expected="one [[row]] table per joint")
    return Table(rows, {"name": Path(where).stem, **arm_options(document, "row", ("convention",), where)})


def parse_csv(text: str, where: str = "DH table") -> Table:
    """Read a DH table from CSV text; comments `# key: value` set convention, name and gravity."""
    options: dict[str, Any] = {"name": Path(where).stem}
    lines = text.splitlines()
    body = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    for line in lines:
        if line.lstrip().startswith("#"):
            _read_comment(line, options, where)
    try:
        records = [
            [cell.strip() for cell in record] for record in csv.reader(io.StringIO("\n".join(body)), strict=True)
        ]
    except csv.Error as error:
        raise ReadError(f"not a CSV table ({error})", where=where) from None
    if len(records) < 2:
        raise ReadError(where=where, expected="a header line and one line per joint", got=f"{len(records)} lines")
    header = [name.lower() for name in records[0]]
    _check_header(header, where)
    rows = []
    for i, record in enumerate(records[1:], start=1):
        if len(record) != len(header):
            cause = f"row {i} has {len(record)} cells, but the header has {len(header)}"
            raise ReadError(cause, where=where, remedy="truncated?")
        rows.append(_row(dict(zip(header, record, strict=True)), f"{where}: row {i}"))
    return Table(rows, options)


def _check_header(header: Sequence[str], where: str) -> None:
    if unknown := [repr(name) for name in header if name not in COLUMNS]:
        log = " (a log? an arm is expected here)" if {"t", "time"} & set(header) else ""
        known = ", ".join(COLUMNS)
        cause = f"unknown column {', '.join(unknown)[:80]}{log}"
        raise ReadError(cause, where=where, expected=f"some of {known}", names=unknown)
    if doubles := sorted({name for name in header if header.count(name) > 1}):
        raise ReadError(f"column {', '.join(doubles)[:80]} appears more than once", where=where, names=doubles)
    for group in (COM, TENSOR):
        present = [name for name in group if name in header]
        if present and len(present) < len(group):
            expected = f"all of the columns {', '.join(group)} or none"
            raise ReadError(where=where, expected=expected, got=", ".join(present))


def _read_comment(line: str, options: dict[str, Any], where: str) -> None:
    """Take `# convention: modified` and the like into the options; any other comment is only a comment."""
    key, colon, value = line.lstrip("# \t").partition(":")
    key, value = key.strip().lower(), value.strip()
    if not colon or key not in ("convention", "name", "gravity"):
        return
    options[key] = [number(x, f"{where}: gravity") for x in value.split()] if key == "gravity" else value


def _row(cells: Mapping[str, str], where: str) -> dict[str, Any]:
    """A row for `arm_from_dh`; empty cells are absent."""
    row: dict[str, Any] = {key: cells[key] for key in TEXT if cells.get(key)}
    values = {key: number(x, f"{where}, column {key}") for key, x in cells.items() if x and key not in TEXT}
    row |= {key: values[key] for key in NUMBERS if key in values}
    for part, names in PARTS.items():
        if cells_of_part := {name: values[name] for name in names if name in values}:
            row[part] = cells_of_part
    if com := _all_or_none(values, COM, where):
        row["com"] = com
    if tensor := _all_or_none(values, TENSOR, where):
        row["inertia"] = np.array(tensor)[inertial.TENSOR - inertial.TENSOR[0, 0]]
    return row


def _all_or_none(values: Mapping[str, float], names: Sequence[str], where: str) -> list[float]:
    present = [values[name] for name in names if name in values]
    if present and len(present) < len(names):
        raise ModelError(where=where, expected=f"numbers in all of the columns {', '.join(names)} or in none")
    return present


def table_text(arm: Arm, convention: str = "standard") -> str:
    """A DH table of any arm as CSV; poses of base and tool have no place in it (see `armdyn.model.convert`).

    Gravity is written in the axes of the table's frame 0: read back without a pose, torques are the arm's.
    """
    from armdyn.model.dh_frames import as_dh, dh_parameters

    framed, table = as_dh(arm, convention), dh_parameters(arm, convention)
    rows, out = table.rows, io.StringIO()
    gravity = " ".join(map(repr, exact(table.base_pose[:3, :3].T @ arm.gravity, ROUND_OFF).tolist()))
    out.write(f"# name: {arm.name}\n# convention: {convention}\n# gravity: {gravity}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(name for name in COLUMNS if not name.endswith("_deg"))
    for row, joint, link in zip(rows, framed.joints, framed.links, strict=True):
        body = link.inertia
        parts = [getattr(getattr(joint, part), name) for part, names in PARTS.items() for name in names]
        numbers = [row.a, row.alpha, row.d, row.theta, body.mass, *body.com, *body.entries_com, *parts]
        cells = ["" if x is None or not math.isfinite(x) else repr(float(x)) for x in numbers]
        writer.writerow([joint.name, link.name, row.kind, *cells])
    return out.getvalue()
