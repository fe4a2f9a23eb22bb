"""ROS 2 bags with a topic of commands and one of joint states, without ROS."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ReadError
from armdyn.identification.logs.read_bag import header_time, messages_of, reading_bag

STATE = "sensor_msgs/msg/JointState"
TRAJECTORY = "trajectory_msgs/msg/JointTrajectory"
NUMBERS = "std_msgs/msg/Float64MultiArray"
COMMANDS = (STATE, TRAJECTORY, NUMBERS)


class BagTrack(NamedTuple):
    """Positions over time from one topic."""

    t: NDArray  # (N,) [s]
    x: NDArray  # (N, n)
    note: str


def read_servo_bag(
    path: Path, joints: tuple[str, ...], command: str | None, measured: str | None
) -> tuple[BagTrack, BagTrack]:
    """Commanded and measured positions.

    Commands are `JointState` (its positions), `JointTrajectory` (the last point of each message, at its arrival) or
    `Float64MultiArray` (one number per joint); states are `JointState`.
    """
    rows: dict[tuple[str, str], list[list[float]]] = {}
    with reading_bag(path):
        for topic, kind, arrival, message in messages_of(path, COMMANDS):
            position = _positions(message, kind, joints)
            if position is not None:
                header = 0.0 if kind == NUMBERS else header_time(message)
                rows.setdefault((topic, kind), []).append([arrival * 1e-9, header, *position])
    held = ", ".join(f"{topic} ({kind})" for topic, kind in rows) or "none"
    states = [key for key in rows if key[1] == STATE and (measured is None or key[0] == measured)]
    if measured is None:
        states = [key for key in states if key[0] != command and "command" not in key[0]]
    sent = [key for key in rows if (key[0] == command if command else key not in states)]
    for tracks, what in ((sent, "command"), (states, "measured")):
        if len(tracks) != 1:
            expected = f"one topic of {what} positions of joints {', '.join(joints)}, found {len(tracks)}"
            remedy = f"name it with {what}=; topics with such positions: {held}"
            raise ReadError(path=path, expected=expected, remedy=remedy)
    both = [(key[0], np.array(rows[key])) for key in (sent[0], states[0])]
    # One clock for both: that of the headers, or of arrival where one topic has none.
    clock = 1 if all(table[:, 1].all() for _, table in both) else 0
    command_track, state_track = (_track(topic, table, clock) for topic, table in both)
    return command_track, state_track


def _positions(message: Any, kind: str, joints: tuple[str, ...]) -> list[float] | None:
    """Positions in the arm's order, or None where a message has none of all joints."""
    if kind == NUMBERS:
        return [float(x) for x in message.data] if len(message.data) == len(joints) else None
    names, values = message.name if kind == STATE else message.joint_names, ()
    if kind == STATE:
        values = message.position
    elif len(message.points):
        values = message.points[-1].positions
    at = {name: k for k, name in enumerate(names)}
    if not set(joints) <= set(at) or len(values) < len(at):
        return None
    return [float(values[at[name]]) for name in joints]


def _track(topic: str, table: NDArray, clock: int) -> BagTrack:
    """Positions in the order of their stamps, rows (arrival, header, positions)."""
    table = table[np.argsort(table[:, clock], kind="stable")]
    t, x = table[:, clock], table[:, 2:]
    rising = np.r_[True, np.diff(t) > 0] & np.isfinite(x).all(axis=1)
    clock_name = "headers" if clock else "arrival"
    return BagTrack(t[rising], x[rising], f"{topic}: {int(rising.sum())} messages, times of {clock_name}")
