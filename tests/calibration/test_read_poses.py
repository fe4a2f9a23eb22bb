"""Measured poses as files hold them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.calibration.conftest import make_truth, measure, random_positions
from tests.raising import raises

import armdyn
from armdyn.calibration.poses import Poses
from armdyn.errors import ArmdynError, ReadError, ShapeError
from armdyn.model.arm import Arm
from armdyn.spatial.rotation import to_quaternion, to_rpy
from armdyn.spatial.transform import inverse


def write(path: Path, names: list[str], columns: np.ndarray) -> Path:
    rows = [",".join("" if np.isnan(x) else repr(float(x)) for x in row) for row in columns]
    path.write_text("\n".join([",".join(names), *rows]) + "\n")
    return path


Q = [f"q{k + 1}" for k in range(6)]


@pytest.fixture(scope="module")
def frames(arm: Arm) -> Poses:
    rng = np.random.default_rng(12)
    return measure(make_truth(arm, rng, markers=0), random_positions(arm, 20, rng), 1e-5, rng)


def test_markers_with_units_and_empty_cells(poses: Poses, arm: Arm, tmp_path: Path) -> None:
    points = np.array(poses.points)
    points[2, 1] = np.nan
    names = [f"q{k}_deg" for k in range(1, 7)] + [f"{a}{m} [mm]" for m in (1, 2, 3) for a in "xyz"]
    table = np.column_stack([np.degrees(poses.q), 1e3 * points.reshape(len(points), -1)])
    read = armdyn.read_poses(write(tmp_path / "poses.csv", names, table))
    np.testing.assert_allclose(read.q, poses.q, atol=1e-12)
    np.testing.assert_allclose(read.points, points, atol=1e-12)


def test_joints_by_name_and_units_by_option(poses: Poses, arm: Arm, tmp_path: Path) -> None:
    names = [*arm.joint_names, "x", "y", "z"]
    path = write(tmp_path / "p.csv", names, np.column_stack([np.degrees(poses.q), 1e3 * poses.points[:, 0]]))
    read = armdyn.read_poses(path, arm, angle="deg", length="mm")
    np.testing.assert_allclose(read.points[:, 0], poses.points[:, 0], atol=1e-12)
    assert read.n_markers == 1


NAMES = {
    "as logs": ([f"actual_q_{k}" for k in range(6)], ["x", "y", "z"]),
    "of ROS": ([f"position[{k}]" for k in range(6)], ["pose.position.x", "pose.position.y", "pose.position.z"]),
    "in capitals": ([f"J{k}" for k in range(1, 7)], ["X", "Y", "Z"]),
    "from zero": ([f"q{k}" for k in range(6)], ["p_x", "p_y", "p_z"]),
    "of markers": ([f"Joint_{k}" for k in range(1, 7)], ["marker1_x", "marker1_y", "marker1_z"]),
}


@pytest.mark.parametrize("case", NAMES)
def test_names_that_others_give(poses: Poses, arm: Arm, tmp_path: Path, case: str) -> None:
    joints, coordinates = NAMES[case]
    commanded = [f"target_q_{k}" for k in range(6)]  # are not those reached
    table = np.column_stack([poses.q, 0 * poses.q, poses.points[:, 0]])
    read = armdyn.read_poses(write(tmp_path / "p.txt", [*joints, *commanded, *coordinates], table), arm)
    np.testing.assert_array_equal(read.q, poses.q)
    np.testing.assert_array_equal(read.points[:, 0], poses.points[:, 0])


def test_a_quaternion_as_ros_names_it(frames: Poses, arm: Arm, tmp_path: Path) -> None:
    names = [*Q, *(f"pose.position.{a}" for a in "xyz"), *(f"pose.orientation.{a}" for a in "xyzw")]
    quaternion = to_quaternion(frames.poses[:, :3, :3])[:, [1, 2, 3, 0]]
    path = write(tmp_path / "p.csv", names, np.column_stack([frames.q, frames.poses[:, :3, 3], quaternion]))
    np.testing.assert_allclose(armdyn.read_poses(path, arm).poses, frames.poses, atol=1e-12)


@pytest.mark.parametrize("kind", ["quaternion", "rpy", "vector", "unnamed"])
def test_rotations_as_files_have_them(frames: Poses, arm: Arm, tmp_path: Path, kind: str) -> None:
    from scipy.spatial.transform import Rotation

    T = frames.poses
    R = Rotation.from_matrix(T[:, :3, :3])
    columns = {
        "quaternion": (["qx", "qy", "qz", "qw"], to_quaternion(T[:, :3, :3])[:, [1, 2, 3, 0]]),
        "rpy": (["roll", "pitch", "yaw"], to_rpy(T[:, :3, :3])),
        "vector": (["rx", "ry", "rz"], R.as_rotvec()),
        "unnamed": (["a", "b", "c"], R.as_euler("ZYX")),
    }
    names, numbers = columns[kind]
    path = write(tmp_path / "p.csv", [*Q, "x", "y", "z", *names], np.column_stack([frames.q, T[:, :3, 3], numbers]))
    read = armdyn.read_poses(path, arm)
    np.testing.assert_allclose(read.poses, T, atol=1e-9)
    assert any("turns about z, then the new y, then the new x" in note for note in read.notes) == (kind == "unnamed")


def test_a_camera_on_the_tool_sees_the_inverse(frames: Poses, tmp_path: Path) -> None:
    np.savez(tmp_path / "p.npz", q=frames.q, poses=inverse(np.array(frames.poses)))
    read = armdyn.read_poses(tmp_path / "p.npz", camera="tool")
    np.testing.assert_allclose(read.poses, frames.poses, atol=1e-12)


def test_json_of_arrays_and_of_poses(poses: Poses, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"q": poses.q.tolist(), "points": poses.points.tolist()}))
    rows = [
        {**dict(zip(Q, q, strict=True)), **dict(zip("xyz", p, strict=True))}
        for q, p in zip(poses.q.tolist(), poses.points[:, 0].tolist(), strict=True)
    ]
    (tmp_path / "b.json").write_text(json.dumps(rows))
    np.testing.assert_array_equal(armdyn.read_poses(tmp_path / "a.json").points, poses.points)
    np.testing.assert_array_equal(armdyn.read_poses(tmp_path / "b.json").points, poses.points[:, :1])


BAD = {
    "no joints": ("a,x,y,z\n1,2,3,4\n", {"expected": "columns q1..qn"}),
    "no points": ("q1,q2\n1,2\n", {"cause": "no columns x, y, z"}),
    "half a point": ("q1,x1,y1\n1,2,3\n", {"cause": "no columns z1"}),
    "words": ("q1,x,y,z\n", {"cause": "no rows of numbers below the names of the columns"}),
    "no names": ("1,2,3,4\n1,2,3,5\n", {"got": "a table without names", "remedy": "name them in the first line"}),
    "unknown unit": ("q1,x [ft],y [ft],z [ft]\n1,2,3,4\n", {"cause": "the unit 'ft' is not known", "names": ("ft",)}),
    "twice": (
        "q1,q_1,x,y,z\n1,2,3,4,5\n",
        {"cause": "columns 'q1' and 'q_1' both claim to be q1", "names": ("q1", "q_1")},
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_say_what_is_missing(tmp_path: Path, case: str) -> None:
    text, parts = BAD[case]
    (tmp_path / "p.csv").write_text(text)
    with raises(ReadError, **parts):
        armdyn.read_poses(tmp_path / "p.csv")


def test_bad_files_of_other_kinds(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text("3")
    for name, parts in (
        (
            "p.json",
            {"expected": ("arrays of numbers by name, or a list of poses ('int' object has no attribute 'items')")},
        ),
        ("p.mat", {"expected": "measured poses as .csv, .npz or .json"}),
    ):
        with raises(ReadError, **parts):
            armdyn.read_poses(tmp_path / name)
    with raises(ArmdynError, expected="the path of a file", got="None"):
        armdyn.read_poses(None)
    with raises(ShapeError, expected="points or poses", got="none"):
        Poses(np.zeros((3, 6)))
    with raises(ShapeError, got="matrices that are not orthogonal with determinant 1"):
        Poses(np.zeros((1, 6)), poses=2 * np.eye(4)[None])
