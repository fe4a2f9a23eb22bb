"""The page on xacro: its commands, on a robot whose parts are in a package."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import armdyn

pytest.importorskip("xacrodoc")
COMMANDS = re.findall(r"^    armdyn (.+)$", (Path(__file__).parents[2] / "docs" / "xacro.md").read_text(), re.MULTILINE)
ROBOT = '<robot name="a" xmlns:xacro="http://www.ros.org/wiki/xacro">{}</robot>'
PARTS = """<xacro:arg name="length" default="0.5"/><link name="base"/><link name="upper"><inertial><mass value="3"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><origin xyz="0 0 $(arg length)"/><parent link="base"/><child link="upper"/>
<axis xyz="0 1 0"/></joint>"""


def run(line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "armdyn", *line.split()], capture_output=True, text=True)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    package = tmp_path / "packages" / "parts"
    package.mkdir(parents=True)
    (package / "package.xml").write_text("<package><name>parts</name><version>1.0.0</version></package>")
    (package / "parts.xacro").write_text(ROBOT.format(PARTS))
    (tmp_path / "robot.urdf.xacro").write_text(ROBOT.format('<xacro:include filename="$(find parts)/parts.xacro"/>'))


@pytest.mark.usefixtures("folder")
def test_the_commands_of_the_page():
    assert len(COMMANDS) == 2
    for line in COMMANDS:
        assert run(line).returncode == 0
    assert armdyn.load("robot.urdf").joints[0].before[2, 3] == 0.7


@pytest.mark.usefixtures("folder")
def test_without_the_package_the_remedy_is_told():
    done = run(COMMANDS[0].partition(" --package-path")[0])
    assert done.returncode == 1
    assert "give --package-path FOLDER" in done.stderr
    assert done.stderr.count("\n") == 1
