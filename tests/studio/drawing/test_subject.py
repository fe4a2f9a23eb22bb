"""Arms to choose from."""

from tests.raising import raises

from armdyn import ArmdynError, arms
from armdyn.studio.drawing.subject import DrawnArm, open_subject


def test_library_names_and_files_are_opened(tmp_path):
    assert open_subject("puma3").arm.name == "puma3"
    arms.planar2().save(tmp_path / "mine.urdf")
    subject = open_subject(str(tmp_path / "mine.urdf"))
    assert subject.arm.n == 2
    assert subject.source == tmp_path / "mine.urdf"
    assert {shape.link for shape in subject.shapes} == {1, 2}  # its base is the pedestal


def test_what_is_no_arm_is_said():
    with raises(ArmdynError, names=("puma",)):
        open_subject("puma")


def test_bodies_are_made_once():
    subject = DrawnArm(arms.planar2())
    assert subject.bodies is subject.bodies
    assert subject.shapes is subject.shapes
