"""Logs of servos from CSV, LeRobot data sets and ROS 2 bags; and what cannot be their unit."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.raising import raises
from tests.servo import truth

import armdyn
from armdyn.errors import ArmdynError, ReadError
from armdyn.servo.log import ServoLog
from armdyn.servo.read_log import read_servo_log

MOTORS = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper")


@pytest.fixture(scope="module")
def motion() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, commands and positions that follow them."""
    t = np.arange(0, 6, 0.02)
    command = truth.commands(np.random.default_rng(0), t)
    return t, command, np.roll(command, 3, axis=0) * 0.98


def write(path: Path, head: list[str], *columns: np.ndarray) -> Path:
    """A CSV file."""
    np.savetxt(path, np.column_stack(columns), delimiter=",", header=",".join(head), comments="")
    return path


def same(log: ServoLog, command: np.ndarray, q: np.ndarray, tolerance: float = 1e-9) -> None:
    """The log holds these positions."""
    assert np.abs(log.command - command).max() < tolerance
    assert np.abs(log.q - q).max() < tolerance


@pytest.mark.parametrize(
    ("sent", "seen"),
    [
        ("goal_position_{k}", "present_position_{k}"),
        ("{name}.goal_position", "{name}.present_position"),
        ("action[{i}]", "observation.state[{i}]"),
        ("q_cmd{k}", "q{k}"),
        ("command_{name}", "measured_{name}"),
        ("motor{k}_target", "motor{k}_actual"),
    ],
)
def test_columns_are_found_by_their_words(
    arm: armdyn.Arm, motion: tuple[np.ndarray, ...], tmp_path: Path, sent: str, seen: str
) -> None:
    """As loggers of Dynamixel and Feetech servos name them, in any order."""
    t, u, q = motion
    words = [form.format(k=k + 1, i=k, name=name) for form in (sent, seen) for k, name in enumerate(arm.joint_names)]
    mixed = [0, *np.random.default_rng(1).permutation(np.arange(1, 11))]
    columns = np.column_stack([t, u, q])[:, mixed]
    path = write(tmp_path / "log.csv", [["t", *words][k] for k in mixed], columns)
    same(read_servo_log(path, arm)[0], u, q)


def test_units_of_servos(arm: armdyn.Arm, motion: tuple[np.ndarray, ...], tmp_path: Path) -> None:
    """Degrees, ticks and normalised positions are radians in the end; signs and offsets act after that."""
    t, u, q = motion
    head = ["t", *(f"goal_{k}" for k in range(1, 6)), *(f"present_{k}" for k in range(1, 6))]
    lower, upper = np.array([(j.limits.lower, j.limits.upper) for j in arm.joints]).T

    def normalised(x: np.ndarray) -> np.ndarray:
        return 200 * (x - lower) / (upper - lower) - 100

    for units, form in (
        ("deg", np.degrees), ("normalised", normalised), ("ticks", lambda x: x / truth.TICK + 2048), ("rad", np.array),
    ):  # fmt: skip
        path = write(tmp_path / f"{units}.csv", head, t, form(u), form(q))
        same(read_servo_log(path, arm, units=units)[0], u, q)
    log = read_servo_log(tmp_path / "rad.csv", arm, sign=[1, -1, 1, 1, 1], offset=[0, 0.5, 0, 0, 0])[0]
    assert log.q[:, 1] == pytest.approx(0.5 - q[:, 1])
    named = write(
        tmp_path / "named.csv", [h if h == "t" else h + "_deg" for h in head], t, np.degrees(u), np.degrees(q)
    )
    same(read_servo_log(named, arm)[0], u, q)


def test_wrong_units_are_asked_about(arm: armdyn.Arm, motion: tuple[np.ndarray, ...], tmp_path: Path) -> None:
    """One sentence, and what they could be."""
    t, u, q = motion
    head = ["t", *(f"goal_{k}" for k in range(1, 6)), *(f"present_{k}" for k in range(1, 6))]
    ticks = write(tmp_path / "ticks.csv", head, t, u / truth.TICK + 2048, q / truth.TICK + 2048)
    radians = write(tmp_path / "rad.csv", head, t, u, q)
    with raises(ReadError, cause=re.compile(r"their unit is not said: give units='deg'")):
        read_servo_log(ticks, arm)
    with raises(ReadError, cause=re.compile(r"cannot be deg: joint .* would be at .*; units='ticks'\?")):
        read_servo_log(ticks, arm, units="deg")
    with raises(ReadError, cause=re.compile(r"cannot be deg: the arm would move .* degrees only; units='rad'\?")):
        read_servo_log(radians, arm, units="deg")
    with raises(ReadError, cause=re.compile(r"normalised ones stay within -100 to 100")):
        read_servo_log(ticks, arm, units="normalised")
    with raises(ArmdynError, names=("grad",), expected="one of rad, deg, ticks, normalised"):
        read_servo_log(radians, arm, units="grad")


def test_what_is_missing_is_named(arm: armdyn.Arm, motion: tuple[np.ndarray, ...], tmp_path: Path) -> None:
    """Columns, times, motors, files."""
    t, u, q = motion
    bare = write(tmp_path / "bare.csv", ["t", *(f"x{k}" for k in range(10))], t, u, q)
    with raises(
        ReadError,
        cause="no columns of commanded positions for 5 joints",
        remedy=(
            "give command=WORD, a word that the names of these columns share; "
            "the file has t, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9"
        ),
    ):
        read_servo_log(bare, arm)
    four = write(tmp_path / "four.csv", ["t", *(f"goal_{k}" for k in range(4)), "present_0"], t, u[:, :4], q[:, :1])
    with raises(ReadError, names=("goal",), remedy="name their motors, in this order, with motors="):
        read_servo_log(four, arm, command="goal")
    late = write(tmp_path / "late.csv", [*(f"goal_{k}" for k in range(5)), *(f"present_{k}" for k in range(5))], u, q)
    with raises(ReadError, path=str(late), expected="a column of times", remedy="name it t, time or timestamp"):
        read_servo_log(late, arm)
    with raises(ReadError, cause="no such file"):
        read_servo_log(tmp_path / "none.csv", arm)
    (tmp_path / "log.pickle").write_bytes(b"x")
    with raises(
        ReadError,
        expected=("a log that ends in .csv, .json, .npz, .mat, .parquet, .db3, .mcap, a bag or a LeRobot data set"),
    ):
        read_servo_log(tmp_path / "log.pickle", arm)


def lerobot(folder: Path, t: np.ndarray, u: np.ndarray, q: np.ndarray, version: int) -> Path:
    """A data set of two episodes in degrees with a gripper, laid out as version 2 or 3."""
    pa = pytest.importorskip("pyarrow", reason="Parquet needs the extra 'logs'")
    import pyarrow.parquet as parquet

    names = [f"{motor}.pos" for motor in MOTORS] if version == 3 else {"motors": list(MOTORS)}
    feature = {"dtype": "float32", "shape": [6], "names": names}
    info = {"codebase_version": f"v{version}.0", "fps": 50, "total_episodes": 2,
            "features": {"action": feature, "observation.state": feature}}  # fmt: skip
    (folder / "meta").mkdir(parents=True)
    (folder / "meta" / "info.json").write_text(json.dumps(info))
    (folder / "data" / "chunk-000").mkdir(parents=True)
    half, tables = len(t) // 2, []
    for episode in (0, 1):
        rows = slice(episode * half, (episode + 1) * half)
        wide = [np.column_stack([np.degrees(x[rows]), np.full(half, 50.0)]).astype(np.float32) for x in (u, q)]
        tables.append(
            pa.table(
                {
                    "action": list(wide[0]),
                    "observation.state": list(wide[1]),
                    "timestamp": (np.arange(half) / 50).astype(np.float32),
                    "frame_index": np.arange(half),
                    "episode_index": np.full(half, episode),
                    "index": np.arange(half) + episode * half,
                    "task_index": np.zeros(half, int),
                }
            )
        )
    if version == 2:
        for k, table in enumerate(tables):
            parquet.write_table(table, folder / "data" / "chunk-000" / f"episode_{k:06d}.parquet")
    else:
        parquet.write_table(pa.concat_tables(tables), folder / "data" / "chunk-000" / "file-000.parquet")
    return folder


@pytest.mark.parametrize("version", [2, 3])
def test_lerobot_data_sets(arm: armdyn.Arm, motion: tuple[np.ndarray, ...], tmp_path: Path, version: int) -> None:
    """Both layouts, one log per episode; units are asked for, and motors of other names."""
    t, u, q = motion
    path, half = lerobot(tmp_path / "set", t, u, q, version), len(t) // 2
    words = {"command": "action", "measured": "observation.state"}
    other = arm.with_joints([replace(joint, name=f"axis {k}") for k, joint in enumerate(arm.joints)])
    with raises(ReadError, names=("action",), remedy="name their motors, in this order, with motors="):
        read_servo_log(path, other, **words, units="deg")
    with raises(ReadError, where=f"{path}, episode 0", cause=re.compile("positions go from .* unit is not said")):
        read_servo_log(path, arm, motors=MOTORS[:5])
    logs = read_servo_log(path, other, **words, units="deg", motors=MOTORS[:5])
    alike = read_servo_log(path, arm, **words, units="deg")  # 'pan' is 'shoulder_pan'
    assert np.array_equal(alike[0].q, logs[0].q)
    assert len(logs) == 2
    for k, log in enumerate(logs):
        rows = slice(k * half, (k + 1) * half)
        same(log, u[rows], q[rows], 1e-6)  # float32
        assert log.dt == pytest.approx(0.02, abs=1e-6)
        assert "episode" in log.name
    chosen = read_servo_log(path, arm, units="deg", motors=MOTORS[:5], episodes=[1])
    assert [log.name for log in chosen] == [logs[1].name]
    with raises(ReadError, cause="no episode 7 in it; there are 2"):
        read_servo_log(path, arm, units="deg", motors=MOTORS[:5], episodes=[7])
    with raises(ReadError, cause=re.compile(r"cannot be rad")):
        read_servo_log(path, arm, units="rad", motors=MOTORS[:5])


def test_damaged_data_sets(arm: armdyn.Arm, tmp_path: Path) -> None:
    """Folders that are not whole."""
    (tmp_path / "meta").mkdir()
    (tmp_path / "meta" / "info.json").write_text("{")
    with raises(ReadError, path=str(tmp_path / "meta" / "info.json"), expected="JSON"):
        read_servo_log(tmp_path, arm)
    (tmp_path / "meta" / "info.json").write_text("{}")
    with raises(ReadError, remedy="was it downloaded whole?"):
        read_servo_log(tmp_path, arm)


def test_bags_with_commands_and_states(
    arm: armdyn.Arm, motion: tuple[np.ndarray, ...], tmp_path: Path, write_states: Callable[..., Path]
) -> None:
    """Two topics with stamps of their own; the commands' one is named, or is the only other."""
    t, u, q = (x[:100] for x in motion)
    none: list[float] = []
    names = [*reversed(arm.joint_names), "gripper"]
    messages = [("/commands", s + 0.001, arm.joint_names, x, none, none) for s, x in zip(t + 1, u, strict=True)]
    messages += [("/joint_states", s, names, [*x[::-1], 0.0], none, none) for s, x in zip(t + 1, q, strict=True)]
    path = write_states(tmp_path / "bag", messages)
    for words in ({}, {"command": "/commands", "measured": "/joint_states"}):
        log = read_servo_log(path, arm, **words)[0]
        same(log, u, q)
        assert log.stamps == pytest.approx(t + 0.001)
    with raises(
        ReadError,
        expected="one topic of command positions of joints pan, lift, elbow, flex, roll, found 0",
        remedy=(
            "name it with command=; topics with such positions: /commands "
            "(sensor_msgs/msg/JointState), /joint_states (sensor_msgs/msg/JointState)"
        ),
    ):
        read_servo_log(path, arm, command="/other")
    with raises(ReadError, cause="episodes are of LeRobot data sets, folders with meta/info.json"):
        read_servo_log(path, arm, episodes=[0])
