"""Results: metrics, files, logs."""

import numpy as np
import pytest

import armdyn
from armdyn.control.computed_torque import ComputedTorque
from armdyn.control.pd import PD
from armdyn.errors import ArmdynError, ReadError
from armdyn.simulation.plant import Plant
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


def test_foreign_files_are_refused(tmp_path):
    (tmp_path / "a.npz").write_bytes(b"PK nonsense")
    with pytest.raises(ReadError, match="cannot be read as NumPy arrays"):
        SimulationResult.load(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", t=np.array([object()]))
    with pytest.raises(ReadError, match="cannot be loaded"):
        SimulationResult.load(tmp_path / "b.npz")


def test_what_cannot_be_saved_is_said(result, planar, swing):
    with pytest.raises(ArmdynError, match=r"expected \.npz or \.csv"):
        result.save("run.xls")
    batch = simulate(Plant(planar, friction=False), PD(planar, 40.0, 4.0), swing, 0.01, q0=np.zeros((3, 2)))
    with pytest.raises(ArmdynError, match="a CSV holds one run, this result has 3"):
        batch.save("run.csv")
    with pytest.raises(ArmdynError, match="run: expected 1 indices"):
        batch.run()


def test_runs_become_logs(result, planar, tmp_path):
    """As arrays, and through a file that `read_log` reads: the same numbers, whatever instruments did to them."""
    log = result.to_log()
    assert np.array_equal(log.q, result.q)
    assert np.array_equal(log.tau, result.tau)
    read = armdyn.read_log(result.save(tmp_path / "run.csv"), planar)
    assert np.allclose(read.q, result.q, atol=1e-12)
    sensors = armdyn.Sensors(resolution=1e-5, tau_noise=0.01, jitter=2e-5, lost=0.02, doubled=0.02)
    (tmp_path / "raw.csv").write_text(sensors.record(result).csv())
    measured = armdyn.read_log(tmp_path / "raw.csv", planar)
    assert np.abs(np.interp(measured.t, result.t, result.q[:, 0]) - measured.q[:, 0]).max() < 1e-3


def test_a_page_about_a_run(result, tmp_path):
    text = armdyn.report(result, tmp_path / "run.html").read_text()
    assert "Simulation: swing" in text
    assert text.count("<svg") >= 3
    assert "<script" not in text


def test_curves_of_a_batch(planar, swing):
    import matplotlib

    matplotlib.use("Agg")
    batch = simulate(Plant(planar, friction=False), PD(planar, 40.0, 4.0), swing, 0.01, q0=np.zeros((3, 2)))
    figure = armdyn.plot_run(batch, "q", degrees=True)
    lines = figure.axes[0].get_lines()
    assert len(lines) == 4
    assert np.allclose(lines[1].get_ydata(), np.degrees(batch.q[1, :, 0]))
    assert "[deg]" in figure.axes[0].get_ylabel()
    with pytest.raises(ArmdynError, match="unknown curve 'power'"):
        armdyn.plot_run(batch, "power")
