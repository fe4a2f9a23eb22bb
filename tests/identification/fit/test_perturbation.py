"""The perturbation bound (4.1): no error of the stated sizes exceeds it."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.identification.fit.perturbation import lawson_hanson


@pytest.mark.parametrize("seed", range(5))
def test_no_perturbation_exceeds_the_bound(seed):
    rng = np.random.default_rng(seed)
    H, x = rng.normal(size=(60, 5)) * np.array([1, 2, 0.3, 1, 0.5]), rng.normal(size=5)
    worst = 0.0
    for _ in range(200):
        dH, dT = 0.1 * rng.normal(size=H.shape), 0.5 * rng.normal(size=60)
        found = np.linalg.lstsq(H + dH, H @ x + dT, rcond=None)[0]
        values = np.linalg.svd(H + dH, compute_uv=False)
        residual = np.linalg.norm(H @ x + dT - (H + dH) @ found)
        sizes = np.linalg.norm(x), residual, np.linalg.norm(dH, 2), np.linalg.norm(dT)
        bound = lawson_hanson(values[0], values[-1], *sizes)
        assert np.linalg.norm(found - x) <= bound
        worst = max(worst, np.linalg.norm(found - x) / bound)
    assert worst > 0.02  # and it is not so loose that it says nothing


def test_a_regressor_lost_in_its_own_error_bounds_nothing():
    assert lawson_hanson(10.0, 0.5, 1.0, 0.1, 0.5, 0.1) == np.inf
    assert lawson_hanson(10.0, 0.0, 1.0, 0.1, 0.0, 0.1) == np.inf


@pytest.mark.slow
def test_every_parameter_of_a_fit_is_within_its_bound(puma, make_log):
    fit = armdyn.identify(puma, make_log(puma, encoder=5e-5), friction="simple")
    friction = [x for j in puma.joints for x in (j.friction.viscous, j.friction.coulomb, j.friction.offset)]
    truth = np.concatenate([armdyn.base_parameters(puma).theta, friction])
    assert fit.bound is not None
    assert np.all(np.abs(fit.base.theta - truth) <= fit.bound.parameters)
    # A bound for the worst case is wider than what noise does as a rule.
    assert np.all(fit.bound.parameters > 1.96 * fit.base.std)
    assert 0 < fit.bound.regressor_error < 0.1
    assert fit.bound.torque_error == pytest.approx(fit.rel_error, rel=2.0)
    assert np.isfinite(fit.bound.relative)
    assert "at worst, if all errors conspired" in str(fit)
    rough = armdyn.identify(puma, make_log(puma, encoder=2e-3, noise=3.0), friction="simple")
    assert rough.bound is not None
    assert rough.bound.regressor_error > 3 * fit.bound.regressor_error
    assert rough.bound.relative > fit.bound.relative
