"""What the description says about links before a log is seen."""

from __future__ import annotations

import numpy as np

import armdyn
from armdyn.identification.fit.prior import NO_PRIOR, ReferenceBodies, why_no_prior


def without(arm: armdyn.Arm, *links: int) -> armdyn.Arm:
    """The arm, of which some links have no inertia."""
    theta = arm.theta.reshape(arm.n, 10).copy()
    theta[list(links)] = np.nan
    return arm.with_theta(theta.ravel())


def test_links_that_are_described_keep_their_prior():
    puma = armdyn.arms.puma560()
    whole, partly = ReferenceBodies.of(puma), ReferenceBodies.of(without(puma, 3))
    others = np.arange(60) // 10 != 3
    assert why_no_prior(without(puma, 3)) == ""
    assert (partly.known, partly.wide, whole.wide) == (True, (3,), ())
    np.testing.assert_array_equal(partly.theta[others], whole.theta[others])
    apart = np.ix_(others, others)
    np.testing.assert_allclose(partly.covariance[apart], whole.covariance[apart], rtol=1e-9, atol=1e-15)
    mass = np.median(np.delete(puma.theta.reshape(6, 10)[:, 0], 3))
    np.testing.assert_allclose(partly.theta[30], mass)
    np.testing.assert_allclose(partly.covariance[30, 30], mass**2 / NO_PRIOR, rtol=1e-6)


def test_without_any_inertia_there_is_no_prior():
    bare = without(armdyn.arms.puma560(), *range(6))
    assert why_no_prior(bare) == "no inertia is described"
    assert not ReferenceBodies.of(bare).known
