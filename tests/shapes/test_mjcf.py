"""Collision geometries and planes of MJCF files, judged by MuJoCo's own distances."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import armdyn
from armdyn.shapes.bodies import bodies_of
from armdyn.shapes.obstacles import Box, HalfSpace, mounting_plane
from armdyn.shapes.solids import ellipsoid_hull
from armdyn.trajectory.excitation.clearance import Clearance
from armdyn.trajectory.excitation.guarantees import omissions
from armdyn.trajectory.excitation.options import ProtectionOptions
from armdyn.trajectory.excitation.protection import protect
from armdyn.trajectory.fourier import FourierSeries
from armdyn.trajectory.motion_limits import MotionLimits

mujoco = pytest.importorskip("mujoco")

INERTIAL = '<inertial pos="0 0 0.1" mass="1" diaginertia="0.01 0.01 0.01"/>'
# Every kind of solid, a visual geometry, one behind a fixed body, anchors and turned frames; a table and two planes.
MODEL = f"""<mujoco model="many">
  <compiler angle="degree"/>
  <default><default class="visual"><geom contype="0" conaffinity="0" group="2" rgba="1 0 0 1"/></default></default>
  <worldbody>
    <geom name="ground" type="plane" size="0 0 1" pos="0 0 -0.1"/>
    <geom name="wall" type="plane" size="1 1 1" pos="-1 0 0" zaxis="1 0 0"/>
    <geom name="drawn" class="visual" type="plane" size="1 1 1" pos="0 0 0.2"/>
    <geom name="table" type="box" size="0.2 0.3 0.02" pos="0.5 0.1 0.05" euler="0 0 20"/>
    <body name="foot" pos="0 0 0.05" euler="0 0 30">{INERTIAL}
      <geom type="cylinder" size="0.06 0.05"/>
      <body name="one" pos="0 0 0.1" euler="0 10 0">{INERTIAL}
        <joint name="j1" axis="0 0 1" range="-170 170" pos="0.01 0 0"/>
        <geom type="capsule" size="0.05" fromto="0 0 0 0.02 0.03 0.25"/>
        <body name="two" pos="0 0 0.3">{INERTIAL}
          <joint name="j2" axis="0 1 0" range="-120 120" ref="15"/>
          <geom name="long" type="capsule" size="0.04" fromto="0 0.08 0 0 0.08 0.3"/>
          <geom class="visual" type="sphere" size="0.5"/>
          <body name="three" pos="0 0 0.3" quat="0.9 0.1 0.2 0.3">{INERTIAL}
            <joint name="j3" axis="0 1 0" range="-150 150"/>
            <geom name="brick" type="box" size="0.03 0.04 0.1" pos="0 0 0.12" euler="10 20 30"/>
            <body name="four" pos="0 0 0.25">{INERTIAL}
              <joint name="j4" axis="1 0 0" range="-150 150"/>
              <geom name="egg" type="ellipsoid" size="0.02 0.04 0.08" pos="0 0 0.06"/>
              <body name="flange" pos="0 0 0.15" euler="0 90 0">
                <geom name="ball" type="sphere" size="0.03" pos="0.01 0 0"/>
                <geom name="can" type="cylinder" size="0.03 0.05" pos="0 0.05 0.02" euler="40 0 0"/>
              </body>
            </body>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <contact>{{exclude}}</contact>
</mujoco>"""
OBJ = "v 0 0 0\nv 0.3 0 0\nv 0 0.05 0\nv 0 0 0.05\nf 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n"


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "many.xml"
    path.write_text(MODEL.format(exclude=""))
    return path


def judge(path):
    """MuJoCo's distance of two geometries by their names, at joint positions."""
    m = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(m)

    def distance(q, one, two):
        data.qpos[:] = q
        mujoco.mj_kinematics(m, data)
        return mujoco.mj_geomDistance(m, data, m.geom(one).id, m.geom(two).id, 10.0, None)

    return distance


def poses(arm, count, seed=0):
    return np.random.default_rng(seed).uniform(*arm.position_limits, (count, arm.n))


def test_every_kind_of_solid_is_read_and_what_is_drawn_only_is_not(model):
    bodies = bodies_of(armdyn.load(model))
    assert bodies.origin == "the MJCF's collision shapes"
    assert bodies.notes == ()
    assert not bodies.guessed
    kinds = [(one.link, one.name) for one in bodies.capsules]
    assert kinds == [(0, "foot"), (1, "one"), (2, "two"), (3, "three"), (4, "four"), (4, "flange"), (4, "flange")]
    assert bodies.radius.max() < 0.11  # the drawn ball of half a metre is none of them
    (wall, table) = bodies.fixed
    assert isinstance(wall, HalfSpace)
    assert wall.name == "wall"
    assert isinstance(table, Box)
    np.testing.assert_allclose(table.size, [0.4, 0.6, 0.04])


def test_distances_are_those_of_mujoco(model):
    """Capsules and balls are exact; the capsule around another solid is never farther away than the solid."""
    arm = armdyn.load(model)
    clearance = Clearance(bodies_of(arm), (mounting_plane(arm),))
    distance, q = judge(model), poses(arm, 200)
    slack = clearance.slack((q, q, q))
    geoms = {"two": ["long"], "three": ["brick"], "four": ["egg"], "flange": ["ball", "can"], "world": ["table"]}
    geoms |= {"floor": ["ground"], "wall": ["wall"]}
    exact, checked = {"long", "ball", "ground", "wall"}, 0
    for pair, columns in clearance.named_columns.items():
        if not {*pair} <= geoms.keys():
            continue
        both = list(itertools.product(*(geoms[name] for name in pair)))
        # One column for each two geometries, in the order of the file.
        for column, names in zip(columns, both, strict=True):
            for k in range(0, len(q), 4):
                actual = distance(q[k], *names)
                assert slack[k, column] <= actual + 1e-6
                if {*names} <= exact and actual > 0:
                    assert slack[k, column] == pytest.approx(actual, abs=1e-6)
                    checked += 1
    assert checked > 200


def test_a_floor_is_the_level_plane_and_other_planes_are_kept_off_too(model):
    arm = armdyn.load(model)
    np.testing.assert_allclose(arm.mounting_plane, (0, 0, 1, -0.1), atol=1e-12)
    assert mounting_plane(arm).name == "floor"
    turned = armdyn.load(model, base="foot")  # base axes are turned and higher
    np.testing.assert_allclose(turned.mounting_plane, (0, 0, 1, -0.15), atol=1e-12)
    (wall,) = (one for one in bodies_of(turned).fixed if isinstance(one, HalfSpace))
    q = poses(arm, 20)
    for one, two in zip(*(bodies_of(a).at(q).a for a in (arm, turned)), strict=True):
        known = bodies_of(arm).fixed[0].distance(one[-1])[0]
        assert wall.distance(two[-1])[0] == pytest.approx(known, abs=1e-12)


def test_without_planes_the_arm_stands_on_the_body_that_carries_it(model):
    text = model.read_text()
    model.write_text("\n".join(line for line in text.splitlines() if 'type="plane"' not in line))
    np.testing.assert_allclose(armdyn.load(model).mounting_plane, (0, 0, 1, 0.05), atol=1e-12)
    model.write_text(
        '<mujoco><worldbody><body name="b"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
        '<joint axis="0 1 0"/></body></worldbody></mujoco>'
    )
    assert armdyn.load(model).mounting_plane is None  # nothing carries it


def test_excluded_pairs_are_left_out_and_said(model):
    arm = armdyn.load(model)
    assert ("two", "four") in Clearance(bodies_of(arm)).pairs
    model.write_text(MODEL.format(exclude='<exclude body1="four" body2="two"/>'))
    clearance = Clearance(bodies_of(arm))
    assert ("two", "four") not in clearance.pairs
    assert clearance.excluded == (("two", "four"),)
    assert ("two", "flange") in clearance.pairs
    limits = MotionLimits.of(arm, acceleration=8.0, velocity=2.0)
    still = FourierSeries(np.zeros((4, 3)), 0.5, 2.0)
    said = omissions(protect(arm, ProtectionOptions.of(margin=0.0)).guarantees(still, limits))
    assert "collisions of two and four (the file excludes them)" in said


def test_a_geometry_that_a_pair_names_collides(model):
    pair = '<pair geom1="drawn" geom2="long"/>'
    model.write_text(MODEL.format(exclude=pair))
    heights = [plane.offset for plane in bodies_of(armdyn.load(model)).fixed if isinstance(plane, HalfSpace)]
    np.testing.assert_allclose(sorted(heights), [-1.0, 0.2], atol=1e-12)  # besides the floor below the arm


def test_meshes_are_enclosed_and_absent_ones_are_said(model, tmp_path):
    mesh = '<asset><mesh name="hook" file="hook.obj" scale="1 2 1"/></asset>'
    text = model.read_text().replace("<worldbody>", f"{mesh}<worldbody>", 1)
    shape = '<geom name="egg" type="ellipsoid" size="0.02 0.04 0.08" pos="0 0 0.06"/>'
    model.write_text(text.replace(shape, '<geom name="egg" type="mesh" mesh="hook" pos="0 0 0.06" euler="0 0 90"/>'))
    arm = armdyn.load(model)
    lacking = bodies_of(arm)
    assert "body 'four': mesh 'hook.obj' was not found" in lacking.notes[0]
    assert 4 in lacking.guessed
    assert "guessed along the arm's frames for four, " in lacking.origin
    (tmp_path / "hook.obj").write_text(OBJ)
    bodies = bodies_of(arm)
    assert bodies.notes == ()
    (hook,) = (one for one in bodies.capsules if one.name == "four")
    # Turned by a quarter about z, the mesh's x is the body's y.
    corners = np.array([[0, 0, 0.06], [0, 0.3, 0.06], [-0.1, 0, 0.06], [0, 0, 0.11]])
    way = hook.b - hook.a
    s = np.clip((corners - hook.a) @ way / (way @ way), 0, 1)
    assert (np.linalg.norm(corners - hook.a - s[:, None] * way, axis=1) <= hook.radius + 1e-6).all()  # float32 vertices
    assert hook.radius < 0.1
    clearance, distance, q = Clearance(bodies), judge(model), poses(arm, 20)
    slack = clearance.slack((q, q, q))
    (column,) = clearance.named_columns["two", "four"]
    assert all(slack[k, column] <= distance(q[k], "long", "egg") + 1e-6 for k in range(20))


def test_an_ellipsoid_is_within_its_hull():
    from scipy.spatial import ConvexHull

    half = np.array([0.02, 0.3, 0.1])
    hull = ConvexHull(ellipsoid_hull(half))
    points = np.random.default_rng(0).normal(size=(2000, 3))
    points *= half / np.linalg.norm(points, axis=1, keepdims=True)
    assert (hull.equations[:, :3] @ points.T + hull.equations[:, 3:] <= 1e-12).all()
    assert np.abs(ellipsoid_hull(half)).max(0) == pytest.approx(half, rel=0.03)  # and not much smaller


def test_a_motion_is_protected_as_that_of_a_urdf(model):
    """What nothing protected before: distances of the default motion by MuJoCo."""
    arm = armdyn.load(model)
    found = armdyn.excite(arm, 6.0, max_acceleration=6.0, max_velocity=1.5, steps=12)
    kinds = {one.kind: one for one in found.guarantees}
    assert kinds["floor"].holds
    assert {*kinds["floor"].links} == {"two", "three", "four"}
    assert kinds["self"].holds
    distance = judge(model)
    for q in found.trajectory(np.linspace(0.0, 6.0, 300)).q:
        for name in ("long", "brick", "egg", "ball", "can"):
            assert min(distance(q, name, "ground"), distance(q, name, "wall"), distance(q, name, "table")) > 0
        assert min(distance(q, "long", "egg"), distance(q, "long", "can"), distance(q, "long", "ball")) > 0
