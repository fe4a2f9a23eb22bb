"""The regulator about the measured state: its Riccati equation as state."""

import dataclasses

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.control.laws.lqr import MeasuredLQR, TrajectoryLQR
from armdyn.control.protocol import Reference
from armdyn.control.theory.riccati import discrete_lqr
from armdyn.errors import ShapeError
from armdyn.simulation.simulate import simulate

RATE = 250.0
LARGEST = ([0.02, 0.02, 0.5, 0.5], [30.0, 10.0])
POSE = np.array([0.4, 1.2])


@pytest.fixture(scope="module")
def law(planar):
    return MeasuredLQR(planar, *LARGEST, rate=RATE)


def settled(planar, rate):
    """Torques and cost-to-go after a second at a pose that is not the start's, and the algebraic solution."""
    law = MeasuredLQR(planar, *LARGEST, rate=rate)
    ref, state = Reference(POSE, np.zeros(2), np.zeros(2)), law.init()
    for _ in range(int(rate)):
        tau, state = law.step(planar, law.params, state, POSE, np.zeros(2), ref, 1 / rate)
    systems = TrajectoryLQR(planar, *LARGEST, rate).systems(POSE, np.zeros(2), np.zeros(2))
    return tau, state["P"], discrete_lqr(*systems, law.Q, law.R).P


def test_the_cost_to_go_settles_at_the_algebraic_solution(planar):
    """Up to how the arm is discretised: to the second order, so four times the rate leaves a sixteenth."""
    missed = []
    for rate in (RATE, 4 * RATE):
        tau, P, exact = settled(planar, rate)
        assert np.array_equal(P, P.T)
        assert np.allclose(tau, armdyn.gravity_torque(planar, POSE), rtol=1e-12)
        missed.append(np.linalg.norm(P - exact) / np.linalg.norm(exact))
    assert missed[0] < 1e-4
    assert missed[1] < missed[0] / 10


@pytest.mark.parametrize("z", [0.1, 14.0])
def test_friction_that_stops_a_joint_within_a_period(planar, z):
    """The damping of a period, z = dt d / J, is 14 for the wrist of an xArm 7 at 1 kHz: gains stay the exact ones.

    To 15 %: positions are integrated by the trapezoidal rule, which for z = 14 lags by half a period.
    """
    viscous = z * RATE * np.diagonal(armdyn.mass_matrix(planar, POSE))
    joints = [dataclasses.replace(j, friction=armdyn.Friction(d)) for j, d in zip(planar.joints, viscous, strict=True)]
    arm, rest = planar.with_joints(joints), np.zeros(2)
    law = MeasuredLQR(arm, *LARGEST, rate=RATE, pose=POSE)
    state = law.init()
    for _ in range(int(RATE)):
        held, state = law.step(arm, law.params, state, POSE, rest, Reference(POSE, rest, rest), 1 / RATE)
    errors = 1e-3 * np.eye(2)
    answers = [
        law.step(arm, law.params, state, POSE - e, rest, Reference(POSE, rest, rest), 1 / RATE)[0] - held
        for e in errors
    ]
    exact = TrajectoryLQR(arm, *LARGEST, RATE, "discrete", model="full").gains(*(x[None] for x in (POSE, rest, rest)))
    K = np.array(answers).T / 1e-3
    assert np.linalg.norm(K - exact[0, :, :2]) < 0.15 * np.linalg.norm(exact[0, :, :2])


def test_it_starts_where_it_is_told(planar):
    law = MeasuredLQR(planar, *LARGEST, rate=RATE, pose=POSE)
    ref = Reference(POSE, np.zeros(2), np.zeros(2))
    _, state = law.step(planar, law.params, law.init(), POSE, np.zeros(2), ref, 1 / RATE)
    assert np.allclose(state["P"], law.init()["P"], rtol=1e-3)
    assert not np.allclose(state["P"], MeasuredLQR(planar, *LARGEST, rate=RATE).init()["P"], rtol=1e-3)


def test_it_follows_the_regulator_that_solves_for_every_sample(planar, law, swing):
    """From a start that is off by 0.2 rad, through poses whose inertia differs by a third."""
    reference = swing([0.6, -0.8], [0.8, 1.2], 2.0)
    start = np.asarray(reference(0.0)[0]) + 0.2
    exact = TrajectoryLQR(planar, *LARGEST, RATE, "discrete").at_measured()
    runs = [simulate(planar, each, reference, rate=RATE, q0=start, check=False) for each in (law, exact)]
    assert np.abs(runs[0].q - runs[1].q).max() < 0.05 * 0.2
    assert np.abs(runs[0].error[-1]).max() < 0.01


def test_kernel_and_python_agree(planar, law, swing):
    runs = [simulate(planar, law, swing([0.4, -0.3], 1.0, 0.2), rate=RATE, native=native) for native in (True, False)]
    assert np.allclose(runs[0].q, runs[1].q, rtol=0, atol=1e-11)


def test_runs_of_a_batch_are_apart(planar, swing):
    """Each with a cost-to-go of its own."""
    law = MeasuredLQR(planar, *LARGEST, rate=RATE)
    reference = swing([0.4, -0.3], 1.0, 0.2)
    both = simulate(planar, law, reference, rate=RATE, q0=[[0.1, 0.0], [0.0, 0.1]], check=False)
    alone = simulate(planar, law, reference, rate=RATE, q0=[0.0, 0.1], check=False)
    assert np.allclose(both.q[1], alone.q, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"pose": [0.0]}, {"where": "MeasuredLQR: pose", "expected": "2 finite numbers", "got": "[0.0]"}),
        ({"width": 0.0}, {"where": "MeasuredLQR: width", "expected": "a velocity > 0", "got": "0.0"}),
        ({"Q": [1.0, 2.0]}, {"expected": "4 numbers or (4, 4)", "got": "(2,)"}),
        ({"Q": "small"}, {"expected": "numbers", "got": "'small'"}),
        ({"R": [[1.0, 2.0], [0.0, 1.0]]}, {"expected": "a symmetric matrix without negative eigenvalues"}),
        ({"R": -np.eye(2)}, {"expected": "a symmetric matrix without negative eigenvalues"}),
        ({"rate": -1.0}, {"expected": "a rate > 0 in Hz", "got": "-1.0"}),
    ],
)
def test_nonsense_is_rejected(planar, change, parts):
    with raises(ShapeError, **parts):
        MeasuredLQR(**{"arm": planar, "Q": LARGEST[0], "R": LARGEST[1], "rate": RATE, **change})
