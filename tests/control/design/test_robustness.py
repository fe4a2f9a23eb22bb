"""Closed-loop eigenvalues of regulators, under loads they do not know."""

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.control.design.robustness import closed_loop, robustness
from armdyn.control.laws.lqr import TrajectoryLQR
from armdyn.errors import ShapeError
from armdyn.simulation.loop.schedule import Schedule, make_clock
from armdyn.simulation.loop.stability import period_map
from armdyn.simulation.plant.plant import Plant
from armdyn.simulation.simulate import simulate
from armdyn.trajectory.protocol import JointMotion

RATE = 60.0
LARGEST = ([0.1, 0.1, 1.0, 1.0], [30.0, 10.0])


def still(arm, q, samples=2):
    return JointMotion(np.tile(np.asarray(q, float), (samples, 1)), *np.zeros((2, samples, arm.n)))


def test_eigenvalues_are_python_controls(planar):
    """Of the nominal arm: those of A - B K as python-control designs it."""
    control = pytest.importorskip("control")
    law = TrajectoryLQR(planar, *LARGEST, rate=RATE, design="discrete")
    motion = still(planar, [0.3, 0.8])
    linear = armdyn.linearize(planar, *(x[0] for x in motion), model="full")
    A, B = armdyn.discretize(linear.A, linear.B, 1 / RATE)
    _, _, expected = control.dlqr(A, B, *law._weights)
    found = np.linalg.eigvals(closed_loop(law, planar, motion)[0])
    assert np.allclose(np.sort_complex(found), np.sort_complex(expected), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("lag", [0.0, 0.02])
def test_eigenvalues_are_those_of_the_simulated_loop(planar, lag):
    """Against differences through the simulator's own kernel, loaded arm and lag included."""
    law = TrajectoryLQR(planar, *LARGEST, rate=RATE, design="discrete")
    true = planar.with_payload(0.7)
    clock = make_clock(RATE, 0.1, 16, 0.0)
    motion = still(planar, [0.3, 0.8], clock.steps)
    schedule = Schedule(Plant(true, motor_lag=lag), clock, motion).for_law(law)
    seen = period_map(schedule, law).radius[0]
    samples = JointMotion(*(x[:2] for x in motion))
    assert np.abs(np.linalg.eigvals(closed_loop(law, true, samples, lag)[0])).max() == pytest.approx(seen, rel=0.02)


def test_the_payload_found_is_where_runs_start_to_fall(planar):
    """Upright, a load falls once its weight outgrows the stiffness; with less it comes back."""
    upright = [np.pi / 2, 0.0]
    assert np.abs(armdyn.gravity_torque(planar, upright)).max() < 1e-12
    law = TrajectoryLQR(planar, [0.2, 0.2, 5.0, 5.0], [10.0, 5.0], rate=RATE, design="discrete")
    found = robustness(law, still(planar, upright), np.linspace(0, 60, 7), motor_lag=0.005)
    assert 0 < found.unstable_payload < 60
    assert (np.abs(found.eigenvalues) < 1).all()
    growth = []
    for factor in (0.9, 1.1):
        plant = Plant(planar.with_payload(factor * found.unstable_payload), motor_lag=0.005)
        q0 = np.array(upright) + 1e-5
        run = simulate(plant, law, upright, 12.0, RATE, q0=q0, qd0=[0, 0], substeps=16, check=False)
        size = np.abs(run.error).max(-1)
        growth.append(size[-60:].max() / size[240:300].max())
    assert growth[0] < 1 < growth[1]
    assert f"{found.unstable_payload:.3g} kg" in str(found)


def test_nonsense_is_rejected(planar):
    law = TrajectoryLQR(planar, *LARGEST, rate=RATE)
    motion = still(planar, [0.0, 0.0])
    for arguments, parts in (
        ({"payloads": [2.0, 1.0]}, {"expected": "rising payloads >= 0 in kg"}),
        ({"payloads": [0.0], "friction": -1.0}, {"expected": "friction >= 0"}),
        ({"payloads": [0.0], "motor_lag": np.nan}, {"expected": "a motor lag >= 0 in seconds"}),
    ):
        with raises(ShapeError, **parts):
            robustness(law, motion, **arguments)
