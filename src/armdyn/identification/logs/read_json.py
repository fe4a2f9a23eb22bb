"""Tables in JSON: a list of records, an object of arrays, or a record a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ReadError
from armdyn.identification.logs.read_tables import Table, columns_of, leaves_of


def read_json(path: Path, joints: tuple[str, ...]) -> Table:
    """Columns of a JSON file, those inside objects by their own names; numbers that are missing are NaN."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ReadError(f"cannot be read as JSON ({error})", path=path) from None
    data = _parse(text, path)
    if isinstance(data, list) and all(isinstance(record, dict) for record in data):
        records = [dict(leaves_of(record, path)) for record in data]  # one number each, or a list of as many
        names = dict.fromkeys(name for record in records for name in record)
        leaves = {name: _array([record.get(name) for record in records], name, path) for name in names}
    elif isinstance(data, dict):
        leaves = {name: _array(value, name, path) for name, value in leaves_of(data, path)}
    else:
        raise ReadError(path=path, expected="a list of records or an object of arrays", got=type(data).__name__)
    return columns_of(iter(leaves.items()), joints, path)


def _parse(text: str, path: Path) -> Any:
    """The whole text as one value, or every line as a record."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ReadError("cannot be read as JSON (too deeply nested)", path=path) from None
    except json.JSONDecodeError as error:
        whole = error
    lines = [line for line in text.splitlines() if line.strip()]
    records = []
    for number, line in enumerate(lines, start=1):
        try:
            records.append(json.loads(line))
        except (json.JSONDecodeError, RecursionError):
            if number == len(lines) > 1:  # a recorder that was switched off leaves half a line
                continue
            raise ReadError(f"cannot be read as JSON ({whole})", path=path) from None
    if not records:
        raise ReadError(f"cannot be read as JSON ({whole})", path=path)
    return records


def _array(values: Any, name: str, path: Path) -> NDArray:
    """Numbers, or words, as an array; an empty one where it is neither."""
    if not isinstance(values, list) or not values:
        return np.empty(0)
    if all(isinstance(value, str) for value in values):
        return np.array(values)
    width = max((len(value) for value in values if isinstance(value, list)), default=0)
    if any(isinstance(value, list) and len(value) != width for value in values):
        raise ReadError(f"lists in '{name}' have different lengths", path=path, names=(name,))
    blank = [None] * width if width else None
    try:
        rows = [blank if value is None else value for value in values]
        return np.array(rows, dtype=float)  # where None is NaN
    except (TypeError, ValueError):
        return np.empty(0)
