"""The ellipsoid of a link has the link's own inertia."""

import numpy as np

from armdyn import Inertia, arms
from armdyn.studio.drawing.ellipsoids import ellipsoid, ellipsoids


def test_it_has_the_inertia_of_the_link(random_arm):
    for body, link in zip(ellipsoids(random_arm("RRR", seed=3)), random_arm("RRR", seed=3).links, strict=True):
        a, b, c = body.radii
        solid = body.mass / 5 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])
        np.testing.assert_allclose(body.R @ solid @ body.R.T, link.inertia.tensor_com, atol=1e-12)
        assert np.linalg.det(body.R) > 0
        np.testing.assert_allclose(body.com, link.inertia.com)


def test_rods_and_points_can_be_drawn():
    rod = ellipsoid(1, Inertia.from_com(2.0, (0, 0, 0.5), np.diag([0.1, 0.1, 0.0])))
    assert (rod.radii > 0).all()
    assert ellipsoid(1, Inertia.from_com(2.0)).radii.max() == 0
    bent = ellipsoid(1, Inertia.from_com(1.0, (0, 0, 0), np.diag([1.0, 0.1, 0.1])))  # no body has this
    assert np.isfinite(bent.radii).all()


def test_unknown_links_are_left_out():
    arm = arms.planar2()
    assert ellipsoids(arm.with_theta(np.full(20, np.nan))) == []
    assert [body.link for body in ellipsoids(arm)] == [1, 2]
