"""Capsules of arms: around what they stand for, where the links are, with exact gradients."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.shapes.bodies import bodies_of
from armdyn.shapes.capsules import enclosing_ball, enclosing_capsule
from armdyn.shapes.distances import between_pieces, to_obstacle
from armdyn.shapes.obstacles import mounting_plane


def beyond(capsule, points):
    """How far points lie outside a capsule."""
    still = np.zeros_like(points)
    a, way = np.broadcast_to(capsule.a, points.shape), np.broadcast_to(capsule.b - capsule.a, points.shape)
    return between_pieces(points, still, a, way).distance - capsule.radius


@pytest.mark.parametrize("shape", [(1.0, 0.1, 0.1), (1.0, 1.0, 0.1), (1.0, 1.0, 1.0), (0.3, 0.0, 0.0), (0.0, 0.0, 0.0)])
def test_a_capsule_holds_its_points_and_is_not_much_larger(shape):
    rng = np.random.default_rng(0)
    points = rng.uniform(-0.5, 0.5, (200, 3)) * shape + rng.normal(size=3)
    capsule = enclosing_capsule(points, 1, "link")
    assert beyond(capsule, points).max() < 1e-9
    _, radius = enclosing_ball(points)
    ball = 4 / 3 * np.pi * radius**3
    length = np.linalg.norm(capsule.b - capsule.a)
    assert np.pi * capsule.radius**2 * (length + 4 / 3 * capsule.radius) <= 1.05 * ball + 1e-12


URDF = """<robot name="r"><link name="base"><collision><geometry><box size="0.4 0.4 0.1"/></geometry></collision></link>
<link name="one"><collision><origin xyz="0 0 0.1"/><geometry><cylinder radius="0.05" length="0.2"/></geometry>
</collision></link><link name="two"><collision><geometry><sphere radius="0.07"/></geometry></collision><collision>
<origin
xyz="0.2 0 0" rpy="0 1.5707963267948966 0"/><geometry><box size="0.06 0.08 0.4"/></geometry></collision></link>
<link name="three"><collision><geometry><mesh filename="{mesh}"/></geometry></collision></link>
<joint name="a" type="revolute"><parent link="base"/><child link="one"/><origin xyz="0 0 0.1"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" velocity="2" effort="50"/></joint>
<joint name="b" type="revolute"><parent link="one"/><child link="two"/><origin xyz="0 0 0.3"/><axis xyz="0 1 0"/>
<limit lower="-2" upper="2" velocity="2" effort="50"/></joint>
<joint name="c" type="revolute"><parent link="two"/><child link="three"/><origin xyz="0.4 0 0"/><axis xyz="0 1 0"/>
<limit lower="-2" upper="2" velocity="2" effort="50"/></joint></robot>"""

TETRAHEDRON = """solid t
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 0.3 0 0
vertex 0 0.05 0
endloop
endfacet
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 0.3 0 0
vertex 0 0 0.05
endloop
endfacet
endsolid t
"""


@pytest.fixture
def urdf(tmp_path):
    (tmp_path / "hand.stl").write_text(TETRAHEDRON)
    path = tmp_path / "robot.urdf"
    path.write_text(URDF.format(mesh="hand.stl"))
    return path


def test_collision_shapes_of_a_urdf_are_enclosed(urdf):
    pytest.importorskip("trimesh")
    bodies = bodies_of(armdyn.load(urdf))
    assert bodies.origin == "the URDF's collision shapes"
    assert bodies.notes == ()
    assert [one.link for one in bodies.capsules] == [1, 2, 2, 3]
    assert [box.size.tolist() for box in bodies.fixed] == [[0.4, 0.4, 0.1]]
    cylinder, ball, box, mesh = bodies.capsules
    angle = np.linspace(0, 2 * np.pi, 50)
    rim = np.column_stack([0.05 * np.cos(angle), 0.05 * np.sin(angle), np.zeros(50)])
    assert max(beyond(cylinder, rim).max(), beyond(cylinder, rim + np.array([0, 0, 0.2])).max()) < 1e-12
    assert ball.radius == 0.07
    corners = np.array([[x, y, z] for x in (0, 0.4) for y in (-0.04, 0.04) for z in (-0.03, 0.03)])
    assert beyond(box, corners).max() < 1e-9
    assert beyond(mesh, np.array([[0, 0, 0], [0.3, 0, 0], [0, 0.05, 0], [0, 0, 0.05]])).max() < 1e-9


def test_shapes_of_a_xacro_are_those_of_the_urdf_that_it_writes(urdf, tmp_path):
    """Its meshes lie in a package that was named; the radius of a link is an argument."""
    pytest.importorskip("xacrodoc")
    package = tmp_path / "elsewhere" / "hand"
    package.mkdir(parents=True)
    (package / "part.stl").write_text(TETRAHEDRON)
    (package / "package.xml").write_text("<package><name>hand</name></package>")
    text = URDF.format(mesh="package://hand/part.stl").replace('radius="0.05"', 'radius="$(arg thick)"')
    head = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="thick" default="0.5"/>'
    path = tmp_path / "arms" / "r.urdf.xacro"
    path.parent.mkdir()
    path.write_text(text.replace('<robot name="r">', head))
    got = bodies_of(armdyn.load(path, args={"thick": 0.05}, packages=[package.parent]))
    expected = bodies_of(armdyn.load(urdf))
    assert got.notes == expected.notes
    for one, other in zip(got.capsules, expected.capsules, strict=True):
        assert (one.link, one.name, one.radius) == (other.link, other.name, other.radius)
        assert np.array_equal([one.a, one.b], [other.a, other.b])


def test_shapes_that_cannot_be_read_are_told_and_replaced(urdf):
    urdf.write_text(URDF.format(mesh="absent.stl"))
    arm = armdyn.load(urdf, tip="three")
    bodies = bodies_of(arm)
    assert "mesh 'absent.stl' was not found" in bodies.notes[0]
    assert "of one, two only; guessed along the arm's frames for three, " in bodies.origin
    # Link three has no length: a ball stands for it.
    assert {one.link for one in bodies.capsules} == {1, 2, 3}
    np.testing.assert_array_equal(bodies.capsules[-1].a, bodies.capsules[-1].b)
    urdf.unlink()
    assert "no such file" in bodies_of(arm).notes[0]
    assert "no collision shape could be read), " in bodies_of(arm).origin


@pytest.mark.parametrize("name", ["panda", "puma560", "stanford", "scara"])
def test_gradients_of_places_are_exact(name):
    arm = getattr(armdyn.arms, name)()
    bodies = bodies_of(arm)
    rng = np.random.default_rng(0)
    q, dq = rng.uniform(-1, 1, (2, 20, arm.n))
    posed = bodies.at(q)
    on_a, on_b = rng.normal(size=(2, *posed.a.shape))

    def total(q):
        at = bodies.at(q)
        return (at.a * on_a + at.b * on_b).sum((1, 2))

    h = 1e-6
    slope = (total(q + h * dq) - total(q - h * dq)) / (2 * h)
    # Central differences of smooth functions of size one.
    np.testing.assert_allclose((bodies.pull(posed, on_a, on_b) * dq).sum(1), slope, atol=1e-7)


def test_geometry_leads_from_the_floor_through_the_joints_to_the_tip():
    arm = armdyn.arms.puma560()
    bodies = bodies_of(arm)
    q = np.random.default_rng(1).uniform(-1, 1, (5, arm.n))
    posed = bodies.at(q)
    np.testing.assert_allclose(posed.a[:, 0], [[0, 0, -0.67183]] * 5, atol=1e-12)
    ends = np.concatenate([posed.a, posed.b], axis=1)
    for point in [*armdyn.link_poses(arm, q)[:, :, :3, 3].swapaxes(0, 1), armdyn.forward_kinematics(arm, q)[:, :3, 3]]:
        assert np.linalg.norm(ends - point[:, None], axis=2).min(1).max() < 1e-9


def test_gravity_tells_floor_wall_and_ceiling():
    arm = armdyn.arms.panda()
    assert mounting_plane(arm).name == "floor"
    assert mounting_plane(arm.with_gravity([0, 9.81, 0])).name == "wall"
    assert mounting_plane(arm.with_gravity([0, 0, 9.81])).name == "ceiling"
    assert mounting_plane(arm.with_gravity([0, 0, 0])).name == "mounting plane"
    assert mounting_plane(armdyn.arms.sarcos()) is None
    assert mounting_plane(armdyn.arms.sarcos(), -1.0).offset == -1.0


def test_shapes_are_never_nearer_than_their_capsules(urdf):
    pin = pytest.importorskip("pinocchio")
    coal = pytest.importorskip("coal")
    text = urdf.read_text()
    start = text.index("<collision><geometry><mesh")
    urdf.write_text(text[:start] + text[text.index("</collision>", start) + len("</collision>") :])
    model = pin.buildModelFromUrdf(str(urdf))
    data, shapes = model.createData(), pin.buildGeomFromUrdf(model, str(urdf), pin.GeometryType.COLLISION)
    placed = shapes.createData()
    bodies = bodies_of(armdyn.load(urdf))
    q = np.random.default_rng(4).uniform(-2, 2, (100, 3))
    posed = bodies.at(q)
    place = {one.name: k for k, one in enumerate(shapes.geometryObjects)}
    way = posed.b - posed.a
    near = 0
    for k, state in enumerate(q):
        pin.updateGeometryPlacements(model, data, shapes, placed, state)
        # Capsules are the cylinder, the ball and the box, in this order; the base's box stands for itself.
        for i, name in ((1, "two_0"), (2, "two_1")):
            told = to_obstacle(posed.a[k : k + 1, i], way[k : k + 1, i], bodies.fixed[0])
            free = float(told.distance[0]) - bodies.radius[i]
            a, b = place["base_0"], place[name]
            one, two = (shapes.geometryObjects[x].geometry for x in (a, b))
            gap = coal.distance(one, placed.oMg[a], two, placed.oMg[b], coal.DistanceRequest(), coal.DistanceResult())
            if free > 0:
                assert gap >= free - 1e-6
                near += gap < free + 0.05
            if name == "two_0":  # a ball is its own capsule
                assert gap == pytest.approx(free, abs=1e-6)
    assert near > 10
