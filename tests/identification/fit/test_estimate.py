"""Bounds of joint terms, and bodies that logs do not determine."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import armdyn
from armdyn.identification.fit.estimate import _bound, braking_speeds
from armdyn.identification.fit.terms import ASYMMETRIES, COULOMB, LEVELS, VISCOUS, MotionStatistics, friction_curve

STATISTICS = MotionStatistics(np.array([2.0]), np.array([3.0]), np.zeros(1, bool), np.ones(1))


@pytest.mark.parametrize("values", [[-0.5, 0.2, 0.1, 0.3], [0.5, 0.2, -0.1, 0.0], [-1.0, -1.0, -1.0, -1.0]])
def test_friction_brakes_at_all_speeds_both_ways(values):
    """The bounds are the friction curve itself, not signs of its terms; a search starts within them."""
    terms = np.array([VISCOUS, COULOMB, LEVELS[-1], ASYMMETRIES[0]])
    start, (G, h) = _bound(np.array(values), terms, 0, STATISTICS)
    assert (G @ start > h).all()
    speeds = braking_speeds(0, STATISTICS)
    curve = friction_curve(0, speeds, STATISTICS)[:, terms] @ values
    np.testing.assert_allclose(G @ values - h, np.concatenate([curve + values[-1], curve - values[-1]]))
    assert len(h) == 2 * len(speeds) == 22
    assert speeds[-1] == 2.0


@pytest.mark.parametrize("name", ["puma560", "ur10", "panda"])
def test_what_logs_do_not_determine_stays_as_described(name, make_log):
    """Masses of links in a chain are no base parameters: any of them fit alike, and the described ones are nearest."""
    arm = getattr(armdyn.arms, name)()
    friction = armdyn.Friction(2.0, 1.0)
    arm = arm.with_joints([dataclasses.replace(j, friction=friction, drive=armdyn.Drive()) for j in arm.joints])
    fit = armdyn.identify(arm, make_log(arm, noise=0.05), force=True)
    mass, described = fit.arm.theta[::10], arm.theta[::10]
    assert mass.sum() == pytest.approx(described.sum(), rel=0.1)
    np.testing.assert_allclose(mass, described, atol=0.08 * described.sum())
    assert fit.determined.shape == (arm.n, 10)
    assert not fit.determined[:-1, 0].any()  # no mass but perhaps the last
    assert fit.determined[-1, 1:3].all()  # of which the first moments across its axis are base parameters
    assert not fit.determined[0, 1:4].any()  # a vertical axis does not lift its link
