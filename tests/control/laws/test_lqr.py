"""The regulator about a trajectory: its gains, its closed loop, and what it gains over simpler laws."""

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.control.laws.lqr import TrajectoryLQR
from armdyn.control.laws.pd import GravityPD
from armdyn.errors import ShapeError
from armdyn.simulation.simulate import simulate

LARGEST = ([0.02, 0.02, 0.5, 0.5], [30.0, 10.0])  # errors and corrections that cost 1


@pytest.fixture(scope="module")
def reference(swing):
    return swing([0.6, -0.8], [0.8, 1.2], 2.0)


def test_gains_of_each_sample_are_those_of_its_own_system(planar, reference):
    from scipy.linalg import solve_continuous_are

    law = TrajectoryLQR(planar, *LARGEST, rate=250, design="continuous")
    motion = [np.asarray(x) for x in reference(np.arange(20) / 250)]
    K = law.gains(*motion)
    Q, R = np.diag(1 / np.array(LARGEST[0]) ** 2), np.diag(1 / np.array(LARGEST[1]) ** 2)
    for k in (0, 7, 19):
        linear = armdyn.linearize(planar, *(x[k] for x in motion))
        P = solve_continuous_are(linear.A, linear.B, Q, R)
        assert np.allclose(K[k], np.linalg.solve(R, linear.B.T @ P), rtol=1e-7)


@pytest.mark.parametrize("design", ["finite", "discrete", "continuous"])
def test_closed_loop_is_the_linear_one_for_small_errors(planar, reference, design):
    """Errors shrink as x[k+1] = (Ad - Bd K) x[k] says: halved deviations give halved errors, as a linear loop's."""
    law = TrajectoryLQR(planar, *LARGEST, rate=1000, design=design)
    start = np.asarray(reference(0.0)[0])
    clean = simulate(planar, law, reference, rate=1000)
    runs = [simulate(planar, law, reference, rate=1000, q0=start + np.array([d, -d])) for d in (1e-4, 2e-4)]
    off = [run.q - clean.q for run in runs]
    assert np.allclose(2 * off[0], off[1], rtol=1e-3, atol=1e-8)
    assert np.abs(off[0][-1]).max() < 1e-3 * 1e-4
    motion = [np.asarray(x) for x in reference(np.arange(3) / 1000)]
    linear = armdyn.linearize(planar, *(x[0] for x in motion))
    A, B = armdyn.discretize(linear.A, linear.B, 1e-3)
    x0 = np.array([1e-4, -1e-4, 0, 0])
    # One sample: the nonlinear arm against the linear step, whose error is of the second order in the deviation.
    K = clean_gains(law, reference)
    after = (A - B @ K) @ x0
    found = np.concatenate([off[0][1], runs[0].qd[1] - clean.qd[1]])
    assert np.allclose(found, after, rtol=5e-3, atol=1e-9)


def clean_gains(law, reference):
    motion = [np.asarray(x) for x in reference(np.arange(2000) / 1000)]
    return law.gains(*motion)[0]


def test_it_beats_pd_with_gravity_and_a_fixed_regulator(planar, reference):
    """At nominal load, by the cost that all are designed for, from the same small deviation."""
    Q, R = (np.diag(1 / np.array(x) ** 2) for x in LARGEST)

    start = np.asarray(reference(0.0)[0]) + np.array([0.02, -0.02])

    def cost(law):
        run = simulate(planar, law, reference, rate=250, q0=start, check=False)
        x = np.concatenate([run.error, run.qd_ref - run.qd], -1)
        u = run.tau - armdyn.inverse_dynamics(planar, run.q_ref, run.qd_ref, run.qdd_ref)
        return np.einsum("ti,ij,tj->", x, Q, x) + np.einsum("ti,ij,tj->", u, R, u)

    lqr = TrajectoryLQR(planar, *LARGEST, rate=250)
    fixed = TrajectoryLQR(planar, *LARGEST, rate=250, hold=[0.0, 2.5])
    K = lqr.gains(*(np.repeat(np.asarray(x)[None], 2, 0) for x in reference(0.0)))[0]
    pd = GravityPD(planar, np.diag(K[:, :2]), np.diag(K[:, 2:]))
    assert cost(lqr) < 0.99 * cost(fixed)
    assert cost(lqr) < 0.5 * cost(pd)


def test_linearised_about_the_measured_state(planar, reference):
    law = TrajectoryLQR(planar, *LARGEST, rate=60, design="discrete")
    start = np.asarray(reference(0.0)[0]) + 0.2
    run = simulate(planar, law.at_measured(), reference, rate=60, substeps=8, q0=start)
    assert np.abs(run.error[-1]).max() < 0.01


def test_gain_tables_hold_between_samples(planar, reference):
    law = TrajectoryLQR(planar, *LARGEST, rate=100)
    t = np.arange(40) / 400
    channels = law.channels(t, armdyn.trajectory.protocol.JointMotion(*(np.asarray(x) for x in reference(t))))
    assert channels["K"].shape == (40, 2, 4)
    assert np.array_equal(channels["K"][0], channels["K"][3])
    assert not np.array_equal(channels["K"][3], channels["K"][4])


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"design": "best"}, {"names": ("best",), "expected": "one of finite, discrete, continuous"}),
        ({"rate": 0.0}, {"expected": "a rate > 0 in Hz", "got": "0.0"}),
        ({"model": "soft"}, {"names": ("soft",), "expected": "one of full, rigid"}),
        ({"Q": [1.0, 2.0]}, {"expected": "4 numbers or (4, 4)", "got": "(2,)"}),
    ],
)
def test_nonsense_is_rejected(planar, options, parts):
    with raises(ShapeError, **parts):
        TrajectoryLQR(**{"arm": planar, "Q": LARGEST[0], "R": LARGEST[1], "rate": 100, **options})


def test_a_rate_that_is_not_the_runs_is_rejected(planar, reference):
    law = TrajectoryLQR(planar, *LARGEST, rate=300)
    cause = "designed for 300 Hz, but the run's steps are of 0.001 s"
    with raises(ShapeError, where="TrajectoryLQR", cause=cause):
        simulate(planar, law, reference, rate=1000)
