"""Strengths by the evidence."""

from __future__ import annotations

import numpy as np

from armdyn.identification.fit.equations import Equations
from armdyn.identification.fit.evidence import LARGEST, STRONGEST_DRY, GaussianPrior, covariance, evidence
from armdyn.identification.fit.terms import TERMS


def test_no_joint_term_makes_up_for_a_weight():
    """Within a short range a weight and an offset are alike: both could be huge and cancel, and would beyond it."""
    rng = np.random.default_rng(0)
    q = 0.1 * np.sin(np.linspace(0, 20, 400))
    offset = [term.kind for term in TERMS].index("offset")
    columns = np.zeros((len(q), 1 + len(TERMS) + 1))
    columns[:, 0], columns[:, 1 + offset] = np.cos(q), 1.0
    columns[:, -1] = 300 * (np.cos(q) - 1) + 0.1 * rng.normal(size=len(q))
    deviation = columns[:, -1].std()
    equations = Equations(
        (columns.T @ columns)[None, None], np.array([len(q)]), 1, np.array([10.0]), 1, np.zeros(1, int)
    )
    used = np.zeros(equations.size, bool)
    used[[0, 1 + offset]] = True
    terms = np.zeros(equations.size)
    terms[1 + offset] = 1 / deviation**2
    found = evidence(equations, used, GaussianPrior(np.array([[1.0]]), terms, np.zeros(equations.size)))
    assert found.hyperparameters.terms[1 + offset] == LARGEST
    assert abs(found.x[1 + offset]) > deviation  # the data may still ask for it


def test_no_joint_is_certain_to_be_without_an_offset():
    """Torque of a weight alone, near upright: the data ask for no offset, and do not exclude one either."""
    q = 0.1 * np.sin(np.linspace(0, 20, 400))
    offset = [term.kind for term in TERMS].index("offset")
    columns = np.zeros((len(q), 1 + len(TERMS) + 1))
    columns[:, 0], columns[:, 1 + offset] = np.cos(q + 0.5), 1.0
    columns[:, -1] = 3 * columns[:, 0]
    deviation = columns[:, -1].std()
    equations = Equations(
        (columns.T @ columns)[None, None], np.array([len(q)]), 1, np.array([1 / deviation]), 1, np.zeros(1, int)
    )
    used = np.zeros(equations.size, bool)
    used[[0, 1 + offset]] = True
    terms = np.zeros(equations.size)
    terms[1 + offset] = 1 / deviation**2
    prior = GaussianPrior(np.array([[1.0]]), terms, np.zeros(equations.size))
    found = evidence(equations, used, prior)
    assert found.hyperparameters.terms[1 + offset] == STRONGEST_DRY
    # What is believed of it, a 32nd of the torque's deviation, is what stays open.
    std = np.sqrt(covariance(equations, used, found.prior_precision)[1, 1])
    np.testing.assert_allclose(std, deviation / np.sqrt(STRONGEST_DRY), rtol=0.2)
