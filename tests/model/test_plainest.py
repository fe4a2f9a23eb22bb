"""Code does not depend on how an arm's frames were described."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import armdyn
from armdyn import Arm, Link
from armdyn.model.dh_frames import plainest
from armdyn.spatial.transform import inverse, transform
from armdyn.trace.graphs.graph import count_operations, graph_of


def standard(seed: int, kinds: str = "RRRRRR", zeros: bool = True, right_angles: bool = False) -> Arm:
    """A table of general rows in standard DH, every inertial parameter general."""
    rng, n = np.random.default_rng(seed), len(kinds)
    rows = [
        {
            "kind": kind,
            "a": rng.uniform(0.1, 0.5),
            "alpha": np.pi / 2 * (-1) ** i if right_angles else rng.uniform(0.3, 1.2),
            "d": rng.uniform(0.1, 0.5),
            "theta": rng.uniform(-1, 1) if zeros else 0.0,
        }
        for i, kind in enumerate(kinds)
    ]
    return Arm.from_dh(rows).with_theta(rng.uniform(0.1, 1.0, 10 * n))


def scrambled(arm: Arm, seed: int) -> Arm:
    """The same arm with link frames turned and shifted at random."""
    rng, before, joints, links = np.random.default_rng(seed), np.eye(4), [], []
    for joint, link in zip(arm.joints, arm.links, strict=True):
        Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        T = transform(Q * np.linalg.det(Q), rng.uniform(-0.5, 0.5, 3))
        joints.append(dataclasses.replace(joint, before=inverse(before) @ joint.before, after=joint.after @ T))
        links.append(Link(link.name, link.inertia.moved(inverse(T))))
        before = T
    tool = inverse(before) @ arm.tool_pose
    return dataclasses.replace(arm, joints=tuple(joints), links=tuple(links), tool_pose=tool)


def operations(arm: Arm) -> int:
    """Operations of the graph from which code is printed, before the search that takes seconds."""
    traced = armdyn.inverse_dynamics.traced
    other, _ = arm.plainest(traced.bound)
    counts = count_operations(graph_of(traced.make_program(other, traced.plain_variant, fold=True)))
    return counts.multiplications + counts.additions


ARMS = {
    **{f"general {k}": lambda k=k: standard(k) for k in range(3)},
    "no zeros": lambda: standard(3, zeros=False),
    "right angles": lambda: standard(4, right_angles=True),
    "sliding": lambda: standard(5, "RRPRRR"),
    **{name: getattr(armdyn.arms, name) for name in ("puma560", "panda", "ur10", "stanford")},
}


@pytest.mark.parametrize("name", ARMS)
def test_ten_arms_described_differently_have_equally_many_operations(name):
    arm = ARMS[name]()
    other = scrambled(arm, 7)
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 4, arm.n))
    tau = armdyn.inverse_dynamics(arm, q, qd, qdd)
    for described in (arm, other):
        plain, shifts = described.plainest(("theta", "gravity"))
        found = armdyn.inverse_dynamics(plain, q + shifts.get("q", 0.0), qd, qdd)
        np.testing.assert_allclose(found, tau, atol=1e-11 * np.abs(tau).max())
    assert operations(other) == pytest.approx(operations(arm), rel=0.01)
    assert operations(armdyn.as_dh(arm, "standard")) == pytest.approx(operations(arm), rel=0.01)


def test_code_of_a_standard_table_is_below_khalils_bound(tmp_path):
    arm = standard(1)
    codes = [
        armdyn.c_code(armdyn.inverse_dynamics, described, tmp_path / str(k))
        for k, described in enumerate((arm, scrambled(arm, 3)))
    ]
    for code in codes:
        assert code.multiplications <= 105 * 6 - 92
        assert code.additions <= 94 * 6 - 86
    assert codes[0].total == codes[1].total


def test_zeros_of_joints_stay_where_friction_refers_to_positions():
    arm = standard(1)
    assert arm.plainest(("theta", "gravity"))[1]["q"].any()
    assert arm.plainest(("theta", "gravity", "friction", "drive"))[1] == {}


def test_trees_are_as_they_are(random_arm):
    arm = random_arm("RRR")
    joints = (*arm.joints[:2], dataclasses.replace(arm.joints[2], parent=arm.link_names[0]))
    tree = dataclasses.replace(arm, joints=joints)
    assert plainest(tree, True)[0] is tree
