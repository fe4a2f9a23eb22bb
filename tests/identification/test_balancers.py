"""Gas springs and hydraulic balancers: identified, saved, and known ones respected."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError, ModelError


def cylinder(q: np.ndarray, force: float = 130.0, foot: float = 0.3, lever: float = 0.2, at: float = 0.4) -> np.ndarray:
    """Torque that a drive must give against a gas spring between a point of the base and one of the link."""
    length = np.sqrt(foot**2 + lever**2 + 2 * foot * lever * np.cos(q - at))
    return -force * foot * lever * np.sin(q - at) / length


@pytest.fixture(scope="module")
def logs(two, make_log):
    """A log to fit to and one of another motion, both with a gas spring on the first joint."""
    found = []
    for motion in (0, 4):
        log = make_log(two, motion=motion, noise=0.02)
        found.append(dataclasses.replace(log, tau=log.tau + np.stack([cylinder(log.q[:, 0]), 0 * log.t], axis=1)))
    return found


def balanced(arm: armdyn.Arm, rows: tuple) -> armdyn.Arm:
    first, *rest = arm.joints
    return arm.with_joints([dataclasses.replace(first, drive=armdyn.Drive(balance=rows)), *rest])


def test_a_gas_spring_is_identified_and_saved(two, logs, tmp_path):
    name = two.joint_names[0]
    with_it = armdyn.identify(two, logs[0], balancers=[name])
    without = armdyn.identify(two, logs[0])
    assert "balancer" in with_it.structure[0]
    assert "balancer" not in with_it.structure[1]
    # The first wave about a level axis is a weight, and one with the link's.
    assert {"B2c1", "B2s1"} == {label for label in with_it.base.labels if label.startswith("B")}
    assert not with_it.undetermined
    assert with_it.arm.is_physical
    # Two waves leave the third of the cylinder's lever, some percent of its torque.
    assert with_it.validate(logs[1]).rel_error < 0.015 < 0.5 * without.validate(logs[1]).rel_error
    for path in (tmp_path / "a.toml", tmp_path / "a.urdf"):
        with_it.arm.save(path)
        assert armdyn.load(path).joints[0].drive.balance == with_it.arm.joints[0].drive.balance
        assert armdyn.validate(armdyn.load(path), logs[1], band=with_it.filters.band).rel_error < 0.02


def test_its_torque_is_what_the_rows_say(two):
    arm = balanced(two, ((1, 3.0, -2.0), (2, 0.5, 0.25)))
    q, rest = np.array([[0.3, 0.1], [-1.0, 0.7]]), np.zeros((2, 2))
    more = armdyn.joint_torque(arm, q, rest, rest) - armdyn.joint_torque(two, q, rest, rest)
    a = q[:, 0]
    wanted = 3 * np.cos(a) - 2 * np.sin(a) + 0.5 * np.cos(2 * a) + 0.25 * np.sin(2 * a)
    np.testing.assert_allclose(more, np.stack([wanted, 0 * a], axis=1), atol=1e-12)
    back = armdyn.joint_acceleration(arm, q, rest + 0.1, armdyn.joint_torque(arm, q, rest + 0.1, rest + 2.0))
    np.testing.assert_allclose(back, 2.0, atol=1e-9)


def test_a_described_balancer_is_looked_for(two, make_log):
    arm = balanced(two, ((1, 5.0, -8.0),))
    log = make_log(arm, noise=0.02)
    fit = armdyn.identify(two.with_joints(arm.joints), log)
    assert "balancer" in fit.structure[0]
    assert fit.validate(make_log(arm, motion=4, noise=0.0)).rel_error < 0.02


def test_poses_are_free_of_known_balancers(two):
    arm = balanced(two, ((2, 1.2, -0.9),))
    poses = np.random.default_rng(0).uniform(-1.2, 1.2, (30, 2))
    s = np.linspace(0, 1, 100)[:, None]
    moves = [a + (b - a) * (10 * s**3 - 15 * s**4 + 6 * s**5) for a, b in pairwise(poses)]
    q = np.concatenate([np.concatenate([move, np.tile(move[-1], (100, 1))]) for move in moves])
    qd = np.gradient(q, 0.01, axis=0)
    tau = armdyn.joint_torque(arm, q, qd, np.gradient(qd, 0.01, axis=0)) + 0.01 * np.random.default_rng(1).normal(
        size=q.shape
    )
    fit = armdyn.identify(arm.with_theta(1.1 * arm.theta), armdyn.Log(np.arange(len(q)) / 100, q, tau), terms="gravity")
    assert fit.rel_error < 0.01


def test_what_cannot_be(two, logs):
    with raises(ArmdynError, cause="arm 'planar2' has no joint 'elbow'; it has joint1, joint2", names=("elbow",)):
        armdyn.identify(two, logs[0], balancers=["elbow"])
    with raises(ModelError, where="drive", expected="balance as rows (order, cosine, sine)", got="((1, 2),)"):
        armdyn.Drive(balance=((1, 2),))
