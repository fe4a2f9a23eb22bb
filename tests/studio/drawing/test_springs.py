"""Springs are coils from one end to the other."""

from __future__ import annotations

import types

import numpy as np
import pytest

from armdyn import arms, link_poses
from armdyn.dynamics import spring_energy
from armdyn.spatial.rotation import from_quaternion
from armdyn.studio.drawing.springs import SpringCoils, coil, spring_ends
from armdyn.studio.state import first_state


@pytest.fixture(scope="module")
def palletizer():
    return arms.palletizer()


def test_the_distance_of_the_ends_gives_the_springs_energy(palletizer):
    (spring,) = palletizer.springs
    for q in np.random.default_rng(0).uniform(-0.5, 0.5, (5, palletizer.n)):
        ((start, end),) = spring_ends(palletizer, link_poses(palletizer, q))
        stretch = np.linalg.norm(end - start) - spring.rest_length
        assert spring.stiffness / 2 * stretch**2 == pytest.approx(spring_energy(palletizer, q), rel=1e-12)


def test_a_coil_reaches_from_zero_to_one_and_is_closed_along_its_wire():
    vertices, faces = coil()
    assert vertices[:, 2].min() == pytest.approx(0.0, abs=0.03)
    assert vertices[:, 2].max() == pytest.approx(1.0, abs=0.03)
    edges = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    _, counts = np.unique(edges, axis=0, return_counts=True)
    assert set(counts) == {1, 2}
    assert (counts == 1).sum() == 2 * 6  # the two ends of the wire are open


def test_coils_follow_the_arm(palletizer):
    node = types.SimpleNamespace()
    scene = types.SimpleNamespace(add_mesh_simple=lambda *args, **options: node)
    springs = SpringCoils(scene, palletizer, extent=2.0)
    state = first_state(palletizer)
    springs.follow(state)
    ((start, end),) = spring_ends(palletizer, state.links)
    assert node.position == pytest.approx(start)
    reach = from_quaternion(np.array(node.wxyz)) @ [0.0, 0.0, node.scale[2]]
    assert start + reach == pytest.approx(end)


def test_arms_without_springs_have_no_coils():
    arm = arms.planar2()
    assert spring_ends(arm, link_poses(arm, np.zeros(2))).shape == (0, 2, 3)
