"""Results: metrics, files, logs."""

import re

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.control.laws.computed_torque import ComputedTorque
from armdyn.control.laws.pd import PD
from armdyn.errors import ArmdynError, ReadError
from armdyn.simulation.plant.plant import Plant
from armdyn.simulation.result import SimulationResult
from armdyn.simulation.simulate import simulate


@pytest.fixture(scope="module")
def result(planar, swing):
    return simulate(Plant(planar, friction=False), PD(planar, 400.0, 40.0), swing, 0.5, name="swing")


def test_metrics_are_what_they_say(result):
    m, e = result.metrics, result.q_ref - result.q
    assert np.allclose(m.rms_error, np.sqrt((e**2).mean(0)))
    assert np.allclose(m.max_error, np.abs(e).max(0))
    assert np.allclose(m.max_torque, np.abs(result.tau).max(0))
    assert 0 < m.rms_tip_error < m.max_tip_error
    assert abs(m.work) <= m.effort


def test_the_colour_of_a_page_is_that_of_its_words(result, planar, swing):
    from armdyn.report.run import summary

    assert 'class="big warn"' in summary(result)[0]
    assert "do not follow their reference: joint1." in summary(result)[0]
    law = ComputedTorque.from_bandwidth(planar, 2.0)
    (told, _) = summary(simulate(Plant(planar, friction=False), law, swing, 0.5))
    assert 'class="big good"' in told
    assert "far off" not in told


def test_settling_time_of_a_critically_damped_loop(planar):
    """(1 + w t) exp(-w t) = 0.02 at w t = 5.834."""
    law = ComputedTorque.from_bandwidth(planar, 2.0)
    run = simulate(Plant(planar, friction=False), law, [0.5, -0.3], 1.0, 2000.0, q0=[0, 0])
    assert run.metrics.settling_time == pytest.approx(5.834 / (4 * np.pi), rel=0.01)
    short = simulate(Plant(planar, friction=False), law, [0.5, -0.3], 0.2, 2000.0, q0=[0, 0])
    assert np.isnan(short.metrics.settling_time).all()


def test_files_give_back_every_bit(result, tmp_path):
    path = result.save(tmp_path / "run.npz")
    again = SimulationResult.load(path)
    for name in ("t", "q", "qd", "tau", "q_ref", "qdd_ref"):
        assert np.array_equal(getattr(again, name), getattr(result, name))
    assert (again.name, again.joint_names, again.complete) == ("swing", result.joint_names, True)
    assert again.metrics.rms_tip_error is None


def test_csv_has_the_columns_of_a_log(result, tmp_path):
    lines = result.save(tmp_path / "run.csv").read_text().splitlines()
    assert lines[0] == "t,q1,q2,qd1,qd2,tau1,tau2"
    row = np.array(lines[7].split(","), float)
    assert np.array_equal(row, np.concatenate([[result.t[6]], result.q[6], result.qd[6], result.tau[6]]))


def test_foreign_files_are_rejected(tmp_path):
    (tmp_path / "a.npz").write_bytes(b"PK nonsense")
    with raises(ReadError, file="a.npz", cause=re.compile("^cannot be read as NumPy arrays")):
        SimulationResult.load(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", t=np.array([object()]))
    with raises(ReadError, file="b.npz", cause=re.compile("^cannot be read as NumPy arrays .*cannot be loaded")):
        SimulationResult.load(tmp_path / "b.npz")


def test_what_cannot_be_saved_is_said(result, planar, swing):
    with raises(ArmdynError, cause="cannot save a simulation as 'run.xls': expected .npz or .csv", names=("run.xls",)):
        result.save("run.xls")
    batch = simulate(Plant(planar, friction=False), PD(planar, 40.0, 4.0), swing, 0.01, q0=np.zeros((3, 2)))
    with raises(ArmdynError, cause="a log holds one run, these are 3", remedy="choose one with `run`"):
        batch.save("run.csv")
    with raises(ArmdynError, where="run", expected="1 indices for a batch of shape (3,)", got="()"):
        batch.run()


def test_runs_become_logs(result, planar, tmp_path):
    """As arrays, and through a file that `read_log` reads: the same numbers, whatever instruments did to them."""
    log = result.to_log()
    assert np.array_equal(log.q, result.q)
    assert np.array_equal(log.tau, result.tau)
    read = armdyn.read_log(result.save(tmp_path / "run.csv"), planar)
    assert np.allclose(read.q, result.q, atol=1e-12)
    sensors = armdyn.Sensors(resolution=1e-5, tau_noise=0.01, jitter=2e-5, lost=0.02, doubled=0.02)
    for name in ("raw.csv", "raw.npz"):
        measured = armdyn.read_log(sensors.record(result).save(tmp_path / name), planar)
        assert np.abs(np.interp(measured.t, result.t, result.q[:, 0]) - measured.q[:, 0]).max() < 1e-3
    with raises(ArmdynError, cause="cannot save a log as 'raw.xls': expected .csv or .npz", names=("raw.xls",)):
        sensors.record(result).save("raw.xls")


def test_work_is_that_of_held_torques(block):
    """All of it is kinetic energy: of a mass under PD at 50 Hz, though torques jump by a tenth from sample to sample.

    With 6 N forward and then back: 1.5 J on the way there and on the way back alike.
    """
    arm = block(2.0)
    run = simulate(arm, PD(arm, 50.0, 10.0), [1.0], 0.4, 50.0, q0=[0.0])
    assert run.metrics.work == pytest.approx(run.qd[-1, 0] ** 2, rel=1e-12)
    there_and_back = simulate(arm, lambda t, q, qd, ref: [6.0 if t < 0.4995 else -6.0], [0.0], 1.0, 100.0)
    assert there_and_back.metrics.work == pytest.approx(0.0, abs=1e-12)
    assert there_and_back.metrics.effort == pytest.approx(2 * 6.0 * 6.0 / 2.0 * 0.5**2 / 2, rel=1e-12)


def test_work_of_elastic_joints_is_that_on_their_rotors(block):
    """What a drive does is energy of rotor, spring and link; sines at 2 kHz are held well enough for 1e-6."""
    K, J, B = 400.0, 2.0, 0.5
    plant = Plant(block(J, drive=armdyn.Drive(rotor_inertia=B)), elasticity=armdyn.Elasticity(K))
    run = simulate(plant, lambda t, q, qd, ref: [3 * np.sin(30 * t)], [0.0], 0.4, 2000.0)
    rotor, rotor_speed = (run.states[name][-1, 0] for name in ("rotor_q", "rotor_qd"))
    energy = (J * run.qd[-1, 0] ** 2 + B * rotor_speed**2 + K * (rotor - run.q[-1, 0]) ** 2) / 2
    assert run.metrics.work == pytest.approx(energy, rel=1e-6)
    assert (run.elastic, run.motor_encoders) == ((0,), True)


def test_errors_by_hand(block):
    """A set point 1 away that is left alone: every error is 1, nothing settles; one that is reached settles at once."""
    still = simulate(block(2.0), lambda t, q, qd, ref: [0.0], [1.0], 0.1, q0=[0.0]).metrics
    assert (still.rms_error, still.max_error, still.rms_tip_error, still.max_tip_error) == (1.0, 1.0, 1.0, 1.0)
    assert np.isnan(still.settling_time)
    there = simulate(block(2.0), lambda t, q, qd, ref: [0.0], [1.0], 0.1, q0=[1.0]).metrics
    assert (there.rms_error, there.settling_time) == (0.0, 0.0)


def test_a_page_about_a_run(result, tmp_path):
    text = armdyn.report(result, tmp_path / "run.html").read_text()
    assert "Simulation of swing" in text
    assert text.count("<svg") >= 3
    assert text.count('<figure class="plot"') == 3


def test_curves_of_a_batch(planar, swing):
    import matplotlib

    matplotlib.use("Agg")
    batch = simulate(Plant(planar, friction=False), PD(planar, 40.0, 4.0), swing, 0.01, q0=np.zeros((3, 2)))
    figure = armdyn.plot_run(batch, "q", degrees=True)
    lines = figure.axes[0].get_lines()
    assert len(lines) == 4
    assert np.allclose(lines[1].get_ydata(), np.degrees(batch.q[1, :, 0]))
    assert "[deg]" in figure.axes[0].get_ylabel()
    with raises(ArmdynError, names=("power",), expected="one of q, qd, tau, error"):
        armdyn.plot_run(batch, "power")


def test_a_run_is_printed_as_a_table_of_its_joints():
    arm = armdyn.arms.planar2()
    law = armdyn.ComputedTorque.from_bandwidth(arm, 3.0)
    run = armdyn.simulate(arm, law, [0.3, -0.5], 0.5, 500, q0=np.zeros(2), qd0=np.zeros(2))
    first, heads, *rows, units = str(run).splitlines()
    assert first == "SimulationResult 'simulation': 251 samples to t = 0.5 s"
    assert heads.split() == ["joint", "rms", "error", "max", "error", "rms", "torque", "max", "torque"]
    assert [row.split()[0] for row in rows] == list(arm.joint_names)
    assert [float(row.split()[2]) for row in rows] == [0.3, 0.5]
    assert units == "rad or m, N m or N"
    batch = armdyn.simulate(arm, law, [0.3, -0.5], 0.1, 500, q0=np.zeros((3, 2)), qd0=np.zeros((3, 2)))
    assert str(batch) == repr(batch)
