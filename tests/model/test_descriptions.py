"""One arm described in four ways has the same link poses."""

from __future__ import annotations

import numpy as np
import pytest

from armdyn import Arm, load
from armdyn.spatial.transform import inverse

# A shoulder that turns about z at height 0.3, an elbow that turns about y 0.4 further along x, and a slide
# along x; bodies at the ends of the standard DH links.
LENGTH, HEIGHT = 0.4, 0.3

STANDARD = """
convention = "standard"
[[row]]
kind = "R"
d = 0.3
alpha = "-pi/2"
a = 0.4
[[row]]
kind = "R"
theta = "pi/2"
alpha = "pi/2"
[[row]]
kind = "P"
d = 0.2
"""

MODIFIED = """
# convention: modified
kind, alpha, a,   d,   theta
R,    0,     0,   0.3, 0
R,    -pi/2, 0.4, 0,   pi/2
P,    pi/2,  0,   0.2, 0
"""

URDF = """
<robot name="arm">
  <link name="base"/> <link name="l1"/> <link name="l2"/> <link name="l3"/>
  <joint name="j1" type="revolute">
    <parent link="base"/> <child link="l1"/> <origin xyz="0 0 0.3"/> <axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" velocity="1" effort="1"/>
  </joint>
  <joint name="j2" type="revolute">
    <parent link="l1"/> <child link="l2"/> <origin xyz="0.4 0 0"/> <axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" velocity="1" effort="1"/>
  </joint>
  <joint name="j3" type="prismatic">
    <parent link="l2"/> <child link="l3"/> <origin xyz="0.2 0 0"/> <axis xyz="1 0 0"/>
    <limit lower="-3" upper="3" velocity="1" effort="1"/>
  </joint>
</robot>
"""

MEMBERS = [
    {"kind": "R", "e_prev": (0, 0, 1), "e_own": (0, 0, 1), "r_prev": (0, 0, -0.3), "a_prev": (1, 0, 0)}
    | {"r_own": (0.4, 0, 0)},
    {"kind": "R", "e_prev": (0, 1, 0), "e_own": (0, 1, 0), "r_prev": (0, 0, 0), "a_prev": (1, 0, 0)}
    | {"r_own": (0.1, 0, 0)},
    {"kind": "P", "e_prev": (1, 0, 0), "e_own": (1, 0, 0), "r_prev": (-0.1, 0, 0), "a_prev": (0, 1, 0)}
    | {"r_own": (0, 0, 0), "a_own": (0, 1, 0)},
]


@pytest.fixture
def described(tmp_path):
    for name, text in (("s.toml", STANDARD), ("m.csv", MODIFIED), ("u.urdf", URDF)):
        (tmp_path / name).write_text(text.strip())
    arms = {name: load(tmp_path / name) for name in ("s.toml", "m.csv", "u.urdf")}
    return {**arms, "vectors": Arm.from_vectors(MEMBERS)}


def test_four_descriptions_of_one_arm(described, chain_poses):
    # Each description puts the link frames elsewhere on the same bodies: what all have in common is how the
    # bodies move. A link's displacement from joint positions zero is the same in every description.
    rng = np.random.default_rng(7)
    for q in rng.uniform(-2, 2, (20, 3)):
        moved = {}
        for name, arm in described.items():
            now, home = chain_poses(arm, q)[0], chain_poses(arm, np.zeros(3))[0]
            moved[name] = now @ inverse(home)
        for name, poses in moved.items():
            # a dozen roundings of lengths near one
            np.testing.assert_allclose(poses, moved["u.urdf"], rtol=0, atol=1e-14, err_msg=name)


def test_link_frames_that_coincide_do_so_exactly(described, chain_poses):
    # Frame 3 of both DH tables and the slide's frames in the others lie at the same point.
    for q in np.random.default_rng(8).uniform(-2, 2, (20, 3)):
        origins = {name: chain_poses(arm, q)[0][2, :3, 3] for name, arm in described.items()}
        for name, origin in origins.items():
            np.testing.assert_allclose(origin, origins["u.urdf"], rtol=0, atol=1e-14, err_msg=name)


def test_the_library_function_agrees(described):
    from armdyn import link_poses

    q = np.array([[0.3, -0.4, 0.1], [1.0, 2.0, -0.3]])
    home = np.zeros(3)
    expected = link_poses(described["u.urdf"], q) @ inverse(link_poses(described["u.urdf"], home))
    for arm in described.values():
        moved = link_poses(arm, q) @ inverse(link_poses(arm, home))
        np.testing.assert_allclose(moved, expected, rtol=0, atol=1e-14)
