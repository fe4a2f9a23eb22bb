"""Wrenches and contact at frames of trees: as if each frame were the tip."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import Arm, Joint, Link, Plant
from armdyn.control.laws.pd import PD
from armdyn.errors import ModelError, ShapeError
from armdyn.model.mechanism import Frame
from armdyn.shapes.obstacles import HalfSpace
from armdyn.simulation.plant.contact import Contact
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.rotation import from_rpy
from armdyn.spatial.transform import transform

PULL = np.array([3.0, -2.0, 5.0, 0.1, 0.2, -0.3])


@pytest.fixture(scope="module")
def arm() -> Arm:
    """A trunk with two arms of two joints, one of which bends a finger along; hands are frames."""
    body = Inertia.from_com(1.5, (0.1, 0.02, 0.0), 0.02 * np.eye(3))
    joints, links = [Joint("trunk", axis=(0, 0, 1))], [Link("torso", body)]
    for side, y in (("left", 0.2), ("right", -0.2)):
        lifted = transform(None, [0, y, 0.5])
        joints.append(Joint(f"{side}_shoulder", axis=(0, 1, 0), before=lifted, parent="torso"))
        joints.append(Joint(f"{side}_elbow", axis=(0, 1, 0), before=transform(None, [0.3, 0, 0])))
        links += [Link(f"{side}_upper", body), Link(f"{side}_fore", body)]
    finger = Joint("finger", axis=(0, 1, 0), before=transform(None, [0.2, 0, 0]), follows=(("left_elbow", 0.5),))
    pose = transform(from_rpy([0.3, -0.2, 0.5]), [0.25, 0.0, 0.1])
    frames = tuple(Frame(f"{side}_hand", f"{side}_fore", pose) for side in ("left", "right"))
    tip = {"tip_link": "left_fore", "tool_pose": pose}
    links += [Link("fingertip", Inertia.from_com(0.2, (0.05, 0, 0), 1e-3 * np.eye(3)))]
    joints += [dataclasses.replace(finger, parent="left_fore")]
    return Arm(tuple(joints), tuple(links), name="trunk with two arms", frames=frames, **tip)


def run(arm: Arm, **options) -> np.ndarray:
    law = PD(arm, 20.0, 2.0)
    return armdyn.simulate(
        Plant(arm, **options), law, np.zeros(arm.n), 0.2, 1000, q0=np.full(arm.n, 0.1), check=False
    ).q


def test_a_wrench_at_a_frame_is_that_of_a_tip_there(arm):
    want = run(arm.with_tip("right_hand"), wrench=PULL)
    np.testing.assert_allclose(run(arm, wrench={"right_hand": PULL}), want, rtol=0, atol=1e-12)
    moving = run(arm, wrench={"right_hand": lambda t: (1 + t) * PULL})
    assert np.abs(moving - want).max() > 1e-5


def test_wrenches_at_both_hands_add_up(arm):
    """At rest torques hold both: the accelerations at the start are those of the sum."""
    turned = -PULL[::-1]
    both = run(arm, wrench={"tip": PULL, "right_hand": turned})
    np.testing.assert_allclose(both, run(arm, wrench={"left_hand": PULL, "right_hand": turned}), rtol=0, atol=1e-12)
    assert np.abs(both - run(arm, wrench=PULL)).max() > 1e-4
    q = np.full(arm.n, 0.1)
    force = np.zeros(arm.n)
    for frame, wrench in (("left_hand", PULL), ("right_hand", turned)):
        R = armdyn.forward_kinematics(arm, q, frame=frame)[:3, :3]
        force += armdyn.jacobian(arm, q, frame=frame).T @ np.concatenate([R @ wrench[:3], R @ wrench[3:]])
    tau = PD(arm, 20.0, 2.0)
    want = armdyn.forward_dynamics(arm, q, 0 * q, -20.0 * q + force)
    plant = Plant(arm, wrench={"left_hand": PULL, "right_hand": turned})
    start = armdyn.simulate(plant, tau, np.zeros(arm.n), 0.002, 10_000, q0=q, check=False)
    np.testing.assert_allclose(start.qd[1] / start.t[1], want, rtol=1e-2)


def test_contact_at_a_frame_is_that_of_its_place_in_the_link(arm):
    floor = HalfSpace(np.array([0.0, 0.0, 1.0]), 0.45)
    index, pose = arm.frame("right_hand")
    point = np.array([0.02, 0.0, -0.01])
    named = Contact([floor], points={"hand": ("right_hand", point)})
    numbered = Contact([floor], points={"hand": (index, pose[:3, :3] @ point + pose[:3, 3])})
    touched, want = run(arm, contact=named), run(arm, contact=numbered)
    np.testing.assert_allclose(touched, want, rtol=0, atol=1e-12)
    assert np.abs(touched - run(arm)).max() > 1e-4  # it does touch


def test_frames_that_do_not_exist_are_named(arm):
    with raises(ModelError, cause="arm 'trunk with two arms' has no frame 'third_hand'", names=("third_hand",)):
        Plant(arm, wrench={"third_hand": PULL})
    with raises(ModelError, cause="arm 'trunk with two arms' has no frame 'third_hand'", names=("third_hand",)):
        Plant(arm, contact=Contact([HalfSpace(np.array([0.0, 0, 1]), 0.0)], points={"x": ("third_hand", (0, 0, 0))}))
    with raises(ShapeError, where="Plant: wrench at 'right_hand'"):
        Plant(arm, wrench={"right_hand": PULL[:3]})
