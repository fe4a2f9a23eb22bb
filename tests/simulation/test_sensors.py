"""Instruments: statistics, determinism, and their place in the loop."""

import numpy as np
import pytest

from armdyn.control.pd import PD
from armdyn.errors import ShapeError
from armdyn.simulation.plant import Plant
from armdyn.simulation.sensors import Instruments, Sensors
from armdyn.simulation.simulate import simulate


@pytest.fixture(scope="module")
def result(planar, swing):
    return simulate(Plant(planar, friction=False), PD(planar, 400.0, 40.0), swing)


def test_perfect_sensors_change_nothing(planar, swing, result):
    seen = simulate(Plant(planar, friction=False), PD(planar, 400.0, 40.0), swing, sensors=Sensors())
    assert np.abs(seen.q - result.q).max() < 1e-11
    log = Sensors().record(result)
    assert np.array_equal(log.q, result.q)
    assert np.array_equal(log.t, result.t)


def test_the_same_seed_gives_the_same_run(planar, swing):
    sensors = Sensors(resolution=1e-4, q_noise=1e-5, qd_noise=1e-3, lost=0.1)
    runs = [simulate(planar, PD(planar, 400.0, 40.0), swing, 0.2, sensors=sensors, seed=seed) for seed in (3, 3, 4)]
    assert np.array_equal(runs[0].q, runs[1].q)
    assert not np.array_equal(runs[0].q, runs[2].q)


def test_records_have_the_noise_asked_for(result):
    """Standard deviations within 10 %: 2000 values leave 2 %."""
    sensors = Sensors(tau_noise=0.2, qd_noise=0.01, jitter=1e-5)
    log = sensors.record(result, seed=1)
    assert np.std(log.tau - result.tau) == pytest.approx(0.2, rel=0.1)
    assert np.std(log.qd - result.qd) == pytest.approx(0.01, rel=0.1)
    assert np.std(log.t - result.t) == pytest.approx(1e-5, rel=0.1)
    quantised = Sensors(resolution=1e-3).record(result).q
    assert np.abs(quantised - result.q).max() <= 0.5e-3 * (1 + 1e-9)
    assert np.allclose(quantised / 1e-3, np.round(quantised / 1e-3))


def test_lost_and_doubled_samples(result):
    log = Sensors(lost=0.1, doubled=0.2).record(result, seed=2)
    count = len(result.t)
    kept = np.unique(log.t)
    assert len(kept) == pytest.approx(0.9 * count, rel=0.05)
    assert len(log.t) - len(kept) == pytest.approx(0.18 * count, rel=0.2)
    assert log.csv().startswith("t,q1,q2,qd1,qd2,tau1,tau2\n")


def test_delay_and_loss_show_old_samples():
    late = Instruments(Sensors(delay=2), 0.01, 0)
    seen = [late.read(np.array([float(k)]), np.zeros(1))[0][0] for k in range(5)]
    assert seen == [0, 0, 0, 1, 2]
    lossy = Instruments(Sensors(lost=0.5), 0.01, 0)
    seen = np.array([lossy.read(np.array([float(k)]), np.zeros(1))[0][0] for k in range(400)])
    fresh = seen == np.arange(400)
    assert fresh.mean() == pytest.approx(0.5, abs=0.1)
    assert (np.diff(seen) >= 0).all()


def test_velocity_from_differences():
    instruments = Instruments(Sensors(difference=True, resolution=0.01), 0.1, 0)
    speeds = [instruments.read(np.array([0.031 * k]), np.array([9.0]))[1][0] for k in range(4)]
    assert speeds == pytest.approx([0.0, 0.3, 0.3, 0.3])


@pytest.mark.parametrize("bad", [{"q_noise": -1}, {"lost": 1.0}, {"delay": 1.5}, {"jitter": "a"}])
def test_impossible_sensors_are_refused(bad):
    with pytest.raises(ShapeError, match="Sensors"):
        Sensors(**bad)


def test_batches_need_perfect_sensors(planar, swing):
    with pytest.raises(ShapeError, match="a batch of runs needs a control law without sensors"):
        simulate(planar, PD(planar, 40.0, 4.0), swing, q0=np.zeros((3, 2)), sensors=Sensors())
