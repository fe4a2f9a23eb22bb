"""Hostile and broken files are rejected with one sentence, before they cost memory or time."""

from __future__ import annotations

import os
import re

import numpy as np
import pytest
from tests.raising import raises

from armdyn.errors import ModelError, ReadError
from armdyn.model.urdf.read import read_urdf
from armdyn.model.urdf.xml import MAX_ELEMENTS, origin, parse_robot
from armdyn.spatial.rotation import from_rpy

LAUGHS = """<?xml version="1.0"?>
<!DOCTYPE robot [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;">]>
<robot name="&c;"/>"""
EXTERNAL = """<!DOCTYPE robot [<!ENTITY x SYSTEM "file:///etc/hostname">]><robot name="x">&x;</robot>"""


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (LAUGHS, {"cause": re.compile("declaration is rejected")}),
        (EXTERNAL, {"cause": re.compile("declaration is rejected")}),
        (
            '<!DOCTYPE robot SYSTEM "http://example.org/x.dtd"><robot/>',
            {"cause": re.compile("declaration is rejected")},
        ),
        ("", {"cause": re.compile("^not well-formed")}),
        ("<robot><link name='a'/>", {"cause": re.compile("^not well-formed")}),
        ("<sdf/>", {"expected": "a URDF with root element <robot>", "got": "<sdf>"}),
        ("<robot/>", {"cause": "the robot has no links"}),
        ("\x00\x01", {"cause": re.compile("^not well-formed")}),
        (
            '<robot xmlns:xacro="http://ros.org/wiki/xacro"><xacro:include filename="a"/></robot>',
            {"remedy": "name it .xacro"},
        ),
        ("<robot>" + "<a>" * 100 + "</a>" * 100 + "</robot>", {"cause": re.compile("levels")}),
        ("<robot>" + "<a/>" * (MAX_ELEMENTS + 1) + "</robot>", {"cause": re.compile("elements")}),
        (
            '<?xml version="1.0" encoding="utf-7"?><robot/>',
            {"cause": re.compile("encoding|not readable|not well-formed")},
        ),
    ],
)
def test_broken_and_hostile_xml_is_rejected(tmp_path, text, parts):
    path = tmp_path / "bad.urdf"
    path.write_text(text)
    with raises((ReadError, ModelError), where="bad.urdf", **parts):
        read_urdf(path)


def test_a_gigabyte_is_rejected_before_it_is_read(tmp_path):
    path = tmp_path / "large.urdf"
    with path.open("wb") as stream:
        os.truncate(stream.fileno(), 1_000_000_000)  # a hole: it takes no space on the disk
    with raises(ReadError, cause="the file has 1000 MB, more than the 50 MB allowed"):
        read_urdf(path)


def test_files_that_cannot_be_opened(tmp_path):
    with raises(ReadError, cause=re.compile("no such file")):
        read_urdf(tmp_path / "absent.urdf")
    with raises(ReadError, cause="is a folder"):
        read_urdf(tmp_path)


def test_declared_encodings_and_default_namespaces_are_understood():
    text = (
        '<?xml version="1.0" encoding="ISO-8859-1"?><robot xmlns="http://example.org" name="b\u00fcro"><link/></robot>'
    )
    robot = parse_robot(text.encode("latin-1"), "file")
    assert robot.get("name") == "b\u00fcro"
    assert robot.find("link") is not None


def test_origin_as_angles_or_quaternion():
    angles = parse_robot(b'<robot><origin xyz="1 2 3" rpy="0.1 0.2 0.3"/></robot>', "file")
    T = origin(angles, "here")
    np.testing.assert_array_equal(T[:3, 3], [1, 2, 3])
    np.testing.assert_array_equal(T[:3, :3], from_rpy([0.1, 0.2, 0.3]))
    half = 0.5**0.5
    turned = parse_robot(f'<robot><origin quat_xyzw="{half!r} 0 0 {half!r}"/></robot>'.encode(), "file")
    # A quarter turn about x; the quaternion's components carry one rounding each.
    np.testing.assert_allclose(origin(turned, "here")[:3, :3], from_rpy([np.pi / 2, 0, 0]), atol=1e-15)
    both = parse_robot(b'<robot><origin quat_xyzw="0 0 0 1" rpy="0 0 0"/></robot>', "file")
    with raises(ModelError, cause="<origin> has both rpy and quat_xyzw"):
        origin(both, "here")


@pytest.mark.parametrize("bad", ["1 2", "1 2 3 4", "1 2 x", "nan 0 0", "inf 0 0", "1e99 0 0", "1_0 0 0", ""])
def test_numbers_are_counted_and_finite(bad):
    robot = parse_robot(f'<robot><origin xyz="{bad}"/></robot>'.encode(), "file")
    with raises(ModelError, where="here", expected="3 numbers in <origin xyz=...>"):
        origin(robot, "here")
