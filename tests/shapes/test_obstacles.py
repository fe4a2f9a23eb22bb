"""Obstacles: distances against their definition, files good and bad."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.raising import raises

from armdyn.errors import ReadError
from armdyn.shapes.obstacles import Box, HalfSpace, Sphere, read_obstacles
from armdyn.spatial.rotation import from_rpy
from armdyn.spatial.transform import transform

OBSTACLES = (
    Box(transform(from_rpy([0.3, -0.4, 0.8]), [0.1, 0.2, 0.3]), np.array([0.4, 0.7, 0.2])),
    HalfSpace(np.array([0.6, 0.0, 0.8]), 0.25),
    Sphere(np.array([0.1, -0.2, 0.4]), 0.3),
)


@pytest.mark.parametrize("obstacle", OBSTACLES, ids=lambda o: o.name)
def test_the_distance_grows_along_the_way_that_leads_away(obstacle):
    p = np.random.default_rng(0).uniform(-1, 1, (500, 3))
    distance, away = obstacle.distance(p)
    np.testing.assert_allclose(np.linalg.norm(away, axis=1), 1, atol=1e-12)
    h = 1e-6
    further, _ = obstacle.distance(p + h * away)
    np.testing.assert_allclose(further - distance, h, rtol=1e-6)
    outside = distance > 0
    # Where it is told to be, a point outside meets the surface.
    on, _ = obstacle.distance((p - distance[:, None] * away)[outside])
    np.testing.assert_allclose(on, 0, atol=1e-12)
    assert outside.any()
    assert (~outside).any()


def test_the_box_is_as_far_as_its_nearest_point():
    box = OBSTACLES[0]
    grid = np.stack(np.meshgrid(*[np.linspace(-0.5, 0.5, 60)] * 3), -1).reshape(-1, 3) * box.size
    inside = grid @ box.T[:3, :3].T + box.T[:3, 3]
    for p in np.random.default_rng(1).uniform(-1, 1, (20, 3)):
        brute = np.linalg.norm(inside - p, axis=1).min()
        # The grid's points are 12 mm apart at most.
        assert max(box.distance(p)[0], 0) == pytest.approx(brute, abs=0.012)


TEXT = """
[[box]]
name = "cabinet"
center = [0.8, 0, 0.4]
size = [0.4, 1.0, 0.8]
rpy = [0, 0, 1.5707963267948966]

[[half_space]]
point = [0, -0.7, 0]
normal = [0, 2.0, 0]

[[sphere]]
center = [0.3, 0.3, 1.5]
radius = 0.2
"""


def test_a_file_is_read(tmp_path):
    path = tmp_path / "around.toml"
    path.write_text(TEXT)
    box, wall, ball = read_obstacles(path)
    assert (box.name, wall.name, ball.name) == ("cabinet", "half_space 1", "sphere 1")
    assert box.distance([0.8, 0.0, 1.0])[0] == pytest.approx(0.2)
    assert box.distance([0.0, 0.0, 0.4])[0] == pytest.approx(0.3)  # turned: 1 m along x
    assert wall.distance([5.0, 0.0, 3.0])[0] == pytest.approx(0.7)
    assert ball.distance([0.3, 0.3, 1.0])[0] == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", {"expected": re.compile(r"^tables \[\[box\]\], "), "got": "nothing"}),
        ("[[cone]]\nradius = 1", {"got": "cone"}),
        ("[box]\ncenter = [0, 0, 0]", {"expected": re.compile("two brackets")}),
        ("[[box]]\ncenter = [0, 0, 0]", {"where": re.compile("box 1$"), "cause": "lacks 'size'"}),
        (
            "[[box]]\ncenter = [0, 0]\nsize = [1, 1, 1]",
            {"where": re.compile("box 1: center$"), "expected": re.compile("^3 numbers")},
        ),
        (
            "[[box]]\ncenter = [0, 0, 0]\nsize = [1, 1, 0]",
            {"where": re.compile("size$"), "expected": re.compile("^numbers > 0")},
        ),
        (
            "[[sphere]]\ncenter = [0, 0, 0]\nradius = 'big'",
            {"where": re.compile("radius$"), "expected": re.compile("^1 number")},
        ),
        (
            "[[sphere]]\ncenter = [0, 0, 0]\nradius = inf",
            {"where": re.compile("radius$"), "expected": re.compile("^1 number")},
        ),
        (
            "[[sphere]]\ncenter = [0, 0, 0]\nradius = 1\ncolour = 2",
            {
                "where": re.compile("sphere 1$"),
                "names": ("colour",),
                "expected": re.compile("^some of name, center, radius"),
            },
        ),
        (
            "[[half_space]]\npoint = [0, 0, 0]\nnormal = [0, 0, 0]",
            {"where": re.compile("half_space 1: normal$"), "expected": re.compile("^a vector")},
        ),
        ("[[box", {"cause": re.compile("not a TOML file")}),
    ],
)
def test_bad_files_are_rejected_with_a_reason(tmp_path, text, parts):
    path = tmp_path / "around.toml"
    path.write_text(text)
    with raises(ReadError, **parts):
        read_obstacles(path)
