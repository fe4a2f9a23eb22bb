"""One quick walk through every part: `pytest -m smoke`, within a minute, tells whether anything works at all."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from typer.testing import CliRunner

import armdyn
from armdyn.cli.app import app

pytestmark = pytest.mark.smoke


@pytest.fixture(scope="module")
def arm():
    return armdyn.arms.planar2()


@pytest.fixture(scope="module")
def state(arm):
    return np.random.default_rng(0).normal(size=(3, 20, arm.n))


def test_an_arm_survives_every_format(tmp_path, arm):
    for name in ("arm.toml", "arm.urdf"):
        arm.save(tmp_path / name)
        q = np.ones(arm.n)
        again = armdyn.load(tmp_path / name)
        np.testing.assert_allclose(armdyn.forward_kinematics(again, q), armdyn.forward_kinematics(arm, q), atol=1e-12)


def test_inverse_kinematics_finds_the_pose():
    puma = armdyn.arms.puma560()
    pose = armdyn.forward_kinematics(puma, [0.1, -0.5, 0.3, 0.2, 0.6, -0.1])
    found = armdyn.inverse_kinematics(puma, pose)
    assert found.success
    np.testing.assert_allclose(armdyn.forward_kinematics(puma, found.q), pose, atol=1e-9)


def test_forward_dynamics_undo_inverse_dynamics(arm, state):
    q, qd, qdd = state
    tau = armdyn.inverse_dynamics(arm, q, qd, qdd)
    np.testing.assert_allclose(armdyn.forward_dynamics(arm, q, qd, tau), qdd, atol=1e-9)
    M, C = armdyn.mass_matrix(arm, q), armdyn.coriolis_matrix(arm, q, qd)
    terms = np.einsum("kij,kj->ki", M, qdd) + np.einsum("kij,kj->ki", C, qd) + armdyn.gravity_torque(arm, q)
    np.testing.assert_allclose(terms, tau, atol=1e-9)


def test_regressors_hold_the_torque(arm, state):
    tau = armdyn.inverse_dynamics(arm, *state)
    np.testing.assert_allclose(armdyn.regressor(arm, *state) @ arm.theta, tau, atol=1e-9)
    base = armdyn.base_parameters(arm)
    np.testing.assert_allclose(base.regressor(*state) @ base.theta, tau, atol=1e-9)


def test_linearisation_is_the_slope(arm, state):
    q, qd, qdd = state[:, 0]
    found, step = armdyn.linearize(arm, q, qd, qdd), 1e-6
    rise = armdyn.inverse_dynamics(arm, q + step * np.eye(arm.n), qd, qdd) - armdyn.inverse_dynamics(arm, q, qd, qdd)
    np.testing.assert_allclose(found.K, rise.T / step, atol=1e-4)


def test_a_controlled_run_reaches_its_goal(arm):
    goal = armdyn.point_to_point([0.0, 0.0], [1.0, -0.8], duration=1.0)
    run = armdyn.simulate(armdyn.Plant(arm), armdyn.ComputedTorque.from_bandwidth(arm, 4.0), goal, 1.5, hold=True)
    np.testing.assert_allclose(run.q[-1], [1.0, -0.8], atol=1e-2)


@pytest.mark.filterwarnings("ignore::armdyn.errors.ArmdynWarning")
def test_a_log_gives_the_model_back(tmp_path, arm):
    t = np.arange(0, 10, 0.01)
    phase = np.outer(t, [1.0, 1.7]) * 2.5
    q = np.sin(phase) + 0.3 * np.cos(2.2 * phase)
    qd, qdd = (np.gradient(q, t, axis=0), np.gradient(np.gradient(q, t, axis=0), t, axis=0))
    tau = armdyn.inverse_dynamics(arm, q, qd, qdd) + 0.05 * np.random.default_rng(0).normal(size=q.shape)
    rows = np.column_stack([t, q, tau])
    np.savetxt(tmp_path / "log.csv", rows, delimiter=",", header="t,q1,q2,tau1,tau2", comments="")
    fit = armdyn.identify(arm, tmp_path / "log.csv")
    assert fit.rel_error < 0.1
    assert "<html" in armdyn.report(fit, tmp_path / "report.html").read_text()


def test_c_code_is_written(tmp_path, arm):
    code = armdyn.c_code(armdyn.gravity_torque, arm, tmp_path, search=False)
    assert "gravity_torque" in code.source.read_text()
    if shutil.which("gcc"):
        import subprocess

        program = str(tmp_path / "selftest")
        subprocess.run(["gcc", "-std=c99", str(code.source), str(code.selftest), "-lm", "-o", program], check=True)
        assert subprocess.run([program], check=False).returncode == 0


@pytest.mark.parametrize("line", [("info", "puma560"), ("arms",), ("torque", "planar2", "--q", "0.1 0.2", "--json")])
def test_the_command_line_answers(line):
    assert CliRunner().invoke(app, line).exit_code == 0
