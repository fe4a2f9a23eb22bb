"""Payloads found on a known arm."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import DataError, ModelError


def test_mass_centre_and_inertia(puma, make_log):
    tensor = np.diag([0.02, 0.03, 0.025])
    loaded = puma.with_payload(2.0, [0.05, -0.02, 0.1], tensor)
    found = armdyn.identify_payload(puma, make_log(loaded, duration=30.0, noise=0.2))
    assert abs(found.mass - 2.0) < 4 * found.mass_std
    assert found.mass_std < 0.05
    assert np.all(np.abs(found.com - [0.05, -0.02, 0.1]) < 4 * found.com_std + 1e-3)
    np.testing.assert_allclose(found.inertia, tensor, atol=0.02)
    assert np.all(np.abs(found.inertia - tensor) < 4 * found.inertia_std)
    assert np.isfinite(found.inertia_std).all()
    assert np.linalg.eigvalsh(found.inertia).min() > 0
    np.testing.assert_allclose(found.arm.theta[:50], puma.theta[:50])
    assert found.rel_error < 0.03


def test_nothing_is_carried(puma, make_log):
    with raises(
        DataError,
        cause=re.compile("the torques show no payload: its mass is .* ± .* kg"),
        remedy="take a heavier one, or move all joints",
    ):
        armdyn.identify_payload(puma, make_log(puma))


def test_intervals_hold_whatever_the_tool_pose(puma, make_log):
    """Centre and inertia are told in the tip's axes, and so are their deviations."""
    tool = np.eye(4)
    tool[:3, :3], tool[:3, 3] = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]]), [0.1, 0.0, 0.05]
    arm = dataclasses.replace(puma, tool_pose=tool)
    tensor = np.diag([0.02, 0.04, 0.03])
    loaded = arm.with_payload(2.0, [0.05, -0.02, 0.1], tensor)
    z = []
    for seed in range(8):
        found = armdyn.identify_payload(arm, make_log(loaded, duration=20.0, seed=seed, motion=seed % 3))
        z.append((found.mass - 2.0) / found.mass_std)
        z.extend((found.com - [0.05, -0.02, 0.1]) / found.com_std)
    assert np.sqrt(np.mean(np.square(z))) < 1.5
    assert np.abs(z).max() < 4.5


def test_intervals_hold_what_the_model_of_the_arm_misses(puma, make_log):
    """Hoses, say, of 1 % of the torques: the same at every pass, so that longer logs do not average them out."""
    rng, z = np.random.default_rng(0), []
    for seed in range(3):
        log = make_log(puma.with_payload(2.0, [0.05, 0.0, 0.1]), seed=seed, motion=seed % 3, noise=0.02)
        hoses = 0.014 * np.sqrt(np.mean(log.tau**2, axis=0)) * np.sin(log.q + rng.uniform(0, 2 * np.pi, 6))
        found = armdyn.identify_payload(puma, dataclasses.replace(log, tau=log.tau + hoses))
        z.append((found.mass - 2.0) / found.mass_std)
    assert np.abs(z).max() < 2.5, z


def test_what_a_planar_arm_cannot_tell(two, make_log):
    """It moves in a plane: neither the centre's height nor inertia about axes in the plane are felt."""
    found = armdyn.identify_payload(two, make_log(two.with_payload(1.0, [0.1, 0.05, 0.0]), noise=0.02))
    assert abs(found.mass - 1.0) < 4 * found.mass_std
    assert np.isfinite(found.com_std[:2]).all()
    assert np.isinf(found.com_std[2])
    assert np.isfinite(found.inertia_std[2, 2])
    assert np.isinf(found.inertia_std[0, 0])


def test_the_weight_on_a_lift_is_not_taken_for_an_offset(make_log):
    """A lift feels weight that hardly changes: with an offset free, torques 20 ms early are a tenth of a kilogram."""
    arm = armdyn.arms.scara()
    arm = dataclasses.replace(
        arm,
        joints=tuple(
            dataclasses.replace(j, friction=armdyn.Friction(40.0, 5.0)) if j.kind == "prismatic" else j
            for j in arm.joints
        ),
    )
    log = make_log(arm.with_payload(2.0), noise=0.02, amplitude=0.1, base=0.05)
    found = armdyn.identify_payload(arm, dataclasses.replace(log, t=log.t[:-4], q=log.q[:-4], tau=log.tau[4:]))
    assert found.mass == pytest.approx(2.0, rel=0.02)


ON_TREES = {  # frames that carry a load, and their arms
    "left_hand": armdyn.arms.two_arms,
    "right_hand": armdyn.arms.two_arms,
    "arm_7_link": armdyn.arms.torso_arm,
    "forearm": armdyn.arms.palletizer,
    "flange": armdyn.arms.palletizer,
    "right_tip": armdyn.arms.gripper,
}


@pytest.mark.parametrize("frame", ON_TREES)
def test_a_load_at_a_frame_of_a_mechanism(frame, make_log):
    arm = ON_TREES[frame]()
    com, size = np.array([0.03, -0.02, 0.05]), 0.3 if arm.name == "palletizer" else 0.01
    loaded = arm.with_payload(1.5, com, np.diag([0.01, 0.012, 0.009]), frame=frame)
    load = armdyn.identify_payload(arm, make_log(loaded, noise=size, amplitude=0.6), frame=frame)
    assert load.frame == frame
    assert load.rel_error < 0.03
    assert abs(load.mass - 1.5) < 4 * load.mass_std + 1e-3
    known = np.isfinite(load.com_std)
    assert np.all(np.abs(load.com - com)[known] < 4 * load.com_std[known] + 1e-3)
    if arm.n > 4:  # enough joints to turn the load every way
        assert load.mass_std < 0.05
        assert known.all()
    others = np.arange(arm.n_joints) != arm.frame(frame)[0]
    np.testing.assert_array_equal(load.arm.theta.reshape(-1, 10)[others], arm.theta.reshape(-1, 10)[others])


def test_the_frame_of_a_load_must_exist(two, make_log):
    with raises(ModelError, cause=re.compile("has no frame"), names=("left_hand",)):
        armdyn.identify_payload(two, make_log(two), frame="left_hand")
