"""ROS 2 bags (sqlite3 and MCAP) with `sensor_msgs/JointState` messages, without ROS."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import MissingExtraError, ReadError

KIND = "sensor_msgs/msg/JointState"


def read_bag(path: Path, joints: tuple[str, ...], topic: str | None = None) -> dict[str, NDArray]:
    """Columns `time, position_<joint>, velocity_<joint>, effort_<joint>` of the messages that hold all joints.

    Times are those of the messages' headers, or of their arrival where headers are empty.
    """
    rows: list[list[float]] = []
    names: tuple[str, ...] = ()
    try:
        for arrival, message in _messages(path, joints, topic):
            if not names:
                names = _order(tuple(message.name), joints, path)
            row = _row(arrival, message, names)
            if row is not None:
                rows.append(row)
    except ReadError:
        raise
    except Exception as error:  # readers raise errors of SQLite, YAML, zstd, struct for damaged files
        told = " ".join(str(error).split())
        raise ReadError(
            f"{path}: cannot be read as a ROS 2 bag ({type(error).__name__}: {told}); if the recording was cut off, "
            "'mcap recover' or 'sqlite3 .recover' may save the rest"
        ) from None
    if not rows:
        raise ReadError(f"{path}: no JointState message with joints {', '.join(joints)}")
    data = np.array(rows)
    if not data[:, 1].any():
        data[:, 1] = data[:, 0]
    heads = ["arrival", "time"]
    heads += [f"{what}_{joint}" for what in ("position", "velocity", "effort") for joint in joints]
    table = dict(zip(heads, data.T, strict=True))
    return {name: column for name, column in table.items() if np.isfinite(column).any() and name != "arrival"}


def _order(present: tuple[str, ...], joints: tuple[str, ...], path: Path) -> tuple[str, ...]:
    """The message's names of the arm's joints: its own, or, where none is known, by position."""
    if set(joints) <= set(present):
        return joints
    if len(present) == len(joints) and not set(joints) & set(present):
        return present
    raise ReadError(f"{path}: the messages hold joints {', '.join(present)}; expected {', '.join(joints)}")


def _row(arrival: int, message: Any, names: tuple[str, ...]) -> list[float] | None:
    at = {name: k for k, name in enumerate(message.name)}
    if not set(names) <= set(at):
        return None
    row = [arrival * 1e-9, message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec]
    for values in (message.position, message.velocity, message.effort):
        row += [float(values[at[name]]) if len(values) > at[name] else np.nan for name in names]
    return row


def _messages(path: Path, joints: tuple[str, ...], topic: str | None) -> Iterator[tuple[int, Any]]:
    try:
        from rosbags.rosbag2 import Reader
        from rosbags.typesys import Stores, get_typestore
    except ImportError:
        raise MissingExtraError("ROS 2 bags need rosbags: pip install armdyn[logs]") from None
    store = get_typestore(Stores.ROS2_HUMBLE)
    with Reader(path) as reader:
        chosen = [c for c in reader.connections if c.msgtype == KIND and topic in (None, c.topic)]
        topics = sorted({c.topic for c in chosen})
        if not chosen:
            seen = ", ".join(f"{c.topic} ({c.msgtype})" for c in reader.connections) or "nothing"
            raise ReadError(f"{path}: no topic of {KIND}{f' named {topic}' if topic else ''}; the bag holds {seen}")
        if len(topics) > 1:
            raise ReadError(f"{path}: several topics of {KIND}: {', '.join(topics)}; choose one with topic=")
        for connection, arrival, raw in reader.messages(connections=chosen):
            yield arrival, store.deserialize_cdr(raw, connection.msgtype)
