"""Instruments: statistics, determinism, and their place in the loop."""

import numpy as np
import pytest

from armdyn.control.pd import PD
from armdyn.errors import ArmdynWarning, ShapeError
from armdyn.simulation.plant import Plant
from armdyn.simulation.sensing import Instruments
from armdyn.simulation.sensors import Sensors
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
    late = Instruments(Sensors(delay=2), 0.01, 5, 1, 0)
    seen = [late.read(np.array([float(k)]), np.zeros(1))[0][0] for k in range(5)]
    assert seen == [0, 0, 0, 1, 2]
    lossy = Instruments(Sensors(lost=0.5), 0.01, 400, 1, 0)
    seen = np.array([lossy.read(np.array([float(k)]), np.zeros(1))[0][0] for k in range(400)])
    fresh = seen == np.arange(400)
    assert fresh.mean() == pytest.approx(0.5, abs=0.1)
    assert (np.diff(seen) >= 0).all()


def test_velocity_from_differences():
    instruments = Instruments(Sensors(difference=True, resolution=0.01), 0.1, 4, 1, 0)
    speeds = [instruments.read(np.array([0.031 * k]), np.array([9.0]))[1][0] for k in range(4)]
    assert speeds == pytest.approx([0.0, 0.3, 0.3, 0.3])


@pytest.mark.parametrize("bad", [{"q_noise": -1}, {"lost": 1.0}, {"delay": 1.5}, {"jitter": "a"}])
def test_impossible_sensors_are_refused(bad):
    with pytest.raises(ShapeError, match="Sensors"):
        Sensors(**bad)


INSTRUMENTS = (
    Sensors(resolution=1e-3),
    Sensors(resolution=[1e-3, 0.0], q_noise=1e-4, qd_noise=[0.0, 1e-2]),
    Sensors(delay=3),
    Sensors(resolution=2e-4, difference=True, delay=1, lost=0.1, q_noise=1e-5),
)


@pytest.mark.parametrize("sensors", INSTRUMENTS)
@pytest.mark.parametrize("options", [{}, {"substeps": 2, "delay": 0.5e-3}])
def test_kernels_see_what_the_python_loop_sees(planar, swing, sensors, options, monkeypatch):
    """The same readings in both paths; blocks of 60 steps draw from the same streams.

    Round-off may move a reading across the edge of a mark, which here it does not: both stay equal to round-off.
    """
    monkeypatch.setattr("armdyn.simulation.batch.BLOCK", 60)
    plant, law = Plant(planar, friction=False), PD(planar, 200.0, 20.0)
    run, plain = (
        simulate(plant, law, swing, 0.3, sensors=sensors, native=native, seed=5, check=False, **options)
        for native in (True, False)
    )
    perfect = simulate(plant, law, swing, 0.3, check=False, **options)
    assert np.abs(run.q - plain.q).max() < 1e-11
    assert np.abs(run.tau - plain.tau).max() < 1e-8
    assert np.abs(run.q - perfect.q).max() > 1e-6
    assert set(run.states) == set(perfect.states)


def test_runs_of_a_batch_have_seeds_of_their_own(planar, swing):
    """Run k has the noise of seed + k; threads change nothing."""
    sensors, law = Sensors(resolution=1e-4, q_noise=1e-4, lost=0.05), PD(planar, 200.0, 20.0)
    batch = simulate(planar, law, swing, 0.1, q0=np.zeros((5, 2)), sensors=sensors, seed=7, threads=2)
    for k in (0, 4):
        single = simulate(planar, law, swing, 0.1, q0=np.zeros(2), sensors=sensors, seed=7 + k)
        assert np.abs(batch.run(k).q - single.q).max() < 1e-11
    assert np.abs(batch.q[0] - batch.q[1]).max() > 1e-7


def test_late_readings_destabilise_as_predicted(block):
    """Damping of a mass by readings one sample old: unstable beyond kd = m / dt, half the limit of fresh ones."""
    m, rate = 2.0, 100.0
    arm = block(m)
    law = PD(arm, 50.0, 0.75 * 2 * m * rate)
    fresh = simulate(arm, law, [0.0], 2.0, rate, q0=[0.1], sensors=Sensors())
    assert abs(fresh.q[-1, 0]) < 0.1
    with pytest.warns(ArmdynWarning, match="unstable at 100 Hz"):
        late = simulate(arm, law, [0.0], 0.3, rate, q0=[0.1], sensors=Sensors(delay=1))
    assert np.abs(late.qd[-5:]).max() > 10 * np.abs(late.qd[:5]).max()


def test_sensors_must_fit_the_arm(planar, swing):
    with pytest.raises(ShapeError, match="q_noise: expected one number or 2"):
        simulate(planar, PD(planar, 40.0, 4.0), swing, sensors=Sensors(q_noise=[1e-3] * 3))
    with pytest.raises(ShapeError, match="seed: expected a whole number"):
        simulate(planar, PD(planar, 40.0, 4.0), swing, sensors=Sensors(), seed=-1)
