"""Makers' and others' URDFs, where they are at hand: all load or are rejected for their reason."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynWarning, MissingInertiaError, ModelError
from armdyn.model.urdf.read import read_urdf
from armdyn.model.urdf.write import write_urdf

TIAGO = {"base": "torso_lift_link", "tip": "arm_7_link"}
HAND = {"tip": "panda_link8"}
FILES = {
    "kinova/jaco": {},
    "kuka_iiwa/iiwa14_pybullet": {},
    "kuka_iiwa/lbr_iiwa_14_r820_rtbdata": {},
    "kuka_lwr4/kuka_lwr4": {},
    "kuka_lwr4/kuka_lwr4_centroepiaggio": {},
    "kuka_lwr4/kuka_lwr4_cogimon": {},
    "kuka_lwr4/kuka_lwr4_gaz": {},
    "kuka_med7/med7dock": {},
    "panda/panda_arm": {},
    "panda/panda_pybullet": {},
    "panda/panda_with_hand": HAND,
    "puma560/puma560_robot_rtbdata": {},
    "tiago/tiago_no_hand": TIAGO,
    "ur/ur10_robot": {},
    "ur/ur3_robot": {},
    "ur/ur5_robot": {},
    "xarm/xarm7base": {},
}
WITHOUT_INERTIA = ("lbr_iiwa_14_r820_rtbdata", "puma560_robot_rtbdata")
# Their flaws are warned of: tensors that no body can have, and a gripper at which the chain ends.
FLAWED = ("kuka_lwr4_gaz", "tiago_no_hand", "panda_pybullet")


@pytest.fixture(scope="module")
def models(shared):
    return shared / "models"


def quietly(path, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ArmdynWarning)
        return read_urdf(path, **options)


def link_poses_and_torques_equal_pinocchios(path, arm, pinocchio_chain):
    chain = pinocchio_chain(path, arm.joint_names)
    q, qd, qdd = np.random.default_rng(0).uniform(-3, 3, (3, 100, arm.n))
    # Lengths of at most a few metres, a dozen products of rotations.
    np.testing.assert_allclose(
        armdyn.link_poses(arm, q), chain.poses(q, arm.link_names, arm.base_name), rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(
        armdyn.forward_kinematics(arm, q), chain.poses(q, (arm.tip_name,), arm.base_name)[:, 0], rtol=0, atol=1e-12
    )
    if path.stem in WITHOUT_INERTIA:
        with raises(MissingInertiaError, cause=re.compile("lacks all ten")):
            armdyn.inverse_dynamics(arm, q, qd, qdd)
        return
    tau = chain.torques(q, qd, qdd)
    np.testing.assert_allclose(
        armdyn.inverse_dynamics(arm, q, qd, qdd), tau, rtol=0, atol=1e-12 * max(1.0, np.abs(tau).max())
    )


def round_trips_are_exact(path, arm, out, **options):
    write_urdf(arm, out)
    assert quietly(out).fingerprint == arm.fingerprint
    write_urdf(arm, out, onto=path)
    assert quietly(out, **options).fingerprint == arm.fingerprint


def only_flawed_files_warn(path, **options):
    if path.stem in FLAWED:
        with pytest.warns(ArmdynWarning):
            read_urdf(path, **options)
    else:
        read_urdf(path, **options)  # warnings are errors here


def test_all_are_read_as_pinocchio_does_and_written_again(models, pinocchio_chain, tmp_path):
    for name, options in FILES.items():
        path = models / f"{name}.urdf"
        only_flawed_files_warn(path, **options)
        arm = quietly(path, **options)
        link_poses_and_torques_equal_pinocchios(path, arm, pinocchio_chain)
        round_trips_are_exact(path, arm, tmp_path / "out.urdf", **options)


def test_bad_files_are_rejected_by_joint_and_link(models):
    with raises(
        ModelError, where="kuka_lwr4_identified.urdf: joint 'lwr_3_joint'", cause=re.compile("friction is negative")
    ):
        read_urdf(models / "kuka_lwr4" / "kuka_lwr4_identified.urdf")
    with raises(
        ModelError,
        cause="moving joints fork at link 'base_link'",
        remedy=(
            "choose a chain with tip= (leaves: wrist_ft_tool_link, xtion_optical_frame, "
            "xtion_depth_optical_frame, xtion_rgb_optical_frame, wheel_right_link, wheel_left_link)"
        ),
        names=("base_link",),
    ):
        read_urdf(models / "tiago" / "tiago_no_hand.urdf", branches="refuse")
    with raises(ModelError, names=("panda_link7",)):
        read_urdf(models / "panda" / "panda_with_hand.urdf", **HAND, branches="refuse")


def test_the_hand_is_not_counted_twice(models, tmp_path):
    pin = pytest.importorskip("pinocchio")
    for onto in (False, True):
        hand_is_not_counted_twice(pin, models, tmp_path, onto)


def hand_is_not_counted_twice(pin, models, tmp_path, onto):
    path, out = models / "panda" / "panda_with_hand.urdf", tmp_path / "identified.urdf"
    arm = read_urdf(path, **HAND)
    parts = [0.735522, 0.73, 0.015, 0.015]  # masses of link7, hand and fingers in the file
    assert arm.links[-1].inertia.mass == pytest.approx(sum(parts), rel=1e-12)
    identified = arm.with_theta(1.07 * arm.theta)
    write_urdf(identified, out, onto=path if onto else None)
    back = read_urdf(out, **HAND)
    np.testing.assert_array_equal(back.theta, identified.theta)
    model = pin.buildModelFromUrdf(str(out))
    carried = sum(inertia.mass for inertia in list(model.inertias)[1:])
    assert carried == pytest.approx(identified.theta[::10].sum(), rel=1e-13)
    # A second round changes nothing.
    write_urdf(back, out, onto=out if onto else None)
    np.testing.assert_array_equal(read_urdf(out, **HAND).theta, identified.theta)


def test_invented_missing_and_zero_data_are_pointed_out(models):
    found = armdyn.diagnose(quietly(models / "panda" / "panda_pybullet.urdf"))
    assert [f for f in found if f.topic == "invented" and "'panda_link1'" in f.where and "sphere" in f.text]
    published = armdyn.diagnose(read_urdf(models / "panda" / "panda_with_hand.urdf", **HAND))
    assert not [f for f in published if f.topic == "invented" and f.where != "friction"]
    found = armdyn.diagnose(read_urdf(models / "kuka_iiwa" / "lbr_iiwa_14_r820_rtbdata.urdf"))
    assert {(f.topic, f.where) for f in found} >= {("missing", "all links"), ("limits", "all joints")}
    assert any("effort limit 0" in f.text for f in found)
