"""LeRobot data sets: episodes in Parquet files, one per file (v2) or many one after another (v3)."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ReadError
from armdyn.files import read_text, require_file
from armdyn.identification.logs.read_tables import Table, read_parquet

INFO = Path("meta") / "info.json"


def is_lerobot(path: Path) -> bool:
    """Whether a folder holds a LeRobot data set."""
    return path.is_dir() and (path / INFO).is_file()


def episodes_of(path: Path, wanted: Collection[int] | None) -> Iterator[tuple[int, Table]]:
    """Numbers and columns of the episodes, the motors by their names where the data set tells them."""
    info = _info(path)
    names = {key: _names(feature) for key, feature in info.get("features", {}).items() if isinstance(feature, Mapping)}
    files = sorted((path / "data").glob("*/*.parquet"))
    if not files:
        raise ReadError("a LeRobot data set without data/*/*.parquet", path=path, remedy="was it downloaded whole?")
    left = None if wanted is None else set(wanted)
    for file in files:
        if left is not None and not left:
            break
        table = _columns(file, names, info)
        number = table.pop("episode_index", None)
        if number is None:
            raise ReadError("no column episode_index", path=file, expected="a LeRobot data set of version 2 or 3")
        for episode in np.unique(number).astype(int).tolist():
            if left is None or episode in left:
                rows = number == episode
                yield episode, {name: column[rows] for name, column in table.items()}
                if left is not None:
                    left.discard(episode)
    if left:
        raise ReadError(f"no episode {min(left)} in it; there are {info.get('total_episodes', 'others')}", path=path)


def _info(path: Path) -> Mapping[str, Any]:
    try:
        info = json.loads(read_text(path / INFO))
    except (json.JSONDecodeError, RecursionError) as error:
        raise ReadError(path=path / INFO, expected="JSON", got=str(error)) from None
    if not isinstance(info, Mapping) or not isinstance(info.get("features", {}), Mapping):
        raise ReadError(path=path / INFO, expected="a table with features", remedy="is it a LeRobot data set?")
    return info


def _names(feature: Mapping[str, Any]) -> list[str]:
    """Names of a feature's numbers: a list, or a list below one key (`{"motors": [...]}`)."""
    names = feature.get("names")
    if isinstance(names, Mapping):
        names = next((x for x in names.values() if isinstance(x, list)), None)
    return [str(name) for name in names] if isinstance(names, list) else []


def _columns(file: Path, names: Mapping[str, list[str]], info: Mapping[str, Any]) -> Table:
    """The columns of one file, numbered ones with the motors' names, and times."""
    require_file(file)
    table = read_parquet(file, ())
    columns: dict[str, NDArray] = {}
    for column, values in table.items():
        key, _, number = column.rpartition("_")
        motors = names.get(key, [])
        known = number.isdigit() and 0 < int(number) <= len(motors)
        columns[f"{key}.{motors[int(number) - 1]}" if known else column] = values
    if "timestamp" not in columns:
        fps = info.get("fps")
        if not isinstance(fps, int | float) or not fps > 0 or "frame_index" not in columns:
            raise ReadError("neither timestamps nor frame_index and fps", path=file, expected="a LeRobot data set")
        columns["timestamp"] = columns["frame_index"] / fps
    return columns
