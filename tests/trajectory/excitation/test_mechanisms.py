"""Exciting motions of trees and of joints that follow others: limits of all joints, and links that keep apart."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import armdyn
from armdyn import Arm, Joint, Limits, Link
from armdyn.shapes.bodies import bodies_of
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.transform import transform
from armdyn.trajectory.excitation.clearance import Clearance
from armdyn.trajectory.excitation.motion_constraints import FollowerLimits

Y = (0.0, 1.0, 0.0)
BODY = Inertia.from_com(1.5, (0.12, 0.01, 0.02), np.diag([0.01, 0.02, 0.02]))
ROOM = Limits(-1.5, 1.5, velocity=3.0, effort=80.0)


def at(x: float, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    return transform(None, [x, y, z])


def parallelogram() -> Arm:
    past_shoulder = (("crank", 1.0), ("shoulder", -1.0))
    tight = Limits(-0.8, 0.5, velocity=2.0)
    joints = (
        Joint("waist", axis=(0, 0, 1), limits=ROOM),
        Joint("shoulder", axis=Y, before=at(0.1, 0, 0.5), limits=ROOM),
        Joint("crank", axis=Y, before=at(0.1, 0, 0.5), parent="column", limits=ROOM),
        Joint("elbow", axis=Y, before=at(0.4), parent="beam", follows=past_shoulder, limits=tight),
    )
    links = tuple(Link(name, BODY) for name in ("column", "beam", "crank link", "forearm"))
    return Arm(joints, links, name="parallelogram", tip_link="forearm", tool_pose=at(0.3))


def two_arms() -> Arm:
    joints = [Joint("torso", axis=(0, 0, 1), limits=ROOM)]
    for side, y in (("left", 0.15), ("right", -0.15)):
        joints += [
            Joint(f"{side} swing", axis=(0, 0, 1), before=at(0.0, y, 0.6), parent="trunk", limits=ROOM),
            Joint(f"{side} lift", axis=Y, before=at(0.1), limits=ROOM),
            Joint(f"{side} elbow", axis=Y, before=at(0.35), limits=ROOM),
        ]
    links = [Link("trunk", BODY)]
    for side in ("left", "right"):
        links += [Link(f"{side} {part}", BODY) for part in ("shoulder", "upper", "fore")]
    hands = (armdyn.Frame("left hand", "left fore", at(0.3)),)
    return Arm(tuple(joints), tuple(links), name="two arms", tool_pose=at(0.3), frames=hands).with_floor(0.0)


def test_limits_of_followers_hold_at_all_times():
    arm = parallelogram()
    motion = armdyn.excite(arm, 6.0, max_acceleration=15.0, steps=3, seed=1)
    t = np.linspace(0, 6, 2000)
    q, qd, _ = motion.trajectory(t)
    elbow, speed = (q @ arm.G.T)[:, 3], (qd @ arm.G.T)[:, 3]
    assert elbow.min() > -0.8
    assert elbow.max() < 0.5
    assert np.abs(speed).max() < 2.0
    # Without them the same search goes beyond.
    free = arm.with_joints([dataclasses.replace(j, limits=Limits()) if j.follows else j for j in arm.joints])
    wide = (armdyn.excite(free, 6.0, max_acceleration=15.0, steps=3, seed=1).trajectory(t)[0] @ arm.G.T)[:, 3]
    assert wide.max() - wide.min() > elbow.max() - elbow.min()


def test_slacks_of_followers_have_their_derivatives():
    arm = parallelogram()
    limits = FollowerLimits(arm, 0.1)
    rng = np.random.default_rng(0)
    states = tuple(rng.normal(size=(3, 4, arm.n)))
    weights = rng.normal(size=(4, 4))
    pull, step = limits.pull(states, weights), 1e-6
    for k, slope in enumerate(pull[:2]):
        for e in np.eye(arm.n):
            ahead, behind = (
                limits.slack(tuple(x + s * step * e * (i == k) for i, x in enumerate(states))) for s in (1, -1)
            )
            want = ((ahead - behind) * weights).sum(1) / (2 * step)
            np.testing.assert_allclose(slope @ e, want, atol=1e-6)


def test_arms_keep_off_each_other():
    arm = two_arms()
    clearance = Clearance(bodies_of(arm))
    pairs = set(clearance.named_columns)
    assert ("left fore", "right fore") in pairs
    assert ("left upper", "right fore") in pairs
    assert not pairs & {("left upper", "left fore"), ("left shoulder", "right shoulder")}
    q = np.random.default_rng(3).uniform(-1, 1, (200, arm.n))
    posed = clearance.bodies.at(q)
    # The gradient of a sum of forces on the capsules' ends is that of differences along each joint.
    force = np.random.default_rng(4).normal(size=(2, *posed.a.shape))
    slope, step = clearance.bodies.pull(posed, *force), 1e-6
    for e in np.eye(arm.n):
        ahead, behind = (clearance.bodies.at(q + s * step * e) for s in (1, -1))
        change = ((ahead.a - behind.a) * force[0] + (ahead.b - behind.b) * force[1]).sum((1, 2)) / (2 * step)
        np.testing.assert_allclose(slope @ e, change, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("maker", [parallelogram, two_arms])
def test_motions_are_found_and_keep_apart(maker):
    arm = maker()
    motion = armdyn.excite(arm, 8.0, max_acceleration=15.0, steps=2, seed=0)
    assert motion.condition_unit < 1e3
    kinds = {one.kind: one for one in motion.guarantees}
    assert kinds["self"].holds
    clearance = Clearance(bodies_of(arm))
    q = motion.trajectory(np.linspace(0, 8, 400)).q
    assert clearance.slack((q, 0 * q, 0 * q)).min() >= 0
