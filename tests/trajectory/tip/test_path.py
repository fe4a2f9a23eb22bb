"""Paths and motions of the tip: ends, tangents, velocities."""

from __future__ import annotations

import numpy as np
import pytest
from tests.raising import raises

from armdyn import Circle, Line, Quintic, TipMotion, Trapezoid, lift
from armdyn.errors import ArmdynError
from armdyn.spatial.rotation import from_rpy
from armdyn.spatial.transform import transform

A = transform(from_rpy([0.3, -0.4, 0.5]), [0.4, 0.1, 0.3])
B = transform(from_rpy([1.0, 0.2, -0.9]), [0.2, 0.5, 0.6])
SPOT = transform(B[:3, :3], A[:3, 3])
PATHS = {
    "line": Line(A, B),
    "turn": Line(A, SPOT),
    "shift": Line(A, transform(A[:3, :3], B[:3, 3])),
    "circle": Circle(A, (0.5, 0.2, 0.0), (0.1, 0.2, 1.0), 4.0),
    "turning circle": Circle(A, (0.5, 0.2, 0.0), (0.0, 0.0, 2.0), -2.0, turning=True),
}


def twist(behind, ahead, R, h):
    """[v, w] from poses a little before and after."""
    W = (ahead[..., :3, :3] - behind[..., :3, :3]) @ np.swapaxes(R, -1, -2) / (2 * h)
    v = (ahead[..., :3, 3] - behind[..., :3, 3]) / (2 * h)
    return np.concatenate([v, np.stack([W[..., 2, 1], W[..., 0, 2], W[..., 1, 0]], -1)], -1)


@pytest.mark.parametrize("name", PATHS)
def test_tangents_and_bends_are_derivatives(name):
    path, h = PATHS[name], 1e-6
    s = np.linspace(h, path.length - h, 20)
    here, ahead, behind = path(s), path(s + h), path(s - h)
    np.testing.assert_allclose(twist(behind.pose, ahead.pose, here.pose[..., :3, :3], h), here.tangent, atol=1e-8)
    np.testing.assert_allclose((ahead.tangent - behind.tangent) / (2 * h), here.bend, atol=1e-7)
    R = here.pose[..., :3, :3]
    np.testing.assert_allclose(R @ np.swapaxes(R, -1, -2), np.broadcast_to(np.eye(3), R.shape), atol=1e-14)
    # The parameter is the distance of the tip, or the angle where it turns on the spot.
    part = slice(3, 6) if name == "turn" else slice(0, 3)
    np.testing.assert_allclose(np.linalg.norm(here.tangent[:, part], axis=-1), 1, rtol=1e-12)


def test_lines_end_where_they_should():
    for path, end in ((PATHS["line"], B), (PATHS["turn"], SPOT)):
        np.testing.assert_allclose(path(0.0).pose, A, atol=1e-15)
        np.testing.assert_allclose(path(path.length).pose, end, atol=1e-14)


def test_circles_keep_their_distance_and_close():
    circle = Circle(A, (0.5, 0.2, 0.0), (0, 0, 1))
    s = np.linspace(0, circle.length, 30)
    p = circle(s).pose[:, :3, 3]
    np.testing.assert_allclose(np.hypot(p[:, 0] - 0.5, p[:, 1] - 0.2), circle.radius)
    np.testing.assert_allclose(p[:, 2], 0.3)
    np.testing.assert_allclose(circle(circle.length).pose, A, atol=1e-14)
    # A turning tip shows the axis the same side all the way.
    turning = Circle(A, (0.5, 0.2, 0.0), (0, 0, 1), 3.0, turning=True)(s[:10]).pose
    inwards = np.concatenate([np.array([0.5, 0.2]) - turning[:, :2, 3], np.zeros((10, 1))], -1)
    seen = np.einsum("kji,kj->ki", turning[:, :3, :3], inwards)
    np.testing.assert_allclose(seen, np.broadcast_to(seen[0], seen.shape), atol=1e-14)


def test_motions_have_velocities_and_accelerations_of_their_poses():
    path = PATHS["circle"]
    motion, h = TipMotion(path, Quintic(path.length, 2.0)), 1e-5
    t = np.linspace(0.1, 1.9, 15)
    here, ahead, behind = motion(t), motion(t + h), motion(t - h)
    np.testing.assert_allclose(twist(behind.pose, ahead.pose, here.pose[..., :3, :3], h), here.velocity, atol=1e-8)
    np.testing.assert_allclose((ahead.velocity - behind.velocity) / (2 * h), here.acceleration, atol=1e-7)
    assert motion(0.5).pose.shape == (4, 4)


def test_the_lift_of_vukobratovic():
    """2 m/s² straight up for 1 s: 1 m, and 2 m/s at the end."""
    motion = lift(A)
    pose, velocity, acceleration = motion(1.0)
    np.testing.assert_allclose(pose[:3, 3] - A[:3, 3], (0, 0, 1), atol=1e-15)
    np.testing.assert_allclose(velocity, (0, 0, 2, 0, 0, 0), atol=1e-15)
    np.testing.assert_allclose(acceleration, (0, 0, 2, 0, 0, 0), atol=1e-15)


@pytest.mark.parametrize(
    ("make", "parts"),
    [
        (lambda: Line(A, A), {"cause": "start and end are the same pose"}),
        (lambda: Line(A, np.full((4, 4), np.nan)), {"where": "Line: end"}),
        (lambda: Line(A, 2 * np.eye(4)), {"where": "Line: end"}),
        (lambda: Circle(A, A[:3, 3], (0, 0, 1)), {"expected": "an angle other than 0 and a start off the axis"}),
        (lambda: Circle(A, (0, 0, 0), (0, 0, 0)), {"cause": "the axis has length zero"}),
        (lambda: Circle(A, (0, 0), (0, 0, 1)), {"where": "Circle: center", "expected": "3 finite numbers"}),
        (lambda: TipMotion(PATHS["line"], Trapezoid(1.0, 1.0, 1.0)), {"remedy": "give the timing path.length"}),
        (lambda: lift(A, -1.0), {"expected": "acceleration as a finite number > 0"}),
    ],
)
def test_impossible_paths_are_rejected(make, parts):
    with raises(ArmdynError, **parts):
        make()
