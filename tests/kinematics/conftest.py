"""Arms built from their axes, in frames that have nothing to do with them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from armdyn import Arm, Joint, Limits, Link
from armdyn.spatial.transform import inverse
from armdyn.trace import backend


@pytest.fixture(autouse=True)
def on_virtual_machine(request: pytest.FixtureRequest) -> Iterator[None]:
    """Nothing is compiled, which would take most of the time, but for iterations and in tests that name kernels."""
    compiled = "kernels" in request.node.name or request.path.name == "test_inverse.py"
    with backend.using("native" if compiled else "virtual"):
        yield


def random_frame(rng):
    T = np.eye(4)
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    T[:3, :3], T[:3, 3] = Q * np.linalg.det(Q), rng.uniform(-0.5, 0.5, 3)
    return T


@pytest.fixture(scope="session")
def arm_of_axes():
    """`arm_of_axes("RRP", [(point, direction), ...])`: axes at q = 0 seen from a frame turned at random."""

    def build(kinds, lines, seed=0, limits=None):
        rng = np.random.default_rng(seed)
        base, before, joints = random_frame(rng), np.eye(4), []
        for i, (kind, (point, direction)) in enumerate(zip(kinds, lines, strict=True)):
            # The link's frame anywhere; the joint's frame has its origin on the axis, turned anyhow.
            frame, link = random_frame(rng), random_frame(rng)
            frame[:3, 3] = np.asarray(point, float) + rng.normal() * np.asarray(direction, float)
            axis = frame[:3, :3].T @ np.asarray(direction, float)
            name = "revolute" if kind == "R" else "prismatic"
            limit = Limits(*limits[i]) if limits else Limits()
            joints.append(Joint(f"j{i + 1}", name, axis, inverse(before) @ frame, inverse(frame) @ link, limit))
            before = link
        links = [Link(f"l{i + 1}") for i in range(len(kinds))]
        return Arm(joints, links, name=kinds, base_pose=base, tool_pose=random_frame(rng))

    return build


@pytest.fixture(scope="session")
def configurations():
    """`configurations(arm, count)`: random ones within the limits, half a turn or half a metre where there are none."""

    def draw(arm, count, seed=0):
        rng = np.random.default_rng(seed)
        room = np.array([np.pi if joint.kind == "revolute" else 0.5 for joint in arm.joints])
        lower, upper = arm.position_limits
        return rng.uniform(np.maximum(lower, -room), np.minimum(upper, room), (count, arm.n))

    return draw
