"""Xacro files: expanded without ROS, and under guard."""

import pytest

import armdyn
from armdyn.errors import ArmdynError, ReadError

pytest.importorskip("xacrodoc")

ROBOT = '<robot name="a" xmlns:xacro="http://www.ros.org/wiki/xacro">{}</robot>'
LINKS = """<xacro:arg name="length" default="0.5"/><link name="base"/>
<xacro:macro name="part" params="name parent z"><link name="${name}"><inertial><mass value="${2 * 1.5}"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="to_${name}" type="continuous"><origin xyz="0 0 ${z}"/><parent link="${parent}"/><child link="${name}"/>
<axis xyz="0 1 0"/></joint></xacro:macro>
<xacro:part name="upper" parent="base" z="$(arg length)"/>"""


def write(path, body):
    path.write_text(ROBOT.format(body))
    return path


def test_macros_expressions_and_arguments(tmp_path):
    path = write(tmp_path / "a.urdf.xacro", LINKS)
    arm = armdyn.load(path, args={"length": 0.7})
    assert arm.source is not None
    assert arm.source.options == ("--xacro-arg", "length:=0.7")  # for commands that are printed
    assert arm.joint_names == ("to_upper",)
    assert arm.joints[0].before[2, 3] == 0.7
    assert arm.links[0].inertia.mass == 3.0
    assert armdyn.load(path).joints[0].before[2, 3] == 0.5


def test_packages_are_found_where_they_are_named(tmp_path):
    package = tmp_path / "packages" / "parts"
    package.mkdir(parents=True)
    (package / "package.xml").write_text("<package><name>parts</name><version>1.0.0</version></package>")
    write(package / "parts.xacro", LINKS)
    (tmp_path / "robot").mkdir()
    path = write(tmp_path / "robot" / "b.xacro", '<xacro:include filename="$(find parts)/parts.xacro"/>')
    for folder in (package.parent, package):
        assert armdyn.load(path, packages=[folder]).n == 1
    with pytest.raises(ReadError, match=r"needs a package .*parts.*--package-path"):
        armdyn.load(path)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('<link name="$(arg side)"/>', "needs an argument .*side.*--xacro-arg name:=value"),
        ('<xacro:include filename="/etc/passwd"/>', "'/etc/passwd' lies outside the folders"),
        ("""<link name="${xacro.load_yaml('/etc/hostname')}"/>""", "lies outside the folders"),
        ('<link name="${open(1)}"/>', "failed"),
        ('<link name="${().__class__.__base__.__subclasses__()}"/>', "failed"),
        ("<xacro:nothing/>", "unknown macro name|failed"),
    ],
)
def test_what_a_xacro_may_not(tmp_path, body, message):
    with pytest.raises(ReadError, match=message):
        armdyn.load(write(tmp_path / "bad.xacro", body))


def test_endless_expressions_end(tmp_path, monkeypatch):
    monkeypatch.setattr("armdyn.model.xacro.MOST_SECONDS", 3)
    with pytest.raises(ReadError, match=r"did not end within 3 s|ended .memory or time"):
        armdyn.load(write(tmp_path / "bad.xacro", '<link name="${2**2**40}"/>'))


def test_arguments_are_for_xacros_alone(tmp_path):
    armdyn.arms.planar2().save(tmp_path / "a.urdf")
    with pytest.raises(ArmdynError, match=r"args and packages are for \.xacro files"):
        armdyn.load(tmp_path / "a.urdf", args={"a": 1})
