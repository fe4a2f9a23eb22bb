"""Trees of MJCF files, and joints that equalities tie: against G' of MuJoCo's own inverse dynamics of the free tree."""

import re
from dataclasses import replace

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynWarning, ModelError

mujoco = pytest.importorskip("mujoco")
from armdyn.model.mjcf.source import compile_mjcf  # noqa: E402

BODY = '<inertial pos="{x} 0.02 0.03" mass="{m}" fullinertia="0.02 0.025 0.03 0.001 0.002 -0.001"/>'
# A torso that floats, two arms of two joints, of which one has two joints on one body, and a parallelogram's crank.
TREE = (
    """<mujoco><compiler angle="radian"/><worldbody><body name="torso" pos="0 0 1"><freejoint name="float"/>"""
    + BODY.format(x=0, m=5)
    + """<body name="l1" pos="0.1 0.2 0.3" quat="0.8 0.1 0.2 0.3">
    <joint name="a" axis="0 1 1" pos="0.1 0 0" ref="0.2"/>"""
    + BODY.format(x=0.1, m=2)
    + """<site name="left hand" pos="0.1 0.2 0.3"/><body name="l2" pos="0.3 0 0.1"><joint name="b" axis="0 1 0"/>"""
    + BODY.format(x=0.2, m=1)
    + """<body name="camera" pos="0 0 0.1"/></body></body><body name="r1" pos="0.1 -0.2 0.3">
    <joint name="c" axis="1 0 0" armature="0.1"/><joint name="d" axis="0 1 0" stiffness="2" springref="0.3"/>"""
    + BODY.format(x=0.1, m=3)
    + """<body name="r2" pos="0.3 0 0"><joint name="e" type="slide" axis="1 0 0" ref="0.1"/>"""
    + BODY.format(x=-0.1, m=1)
    + """</body></body></body></worldbody>{more}</mujoco>"""
)
ONE_LEADER = '<equality><joint joint1="b" joint2="c" polycoef="0.1 -0.7 0 0 0"/></equality>'
TWO_LEADERS = """<tendon><fixed name="sum"><joint joint="a" coef="1"/><joint joint="c" coef="-2"/>
<joint joint="d" coef="1"/></fixed><fixed name="one"><joint joint="b" coef="3"/></fixed></tendon>
<equality><tendon tendon1="sum" tendon2="one" polycoef="0.2 0.5 0 0 0"/></equality>"""
IN_A_ROW = """<equality><joint joint1="a" joint2="b"/><joint joint1="b" joint2="c" polycoef="0.1 2 0 0 0"/>
<joint joint1="a" joint2="e" polycoef="0 0.5 0 0 0"/></equality>"""


def write(path, more=""):
    path.write_text(TREE.format(more=more))
    return path


def largest_difference(path, arm, seed=0):
    """Of armdyn's torques to G' of `mj_inverse` of all joints at G q + b, friction and constraints off."""
    m = compile_mjcf(path).model
    m.dof_damping[:] = m.dof_frictionloss[:] = m.body_gravcomp[:] = 0
    flags = mujoco.mjtDisableBit
    m.opt.disableflags |= flags.mjDSBL_CONSTRAINT | flags.mjDSBL_CONTACT | flags.mjDSBL_ACTUATION
    d = mujoco.MjData(m)
    joints = [m.joint(name) for name in arm.joint_names]
    at, speed = ([int(getattr(j, name)[0]) for j in joints] for name in ("qposadr", "dofadr"))
    plain = arm.with_joints([replace(j, friction=armdyn.Friction()) for j in arm.joints])
    G, b = (np.eye(arm.n), np.zeros(arm.n)) if arm.G is None else (arm.G, arm.b)
    worst = 0.0
    for q, qd, qdd in np.random.default_rng(seed).uniform(-1, 1, (5, 3, arm.n)):
        d.qpos[:] = m.qpos0
        d.qvel[:] = d.qacc[:] = 0
        d.qpos[at], d.qvel[speed], d.qacc[speed] = G @ q + b, G @ qd, G @ qdd
        mujoco.mj_inverse(m, d)
        want = G.T @ d.qfrc_inverse[speed]
        worst = max(worst, np.abs(want - armdyn.joint_torque(plain, q, qd, qdd)).max() / max(1, np.abs(want).max()))
    return worst


@pytest.mark.parametrize(("more", "n"), [("", 5), (ONE_LEADER, 4), (TWO_LEADERS, 4), (IN_A_ROW, 2)])
def test_trees_and_linear_equalities(tmp_path, more, n):
    path = write(tmp_path / "tree.xml", more)
    arm = armdyn.load(path)
    assert (arm.n, arm.n_joints) == (n, 5)
    assert largest_difference(path, arm) < 1e-12  # relative: round-off of some dozen sums
    assert "body 'torso' is free in the file ('float') and is held: the base stands still" in arm.notes
    # Frames: a body without joints, and a site.
    m = compile_mjcf(path).model
    d = mujoco.MjData(m)
    q = np.linspace(-0.5, 0.7, n)
    every = q if arm.G is None else arm.G @ q + arm.b
    for name, value in zip(arm.joint_names, every, strict=True):
        d.joint(name).qpos = value
    mujoco.mj_kinematics(m, d)
    for frame, place in (("camera", d.body("camera")), ("left hand", d.site("left hand"))):
        np.testing.assert_allclose(armdyn.forward_kinematics(arm, q, frame=frame)[:3, 3], place.xpos, atol=1e-14)


def test_positions_that_equalities_allow(tmp_path):
    """MuJoCo's residuals of the equalities vanish at G q + b."""
    for more in (ONE_LEADER, TWO_LEADERS, IN_A_ROW):
        path = write(tmp_path / "tree.xml", more)
        arm, m = armdyn.load(path), compile_mjcf(path).model
        d = mujoco.MjData(m)
        for q in np.random.default_rng(0).uniform(-1, 1, (3, arm.n)):
            for name, value in zip(arm.joint_names, arm.G @ q + arm.b, strict=True):
                d.joint(name).qpos = value
            mujoco.mj_forward(m, d)
            np.testing.assert_allclose(d.efc_pos[: d.ne], 0.0, atol=1e-14)


def test_written_trees_are_read_again(tmp_path):
    for k, more in enumerate(("", ONE_LEADER, TWO_LEADERS)):
        arm = armdyn.load(write(tmp_path / "tree.xml", more))
        body = arm.links[0].inertia  # MuJoCo wants mass in every body, also between two joints of one
        arm = replace(arm, links=tuple(replace(x, inertia=x.inertia if x.inertia.mass else body) for x in arm.links))
        arm.save(tmp_path / f"{k}.xml")
        again = armdyn.load(tmp_path / f"{k}.xml")
        assert (again.joint_names, again.parents) == (arm.joint_names, arm.parents)
        if arm.G is not None:
            np.testing.assert_allclose(again.G, arm.G, atol=1e-15)
            np.testing.assert_allclose(again.b, arm.b, atol=1e-15)
        state = np.random.default_rng(1).normal(size=(3, arm.n))
        np.testing.assert_allclose(
            armdyn.joint_torque(again, *state), armdyn.joint_torque(arm, *state), rtol=1e-12, atol=1e-12
        )
        for frame in ("camera", "left hand"):
            np.testing.assert_allclose(
                armdyn.forward_kinematics(again, state[0], frame=frame),
                armdyn.forward_kinematics(arm, state[0], frame=frame),
                atol=1e-14,
            )


def test_changed_trees_are_written_onto_their_file(tmp_path):
    path = write(tmp_path / "tree.xml", ONE_LEADER)
    arm = armdyn.load(path)
    other = arm.with_payload(0.4, (0.1, 0, 0.05), frame="l2").with_joints(
        [replace(j, friction=armdyn.Friction(viscous=0.3)) for j in arm.joints]
    )
    other.save(tmp_path / "new.xml", onto=path)
    again = armdyn.load(tmp_path / "new.xml")
    np.testing.assert_allclose(again.theta, other.theta, atol=1e-10)  # MuJoCo's principal axes
    assert [j.friction.viscous for j in again.joints] == [0.3] * 5
    assert ONE_LEADER in (tmp_path / "new.xml").read_text()


def test_a_chain_of_a_tree_with_the_rest_held(tmp_path):
    path = write(tmp_path / "tree.xml", ONE_LEADER)
    arm = armdyn.load(path, tip="r2", hold={"a": 0.4})
    assert arm.joint_names == ("c", "d", "e")
    # b follows c, which is not of this chain, and is held where c is at first.
    left = armdyn.load(path, tip="camera")
    assert left.joint_names == ("a",)
    assert any("joint 'b' follows joints off the arm and is held at 0.1" in note for note in left.notes)
    assert armdyn.load(path, tip="camera", hold={"c": 1.0}).notes[-2:] != left.notes[-2:]
    with raises(ModelError, names=("c",), expected="joints off the chain"):
        armdyn.load(path, tip="r2", hold={"c": 0.4})
    # Where it is held counts: torques are those of the whole tree with that joint at rest there.
    free = write(tmp_path / "free.xml")
    whole, at = armdyn.load(free), 0.7
    held = armdyn.load(free, tip="l1", hold={"b": at})
    for q, qd, qdd in np.random.default_rng(2).normal(size=(3, 3)):
        state = (np.array([x, y, 0, 0, 0]) for x, y in ((q, at), (qd, 0), (qdd, 0)))
        want = armdyn.inverse_dynamics(whole, *state)[0]
        np.testing.assert_allclose(armdyn.inverse_dynamics(held, [q], [qd], [qdd]), [want], rtol=1e-12)


LOOPS = {
    "connect": (
        '<equality><connect name="k" body1="l2" body2="r1" anchor="0 0 0"/></equality>',
        {"cause": re.compile("connect 'k' ties a, b")},
    ),
    "weld": (
        '<equality><weld name="k" body1="l2" body2="torso"/></equality>',
        {"cause": "weld 'k' ties a, b in a way that is not linear"},
    ),
    "polynomial": (
        '<equality><joint name="k" joint1="a" joint2="b" polycoef="0 1 0.5 0 0"/></equality>',
        {"cause": "equality 'k' ties a, b in a way that is not linear"},
    ),
    "tendon": (
        '<tendon><spatial name="k" damping="1"><site site="left hand"/><site site="s2"/></spatial></tendon>',
        {"cause": re.compile("spatial tendon 'k' ties a")},
    ),
}


@pytest.mark.parametrize("kind", LOOPS)
def test_loops_that_are_not_linear_are_rejected_by_name(tmp_path, kind):
    more, parts = LOOPS[kind]
    path = tmp_path / "loop.xml"
    path.write_text(TREE.format(more=more).replace('<body name="r2"', '<site name="s2"/><body name="r2"'))
    with raises(ModelError, **parts):
        armdyn.load(path)
    with raises(ModelError, **parts):
        armdyn.load(path, tip="l2")
    if kind in ("weld", "polynomial"):
        with raises(ModelError, remedy="choose a chain that avoids it, as tip='r2' does"):
            armdyn.load(path)
        assert armdyn.load(path, tip="r2").joint_names == ("c", "d", "e")


def test_a_contradiction_is_rejected(tmp_path):
    more = '<equality><joint joint1="a"/><joint joint1="a" polycoef="0.3 0 0 0 0"/></equality>'
    with raises(ModelError, cause="equality 'equality1' contradicts the equalities before it"):
        armdyn.load(write(tmp_path / "tree.xml", more))


def test_equalities_that_are_not_active_tie_nothing(tmp_path):
    more = """<equality><joint joint1="a" joint2="b" active="false"/>
    <connect active="false" body1="l2" body2="r1" anchor="0 0 0"/></equality>"""
    assert armdyn.load(write(tmp_path / "tree.xml", more)).n == 5


def test_a_geometry_that_a_tendon_wraps_around_stays(tmp_path):
    tendon = """<tendon><spatial name="k"><site site="left hand"/><geom geom="pulley"/><site site="s2"/></spatial>
    </tendon>"""
    path = tmp_path / "wrap.xml"
    text = TREE.format(more=tendon).replace('<body name="r2"', '<site name="s2"/><body name="r2"')
    path.write_text(text.replace('<body name="l1"', '<geom name="pulley" size="0.05"/><body name="l1"'))
    arm = armdyn.load(path)
    assert "spatial tendon 'k': forces of actuators over it are left out" in arm.notes


OPENED = {  # joints and coordinates
    "aloha/aloha.xml": (16, 14),
    "hello_robot_stretch/stretch.xml": (17, 12),
    "leap_hand/right_hand.xml": (16, 16),
    "pal_talos/talos.xml": (44, 38),
    "pal_tiago_dual/tiago_dual.xml": (25, 25),
    "shadow_hand/left_hand.xml": (24, 24),
    "trossen_wxai/trossen_ai_bimanual.xml": (16, 16),
    "unitree_g1/g1_with_hands.xml": (43, 43),
    "unitree_go2/go2.xml": (12, 12),
    "wonik_allegro/left_hand.xml": (16, 16),
}


@pytest.mark.parametrize("name", OPENED)
@pytest.mark.by_day(3)
def test_trees_of_the_menagerie(shared, name):
    path = shared / "models" / "mjcf" / name
    arm = armdyn.load(path)
    assert (arm.n_joints, arm.n) == OPENED[name]
    assert largest_difference(path, arm) < 1e-11


def test_hands_and_loops_of_the_menagerie(shared):
    folder = shared / "models" / "mjcf"
    with pytest.warns(ArmdynWarning, match="the chain ends where moving joints fork, at link 'hand'"):
        assert armdyn.load(folder / "franka_emika_panda/panda.xml").n == 7
    panda = armdyn.load(folder / "franka_emika_panda/panda.xml", branches="keep")
    assert (panda.n_joints, panda.n) == (9, 8)
    for tip in (None, "left_pad", "right_coupler"):
        with raises(
            ModelError,
            cause=re.compile("^connect 'equality[01]' ties "),
            remedy=re.compile("no chain from 'world' avoids it"),
        ):
            armdyn.load(folder / "robotiq_2f85/2f85.xml", tip=tip)
    with raises(
        ModelError,
        cause=(
            "connect 'frontal_arch_connect_rollover_phalanx_1' ties posterior_arch_to_heel, "
            "heel_phalanx_1_to_virtual_1_1, virtual_1_1_to_phalanx_1_1, phalanx_1_1_to_virtual_2_1, "
            "... in a way that is not linear"
        ),
    ):
        armdyn.load(folder / "iit_softfoot/softfoot.xml")


def test_a_weld_to_a_mocap_body_ties_nothing(tmp_path):
    """It drags the hand of a simulated robot, as gymnasium-robotics' Fetch has it."""
    path = write(tmp_path / "dragged.xml", '<equality><weld name="drag" body1="mocap" body2="r2"/></equality>')
    path.write_text(path.read_text().replace("<worldbody>", '<worldbody><body name="mocap" mocap="true"/>'))
    arm = armdyn.load(path)
    assert arm.n == 5
    assert "equality 'drag' is left out" in arm.notes
