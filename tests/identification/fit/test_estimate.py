"""Bounds of joint terms."""

from __future__ import annotations

import numpy as np

from armdyn.identification.fit.estimate import _bound
from armdyn.identification.fit.terms import TERMS


def test_friction_at_rest_brakes_with_or_without_coulomb():
    kinds = [term.kind for term in TERMS]
    coulomb, stribeck = kinds.index("coulomb"), kinds.index("stribeck")
    start, (G, h) = _bound(np.array([-0.2, -0.5]), np.array([coulomb, stribeck]), 0)
    assert (G @ start > h).all()
    np.testing.assert_array_equal(G, [[1.0, 1.0]])
    start, (G, h) = _bound(np.array([-0.5]), np.array([stribeck]), 0)
    assert (G @ start > h).all()
    np.testing.assert_array_equal(G, [[1.0]])
