"""What files of robots contain beside bodies and joints: defaults, frames, replicas, keyframes, absent assets."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynWarning, ModelError

pytest.importorskip("mujoco")

ROBOT = """<mujoco model="robot">
  <compiler angle="radian" meshdir="assets" texturedir="assets" autolimits="true"/>
  <option integrator="implicitfast" cone="elliptic"><flag multiccd="enable"/></option>
  <statistic center="0 0 0.3" extent="1"/>
  <visual><global azimuth="120"/></visual>
  <custom><numeric name="initial" data="1 2"/></custom>
  <default>
    <default class="robot">
      <joint axis="0 0 1" damping="1" frictionloss="0.2" armature="0.1" range="-2 2"/>
      <geom type="mesh" material="shiny"/>
      <mesh scale="0.001 0.001 0.001"/>
      <position kp="100" forcerange="-20 20"/>
      <site material="shiny" size="0.01"/>
      <tendon material="shiny"/>
      <default class="visual"><geom contype="0" conaffinity="0" group="2"/></default>
      <default class="collision"><geom type="capsule" group="3"/>
        <default class="thin"><geom size="0.01 0.05"/></default></default>
      <default class="elbow"><joint axis="0 1 0" range="-1 1"/></default>
    </default>
  </default>
  <asset>
    <texture type="skybox" builtin="gradient" rgb1="0 0 1" rgb2="0 0 0" width="512" height="3072"/>
    <texture type="2d" name="wood" file="wood.png"/>
    <material class="robot" name="shiny" texture="wood"/>
    <mesh class="robot" file="base.stl"/>
    <mesh class="robot" name="shell" file="upper.obj"/>
    <hfield name="terrain" size="1 1 0.1 0.1" file="terrain.png"/>
  </asset>
  <worldbody>
    <light mode="targetbodycom" target="upper" pos="0 -1 2"/>
    <camera name="eye" mode="targetbody" target="upper" pos="1 0 1"/>
    <geom name="floor" type="plane" size="0 0 0.05" material="shiny"/>
    <geom type="hfield" hfield="terrain" pos="3 0 0"/>
    <body name="target" mocap="true"><geom type="box" size="0.05 0.05 0.05" contype="0" conaffinity="0"/></body>
    <body name="base" childclass="robot">
      <inertial mass="4" pos="0 0 0.05" diaginertia="0.01 0.01 0.01"/>
      <geom class="visual" mesh="base"/>
      <frame pos="0 0 0.2">
        <body name="upper">
          <inertial mass="2" pos="0.1 0 0" fullinertia="0.01 0.02 0.02 0 0.001 0"/>
          <joint name="shoulder"/>
          <geom class="visual" mesh="shell"/>
          <geom name="upper shape" class="thin" pos="0.1 0 0"/>
          <site name="torque"/>
          <frame pos="0.3 0 0">
            <body name="fore" gravcomp="1">
              <joint name="elbow" class="elbow"/>
              <geom name="fore shape" type="box" size="0.1 0.02 0.02" pos="0.1 0 0" mass="1.5"/>
              <replicate count="3" euler="0 0 2.0944" sep="_">
                <body name="finger" pos="0.25 0 0">
                  <joint name="finger" class="elbow"/>
                  <geom type="capsule" size="0.01" fromto="0.02 0 0 0.06 0 0" mass="0.05"/>
                </body>
              </replicate>
            </body>
          </frame>
        </body>
      </frame>
    </body>
    <body name="cube"><freejoint name="cube"/><geom type="box" size="0.02 0.02 0.02" mass="0.1"/></body>
  </worldbody>
  <contact>
    <exclude body1="base" body2="upper"/>
    <pair geom1="fore shape" geom2="floor" condim="4"/>
  </contact>
  <tendon>
    <fixed name="split" class="robot"><joint joint="finger_0" coef="0.5"/><joint joint="finger_1" coef="0.5"/></fixed>
  </tendon>
  <equality>
    <joint joint1="finger_1" joint2="finger_0" polycoef="0 1 0 0 0"/>
    <joint joint1="finger_2" joint2="finger_0" polycoef="0.1 -1 0 0 0"/>
    <joint joint1="elbow" joint2="shoulder" polycoef="0 1 0.3 0 0" active="false"/>
  </equality>
  <actuator>
    <position class="robot" name="turn" joint="shoulder" inheritrange="1"/>
    <motor name="lift" joint="elbow" gear="50" ctrlrange="-1 1"/>
    <general name="hand" tendon="split" gainprm="80" biastype="affine" biasprm="0 -100 -10" ctrlrange="0 1"/>
    <adhesion name="stick" body="fore" ctrlrange="0 1" gain="5"/>
  </actuator>
  <sensor>
    <force site="torque"/><jointpos joint="elbow"/><tendonpos tendon="split"/>
    <distance geom1="upper shape" geom2="fore shape" cutoff="1"/><actuatorfrc actuator="hand"/>
  </sensor>
</mujoco>"""


def test_a_file_with_all_kinds_of_elements_opens_without_its_assets(tmp_path):
    path = tmp_path / "robot.xml"
    path.write_text(ROBOT)
    arm = armdyn.load(path, branches="keep")
    assert arm.coordinate_names == ("shoulder", "elbow", "finger_0")
    np.testing.assert_allclose(arm.G, [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1], [0, 0, -1]])
    np.testing.assert_allclose(arm.b, [0, 0, 0, 0, 0.1])
    shoulder, elbow = arm.joints[:2]
    assert shoulder.limits.lower == -2
    assert elbow.limits.lower == -1
    assert (shoulder.limits.effort, elbow.limits.effort) == (20, 50)
    assert (elbow.friction.viscous, elbow.friction.coulomb, elbow.drive.rotor_inertia) == (1, 0.2, 0.1)
    np.testing.assert_allclose([link.mass for link in arm.links], [2, 1.5, 0.05, 0.05, 0.05])
    assert any("'cube' is free" in note for note in arm.notes)
    with pytest.warns(ArmdynWarning, match=r"leaves: finger_0, finger_1, finger_2\)"):  # a chain that ends in a hand
        assert armdyn.load(path).n == 2


HAND = """<mujoco><compiler angle="degree"/><worldbody><body name="palm">
<geom type="box" size=".02 .02 .02" mass=".2"/><body name="finger"><joint name="knuckle" axis="0 1 0" range="0 90"/>
<geom size=".01" mass=".05"/></body></body></worldbody></mujoco>"""
CARRIER = """<mujoco><asset><model name="hand" file="parts/hand.xml"/></asset><worldbody><body name="arm">
<joint name="turn" axis="0 0 1"/><geom size=".1"/><attach model="hand" body="palm" prefix="right_"/></body>
</worldbody></mujoco>"""


def test_a_model_in_another_file_is_attached(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "hand.xml").write_text(HAND)
    (tmp_path / "robot.xml").write_text(CARRIER)
    arm = armdyn.load(tmp_path / "robot.xml", branches="keep")
    assert arm.joint_names == ("turn", "right_knuckle")
    assert arm.joints[1].limits.upper == pytest.approx(np.pi / 2)


def test_keyframes_do_not_hinder(tmp_path):
    """Those of a file with a free body count its coordinates too, which the arm has not."""
    keyed = HAND.replace(
        "</worldbody>",
        """<body name="cube"><freejoint/><geom size=".02" mass=".1"/></body></worldbody>
        <actuator><motor joint="knuckle"/></actuator>
        <keyframe><key name="home" qpos=".4 0 0 .1 1 0 0 0" ctrl="0"/></keyframe>""",
    )
    (tmp_path / "hand.xml").write_text(keyed)
    assert armdyn.load(tmp_path / "hand.xml").joint_names == ("knuckle",)


CLOSED = {
    "<weld body1='target' body2='fore'/>": "weld 'equality0' ties a, b",
    "<joint joint1='b' joint2='a' polycoef='0 1 .3 0 0'/>": "equality 'equality0' ties a, b",
    "<connect body1='fore' anchor='0 0 0'/>": "connect 'equality0' ties a, b",
}


@pytest.mark.parametrize("loop", CLOSED)
def test_a_loop_is_named_and_one_that_is_switched_off_is_none(tmp_path, loop):
    text = f"""<mujoco><worldbody><body name="target"/><body name="arm"><joint name="a" axis="0 0 1"/>
    <geom size=".1"/><body name="fore" pos="0 0 .3"><joint name="b" axis="0 1 0"/><geom size=".05"/></body></body>
    </worldbody><equality>{loop}</equality></mujoco>"""
    path = tmp_path / "loop.xml"
    path.write_text(text)
    with raises(ModelError, cause=re.compile(CLOSED[loop])):
        armdyn.load(path)
    path.write_text(text.replace("/></equality>", " active='false'/></equality>"))
    assert armdyn.load(path).n == 2
