"""Bounds of joint terms."""

from __future__ import annotations

import numpy as np
import pytest

from armdyn.identification.fit.estimate import BRAKING_SHARES, _bound
from armdyn.identification.fit.terms import ASYMMETRIES, COULOMB, LEVELS, VISCOUS, Reach, friction_curve

REACH = Reach(np.array([2.0]), np.array([3.0]), np.zeros(1, bool), np.ones(1))


@pytest.mark.parametrize("values", [[-0.5, 0.2, 0.1, 0.3], [0.5, 0.2, -0.1, 0.0], [-1.0, -1.0, -1.0, -1.0]])
def test_friction_brakes_at_all_speeds_both_ways(values):
    """The bounds are the friction curve itself, not signs of its terms; a search starts within them."""
    terms = np.array([VISCOUS, COULOMB, LEVELS[-1], ASYMMETRIES[0]])
    start, (G, h) = _bound(np.array(values), terms, 0, REACH)
    assert (G @ start > h).all()
    speeds = 2.0 * np.array(BRAKING_SHARES)
    curve = friction_curve(0, speeds, REACH)[:, terms] @ values
    np.testing.assert_allclose(G @ values - h, np.concatenate([curve + values[-1], curve - values[-1]]))
    assert len(h) == 14
