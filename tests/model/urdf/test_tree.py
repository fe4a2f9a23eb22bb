"""Which links and joints make a tree, and which chain is chosen in it."""

from __future__ import annotations

import pytest
from tests.raising import raises

from armdyn.errors import ArmdynWarning, ModelError
from armdyn.model.urdf.read import read_urdf
from armdyn.model.urdf.tree import MAX_JOINTS

JOINT = '<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/><limit lower="-1" upper="1"/></joint>'


def robot(tmp_path, links: str, *joints: tuple[str, str, str, str]):
    """A URDF with links named by letters, and joints (name, type, parent, child)."""
    body = "".join(f'<link name="{name}"/>' for name in links) + "".join(JOINT.format(*j) for j in joints)
    path = tmp_path / "tree.urdf"
    path.write_text(f"<robot>{body}</robot>")
    return path


@pytest.mark.parametrize(
    ("links", "joints", "parts"),
    [
        ("ab", [("j", "fixed", "a", "b")], {"cause": "the file has no revolute or prismatic joint", "names": ("a",)}),
        ("abc", [("j", "revolute", "a", "b")], {"names": ("a", "c"), "expected": "one such link, the base"}),
        (
            "abc",
            [("j", "revolute", "a", "b"), ("k", "revolute", "c", "b")],
            {
                "cause": "link 'b' hangs on two joints, 'j' and 'k'",
                "names": ("b", "j", "k"),
                "remedy": "remove one of them: closed loops are not supported",
            },
        ),
        (
            "ab",
            [("j", "revolute", "a", "b"), ("k", "revolute", "b", "a")],
            {"cause": "every link is the child of a joint, so the joints form a loop"},
        ),
        ("abc", [("j", "revolute", "b", "c"), ("k", "revolute", "c", "b")], {"cause": "links b, c form a closed loop"}),
        (
            "a",
            [("j", "revolute", "a", "a")],
            {"cause": "every link is the child of a joint, so the joints form a loop"},
        ),
        (
            "ab",
            [("j", "revolute", "a", "z")],
            {"where": "tree.urdf: joint 'j'", "cause": "its child link 'z' is not in the file", "names": ("z",)},
        ),
        ("aab", [("j", "revolute", "a", "b")], {"cause": "there are two links named 'a'", "names": ("a",)}),
        (
            "abc",
            [("j", "revolute", "a", "b"), ("j", "revolute", "b", "c")],
            {"cause": "there are two joints named 'j'", "names": ("j",)},
        ),
        (
            "ab",
            [("j", "hinge", "a", "b")],
            {
                "cause": "unknown type 'hinge'",
                "expected": "one of revolute, continuous, prismatic, fixed, floating, planar",
                "names": ("hinge",),
            },
        ),
        (
            "ab",
            [("j", "floating", "a", "b")],
            {"cause": "a 'floating' joint has several freedoms", "names": ("floating",)},
        ),
        ("ab", [("j", "planar", "a", "b")], {"cause": "a 'planar' joint has several freedoms", "names": ("planar",)}),
    ],
)
def test_what_is_not_a_chain_is_rejected(tmp_path, links, joints, parts):
    with raises(ModelError, **parts):
        read_urdf(robot(tmp_path, links, *joints))


def test_a_mimic_without_a_joint_or_a_multiplier_is_held(tmp_path):
    path = robot(tmp_path, "abc", ("j", "revolute", "a", "b"), ("k", "revolute", "b", "c"))
    text = path.read_text()

    def mimicking(tag: str):
        path.write_text(text.replace('<child link="c"/>', f'<child link="c"/><mimic {tag}/>'))
        return read_urdf(path, branches="keep")

    assert mimicking('joint="j"').joints[1].follows == (("j", 1.0),)
    for tag, note in (
        ('joint="x" offset="0.2"', "joint 'k' mimics 'x', which is no joint of the file, and is held at 0.2"),
        ('joint="j" multiplier="0"', "joint 'k' mimics 'j' with a multiplier of 0 and is held at 0"),
    ):
        still = mimicking(tag)
        assert still.n_joints == 1
        assert note in still.notes


FORKS = [
    (
        "abc",
        [("j", "revolute", "a", "b"), ("k", "revolute", "a", "c")],
        (-1, -1),
        {
            "cause": "moving joints fork at link 'a'",
            "remedy": "choose a chain with tip= (leaves: b, c)",
            "names": ("a",),
        },
    ),
    (
        "abcd",
        [("j", "revolute", "a", "b"), ("k", "revolute", "b", "c"), ("l", "revolute", "b", "d")],
        (-1, 0, 0),
        {"remedy": "choose a chain with tip= (leaves: c, d)", "names": ("b",)},
    ),
]


@pytest.mark.parametrize(("links", "joints", "parents", "parts"), FORKS)
def test_a_fork_that_is_no_hand_gives_the_tree(tmp_path, links, joints, parents, parts):
    path = robot(tmp_path, links, *joints)
    assert read_urdf(path).parents == parents
    with raises(ModelError, **parts):
        read_urdf(path, branches="refuse")


def test_tip_and_the_whole_tree_exclude_each_other(tmp_path):
    path = robot(tmp_path, *FORKS[0][:1], *FORKS[0][1])
    with raises(ModelError, cause="tip= chooses one chain and branches='keep' the whole tree"):
        read_urdf(path, tip="b", branches="keep")


def test_names_that_are_missing(tmp_path):
    path = tmp_path / "nameless.urdf"
    path.write_text("<robot><link/></robot>")
    with raises(ModelError, where="nameless.urdf: link 1", names=("name",)):
        read_urdf(path)
    path.write_text('<robot><link name="a"/><joint type="fixed"/></robot>')
    with raises(
        ModelError, where="nameless.urdf: joint 1", cause="<joint> lacks the attribute 'name'", names=("name",)
    ):
        read_urdf(path)
    path.write_text('<robot><link name="a"/><joint name="j" type="fixed"><parent link="a"/></joint></robot>')
    with raises(ModelError, where="nameless.urdf: joint 'j'", cause="lacks its <child link=...>"):
        read_urdf(path)


def test_the_only_leaf_is_the_tip(urdfs):
    arm = read_urdf(urdfs / "slider.urdf")
    assert (arm.base_name, arm.tip_name) == ("rail", "tool")
    assert arm.joint_names == ("slide", "swing", "spin")


def test_fixed_side_branches_leave_no_choice(tmp_path):
    joints = [("j", "revolute", "a", "b"), ("f", "fixed", "b", "c"), ("g", "fixed", "b", "d"), ("h", "fixed", "a", "e")]
    arm = read_urdf(robot(tmp_path, "abcde", *joints))
    assert (arm.base_name, arm.tip_name) == ("a", "b")


def test_a_gripper_ends_the_chain_with_a_warning(urdfs):
    with pytest.warns(
        ArmdynWarning, match="fork, at link 'hand'; choose with tip= .leaves: left, right, camera, counterweight"
    ):
        arm = read_urdf(urdfs / "gripper.urdf")
    assert arm.tip_name == "hand"
    assert arm.joint_names == ("shoulder", "elbow", "roll")


def test_base_and_tip_choose_the_chain(urdfs):
    arm = read_urdf(urdfs / "gripper.urdf", base="pedestal", tip="fore")
    assert (arm.base_name, arm.tip_name, arm.joint_names) == ("pedestal", "fore", ("shoulder", "elbow"))
    with raises(
        ModelError,
        cause="there is no link 'elbow_link'",
        remedy="links: world, pedestal, upper, camera, counterweight, fore, wrist, flange, hand, left, right",
        names=("elbow_link",),
    ):
        read_urdf(urdfs / "gripper.urdf", tip="elbow_link")
    with raises(ModelError, cause="there is no link 'nowhere'", names=("nowhere",)):
        read_urdf(urdfs / "gripper.urdf", base="nowhere")
    with raises(
        ModelError, cause="link 'upper' is not below 'fore'; there is no chain between them", names=("upper", "fore")
    ):
        read_urdf(urdfs / "gripper.urdf", base="fore", tip="upper")
    with raises(ModelError, cause="the chain has no moving joint"):
        read_urdf(urdfs / "gripper.urdf", base="upper", tip="camera")


def test_long_chains_are_read_without_recursion_up_to_a_bound(tmp_path):
    count = MAX_JOINTS
    links = "".join(f'<link name="l{i}"/>' for i in range(count + 2))
    joints = "".join(JOINT.format(f"j{i}", "revolute", f"l{i}", f"l{i + 1}") for i in range(count + 1))
    path = tmp_path / "long.urdf"
    path.write_text(f"<robot>{links}{joints}</robot>")
    with raises(ModelError, cause="more than 1000 moving joints from 'l0' to 'l1001'", names=("l0", "l1001")):
        read_urdf(path)
    assert read_urdf(path, tip="l300").n == 300
