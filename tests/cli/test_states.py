"""The commands that answer for states: fk, ik, torque, linearize, regressor."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.raising import raises
from typer.testing import CliRunner

import armdyn
from armdyn.cli.app import app
from armdyn.errors import ArmdynWarning, ReadError

ARM = armdyn.arms.puma560()
Q = [0.1, -0.7, 0.4, 0.3, 0.5, -0.2]
QD = [0.5, -0.4, 0.3, 0.2, 0.1, -0.6]
QDD = [1.0, 2.0, -1.0, 0.5, 0.0, 3.0]


def text(values: list[float]) -> str:
    return " ".join(map(str, values))


def run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False, env={"COLUMNS": "120"})
    assert result.exit_code == code, result.output
    return result.stdout


@pytest.fixture
def states(tmp_path):
    """A file of five states, and their arrays."""
    rng = np.random.default_rng(1)
    q, qd, qdd = rng.uniform(-0.7, 0.7, (3, 5, 6))
    header = ",".join(["t", *(f"{kind}{i + 1}" for kind in ("q", "qd", "qdd") for i in range(6))])
    path = tmp_path / "states.csv"
    rows = np.hstack([np.arange(5)[:, None] / 10, q, qd, qdd])
    np.savetxt(path, rows, delimiter=",", header=header, comments="", fmt="%.17g")
    return str(path), q, qd, qdd


def test_fk_of_one_state():
    data = json.loads(run("fk", "puma560", "--q", text(Q), "--links", "--json"))
    np.testing.assert_array_equal(data["pose"], armdyn.forward_kinematics(ARM, Q))
    np.testing.assert_array_equal(data["link_poses"], armdyn.link_poses(ARM, Q))
    shown = run("fk", "puma560", "--q", text(Q), "--links")
    assert "roll pitch yaw [deg]" in shown
    assert "link6" in shown


def test_degrees_are_for_what_is_given_only():
    turned = run("fk", "scara", "--q", "90 0 0.1 0", "--degrees", "--json")
    assert turned == run("fk", "scara", "--q", f"{np.pi / 2} 0 0.1 0", "--json")


def test_many_poses_there_and_back(states, tmp_path):
    file, q, _, _ = states
    run("fk", "puma560", "--states", file, "--out", str(tmp_path / "poses.csv"))
    shown = run("ik", "puma560", "--poses", str(tmp_path / "poses.csv"), "--out", str(tmp_path / "q.csv"))
    assert "5 of 5 poses solved" in shown
    table = np.genfromtxt(tmp_path / "q.csv", delimiter=",", names=True)
    back = np.column_stack([table[f"q{i + 1}"] for i in range(6)])
    # 1e-12: round-off of the closed form and of 17 digits in two files
    poses = armdyn.forward_kinematics(ARM, q)
    np.testing.assert_allclose(armdyn.forward_kinematics(ARM, back), poses, atol=1e-12)


def test_ik_shows_every_branch():
    shown = run("ik", "puma560", "--position", "0.5 0.1 0.4", "--rpy", "0 90 0", "--degrees")
    assert all(name in shown for name in ("left, up, no flip", "right, down, flip"))
    data = json.loads(run("ik", "puma560", "--position", "0.5 0.1 0.4", "--quaternion", "1 0 1 0", "--json"))
    assert len(data["all_solutions"]) == 8
    np.testing.assert_allclose(armdyn.forward_kinematics(ARM, data["q"])[:3, 3], [0.5, 0.1, 0.4], atol=1e-9)


def test_ik_of_a_position_stays_near_where_the_arm_begins():
    data = json.loads(run("ik", "puma560", "--position", "0.5 0.1 0.4", "--json"))
    np.testing.assert_allclose(armdyn.forward_kinematics(ARM, data["q"])[:3, 3], [0.5, 0.1, 0.4], atol=1e-9)
    assert np.abs(data["q"]).max() < 0.3  # the tip is 0.1 m from there at zero


def test_ik_out_of_reach_exits_with_1_and_says_by_how_much():
    assert "out of reach by 1.12 m" in run("ik", "puma560", "--position", "2 0 0", code=1)


def test_torque_parts_add_up_to_the_whole():
    data = json.loads(
        run(
            "torque",
            "puma560",
            "--q",
            text(Q),
            "--qd",
            text(QD),
            "--qdd",
            text(QDD),
            "--wrench",
            "1 2 3 0 0 1",
            "--json",
        )
    )
    whole = armdyn.joint_torque(ARM, Q, QD, QDD, np.array([1.0, 2, 3, 0, 0, 1]))
    np.testing.assert_array_equal(data["total"], whole)
    parts = ("inertia", "velocity", "gravity", "tip load", "friction and drive")
    # Round-off of torques below 100 N m
    np.testing.assert_allclose(np.sum([data[name] for name in parts], axis=0), whole, atol=1e-12)
    np.testing.assert_allclose(data["inertia"], armdyn.mass_matrix(ARM, Q) @ QDD, atol=1e-12)
    np.testing.assert_allclose(data["gravity"], armdyn.gravity_torque(ARM, Q), atol=1e-12)


def test_torque_of_a_file_of_states(states, tmp_path):
    file, q, qd, qdd = states
    run("torque", "puma560", "--states", file, "--out", str(tmp_path / "tau.csv"))
    table = np.genfromtxt(tmp_path / "tau.csv", delimiter=",", names=True)
    np.testing.assert_array_equal(table["t"], np.arange(5) / 10)
    np.testing.assert_array_equal(table["tau2"], armdyn.joint_torque(ARM, q, qd, qdd)[:, 1])
    assert "tau6" in run("torque", "puma560", "--states", file)


def test_linearize(states, tmp_path):
    data = json.loads(run("linearize", "puma560", "--q", text(Q), "--qd", text(QD), "--rigid", "--json"))
    expected = armdyn.linearize(ARM, Q, QD, np.zeros(6))
    for name in ("M", "C", "K", "A", "B"):
        np.testing.assert_array_equal(data[name], getattr(expected, name))
    assert len(data["poles"]) == 12
    assert "Poles of the open loop" in run("linearize", "planar2")
    file, q, qd, qdd = states
    run("linearize", "puma560", "--states", file, "--out", str(tmp_path / "matrices.npz"))
    with np.load(tmp_path / "matrices.npz") as saved:
        np.testing.assert_array_equal(saved["A"], armdyn.linearize(ARM, q, qd, qdd, model="full").A)
    run("linearize", "puma560", "--states", file, "--out", str(tmp_path / "matrices.csv"))
    table = np.genfromtxt(tmp_path / "matrices.csv", delimiter=",", names=True)
    np.testing.assert_array_equal(table["A12_1"], armdyn.linearize(ARM, q, qd, qdd, model="full").A[:, 11, 0])


def test_regressor(states, tmp_path):
    data = json.loads(run("regressor", "planar2", "--q", "0.1 0.2", "--qd", "1 1", "--json"))
    np.testing.assert_array_equal(data["Y"], armdyn.regressor(armdyn.arms.planar2(), [0.1, 0.2], [1, 1], [0, 0]))
    assert len(data["parameters"]) == 20
    file, q, qd, qdd = states
    assert "rank 30 of 36" in run("regressor", "puma560", "--states", file, "--reduced")  # five states of six joints
    run("regressor", "puma560", "--states", file, "--reduced", "--out", str(tmp_path / "Y.npz"))
    with np.load(tmp_path / "Y.npz") as saved:
        np.testing.assert_array_equal(saved["Y"], armdyn.base_parameters(ARM).regressor(q, qd, qdd))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fk", "puma560", "--q", "1 2"), "--q: expected 6 numbers, got 2"),
        (("fk", "puma560", "--q", "1 2 3 4 5 x"), "--q: expected 6 numbers such as"),
        (("fk", "puma560", "--q", "1 2 3 4 5 nan"), "--q: expected finite numbers"),
        (("ik", "puma560"), "expected --position"),
        (("ik", "puma560", "--position", "0 0 1", "--rpy", "0 0 0", "--quaternion", "1 0 0 0"), "got both"),
        (("torque", "puma560", "--states", "{file}", "--q", "1"), "not both"),
    ],
)
def test_a_line_that_cannot_be_read_is_wrong_usage(states, arguments, message):
    result = CliRunner().invoke(
        app, [argument.format(file=states[0]) for argument in arguments], env={"COLUMNS": "200"}
    )
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (
            ("torque", "panda", "--states", "{file}"),
            {"cause": "no column 'q7'", "expected": "q1 .. q7", "names": ("q7",)},
        ),
        (
            ("fk", "puma560", "--states", "{file}", "--out", "x.txt"),
            {"cause": "cannot write 'x.txt': expected the ending .csv or .npz", "names": ("x.txt",)},
        ),
        (("fk", "puma560", "--states", "nosuch.csv"), {"where": "nosuch.csv"}),
    ],
)
def test_a_file_that_cannot_be_used_is_one_sentence(states, arguments, parts):
    with raises(ReadError, **parts):
        run(*(argument.format(file=states[0]) for argument in arguments))


@pytest.mark.parametrize("command", ["fk", "torque", "linearize", "regressor"])
def test_json_stays_json_when_a_file_is_written_too(states, tmp_path, command):
    file = tmp_path / "out.npz"
    json.loads(run(command, "puma560", "--states", states[0], "--out", str(file), "--json"))
    assert file.exists()


def test_a_hole_in_a_file_of_states_is_named(tmp_path):
    (tmp_path / "hole.csv").write_text("q1,q2\n0.1,0.2\n0.3,\n")
    with raises(ReadError, names=("q2",)):
        run("fk", "planar2", "--states", str(tmp_path / "hole.csv"))


def test_a_hole_in_a_file_of_poses_is_named(tmp_path):
    (tmp_path / "hole.csv").write_text("x,y,z\n0.1,0.2,0.3\n0.3,,0.1\n")
    with raises(ReadError, cause="no number in column 'y' of row 2", names=("y",)):
        run("ik", "puma560", "--poses", str(tmp_path / "hole.csv"))


def test_angles_that_seem_degrees_are_warned_of():
    with pytest.warns(ArmdynWarning, match="roll, pitch, yaw up to 180 rad .* give --degrees"):
        run("ik", "puma560", "--position", "0.5 0.1 0.4", "--rpy", "180 0 0")
    with pytest.warns(ArmdynWarning, match="positions up to 90 rad .* give --degrees"):
        run("fk", "puma560", "--q", "90 0 0 0 0 0")
