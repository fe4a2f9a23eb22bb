"""Sums over blocks: fits and held-out errors from them are those of the rows."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.identification.fit.choice import Options, starting_terms
from armdyn.identification.fit.equations import Equations
from armdyn.identification.fit.rows import make_rows
from armdyn.identification.motion.track import Filters, tracks_of


@pytest.fixture(scope="module")
def rows(two, make_log):
    filters = Filters(5.0, 20.0, "butterworth")
    return make_rows(armdyn.base_parameters(two), tracks_of([make_log(two)], filters), filters)


def no_prior(equations):
    return np.zeros((equations.size, equations.size)), np.zeros(equations.size)


def test_a_fit_is_that_of_least_squares(rows):
    equations = Equations.of(rows)
    used = starting_terms(equations, Options(), np.zeros(2, bool))
    x = equations.fit(used, *no_prior(equations))
    (part,) = rows
    full = np.zeros((2, len(rows), equations.size))
    for joint in range(2):
        full[joint][:, equations.owns[joint]] = part.Y[joint]
    A = full[:, :, used].reshape(-1, used.sum())
    np.testing.assert_allclose(x[used], np.linalg.lstsq(A, part.tau.ravel(), rcond=None)[0], atol=1e-6)
    residuals = part.tau - (full @ x)
    np.testing.assert_allclose(equations.errors(x), np.sum(residuals**2, axis=1), rtol=1e-6)
