"""A xacro in, without ROS: arguments and packages are named, and what it may not do is said.

Run it: python examples/81_xacro.py (needs the extra `xacro`)
"""

import tempfile
from pathlib import Path

import armdyn
from armdyn.errors import install_command

XACRO = """<robot name="mast" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="length" default="0.5"/>
  <xacro:property name="mass" value="${2 * 1.5}"/>
  <link name="base"/>
  <link name="mast"><inertial><origin xyz="0 0 ${0.5 * 0.5}"/><mass value="${mass}"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="tilt" type="continuous"><origin xyz="0 0 $(arg length)"/><parent link="base"/><child link="mast"/>
    <axis xyz="0 1 0"/></joint>
</robot>
"""


def main() -> None:
    try:
        import xacrodoc  # noqa: F401
    except ImportError:
        print(f"xacrodoc is not installed: {install_command('xacro')}")
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "mast.urdf.xacro"
        file.write_text(XACRO)
        arm = armdyn.load(file, args={"length": 0.7})
        print(arm, "mass", arm.links[0].inertia.mass, "kg, axis", arm.joints[0].before[2, 3], "m up")
        file.write_text(XACRO.replace("$(arg length)", "$(arg height)"))
        try:
            armdyn.load(file)
        except armdyn.ArmdynError as error:
            print(error)
        file.write_text(XACRO.replace("<link", '<xacro:include filename="/etc/hosts"/><link', 1))
        try:
            armdyn.load(file)
        except armdyn.ArmdynError as error:
            print(error)


if __name__ == "__main__":
    main()
