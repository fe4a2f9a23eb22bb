"""Coupled drives in words."""

from __future__ import annotations

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ModelError
from armdyn.model.coupling import describe_coupling


@pytest.fixture
def puma():
    return armdyn.arms.puma560()


def row(entries):
    return tuple(float(entries.get(j, j == 5)) for j in range(6))


@pytest.mark.parametrize(
    ("text", "wanted", "told"),
    [
        ("5+6", row({4: 1.0}), "joints 5 and 6 share a drive: q5 + q6"),
        ("6+5", row({4: 1.0}), "joints 5 and 6 share a drive: q5 + q6"),
        ("5 - 6", row({4: -1.0}), "joints 5 and 6 share a drive: q6 - q5"),
    ],
)
def test_two_joints_in_words(puma, text, wanted, told):
    arm = puma.with_coupling(text)
    assert arm.joints[5].drive.coupling == wanted
    assert [joint.drive.coupling for joint in arm.joints[:5]] == [()] * 5
    assert describe_coupling(arm) == [told]


def test_names_numbers_and_several(puma):
    names = puma.joint_names
    arm = puma.with_coupling([f"{names[3]}-{names[4]}", "5+6"])
    np.testing.assert_array_equal(arm.coupling[4:, 3:], [[-1, 1, 0], [0, 1, 1]])
    np.testing.assert_array_equal(arm.with_coupling(arm.coupling).coupling, arm.coupling)
    assert arm.with_coupling([]).coupling is arm.with_coupling("none").coupling is None
    assert describe_coupling(puma) == []


def test_a_matrix_in_words(puma):
    C = np.eye(6)
    C[5, 3:5] = -0.25, 0.5
    assert describe_coupling(puma.with_coupling(C)) == ["joints 4, 5 and 6 share a drive: 0.5 q5 + q6 - 0.25 q4"]


@pytest.mark.parametrize(
    ("given", "parts"),
    [
        ("5", {"expected": "two joints with + or - between, by number or name, such as '5+6'"}),
        ("5*6", {"expected": "two joints with + or - between, by number or name, such as '5+6'"}),
        ("5+7", {"cause": "arm 'puma560' has no joint 7", "names": ("7",)}),
        ("0+1", {"cause": "arm 'puma560' has no joint 0", "names": ("0",)}),
        ("6+6", {"cause": "names the same joint twice"}),
        (["5+6", "6-5"], {"cause": "the drive of joint 6 is in '5+6' already", "names": ("5+6",)}),
        (["5+6", 3], {"expected": "a coupling such as '5+6', or a matrix (6, 6)"}),
        (np.eye(5), {"expected": "a coupling such as '5+6', or a matrix (6, 6)"}),
        (np.full((6, 6), np.nan), {"expected": "a coupling such as '5+6', or a matrix (6, 6)"}),
        (np.ones((6, 6)), {"cause": "the coupling matrix of the drives is singular"}),
        (None, {"expected": "a coupling such as '5+6', or a matrix (6, 6)"}),
    ],
)
def test_mistakes_are_named(puma, given, parts):
    with raises(ModelError, **parts):
        puma.with_coupling(given)


@pytest.mark.parametrize("suffix", ["toml", "urdf"])
def test_files_keep_coupled_drives(puma, suffix, tmp_path):
    """With their friction: what a URDF's standard elements cannot hold stands in armdyn's own element."""
    friction = armdyn.Friction(1.0, 0.5, load=0.1)
    arm = puma.with_coupling(["4-5", "5+6"])
    arm = arm.with_joints(armdyn.Joint(**{**vars(j), "friction": friction}) for j in arm.joints)
    arm.save(tmp_path / f"arm.{suffix}")
    again = armdyn.load(tmp_path / f"arm.{suffix}")
    np.testing.assert_array_equal(again.coupling, arm.coupling)
    state = np.random.default_rng(0).normal(size=(3, 6))
    np.testing.assert_allclose(armdyn.joint_torque(again, *state), armdyn.joint_torque(arm, *state), rtol=1e-9)
