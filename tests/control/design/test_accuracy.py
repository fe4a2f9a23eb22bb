"""Poles of computed torque under uncertain parameters."""

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.control.design.accuracy import _loops, pole_regions
from armdyn.control.laws.computed_torque import ComputedTorque
from armdyn.errors import ShapeError
from armdyn.simulation.loop.schedule import Schedule, make_clock
from armdyn.simulation.loop.stability import period_map
from armdyn.simulation.plant.plant import Plant
from armdyn.trajectory.protocol import JointMotion


@pytest.fixture(scope="module")
def base(planar):
    return armdyn.base_parameters(planar)


@pytest.fixture(scope="module")
def law(planar):
    return ComputedTorque.from_bandwidth(planar, 2.0, 0.7)


@pytest.fixture(scope="module")
def poses(swing):
    return JointMotion(*(np.asarray(x) for x in swing([0.5, -0.9], [0.3, 0.4], 3.0)(np.linspace(0, 3, 5))))


def test_a_perfect_model_has_the_designed_poles(law, base, poses):
    found = pole_regions(law, base, np.zeros(base.count), poses, samples=3)
    for pole in found.designed.ravel():  # double poles: round-off moves them by its square root
        assert np.abs(found.poles[0, 0] - pole).min() < 1e-6 * np.abs(pole)
    assert found.radius.max() < 1e-12
    assert found.stable == 1.0
    assert found.guaranteed


def test_frozen_loops_are_those_of_the_simulator(planar, law, base):
    """Eigenvalues of one short period through the simulator's kernel against exp(A dt)."""
    off = np.array([0.2, 0.05, 0.1, -0.05, 0.02, 0.1])[: base.count] * 0.3
    true = planar.with_theta(planar.theta + base.expand(off))
    clock = make_clock(10_000.0, 0.001, 1, 0.0)
    rows = JointMotion(np.tile([0.3, 0.8], (clock.steps, 1)), *np.zeros((2, clock.steps, 2)))
    seen = np.abs(np.linalg.eigvals(period_map(Schedule(Plant(true), clock, rows), law).jacobian[0]))
    # The simulator looks at joints while they slide at 1 rad/s.
    still = JointMotion(rows.q[:1], np.ones((1, 2)), np.zeros((1, 2)))
    A = _loops(law, base, off[None], still)[0, 0]
    assert np.allclose(np.sort(seen), np.sort(np.abs(np.exp(np.linalg.eigvals(A) * 1e-4))), rtol=1e-5)


def test_regions_hold_the_poles_and_parameters_are_ranked(law, base, poses):
    """All poles of a sample lie in the union of its regions; the most important one moves poles the most."""
    std = 0.05 * np.abs(base.theta) + 1e-3
    found = pole_regions(law, base, std, poses, samples=50)
    assert found.stable == 1.0
    assert (np.diff(found.importance) <= 0).all()
    assert set(found.names) == set(base.names)
    w = 4 * np.pi
    A = np.array([[0.0, 1.0], [-1.0, -1.4]])
    near = np.quantile(found.poles.real.max((1, 2)), 0.95)
    assert np.isclose(found.slowest, near)
    inside = np.array([np.linalg.svd(pole / w * np.eye(2) - A, compute_uv=False)[-1] for pole in found.poles.ravel()])
    # The radius holds 95 % of the samples, so nearly all poles are inside.
    assert (inside <= found.radius.max() * (1 + 1e-9)).mean() > 0.95
    twice = pole_regions(law, base, 2 * std, poses, samples=50)
    assert np.allclose(twice.importance, 2 * found.importance, rtol=0.2)
    assert str(found).count("\n") == base.count


def test_a_hopeless_model_is_told(law, base, poses):
    # Inertias known to three times their own size: some samples are no arms at all.
    found = pole_regions(law, base, 3 * np.abs(base.theta) + 0.1, poses, samples=50)
    assert found.stable < 0.9
    assert not found.guaranteed
    assert "do not prove" in str(found)


def test_the_covariance_of_an_identified_model(planar, base, poses):
    """A log four times as long halves the uncertainty that identification hands over, and so the regions."""
    radii = []
    for duration in (20, 80):
        t = np.arange(0, duration, 0.01)[:, None]
        w, a = 2 * np.pi * np.array([0.3, 0.5]), np.array([0.9, 0.7])
        q, qd, qdd = a * np.sin(w * t), a * w * np.cos(w * t), -a * w**2 * np.sin(w * t)
        noise = np.random.default_rng(0).normal(size=(2, *q.shape))
        tau = armdyn.joint_torque(planar, q, qd, qdd) + 0.1 * noise[0]
        fit = armdyn.identify(planar, armdyn.Log(t[:, 0], q + 1e-5 * noise[1], tau))
        covariance = fit.base.covariance[: base.count, : base.count]
        assert np.allclose(np.sqrt(np.diag(covariance)), fit.base.std[: base.count])
        found = pole_regions(ComputedTorque.from_bandwidth(fit.arm, 2.0, 0.7), base, covariance, poses)
        assert found.stable == 1.0
        assert found.guaranteed
        radii.append(found.radius.max())
    # Standard deviations are themselves estimated from a few hundred residuals.
    assert 0.35 < radii[1] / radii[0] < 0.7, radii


def test_nonsense_is_rejected(law, base, poses):
    for wrong, parts in (
        (np.ones(3), {"expected": "6 finite standard deviations or a covariance (6, 6)"}),
        (np.full(base.count, np.inf), {"expected": "6 finite standard deviations or a covariance (6, 6)"}),
        (-np.eye(base.count), {"expected": "a positive semidefinite covariance"}),
    ):
        with raises(ShapeError, **parts):
            pole_regions(law, base, wrong, poses)
