"""Loading and saving by suffix, and files that are not what they claim to be."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import Arm, load
from armdyn.errors import ArmdynError, ReadError
from armdyn.files import MAX_TEXT_BYTES
from armdyn.model.convert import not_held
from armdyn.spatial.rotation import nearest_rotation
from armdyn.spatial.transform import transform

ROWS = [
    {"kind": "R", "alpha": np.pi / 2, "mass": 2.0, "com": (0.1, 0, 0), "inertia": 0.1 * np.eye(3), "limits": (-1, 1)},
    {"kind": "P", "a": 0.3, "theta": 0.4, "mass": 1.0, "com": (0, 0, 0.2), "inertia": 0.1 * np.eye(3)},
]


@pytest.fixture
def arm():
    return Arm.from_dh(ROWS, name="two")


def test_toml_gives_the_same_arm_back(arm, tmp_path):
    arm.save(tmp_path / "arm.toml")
    again = load(tmp_path / "arm.toml")
    assert again.fingerprint == arm.fingerprint
    assert load(str(tmp_path / "arm.toml"), base="base", tip="tip").fingerprint == arm.fingerprint


def test_urdf_gives_the_same_arm_back(arm, tmp_path, chain_poses):
    arm.save(tmp_path / "arm.urdf")
    again = load(tmp_path / "arm.urdf")
    np.testing.assert_allclose(again.theta, arm.theta, rtol=0, atol=1e-14)
    q = [0.3, 0.2]
    np.testing.assert_allclose(chain_poses(again, q)[1], chain_poses(arm, q)[1], rtol=0, atol=1e-14)


def test_a_toml_holds_one_chain(arm, tmp_path):
    arm.save(tmp_path / "arm.toml")
    with raises(
        ReadError,
        cause="the chain's tip is 'tip', not 'hand'; only URDF and MJCF offer a choice of chains",
        names=("tip", "hand"),
    ):
        load(tmp_path / "arm.toml", tip="hand")


def test_nothing_is_written_half(arm, tmp_path, monkeypatch):
    path = tmp_path / "arm.toml"
    path.write_text("old")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        arm.save(path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["arm.toml"]


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        (
            "a.stl",
            b"",
            {"cause": ("unknown kind of file '.stl'; expected .urdf, .xml (MJCF), .xacro, .toml, .csv or .dyn")},
        ),
        ("a", b"", {"cause": "unknown kind of file ''; expected .urdf, .xml (MJCF), .xacro, .toml, .csv or .dyn"}),
        ("a.xml", b"<html/>", {"expected": "an MJCF with root element <mujoco>", "got": "<html>"}),
        ("a.toml", b"\xff\xfe\x00", {"expected": "UTF-8 text", "got": "other bytes at position 0"}),
        ("a.csv", "kind,a\nR,1\n".encode("utf-16"), {"expected": "UTF-8 text"}),
        ("a.toml", b"[[joint]]\nname = ", {"cause": re.compile("not a TOML file, or truncated")}),
        ("a.toml", b"", {"expected": re.compile(r"one of \[\[joint\]\] \(complete arm\)")}),
    ],
)
def test_files_that_are_not_what_they_claim_are_rejected(tmp_path, name, content, parts):
    path = tmp_path / name
    path.write_bytes(content)
    with raises(ReadError, **parts):
        load(path)


@pytest.mark.parametrize("suffix", ["urdf", "toml", "csv"])
def test_files_that_cannot_be_read(tmp_path, suffix):
    with raises(ReadError, cause=re.compile("no such file")):
        load(tmp_path / f"absent.{suffix}")
    folder = tmp_path / f"folder.{suffix}"
    folder.mkdir()
    with raises(ReadError, cause="is a folder"):
        load(folder)
    with pytest.raises(ArmdynError):
        load(f"nul\0.{suffix}")


@pytest.mark.parametrize("suffix", ["urdf", "toml", "csv"])
def test_a_huge_file_is_rejected_before_it_is_read(tmp_path, suffix):
    path = tmp_path / f"huge.{suffix}"
    with path.open("wb") as stream:
        stream.truncate(1_000_000_000)  # a hole: it takes no space, but reading it would take a gigabyte
    assert path.stat().st_size > MAX_TEXT_BYTES
    with raises(ReadError, cause="the file has 1000 MB, more than the 50 MB allowed"):
        load(path)


def test_a_byte_order_mark_does_no_harm(arm, tmp_path):
    arm.save(tmp_path / "arm.toml")
    (tmp_path / "bom.toml").write_bytes(b"\xef\xbb\xbf" + (tmp_path / "arm.toml").read_bytes())
    assert load(tmp_path / "bom.toml").fingerprint == arm.fingerprint


def test_saving_elsewhere_is_rejected(arm, tmp_path):
    with raises(
        ArmdynError,
        cause=re.compile(r"unknown kind of file '\.json' in '.*'"),
        expected=".urdf, .xml (MJCF), .toml or .csv",
    ):
        arm.save(tmp_path / "arm.json")

    with raises(ArmdynError, cause="onto= keeps the contents of a URDF or MJCF; other files are always written anew"):
        arm.save(tmp_path / "arm.toml", onto=tmp_path / "arm.urdf")


def test_load_is_public():
    assert armdyn.load is load


def test_a_dh_table_of_any_arm(tmp_path):
    arm = armdyn.arms.ur10()
    arm.save(tmp_path / "ur.csv")
    table = armdyn.dh_parameters(arm)
    back = armdyn.Arm.from_dh(str(tmp_path / "ur.csv"), base_pose=table.base_pose, tool_pose=table.tool_pose)
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 5, arm.n))
    want = armdyn.inverse_dynamics(arm, q, qd, qdd)
    np.testing.assert_allclose(armdyn.inverse_dynamics(back, q, qd, qdd), want, atol=1e-12 * np.abs(want).max())


@pytest.mark.parametrize("seed", range(4))
def test_a_dh_table_keeps_gravity_whatever_the_base_pose(tmp_path, seed):
    """The table has no place for the base's pose: gravity is written in its own frame 0."""
    rng = np.random.default_rng(seed)
    turn = [np.diag([1.0, -1.0, -1.0]), *(nearest_rotation(rng.normal(size=(3, 3))) for _ in range(3))][seed]
    arm = dataclasses.replace(armdyn.arms.ur10(), base_pose=transform(turn, (0.1, -0.2, 2.5)))
    arm.save(tmp_path / "hung.csv")
    q, qd, qdd = rng.uniform(-1, 1, (3, 5, arm.n))
    want = armdyn.inverse_dynamics(arm, q, qd, qdd)
    found = armdyn.inverse_dynamics(load(tmp_path / "hung.csv"), q, qd, qdd)
    np.testing.assert_allclose(found, want, atol=1e-12 * np.abs(want).max())
    assert any("base_pose= and gravity=" in line for line in not_held(arm, ".csv"))


def test_a_number_is_no_file():
    with raises(ReadError, where="load", expected="the path of a file", got="3"):
        armdyn.load(3)
