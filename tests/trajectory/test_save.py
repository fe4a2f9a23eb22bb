"""Trajectories as files."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from tests.raising import raises

from armdyn import FourierSeries, save_trajectory
from armdyn.errors import ArmdynError


@pytest.fixture
def series() -> FourierSeries:
    return FourierSeries(np.random.default_rng(0).normal(size=(2, 5)), 0.5, 2.005)


def test_csv_has_a_header_and_the_end(series, tmp_path):
    path = save_trajectory(series, tmp_path / "m.csv", rate=100)
    assert path.read_text().splitlines()[0] == "t,q1,q2,qd1,qd2,qdd1,qdd2"
    data = np.loadtxt(path, delimiter=",", skiprows=1)
    assert len(data) == 202
    assert data[-1, 0] == 2.005
    # Twelve digits are written.
    np.testing.assert_allclose(data[:, 1:], np.hstack(series(data[:, 0])), rtol=1e-10, atol=1e-10)


def test_units_on_the_second_line(series, tmp_path):
    path = save_trajectory(series, tmp_path / "m.csv", kinds=["revolute", "prismatic"], units=True)
    assert path.read_text().splitlines()[1] == "# s,rad,m,rad/s,m/s,rad/s^2,m/s^2"
    assert np.loadtxt(path, delimiter=",", skiprows=1).shape == (2006, 7)


def test_npz_has_arrays_and_units(series, tmp_path):
    with np.load(save_trajectory(series, tmp_path / "m.npz", rate=50)) as data:
        q, qd, qdd = series(data["t"])
        np.testing.assert_allclose(data["q"], q)
        np.testing.assert_allclose(data["qd"], qd)
        np.testing.assert_allclose(data["qdd"], qdd)
        assert json.loads(str(data["units"]))["qdd2"] == "rad/s^2"


def test_ros_2_messages(series, tmp_path):
    path = save_trajectory(series, tmp_path / "m.json", rate=3, joint_names=["a", "b"])
    message = json.loads(path.read_text())
    assert message["joint_names"] == ["a", "b"]
    point = message["points"][4]
    t = point["time_from_start"]["sec"] + 1e-9 * point["time_from_start"]["nanosec"]
    assert t == pytest.approx(4 / 3, abs=1e-9)
    assert point["positions"] == pytest.approx(series(4 / 3).q.tolist())
    assert point["accelerations"] == pytest.approx(series(4 / 3).qdd.tolist())


def test_yaml_is_the_same_message(series, tmp_path):
    yaml = pytest.importorskip("yaml")
    names = ["yes", "joint: 2"]  # words that YAML would take for something else, were they not quoted
    paths = [save_trajectory(series, tmp_path / name, rate=3, joint_names=names) for name in ("m.json", "m.yaml")]
    message, read = json.loads(paths[0].read_text()), yaml.safe_load(paths[1].read_text())
    assert read == message
    assert read["joint_names"] == names
    last = read["points"][-1]
    # As trajectory_msgs/JointTrajectoryPoint has it: float64[] and a Duration of integers.
    assert all(isinstance(x, float) for key in ("positions", "velocities", "accelerations") for x in last[key])
    assert last["time_from_start"] == {"sec": 2, "nanosec": 5_000_000}
    assert len(paths[1].read_text().splitlines()) == 2 + 4 * len(read["points"])


def test_small_numbers_are_numbers_in_yaml(tmp_path):
    yaml = pytest.importorskip("yaml")
    # YAML 1.1 takes 1e-07 for a string: a number needs a point.
    path = save_trajectory(FourierSeries([[1e-7, 0.0, 0.0]], 1.0, 1.0), tmp_path / "m.yaml", rate=2)
    points = yaml.safe_load(path.read_text())["points"]
    assert all(isinstance(x, float) for point in points for x in point["positions"] + point["velocities"])


def test_bad_requests(series, tmp_path):
    path, absent = tmp_path / "m.xls", tmp_path / "no" / "m.csv"
    cause = f"cannot write '{path}': unknown ending"
    with raises(ArmdynError, cause=cause, expected="one of .csv, .npz, .json, .yaml", names=(str(path),)):
        save_trajectory(series, path)
    with raises(ArmdynError, cause=re.compile("there is no folder"), names=(str(absent), str(absent.parent))):
        save_trajectory(series, absent)
    with raises(ArmdynError, expected="2 joint names", got="1"):
        save_trajectory(series, tmp_path / "m.json", joint_names=["a"])
    with raises(ArmdynError, expected="a rate > 0", got="0"):
        save_trajectory(series, tmp_path / "m.csv", rate=0)
