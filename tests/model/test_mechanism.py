"""Trees and joints that follow others as data: what is accepted, what is rejected, and files of them."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import Arm, Friction, Joint, Link
from armdyn.errors import ModelError
from armdyn.model.joint import Drive
from armdyn.model.mechanism import Frame
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.transform import transform


def link(name: str) -> Link:
    return Link(name, Inertia.from_com(1.0, (0.1, 0.0, 0.0), 0.01 * np.eye(3)))


def parallelogram() -> Arm:
    """A shoulder, an elbow driven past it by a crank, and the coupler between them, with lengths of 0.3 and 0.1 m."""
    z = (0.0, 1.0, 0.0)
    joints = (
        Joint("shoulder", axis=z),
        Joint("elbow", axis=z, before=transform(None, [0.3, 0.0, 0.0])),
        Joint("crank", axis=z, parent="base", follows=(("shoulder", 1.0), ("elbow", 1.0))),
        Joint("coupler", axis=z, before=transform(None, [-0.1, 0.0, 0.0]), follows=(("elbow", -1.0),)),
    )
    hand = Frame("hand", "forearm", transform(None, [0.25, 0.0, 0.0]))
    links = tuple(map(link, ("upper_arm", "forearm", "crank_link", "coupler_link")))
    return Arm(joints, links, name="parallelogram", frames=(hand,), tip_link="forearm")


def test_coordinates_of_a_parallelogram():
    arm = parallelogram()
    assert arm.coordinate_names == ("shoulder", "elbow")
    assert arm.n == 2
    assert arm.parents == (-1, 0, -1, 2)
    np.testing.assert_array_equal(arm.G, [[1, 0], [0, 1], [1, 1], [0, -1]])
    np.testing.assert_array_equal(arm.b, np.zeros(4))


def test_the_coupler_stays_on_the_forearm():
    """The loop closes: the coupler's end is where the forearm's rear end is, at every position."""
    arm = parallelogram()
    q = np.random.default_rng(0).uniform(-1, 1, (20, 2))
    rear = armdyn.link_poses(arm, q)[:, 1] @ [-0.1, 0.0, 0.0, 1.0]
    end = armdyn.link_poses(arm, q)[:, 3] @ [0.3, 0.0, 0.0, 1.0]
    np.testing.assert_allclose(end, rear, atol=1e-15)


@pytest.mark.parametrize("suffix", [".toml", ".urdf"])
def test_files_give_back_the_same_mechanism(tmp_path, suffix):
    arm = parallelogram()
    arm.save(tmp_path / f"arm{suffix}")
    back = armdyn.load(tmp_path / f"arm{suffix}")
    assert back.fingerprint == arm.fingerprint
    assert back.frames[0].name == "hand"
    np.testing.assert_array_equal(back.G, arm.G)


def joint(**changes: object) -> tuple[Joint, ...]:
    """Two joints, the second changed."""
    return Joint("a"), dataclasses.replace(Joint("b"), **changes)


@pytest.mark.parametrize(
    ("joints", "parts"),
    [
        (
            lambda: joint(parent="nowhere"),
            {"cause": "joint 'b' hangs on link 'nowhere', which is none of base, A, B", "names": ("b", "nowhere")},
        ),
        (
            lambda: joint(parent="B"),
            {"cause": "joint 'b' hangs on link 'B', whose joint comes later", "names": ("b", "B")},
        ),
        (
            lambda: joint(follows=(("c", 1.0),)),
            {"cause": "joint 'b' follows 'c', which is no joint of it", "names": ("b", "c")},
        ),
        (lambda: joint(follows=(("a", 0.0),)), {"cause": "follows 'a' with a ratio of 0", "names": ("a",)}),
        (lambda: joint(follows=(("a", 1.0), ("a", 2.0))), {"cause": "follows one joint twice"}),
        (lambda: joint(follows=("a",)), {"expected": "follows as pairs of a joint's name and a ratio"}),
        (lambda: joint(offset=0.1), {"cause": "an offset is for a joint that follows others"}),
        (
            lambda: (Joint("a", follows=(("b", 1.0),)), Joint("b", follows=(("a", 1.0),))),
            {"cause": "every joint follows another"},
        ),
        (
            lambda: joint(follows=(("a", 1.0),), friction=Friction(load=0.1)),
            {
                "cause": (
                    "joint 'b' follows others and has no drive of its own: expected neither "
                    "friction that grows with the load nor a coupled drive"
                ),
                "names": ("b",),
            },
        ),
        (
            lambda: joint(follows=(("a", 1.0),), drive=Drive(coupling=(1.0,))),
            {
                "cause": (
                    "joint 'b' follows others and has no drive of its own: expected neither "
                    "friction that grows with the load nor a coupled drive"
                ),
                "names": ("b",),
            },
        ),
    ],
)
def test_impossible_mechanisms_are_rejected_by_name(joints, parts):
    with raises(ModelError, **parts):
        Arm(joints(), (link("A"), link("B")))


def test_a_cycle_of_followers_is_named():
    joints = (Joint("a"), Joint("b", follows=(("c", 1.0),)), Joint("c", follows=(("b", 1.0), ("a", 1.0))))
    with raises(ModelError, cause="joints follow each other in a cycle: b -> c -> b"):
        Arm(joints, (link("A"), link("B"), link("C")))


def test_frames_that_are_not_there():
    arm = parallelogram()
    with raises(ModelError, names=("foot",), remedy="frames: tip, hand, upper_arm, forearm, crank_link, coupler_link"):
        armdyn.forward_kinematics(arm, np.zeros(2), frame="foot")
    with raises(
        ModelError,
        cause=("frame 'hand' is fixed in link 'X', which is none of upper_arm, forearm, crank_link, coupler_link"),
    ):
        dataclasses.replace(arm, frames=(Frame("hand", "X"),))
    with raises(ModelError, cause=re.compile("the tip is fixed in link 'X', which is none of")):
        dataclasses.replace(arm, tip_link="X")


def test_a_payload_at_a_frame_weighs_there():
    arm, q = parallelogram(), np.array([0.3, -0.4])
    loaded = arm.with_payload(2.0, com=(0.0, 0.0, 0.05), frame="hand")
    J = armdyn.jacobian(arm, q, point=(0.0, 0.0, 0.05), frame="hand")
    weight = -J[:3].T @ (2.0 * arm.gravity)
    np.testing.assert_allclose(armdyn.gravity_torque(loaded, q) - armdyn.gravity_torque(arm, q), weight, atol=1e-12)


CHAINS_ALONE = {
    "dh_parameters": armdyn.dh_parameters,
    "regressor16": lambda arm: armdyn.regressor16(arm, *np.zeros((3, arm.n))),
}


@pytest.mark.parametrize("name", CHAINS_ALONE)
def test_what_is_for_chains_alone_says_so(name):
    with raises(ModelError, cause=re.compile(f"^{name} is for .*mechanism of 4 joints of which 2 follow others")):
        CHAINS_ALONE[name](parallelogram())


MIMIC = """<robot name="hand">
<link name="base"/>
<link name="a"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<link name="b"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<link name="pad"/>
<joint name="left" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="right" type="revolute"><parent link="base"/><child link="b"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/><mimic joint="left" multiplier="-2" offset="0.5"/></joint>
<joint name="glue" type="fixed"><parent link="b"/><child link="pad"/><origin xyz="0.1 0 0"/></joint>
</robot>"""


def test_mimic_joints_follow_their_leader(tmp_path):
    (tmp_path / "hand.urdf").write_text(MIMIC)
    arm = armdyn.load(tmp_path / "hand.urdf", branches="keep")
    assert arm.n == 1
    assert arm.joints[1].follows == (("left", -2.0),)
    angle = -2 * 0.3 + 0.5
    pad = armdyn.forward_kinematics(arm, [0.3], frame="pad")
    np.testing.assert_allclose(pad[:3, 3], [0.1 * np.cos(angle), 0.1 * np.sin(angle), 0.0], atol=1e-15)


def test_joints_off_the_chain_are_held_where_asked(tmp_path):
    """The second body, with its centre 0.1 m from its joint, rides on the first and is turned as asked."""
    old, new = '<parent link="base"/><child link="b"/>', '<parent link="a"/><child link="b"/>'
    body = '<link name="b"><inertial><origin xyz="0.1 0 0"/>'
    text = MIMIC.replace(old, new).replace('<link name="b"><inertial>', body)
    (tmp_path / "hand.urdf").write_text(text.replace('<mimic joint="left" multiplier="-2" offset="0.5"/>', ""))
    for angle, hold in ((0.0, {}), (0.2, {"right": 0.2})):
        arm = armdyn.load(tmp_path / "hand.urdf", tip="a", hold=hold)
        assert arm.n == 1
        assert any("joints frozen at" in note for note in arm.notes)
        first = 0.1 * np.array([np.cos(angle), np.sin(angle), 0.0])
        np.testing.assert_allclose(arm.links[0].inertia.first, first, atol=1e-15)
    with raises(ModelError, names=("left",), expected="joints off the chain"):
        armdyn.load(tmp_path / "hand.urdf", tip="a", hold={"left": 0.2})
    with raises(ModelError, names=("thumb",), expected="joints off the chain"):
        armdyn.load(tmp_path / "hand.urdf", tip="a", hold={"thumb": 0.2})
    with raises(ModelError, where="hand.urdf: hold", expected="1 finite numbers", got="[nan]"):
        armdyn.load(tmp_path / "hand.urdf", tip="a", hold={"right": float("nan")})
