"""ROS 2 bags (sqlite3 and MCAP) with `sensor_msgs/JointState` messages, without ROS."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import MissingExtraError, ReadError
from armdyn.files import reject_bomb, require_file
from armdyn.identification.logs.bag_bounds import bound_rosbags, require_no_bombs
from armdyn.identification.logs.log import MAX_DELAY_SECONDS

KIND = "sensor_msgs/msg/JointState"
PARTS = ("position", "velocity", "effort")


def read_bag(path: Path, joints: tuple[str, ...], topic: str | None = None) -> tuple[dict[str, NDArray], list[str]]:
    """Columns `time, position_<joint>, velocity_<joint>, effort_<joint>` of the messages that hold all joints; notes.

    Times are those of the messages' headers, or of their arrival where headers are empty. Of several topics the one
    whose messages hold the arm's joints is read.
    """
    with reading_bag(path):
        rows, notes = _rows(path, joints, topic)
    arrival, stamps, values = rows[:, 0], rows[:, 1], rows[:, 2:]
    if not stamps.any():
        stamps = arrival
        notes.append("message headers hold no times: arrival times are used")
    order = _in_order(stamps, notes)
    heads = [f"{what}_{joint}" for what in PARTS for joint in joints]
    table = {"time": stamps[order]} | dict(zip(heads, values[order].T, strict=True))
    present = {name: column for name, column in table.items() if np.isfinite(column).any()}
    if not any(name.startswith("effort") for name in present):
        raise ReadError("the JointState messages carry no effort; torques are needed", path=path)
    return present, notes


def _in_order(stamps: NDArray, notes: list[str]) -> NDArray:
    """The messages by their stamps where these overtook each other on the way; else as they came."""
    order = np.argsort(stamps, kind="stable")
    moved = int(np.count_nonzero(np.diff(stamps) < 0))
    if not moved or np.abs(stamps[order] - stamps).max() > MAX_DELAY_SECONDS:
        return np.arange(len(stamps))
    notes.append(f"messages arrived out of order {moved} times: sorted by their stamps")
    return order


@contextmanager
def reading_bag(path: Path) -> Iterator[None]:
    """Make one sentence of what readers raise for bags that are damaged, or are none."""
    try:
        yield
    except MissingExtraError:
        raise
    except ReadError as error:
        raise error.at(str(path)) from None
    except Exception as error:  # readers raise errors of SQLite, YAML, zstd, struct for damaged files
        cause = " ".join(str(error).split())
        raise ReadError(
            f"cannot be read as a ROS 2 bag ({type(error).__name__}: {cause}); if the recording was cut "
            "off, 'mcap recover' or 'sqlite3 .recover' may save the rest",
            path=path,
        ) from None


def _rows(path: Path, joints: tuple[str, ...], topic: str | None) -> tuple[NDArray, list[str]]:
    """Arrival, stamp and values of all messages that hold the arm's joints, and notes."""
    rows: dict[tuple[str, tuple[str, ...]], list[list[float]]] = {}
    offered: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    topics: dict[str, tuple[str, ...]] = {}
    for where, _, arrival, message in messages_of(path, (KIND,), topic):
        present = tuple(message.name)
        topics.setdefault(where, present)
        if present not in offered:
            offered[present] = _own_names(present, joints)
        for names in offered[present]:
            rows.setdefault((where, names), []).append(_row(arrival, message, names))
    best = max((_alike(names, joints) for _, names in rows), default=0)
    chosen = [source for source in rows if _alike(source[1], joints) == best]
    if not chosen:
        held = "; ".join(f"{where}: {', '.join(present) or 'no names'}" for where, present in topics.items())
        cause = f"no JointState message with joints {', '.join(joints)}; there are {held or 'none'}"
        raise ReadError(cause, path=path, names=joints)
    if len(chosen) > 1:
        choices = ", ".join(sorted(f"{where} ({names[0]} .. {names[-1]})" for where, names in chosen))
        remedy = "choose a topic with topic=, or name the arm's joints as one of them does"
        raise ReadError(f"several arms or topics of {KIND}: {choices}", path=path, remedy=remedy)
    return np.array(rows[chosen[0]]), _name_notes(*chosen[0], joints)


def _own_names(present: tuple[str, ...], joints: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the names that a message may have for the arm's joints: their own names, each with a prefix, or, where
    none is alike, any.
    """
    if set(joints) <= set(present):
        return [joints]
    prefixes = dict.fromkeys(name.removesuffix(joints[0]) for name in present if name.endswith(joints[0]))
    candidates = [tuple(prefix + joint for joint in joints) for prefix in prefixes]
    candidates = [names for names in candidates if set(names) <= set(present)]
    alike = any(name.endswith(joint) for name in present for joint in joints)
    return candidates or ([present] if len(present) == len(joints) and not alike else [])


def _alike(names: tuple[str, ...], joints: tuple[str, ...]) -> int:
    """Whether names are the arm's (3), with a prefix (2), or others (1)."""
    return 3 if names == joints else 2 if names[0].endswith(joints[0]) else 1


def _name_notes(topic: str, names: tuple[str, ...], joints: tuple[str, ...]) -> list[str]:
    """Return notes on names that are not the arm's."""
    alike = _alike(names, joints)
    if alike == 2:
        return [f"joints of {topic}: {names[0]} .. {names[-1]}"]
    strange = f"joints of {topic} are not named as the arm's; taken in the order in which they come: {', '.join(names)}"
    return [] if alike == 3 else [strange]


def header_time(message: Any) -> float:
    """Time of a message by its header [s]."""
    return float(message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec)


def _row(arrival: int, message: Any, names: tuple[str, ...]) -> list[float]:
    at = {name: k for k, name in enumerate(message.name)}
    row = [arrival * 1e-9, header_time(message)]
    for values in (message.position, message.velocity, message.effort):
        row += [float(values[at[name]]) if len(values) > at[name] else np.nan for name in names]
    return row


def messages_of(path: Path, kinds: Collection[str], topic: str | None = None) -> Iterator[tuple[str, str, int, Any]]:
    """Topic, kind, arrival [ns] and message, of all files of a bag."""
    try:
        from rosbags.rosbag2 import Reader
        from rosbags.typesys import Stores, get_typestore
    except ImportError:
        raise MissingExtraError("ROS 2 bags need rosbags", "logs") from None
    bound_rosbags()
    store = get_typestore(Stores.ROS2_HUMBLE)
    packed, total = sum(file.stat().st_size for file in _contents(path)), 0
    for file in _files(path):
        with Reader(file) as reader:
            chosen = [c for c in reader.connections if c.msgtype in kinds and topic in (None, c.topic)]
            if not chosen:
                held = ", ".join(f"{c.topic} ({c.msgtype})" for c in reader.connections) or "nothing"
                asked = f"{' or '.join(kinds)}{f' named {topic}' if topic else ''}"
                raise ReadError(f"no topic of {asked}; the bag holds {held}", path=path)
            for connection, arrival, raw in reader.messages(connections=chosen):
                total += len(raw)
                reject_bomb(path, packed, total)
                yield connection.topic, connection.msgtype, arrival, store.deserialize_cdr(raw, connection.msgtype)


def _contents(path: Path) -> list[Path]:
    """All files of a bag, none of which is a pipe, a device or far larger than it seems."""
    if not path.is_dir():
        return [require_file(path)]
    require_no_bombs(path)
    return [require_file(file) for file in path.iterdir() if not file.is_dir()]


def _files(path: Path) -> list[Path]:
    """The bag, or, of a folder without its description, the files in it."""
    if not path.is_dir() or (path / "metadata.yaml").exists():
        return [path]
    files = sorted(file for file in path.iterdir() if file.suffix in (".db3", ".mcap"))
    if not files:
        raise ReadError("a folder without metadata.yaml, .db3 or .mcap files is no ROS 2 bag", path=path)
    return files
