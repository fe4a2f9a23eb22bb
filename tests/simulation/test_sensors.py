"""Instruments: statistics, determinism, and their place in the loop."""

import dataclasses

import numpy as np
import pytest
from tests.raising import raises

from armdyn import Drive, Elasticity, SimulationResult, read_log
from armdyn.control.laws.pd import PD
from armdyn.errors import ArmdynError, ArmdynWarning, ShapeError
from armdyn.simulation.plant.plant import Plant
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


def test_smooth_sensors_keep_what_has_a_derivative():
    assert Sensors(resolution=1e-3, delay=2, difference=True, lost=0.1).smooth == Sensors(delay=2, difference=True)


def test_readings_are_taken_by_their_earlier_name(result):
    record = Sensors().record(result)
    with pytest.warns(DeprecationWarning, match="Sensors.logged.seen is now called readings"):
        log = Sensors().logged(seen=record, q=result.q, seed=0)
    assert np.array_equal(log.q, record.q)


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
    log = Sensors(lost=0.1, doubled=0.2).record(result, seed=2).rows
    count = len(result.t)
    kept = np.unique(log.t)
    assert len(kept) == pytest.approx(0.9 * count, rel=0.05)
    assert len(log.t) - len(kept) == pytest.approx(0.18 * count, rel=0.2)
    assert np.isin(log.q, result.q).all()


FAULTY = Sensors(
    resolution=1e-4, qd_noise=1e-3, tau_noise=0.2, ripple=0.02, delay=1, lost=0.05, doubled=0.05, jitter=3e-5
)


def test_a_log_holds_what_the_controller_saw(planar, swing, tmp_path):
    """Late by a sample, quantised, with rows missing and doubled: as arrays, as a file and back, in every path."""
    law, options = PD(planar, 200.0, 20.0), {"sensors": FAULTY, "seed": 3, "check": False}
    run = simulate(Plant(planar, friction=False), law, swing, 0.5, **options)
    seen, spied = run.measured, []

    def spy(t, q, qd, ref):
        spied.append((q, qd))
        return law(t, q, qd, ref)

    plain = simulate(Plant(planar, friction=False), spy, swing, 0.5, **options)
    assert np.array_equal(np.array(spied)[:, 0], plain.measured.q)
    assert np.array_equal(np.array(spied)[:, 1], plain.measured.qd)
    for ours, others in zip(seen, plain.measured, strict=True):
        assert np.abs(ours - others).max() < 1e-7  # round-off
    fresh = (seen.copies[1:-1] > 0) & (seen.copies[:-2] > 0)
    assert np.abs(seen.q[1:-1] - run.q[:-2])[fresh].max() <= 0.5e-4 * (1 + 1e-9)
    ripple = (seen.tau / run.tau - 1)[np.abs(run.tau) > 100.0]
    assert np.abs(ripple).max() < 0.02 + 5 * 0.2 / 100.0
    log = run.to_log()
    assert len(log) == (seen.copies > 0).sum()
    assert any("not later than that of the row before: dropped" in note for note in log.notes)
    read = read_log(run.save(tmp_path / "run.csv"), planar)
    for name in ("t", "q", "qd", "tau"):
        assert np.array_equal(getattr(read, name), getattr(log, name))
    again = SimulationResult.load(run.save(tmp_path / "run.npz"))
    assert np.array_equal(again.measured.q, seen.q)
    assert np.array_equal(again.to_log().t, log.t)


def test_runs_of_a_batch_and_thinned_runs_have_the_same_readings(planar, swing):
    law, options = PD(planar, 200.0, 20.0), {"sensors": FAULTY, "check": False}
    batch = simulate(planar, law, swing, 0.1, q0=np.zeros((3, 2)), seed=7, **options)
    single = simulate(planar, law, swing, 0.1, q0=np.zeros(2), seed=9, **options)
    thin = simulate(planar, law, swing, 0.1, q0=np.zeros(2), seed=9, every=5, **options)
    for ours, others in zip(batch.run(2).measured, single.measured, strict=True):
        assert np.abs(ours - others).max() < 1e-7
    assert np.array_equal(thin.measured.q[:-1], single.measured.q[:-1:5])
    assert np.array_equal(thin.measured.copies == 0, single.measured.copies[::5] == 0)
    with raises(ArmdynError, cause="a log holds one run, these are 3"):
        batch.to_log()


def test_records_are_taken_where_encoders_sit(planar, swing):
    """Of a run without sensors, the readings that a controller behind the same sensors would have had."""
    geared = planar.with_joints(dataclasses.replace(j, drive=Drive(rotor_inertia=0.2)) for j in planar.joints)
    for encoders in ("motor", "link"):
        plant = Plant(geared, elasticity=Elasticity(500.0, 1.0, encoders=encoders))
        run = simulate(plant, PD(geared, 200.0, 20.0), swing, 0.1, check=False)
        truth = run.states["rotor_q"] if encoders == "motor" else run.q
        assert np.array_equal(Sensors().record(run).q, truth)
        assert np.abs(run.states["rotor_q"] - run.q).max() > 1e-3


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


@pytest.mark.parametrize("bad", [{"q_noise": -1}, {"lost": 1.0}, {"doubled": 2}, {"delay": 1.5}, {"jitter": "a"}])
def test_impossible_sensors_are_rejected(bad):
    with raises(ShapeError, where=f"Sensors: {next(iter(bad))}", cause=""):
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
    monkeypatch.setattr("armdyn.simulation.loop.batch.STEPS_PER_BLOCK", 60)
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


@pytest.mark.parametrize(("engine", "options"), [("armdyn", {"tolerance": 1e-9}), ("mujoco", {})])
def test_every_engine_is_seen_through_sensors(planar, swing, engine, options):
    """Adaptive steps and MuJoCo against fixed steps, with the same noise; integration differs by less than 1e-6 rad."""
    pytest.importorskip("mujoco")
    sensors = Sensors(q_noise=1e-3, delay=1)
    runs = [
        simulate(
            Plant(planar, friction=False, engine=name), PD(planar, 400.0, 40.0), swing, 0.1, sensors=sensors, **more
        )
        for name, more in (("armdyn", {}), (engine, options))
    ]
    assert np.abs(runs[1].readings.q - runs[0].readings.q).max() < 1e-6
    assert np.abs(runs[1].readings.q - runs[1].q).max() > 1e-4


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
    with raises(ShapeError, where="Sensors: q_noise", expected="one number or 2", got="(3,)"):
        simulate(planar, PD(planar, 40.0, 4.0), swing, sensors=Sensors(q_noise=[1e-3] * 3))
    with raises(ShapeError, where="simulate: seed", expected="a whole number >= 0 or None", got="-1"):
        simulate(planar, PD(planar, 40.0, 4.0), swing, sensors=Sensors(), seed=-1)


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("options", [{}, {"substeps": 4, "delay": 0.5e-3}])
def test_the_last_row_is_a_sample_like_all_others(planar, swing, native, options):
    """Readings and torques of the end belong to the end: a run cut short there has them too."""
    law, sensors = PD(planar, 200.0, 20.0), Sensors(q_noise=1e-4, delay=1)
    how = {"sensors": sensors, "seed": 3, "check": False, "native": native, **options}
    short, long = (simulate(Plant(planar, friction=False), law, swing, T, **how) for T in (0.05, 0.08))
    assert np.allclose(short.measured.q[-1], long.measured.q[50], atol=1e-14)
    assert np.allclose(short.tau[-1], long.tau[50], rtol=1e-12)
    assert not np.array_equal(short.measured.q[-1], short.measured.q[-2])
