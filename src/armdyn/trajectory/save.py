"""Trajectories as files: CSV and NPZ for armdyn and spreadsheets, JointTrajectory for ROS 2."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynError, expect
from armdyn.files import write_arrays, write_whole
from armdyn.trajectory.decimal_lines import decimal_lines
from armdyn.trajectory.protocol import Trajectory

RATE_HZ, ROS_RATE_HZ = 1000.0, 50.0  # samples per second; controllers of ROS 2 interpolate between theirs
LINES_AT_ONCE = 500  # lines of a file that are made at once: quicker than one by one
POINT_KEYS = ("positions", "velocities", "accelerations", "time_from_start")  # of a ROS 2 JointTrajectory
ENDINGS = (".csv", ".npz", ".json", ".yaml")


def save_trajectory(
    trajectory: Trajectory,
    path: str | os.PathLike[str],
    *,
    rate: float | None = None,
    joint_names: Sequence[str] | None = None,
    kinds: Sequence[str] | None = None,
    units: bool = False,
) -> Path:
    """Write samples of a trajectory in the format of the file's ending.

    `.csv` and `.npz` have the columns `t, q1 ... qn, qd1 ..., qdd1 ...` in SI units; `.yaml` and `.json` are
    ROS 2 messages `trajectory_msgs/JointTrajectory`.

    Parameters
    ----------
    trajectory : Trajectory
    path : path
    rate : float
        Samples per second, default 1000, for ROS 2 messages 50; the end is always written too.
    joint_names : sequence of str, optional
        For ROS 2; default `joint1`, ...
    kinds : sequence of str, optional
        "revolute" or "prismatic" per joint, for the units; default revolute.
    units : bool
        CSV: a second line `# s,rad,...` with the columns' units (NPZ always has them).
    """
    path = require_ending(path)
    rate = require_rate(rate if rate is not None else ROS_RATE_HZ if path.suffix in (".json", ".yaml") else RATE_HZ)
    names = _names(joint_names, trajectory.n)
    t = np.arange(int(np.floor(trajectory.duration * rate * (1 + 1e-12))) + 1) / rate
    if trajectory.duration - t[-1] > 1e-9:
        t = np.append(t, trajectory.duration)
    samples = np.hstack([t[:, None], *trajectory(np.minimum(t, trajectory.duration))])
    if path.suffix == ".npz":
        return write_arrays(path, _arrays(samples, trajectory.n, kinds))
    if path.suffix == ".csv":
        return write_whole(path, _csv(samples, trajectory.n, kinds, units))
    return write_whole(path, (_json if path.suffix == ".json" else _yaml)(samples, names))


def require_ending(path: str | os.PathLike[str]) -> Path:
    """The path, if trajectories can be written to such files."""
    path = Path(path)
    if path.suffix not in ENDINGS:
        cause = f"cannot write '{path}': unknown ending"
        raise ArmdynError(cause, expected=f"one of {', '.join(ENDINGS)}", names=(path,))
    return path


def require_rate(rate: float) -> float:
    """The rate, if samples can be taken at it."""
    expect(np.isfinite(rate) and rate > 0, "save_trajectory", "a rate > 0", error=ArmdynError, got=f"{rate:g}")
    return rate


def column_names(n: int) -> list[str]:
    """`t, q1 ... qn, qd1 ..., qdd1 ...`."""
    return ["t", *(f"{kind}{i + 1}" for kind in ("q", "qd", "qdd") for i in range(n))]


def column_units(kinds: Sequence[str] | None, n: int) -> list[str]:
    """The unit of every column."""
    length = ["m" if kind == "prismatic" else "rad" for kind in kinds or ["revolute"] * n]
    return ["s", *(unit + per for per in ("", "/s", "/s^2") for unit in length)]


def _names(chosen: Sequence[str] | None, n: int) -> list[str]:
    names = [f"joint{i + 1}" for i in range(n)] if chosen is None else list(chosen)
    expect(len(names) == n, "save_trajectory", f"{n} joint names", error=ArmdynError, got=len(names))
    return names


def _csv(samples: NDArray, n: int, kinds: Sequence[str] | None, units: bool) -> Iterator[str]:
    yield ",".join(column_names(n)) + "\n"
    if units:
        yield "# " + ",".join(column_units(kinds, n)) + "\n"
    for k in range(0, len(samples), LINES_AT_ONCE):
        yield decimal_lines(samples[k : k + LINES_AT_ONCE])


def _arrays(samples: NDArray, n: int, kinds: Sequence[str] | None) -> dict[str, NDArray]:
    q, qd, qdd = np.split(samples[:, 1:], 3, axis=1)
    units = dict(zip(column_names(n), column_units(kinds, n), strict=True))
    return {"t": samples[:, 0], "q": q, "qd": qd, "qdd": qdd, "units": np.array(json.dumps(units))}


def _points(samples: NDArray, template: str, between: str) -> Iterator[str]:
    """The points of a ROS 2 JointTrajectory, by a template of one; numbers are such as JSON and YAML have them."""
    n = samples.shape[1] // 3
    # Seven digits, a tenth of a microradian, and always a point: YAML 1.1 takes `1e-07` for text.
    row = f"[{', '.join(['%#.7g'] * n)}]"
    point = template % (row, row, row, '{"sec": %d, "nanosec": %d}')
    seconds, nanoseconds = np.divmod(np.rint(samples[:, :1] * 1e9), 1e9)
    values = np.hstack([samples[:, 1:], seconds, nanoseconds])
    for k in range(0, len(values), LINES_AT_ONCE):
        block = values[k : k + LINES_AT_ONCE]
        yield between * (k > 0) + between.join([point] * len(block)) % tuple(block.ravel().tolist())


def _json(samples: NDArray, names: list[str]) -> Iterator[str]:
    yield f'{{"joint_names": {json.dumps(names)}, "points": ['
    yield from _points(samples, "{" + ", ".join(f'"{key}": %s' for key in POINT_KEYS) + "}", ",\n")
    yield "]}\n"


def _yaml(samples: NDArray, names: list[str]) -> Iterator[str]:
    """Block style outside, flow style inside."""
    yield f"joint_names: {json.dumps(names)}\npoints:\n"
    yield from _points(samples, "- " + "\n  ".join(f"{key}: %s" for key in POINT_KEYS) + "\n", "")
