"""The consistent fit: physically consistent bodies, and a certified minimum."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError
from armdyn.identification.fit.consistent import consistent_fit
from armdyn.identification.fit.equations import System
from armdyn.identification.fit.mass_bounds import MassBounds
from armdyn.identification.fit.prior import ReferenceBodies, pseudo_inertias
from armdyn.spatial.inertia import Inertia


def random_system(seed: int, wanted: np.ndarray, joint: int) -> System:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(400, len(wanted)))
    return System(rows.T @ rows, rows.T @ (rows @ wanted), np.array(0.0))


@pytest.fixture(scope="module")
def prior():
    return ReferenceBodies.of(armdyn.arms.puma560())


def test_a_possible_truth_is_found(prior):
    truth = np.concatenate([1.2 * prior.theta, [0.5, 0.3]])
    found = consistent_fit(random_system(0, truth, 2), prior, 1e-6, np.ones(2), np.array([True, True]))
    np.testing.assert_allclose(found.theta, truth[:-2], atol=1e-4)
    np.testing.assert_allclose(found.joint, [0.5, 0.3], atol=1e-3)
    assert found.gap < 1e-8


def test_an_impossible_wish_ends_on_the_boundary(prior):
    wish = np.concatenate([prior.theta, [-1.0]])
    wish[6 + 10] = -5.0  # a negative moment of inertia of the second link
    found = consistent_fit(random_system(1, wish, 1), prior, 1e-6, np.ones(1), np.array([True]))
    assert np.linalg.eigvalsh(pseudo_inertias(found.theta)).min() > 0
    assert all(not Inertia(row).problems() for row in found.theta.reshape(-1, 10))
    assert 1 in found.boundary
    assert 0 < found.joint[0] < 1e-3
    # Along the boundary Newton's steps are short. That the gap is positive shows that it is no artefact of round-off.
    assert 0 < found.gap < 1e-5


def test_no_direction_improves_the_minimum(prior):
    rng = np.random.default_rng(2)
    system = random_system(3, rng.normal(size=61), 1)
    found = consistent_fit(system, prior, 1.0, np.ones(1), np.array([False]))

    def value(x):
        bodies = pseudo_inertias(x[:60])
        if np.linalg.eigvalsh(bodies).min() <= 0:
            return np.inf
        divergence = np.einsum("ijk,ikj->", prior.inverses, bodies) - np.linalg.slogdet(bodies)[1].sum()
        return x @ system.A @ x / 2 - system.b @ x + divergence

    x = np.concatenate([found.theta, found.joint])
    for _ in range(100):
        assert value(x + 1e-4 * rng.normal(size=61) * np.abs(x).max()) > value(x)


def mass(theta: np.ndarray) -> np.ndarray:
    return theta[::10]


@pytest.mark.parametrize("bounds", [(15.0, 20.0), (30.0, np.inf), [(0.01, 15.0)] * 6])
def test_masses_keep_to_their_bounds(prior, bounds):
    """The truth, of 23 kg, 17 of them in the second link, is outside: the best possible arm is at the edge."""
    masses = MassBounds.of(bounds, 6)
    wanted = np.concatenate([prior.theta, [0.5]])
    rows = 0.1 * np.random.default_rng(0).normal(size=(400, 61))
    system = System(rows.T @ rows, rows.T @ rows @ wanted, np.array(0.0))
    found = consistent_fit(system, prior, 1.0, np.ones(1), np.array([True]), masses=masses)
    assert np.linalg.eigvalsh(pseudo_inertias(found.theta)).min() > 0
    assert found.gap < 1e-6
    if np.ndim(bounds) == 1:
        assert bounds[0] < mass(found.theta).sum() < bounds[1]
        edge = bounds[0] if mass(prior.theta).sum() < bounds[0] else bounds[1]
        assert mass(found.theta).sum() == pytest.approx(edge, rel=1e-3)
    else:
        assert np.all(mass(found.theta) > [low for low, _ in bounds])
        assert np.all(mass(found.theta) < [high for _, high in bounds])
        assert mass(found.theta)[1] == pytest.approx(15.0, rel=1e-3)


def test_bounds_that_cannot_be(prior):
    for bad in ((5.0, 4.0), (-1.0, 4.0), (1.0,), [(1.0, 2.0)] * 5, "heavy"):
        with raises(ArmdynError, where="identify", expected=re.compile("^mass ")):
            MassBounds.of(bad, 6)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.by_day(3)
def test_it_always_ends_with_possible_bodies(prior, seed):
    """Hostile equations: of any scale and rank, contradicting each other, the prior and physics."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(int(rng.integers(1, 200)), 64)) * 10.0 ** rng.uniform(-4, 4, 64)
    tau = rng.normal(size=len(rows)) * 10.0 ** rng.uniform(-6, 8)
    system = System(rows.T @ rows, rows.T @ tau, np.array(tau @ tau))
    start, positive = rng.normal(size=4) * 10.0 ** rng.uniform(-8, 8), rng.random(4) < 0.7
    masses = MassBounds.of((1.0, 50.0), 6) if seed % 2 else None
    found = consistent_fit(system, prior, 10.0 ** rng.uniform(-3, 6), start, positive, masses=masses)
    assert found.iterations <= 100 * 14  # stages, from strengths of what is to be gained down to the prior's
    assert np.isfinite(found.theta).all()
    assert np.isfinite(found.joint).all()
    assert np.linalg.eigvalsh(pseudo_inertias(found.theta)).min() > 0
    assert np.all(found.joint[positive] > 0)
    assert masses is None or 1.0 < mass(found.theta).sum() <= 50.0 * (1 + 1e-12)  # within round-off


def test_divergence_does_not_depend_on_the_frame():
    arm = armdyn.arms.planar2()
    a = Inertia.from_com(2.0, [0.1, 0.2, -0.1], np.diag([0.02, 0.03, 0.04]))
    b = Inertia.from_com(1.5, [0.0, 0.1, 0.1], np.diag([0.03, 0.03, 0.02]))
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]), [0.5, -1.0, 0.2]

    def divergence(p, q):
        return np.trace(np.linalg.solve(q, p)) - np.linalg.slogdet(np.linalg.solve(q, p))[1] - 4

    moved = divergence(a.moved(T).pseudo_inertia, b.moved(T).pseudo_inertia)
    assert moved == pytest.approx(divergence(a.pseudo_inertia, b.pseudo_inertia), rel=1e-10)
    assert ReferenceBodies.of(arm).known
    assert not ReferenceBodies.of(arm.with_theta(np.full(20, np.nan))).known
