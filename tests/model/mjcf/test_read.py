"""Arms from MJCF against MuJoCo's own inverse dynamics, on models written here and on the Menagerie's."""

import re
from dataclasses import replace

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynWarning, ModelError, ReadError

mujoco = pytest.importorskip("mujoco")
from armdyn.model.mjcf.source import compile_mjcf, included_files  # noqa: E402

# Classes, an include, angles in degrees, Euler angles, an anchor off the body's origin, a `ref`, a spring, two joints
# on one body, a geometry as the only source of inertia, a welded tool and a gripper with an equality.
MODEL = """<mujoco model="test arm">
  <compiler angle="degree" eulerseq="XYZ"/>
  <option gravity="0 1 -9.7"/>
  <!-- kept -->
  <default>
    <default class="axis"><joint damping="0.5" armature="0.02" frictionloss="0.1"/></default>
  </default>
  <worldbody>
    <body name="base" pos="0.1 0 0.2" euler="0 0 30">
      <include file="links.xml"/>
    </body>
  </worldbody>
  <actuator><position name="servo" joint="lift" kp="40" dampratio="1" forcerange="-30 20"/></actuator>
  <equality><joint joint1="left" joint2="right"/></equality>
</mujoco>
"""
LINKS = """<mujocoinclude>
  <body name="shoulder" pos="0 0 0.3">
    <inertial pos="0.01 0 0.02" mass="2" diaginertia="0.02 0.03 0.015" euler="10 20 0"/>
    <joint name="turn" class="axis" axis="0 0 1" range="-170 170"/>
    <body name="upper" pos="0.05 0 0.1" euler="90 0 0">
      <joint name="lift" class="axis" axis="0 1 1" pos="0.02 0.01 0" ref="20"/>
      <joint name="roll" class="axis" axis="1 0 0" stiffness="3" springref="15"/>
      <geom type="box" size="0.05 0.04 0.2" mass="1.5" pos="0 0.1 0"/>
      <body name="slide" pos="0 0 0.3">
        <joint name="reach" type="slide" axis="0 0 1" range="0 0.3"/>
        <inertial pos="0 0 0.1" mass="1" fullinertia="0.01 0.012 0.008 0.001 0 0.0005"/>
        <site name="tool" pos="0 0 0.2" euler="0 45 0"/>
        <body name="welded" pos="0.03 0 0.1"><inertial pos="0 0 0.01" mass="0.3" diaginertia="1e-3 1e-3 1e-3"/>
          <body name="finger1"><joint name="left" type="slide" axis="1 0 0"/><geom size="0.01" mass="0.05"/></body>
          <body name="finger2"><joint name="right" type="slide" axis="-1 0 0"/><geom size="0.01" mass="0.05"/></body>
        </body>
      </body>
    </body>
  </body>
</mujocoinclude>
"""


@pytest.fixture
def model(tmp_path):
    (tmp_path / "arm.xml").write_text(MODEL)
    (tmp_path / "links.xml").write_text(LINKS)
    return tmp_path / "arm.xml"


def largest_difference(path, arm, seed=0):
    """Of armdyn's torques to those of `mj_inverse`, friction off, over random states."""
    m = compile_mjcf(path).model
    m.dof_damping[:] = 0
    m.dof_frictionloss[:] = 0
    m.body_gravcomp[:] = 0
    flags = mujoco.mjtDisableBit
    m.opt.disableflags |= flags.mjDSBL_CONSTRAINT | flags.mjDSBL_CONTACT | flags.mjDSBL_ACTUATION
    d = mujoco.MjData(m)
    joints = [m.joint(name) for name in arm.joint_names]
    positions = [int(j.qposadr[0]) for j in joints]
    velocities = [int(j.dofadr[0]) for j in joints]
    plain = arm.with_joints([replace(j, friction=armdyn.Friction()) for j in arm.joints])
    worst = 0.0
    for q, qd, qdd in np.random.default_rng(seed).uniform(-1, 1, (10, 3, arm.n)):
        d.qpos[:] = m.qpos0
        d.qvel[:] = d.qacc[:] = 0
        d.qpos[positions], d.qvel[velocities], d.qacc[velocities] = q, qd, qdd
        mujoco.mj_inverse(m, d)
        worst = max(worst, np.abs(d.qfrc_inverse[velocities] - armdyn.joint_torque(plain, q, qd, qdd)).max())
    return worst


def test_torques_are_those_of_mujoco(model):
    with pytest.warns(ArmdynWarning, match="the chain ends where moving joints fork, at link 'welded'"):
        arm = armdyn.load(model)
    assert arm.joint_names == ("turn", "lift", "roll", "reach")
    assert arm.link_names == ("shoulder", "upper behind lift", "upper", "slide")
    assert largest_difference(model, arm) < 1e-12  # round-off of torques of some 50 N m


def test_what_a_joint_holds(model):
    arm = armdyn.load(model, tip="tool")
    turn, lift, roll, reach = arm.joints
    assert (turn.friction.viscous, turn.friction.coulomb, turn.drive.reflected_inertia) == (0.5, 0.1, 0.02)
    assert np.degrees([turn.limits.lower, turn.limits.upper]) == pytest.approx([-170, 170])
    assert lift.limits.effort == 30
    assert (roll.drive.stiffness, np.degrees(roll.drive.rest)) == (3, pytest.approx(15))
    assert reach.kind == "prismatic"
    np.testing.assert_array_equal(arm.gravity, (0, 1, -9.7))
    assert lift.drive.servo_stiffness == 40
    assert any("carries finger" in note for note in arm.notes)


def test_effort_limits_are_those_behind_the_gears(tmp_path):
    """MuJoCo multiplies an actuator's force by its gear; the joint's own limit bounds the sum."""
    link = '<body><joint name="{}" axis="0 1 0"{}/><geom size="0.1" mass="1"/>{}</body>'
    own = ' actuatorfrcrange="-7 7" actuatorfrclimited="true"'
    bodies = link.format("a", "", link.format("b", "", link.format("c", own, link.format("d", "", ""))))
    motors = """<motor joint="a" gear="50" forcerange="-2 1.5"/><motor joint="b" gear="-20" ctrlrange="-3 3"/>
    <general joint="b" gear="2" gainprm="5" ctrlrange="-1 1"/><motor joint="c" gear="50" forcerange="-2 2"/>"""
    path = tmp_path / "gears.xml"
    path.write_text(f"<mujoco><worldbody>{bodies}</worldbody><actuator>{motors}</actuator></mujoco>")
    assert [joint.limits.effort for joint in armdyn.load(path).joints] == [100.0, 70.0, 7.0, np.inf]


def test_the_tip_may_be_a_site(model):
    arm = armdyn.load(model, base="base", tip="tool")
    m = compile_mjcf(model).model
    d = mujoco.MjData(m)
    q = np.array([0.3, -0.4, 0.8, 0.1])
    for name, value in zip(arm.joint_names, q, strict=True):
        d.joint(name).qpos = value
    mujoco.mj_forward(m, d)
    R, p = d.body("base").xmat.reshape(3, 3), d.body("base").xpos
    T = armdyn.forward_kinematics(arm, q)
    np.testing.assert_allclose(T[:3, 3], R.T @ (d.site("tool").xpos - p), atol=1e-14)
    np.testing.assert_allclose(T[:3, :3], R.T @ d.site("tool").xmat.reshape(3, 3), atol=1e-14)
    np.testing.assert_allclose(arm.gravity, R.T @ (0, 1, -9.7), atol=1e-14)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.by_day(4)
def test_random_chains(tmp_path, seed):
    rng = np.random.default_rng(seed)

    def numbers(*values):
        return " ".join(map(repr, map(float, values)))

    body = ""
    for i in reversed(range(rng.integers(1, 8))):
        kind = "hinge" if rng.random() < 0.7 else "slide"
        body = (
            f'<body name="b{i}" pos="{numbers(*rng.uniform(-0.4, 0.4, 3))}" quat="{numbers(*rng.normal(size=4))}">'
            f'<joint name="j{i}" type="{kind}" axis="{numbers(*rng.normal(size=3))}" armature="{rng.uniform(0, 0.1)}"'
            f' pos="{numbers(*rng.uniform(-0.1, 0.1, 3))}" ref="{rng.uniform(-0.5, 0.5)}"/>'
            f'<inertial pos="{numbers(*rng.uniform(-0.1, 0.1, 3))}" quat="{numbers(*rng.normal(size=4))}" '
            f'mass="{rng.uniform(0.2, 5)}" diaginertia="{numbers(*rng.uniform(0.02, 0.035, 3))}"/>{body}</body>'
        )
    path = tmp_path / "random.xml"
    path.write_text(f'<mujoco><compiler angle="radian"/><worldbody>{body}</worldbody></mujoco>')
    assert largest_difference(path, armdyn.load(path), seed) < 1e-11


MENAGERIE = {
    "franka_emika_panda/panda.xml": 7,
    "franka_emika_panda/panda_nohand.xml": 7,
    "kuka_iiwa_14/iiwa14.xml": 7,
    "trs_so_arm100/so_arm100.xml": 6,
    "ufactory_xarm7/xarm7_nohand.xml": 7,
    "universal_robots_ur5e/ur5e.xml": 6,
}


@pytest.mark.filterwarnings("ignore:.*the chain ends where moving joints fork")
def test_arms_of_the_menagerie(shared):
    for name, n in MENAGERIE.items():
        path = shared / "models" / "mjcf" / name
        arm = armdyn.load(path)
        assert arm.n == n
        assert largest_difference(path, arm) < 1e-10, name  # 5e-14 measured


def test_a_mesh_that_is_absent_leaves_the_inertia_unknown(tmp_path):
    path = tmp_path / "mesh.xml"
    path.write_text(
        '<mujoco><asset><mesh name="m" file="m.stl"/></asset><worldbody><body name="link"><joint name="j"/>'
        '<geom type="mesh" mesh="m"/></body></worldbody></mujoco>'
    )
    arm = armdyn.load(path)
    assert np.isnan(arm.theta).all()
    assert "link 'link': the inertia of link comes from meshes that are absent" in arm.notes


@pytest.mark.parametrize(
    ("body", "parts"),
    [
        (
            '<body name="a"><freejoint name="f"/><geom size="1"/></body>',
            {"cause": "the file has no revolute or prismatic joint", "names": ("world",)},
        ),
        (
            '<body name="a"><joint type="ball" name="f"/><geom size="1"/></body>',
            {"cause": re.compile("ball joint 'f' has three freedoms")},
        ),
        (
            "<leg/>",
            {"cause": re.compile("MuJoCo rejects it .*unrecognized element")},
        ),
        (
            '<include file="../other.xml"/>',
            {"cause": "includes 'other.xml' outside its own folder", "names": ("other.xml",)},
        ),
    ],
)
def test_what_is_no_serial_arm_is_rejected(tmp_path, body, parts):
    path = tmp_path / "bad.xml"
    path.write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    with raises((ModelError, ReadError), **parts):
        armdyn.load(path)


def test_endless_includes_are_rejected(tmp_path):
    """Files that include one another are read once, and not more of them than a robot can need."""
    text = '<mujoco><worldbody/><include file="{}.xml"/></mujoco>'
    for k in range(120):
        (tmp_path / f"{k}.xml").write_text(text.format(k + 1))
    with raises(ReadError, cause="includes more than 100 files; not a robot"):
        included_files(tmp_path / "0.xml")
    (tmp_path / "3.xml").write_text(text.format(0))
    assert len(included_files(tmp_path / "0.xml")) == 4


OPTIONS = {
    "gravity": ('<option><flag gravity="disable"/></option>', "", ['<flag gravity="disable"/>: the arm has none']),
    "spring": ('<option><flag spring="disable"/></option>', "", ['<flag spring="disable"/>: the arm has none']),
    "damper": (
        '<option><flag damper="disable"/></option>',
        'damping="0.1"',
        ["<flag damper", "add 0.9 to its damping"],
    ),
    "frictionloss": ('<option><flag frictionloss="disable"/></option>', "", ['<flag frictionloss="disable"/>']),
    "constraint": ('<option><flag constraint="disable"/></option>', "", ["the arm has no frictionloss"]),
    "two flags": ('<option><flag gravity="disable" damper="disable"/></option>', "", ["<flag gravity", "<flag damper"]),
    "actuators": ("", 'armature="0.2" damping="0.1"', ["add 1.8 to its armature", "add 0.9 to its damping"]),
    "none": ("", "", []),
}
OPTIONED = """<mujoco>{option}<worldbody><body name="l0" pos="0 0 0.2"><joint name="j0" axis="0 1 0" damping="0.3"
armature="0.5" frictionloss="0.4"/><inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
<body name="l1" pos="0.3 0 0"><joint name="j1" axis="0 1 1" stiffness="5" springref="20" damping="0.2"/>
<inertial pos="0.1 0 0.1" mass="1" diaginertia="0.1 0.1 0.1"/></body></body></worldbody>
<actuator><motor joint="j0" gear="3" {actuator}/></actuator></mujoco>"""


@pytest.mark.parametrize("name", OPTIONS)
def test_options_and_actuators_count(tmp_path, name):
    """All torques are those of `mj_inverse`, friction included, and what is unusual is noted."""
    option, actuator, words = OPTIONS[name]
    path = tmp_path / "a.xml"
    path.write_text(OPTIONED.format(option=option, actuator=actuator))
    arm = armdyn.load(path)
    m = mujoco.MjModel.from_xml_path(str(path))
    d = mujoco.MjData(m)
    for q, qd, qdd in np.random.default_rng(0).uniform(-1, 1, (10, 3, 2)):
        d.qpos[:], d.qvel[:], d.qacc[:] = q, qd, qdd
        mujoco.mj_inverse(m, d)
        # Soft constraints are Coulomb friction in MuJoCo; their force is added as a perfect one.
        coulomb = [0.0 if name in ("frictionloss", "constraint") else 0.4, 0.0] * np.sign(qd)
        rigid = d.qfrc_inverse + d.qfrc_constraint
        np.testing.assert_allclose(rigid + coulomb, armdyn.joint_torque(arm, q, qd, qdd), rtol=0, atol=1e-12)
    for word in words:
        assert any(word in note for note in arm.notes), word
    assert bool(arm.notes) == bool(words)


@pytest.mark.parametrize("medium", ['density="1000"', 'viscosity="0.5" wind="1 0 0"'])
def test_a_medium_is_noted(tmp_path, medium):
    (tmp_path / "a.xml").write_text(OPTIONED.format(option=f"<option {medium}/>", actuator=""))
    assert any("forces of the medium are left out" in note for note in armdyn.load(tmp_path / "a.xml").notes)
