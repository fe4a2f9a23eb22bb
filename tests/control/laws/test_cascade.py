"""The cascade: one step against its equation, the poles of its design, what feedforward takes away, limits, C."""

import shutil

import numpy as np
import pytest
from scipy.linalg import expm
from tests.raising import raises

import armdyn
from armdyn import Guarded, Plant, Reference, law_code, simulate
from armdyn.control.compiled import self_test
from armdyn.control.laws.cascade import Cascade
from armdyn.errors import ShapeError


@pytest.mark.parametrize("feedforward", ["none", "velocity", "model"])
def test_one_step_is_the_equation(planar, feedforward):
    rng = np.random.default_rng(0)
    q, qd, q_ref, qd_ref, qdd_ref, integral = rng.normal(size=(6, 2))
    kv, kp, ki = (np.array(x) for x in ([9.0, 7.0], [30.0, 8.0], [200.0, 50.0]))
    law = Cascade(planar, kv, kp, ki, feedforward)
    tau, after = law.step(
        planar, law.params, {"velocity_integral": integral}, q, qd, Reference(q_ref, qd_ref, qdd_ref), 1e-3
    )
    v = kv * (q_ref - q) + (0 if feedforward == "none" else qd_ref)
    given = armdyn.inverse_dynamics(planar, q_ref, qd_ref, qdd_ref) if feedforward == "model" else 0
    assert np.allclose(tau, kp * (v - qd) + integral + given, rtol=1e-10)
    assert np.allclose(after["velocity_integral"], integral + 1e-3 * ki * (v - qd), rtol=1e-10)


def test_a_step_has_the_designed_poles(planar):
    """One joint without gravity, the other held heavy by its gains: J s³ + kp s² + (ki + kv kp) s + kv ki, stable."""
    arm = planar.with_gravity([0, 0, 0])
    J = armdyn.mass_matrix(arm, [0.0, 0.0])[0, 0]
    law = Cascade.from_bandwidth(arm, 1.5, feedforward="none")
    kv, kp, ki = (float(np.asarray(x)[0]) for x in (law.kv, law.kp, law.ki))
    poles = np.roots([J, kp, ki + kv * kp, kv * ki])
    assert poles.real.max() < -0.5 * kv
    stiff = Cascade(arm, [kv, 60.0], [kp, 300.0], [ki, 9e3], "none")
    small = 1e-3
    run = simulate(arm, stiff, [small, 0.0], 0.8, 8000, q0=[0.0, 0.0], qd0=[0.0, 0.0], check=False)
    A = np.array([[0, 1, 0], [-kv * kp / J, -kp / J, 1 / J], [-kv * ki, -ki, 0]])
    b = small * np.array([0, kv * kp / J, kv * ki])
    step = expm(np.block([[A, b[:, None]], [np.zeros((1, 4))]]) / 8000)
    x, expected = np.array([0.0, 0, 0, 1]), []
    for _ in run.t:
        expected.append(x[0])
        x = step @ x
    assert np.abs(run.q[:, 0] - expected).max() < 0.02 * small


def test_feedforward_takes_the_lag_away(planar, swing):
    """Drives with 1 ms of lag: errors of qd / kv without, far less with velocities, least with the model."""
    reference = swing([0.5, -0.4], [0.5, 0.7], 3.0)
    plant, errors = Plant(planar, motor_lag=1e-3), []
    for feedforward in ("none", "velocity", "model"):
        law = Cascade.from_bandwidth(planar, 3.0, [0.5, -0.4], lag=1e-3, feedforward=feedforward)
        run = simulate(plant, law, reference, 3.0, 2000, check=False)
        errors.append(np.sqrt((run.error[2000:] ** 2).mean()))
    lag = np.sqrt((run.qd_ref[2000:] ** 2).mean()) / (2 * np.pi * 3.0)
    assert errors[0] == pytest.approx(lag, rel=0.3)
    assert errors[1] < 0.5 * errors[0]
    assert errors[2] < 0.05 * errors[1]


def test_integrals_rest_under_limits(planar, swing):
    law = Guarded(Cascade.from_bandwidth(planar, 3.0), limit=[20.0, 5.0])
    run = simulate(planar, law, swing([0.5, -0.4], [0.5, 0.7], 1.0), 0.3, 1000, check=False, quiet=True)
    limited = run.states["limited"][:, 0] > 0
    assert limited.any()
    assert not np.diff(run.states["velocity_integral"], axis=0)[limited[1:]].any()


def test_bad_input(planar):
    with raises(ShapeError, cause="a torque lag of 0.05 s is too slow for 3 Hz", remedy="take at most 0.398 Hz"):
        Cascade.from_bandwidth(planar, 3.0, lag=0.05)
    with raises(ShapeError, names=("all",), expected="one of none, velocity, model"):
        Cascade(planar, 1.0, 1.0, 1.0, "all")


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_it_exports(planar, tmp_path):
    self_test(law_code(Cascade.from_bandwidth(planar, 3.0), tmp_path, 1000.0, prefix="cascade"))
