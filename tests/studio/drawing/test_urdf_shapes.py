"""What a URDF shows."""

from pathlib import Path

import numpy as np
import pytest
from tests.raising import raises

from armdyn import load
from armdyn.errors import ReadError
from armdyn.studio.drawing.shapes import PAINT, Shape
from armdyn.studio.drawing.subject import DrawnArm
from armdyn.studio.drawing.urdf_shapes import MeshShape, mesh_file, urdf_shapes
from armdyn.studio.exports import arm_file

trimesh = pytest.importorskip("trimesh", reason="meshes are read by trimesh, which comes with viser")

URDF = """<robot name="two">
<material name="paint"><color rgba="1 0.5 0 1"/></material>
<link name="base"><visual><geometry><cylinder radius="0.1" length="0.2"/></geometry></visual></link>
<link name="one">
  <visual><origin xyz="0 0 0.25"/><geometry><box size="0.1 0.1 0.5"/></geometry><material name="paint"/></visual>
  <visual><geometry><mesh filename="package://two/meshes/cube.stl" scale="0.5 0.5 0.5"/></geometry></visual>
</link>
<link name="hand"><visual><geometry><sphere radius="0.05"/></geometry></visual></link>
<link name="two"><visual><geometry><mesh filename="missing.stl"/></geometry></visual></link>
<joint name="a" type="revolute"><parent link="base"/><child link="one"/><origin xyz="0 0 0.2"/><axis xyz="0 1 0"/>
  <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="b" type="revolute"><parent link="one"/><child link="two"/><origin xyz="0 0 0.5"/><axis xyz="0 1 0"/>
  <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="f" type="fixed"><parent link="one"/><child link="hand"/><origin xyz="0 0.3 0"/></joint>
</robot>"""


@pytest.fixture
def urdf(tmp_path):
    folder = tmp_path / "two"
    (folder / "meshes").mkdir(parents=True)
    (folder / "urdf").mkdir()
    trimesh.creation.box((1, 1, 1)).export(folder / "meshes" / "cube.stl")
    path = folder / "urdf" / "two.urdf"
    path.write_text(URDF)
    return path


def test_bodies_ride_on_their_links(urdf):
    shapes, notes, _ = urdf_shapes(urdf, load(urdf))
    plain = [(s.kind, s.link, s.size) for s in shapes if isinstance(s, Shape)]
    assert plain == [
        ("cylinder", 0, (0.1, 0.2)),
        ("box", 1, (0.1, 0.1, 0.5)),
        ("sphere", 1, (0.05,)),  # on a fixed joint
    ]
    box, ball = (s for s in shapes if s.link == 1 and isinstance(s, Shape))
    np.testing.assert_allclose(box.T[:3, 3], [0, 0, 0.25])
    np.testing.assert_allclose(ball.T[:3, 3], [0, 0.3, 0])
    assert box.color == (255, 128, 0)
    (mesh,) = (s for s in shapes if isinstance(s, MeshShape))
    np.testing.assert_allclose(np.ptp(mesh.vertices, axis=0), 0.5)
    assert len(notes) == 1
    assert "mesh 'missing.stl' was not found" in notes[0]


def test_a_colour_that_is_none_does_not_hide_a_body(urdf):
    urdf.write_text(URDF.replace("1 0.5 0 1", "orange"))
    box = next(s for s in urdf_shapes(urdf, load(urdf)).shapes if s.link == 1)
    assert box.color == PAINT["link"]


def test_the_export_keeps_what_the_file_shows(urdf):
    arm = load(urdf)
    known = arm.with_theta(np.tile([1.0, 0, 0, 0, 0.1, 0, 0.1, 0, 0, 0.1], 2))
    text = arm_file(known, ".urdf").data.decode()
    assert "cube.stl" in text
    assert "<inertial>" in text


def test_links_that_show_nothing_are_drawn_plainly(urdf):
    arm = load(urdf)
    drawn = DrawnArm(arm, visuals=urdf_shapes(urdf, arm)).shapes
    assert {s.link for s in drawn} == {0, 1, 2}
    assert all(isinstance(s, Shape) for s in drawn if s.link == 2)


def test_bodies_are_where_pinocchio_has_them(urdf, tmp_path):
    """Also on armdyn's URDF of a DH arm, whose frames are restored from an element that others do not read."""
    pinocchio = pytest.importorskip("pinocchio")
    from armdyn import arms, link_poses

    path = tmp_path / "puma.urdf"
    arms.puma560().save(path)
    body = "<visual><geometry><box size='1 1 1'/></geometry></visual>"
    names = load(path).link_names
    for name in names:
        path.write_text(path.read_text().replace(f'<link name="{name}">', f'<link name="{name}">{body}'))
    arm = load(path)
    boxes = urdf_shapes(path, arm).shapes
    assert [box.link for box in boxes] == list(range(1, arm.n + 1))
    model = pinocchio.buildModelFromUrdf(str(path))
    data, q = model.createData(), np.random.default_rng(0).uniform(-1, 1, arm.n)
    pinocchio.framesForwardKinematics(model, data, q)
    for T, box, name in zip(link_poses(arm, q), boxes, names, strict=True):
        expected = data.oMf[model.getFrameId(name)].homogeneous
        np.testing.assert_allclose(T @ box.T, expected, atol=1e-9)


@pytest.mark.parametrize("content", [b"", b"solid nothing", b"\x00" * 100])
def test_a_broken_mesh_is_a_note(urdf, content):
    (urdf.parents[1] / "meshes" / "cube.stl").write_bytes(content)
    _, notes, _ = urdf_shapes(urdf, load(urdf))
    assert any("cube.stl" in note for note in notes)


def test_collada_in_its_own_unit(urdf):
    pytest.importorskip("collada", reason="Collada is read by pycollada")
    data = trimesh.creation.box((10, 20, 30)).export(file_type="dae").decode()
    assert data.count("<up_axis>") == 1
    (urdf.parents[1] / "meshes" / "cube.dae").write_text(data.replace("<up_axis>", '<unit meter="0.01"/><up_axis>'))
    urdf.write_text(urdf.read_text().replace("cube.stl", "cube.dae"))
    (mesh,) = (shape for shape in urdf_shapes(urdf, load(urdf)).shapes if isinstance(shape, MeshShape))
    np.testing.assert_allclose(np.ptp(mesh.vertices, axis=0), [0.05, 0.1, 0.15])  # half of it: the URDF's scale


def test_files_of_packages_and_folders(urdf):
    cube = urdf.parents[1] / "meshes" / "cube.stl"
    assert mesh_file("../meshes/cube.stl", urdf, "").resolve() == cube
    assert mesh_file("package://other_name/meshes/cube.stl", urdf, "") == cube
    assert mesh_file(f"file://{cube}", urdf, "") == cube
    with raises(ReadError, cause="mesh 'package://two/none.stl' was not found", names=("package://two/none.stl",)):
        mesh_file("package://two/none.stl", urdf, "link 'x'")


def test_a_file_of_the_tests():
    path = Path(__file__).parents[2] / "data" / "urdf" / "gripper.urdf"
    with pytest.warns(match="gripper"):
        arm = load(path)
    assert {s.link for s in DrawnArm(arm, visuals=urdf_shapes(path, arm)).shapes} == set(range(arm.n + 1))
