"""The filtered regressor on a motion: equal to the filtered torque, step by step as in one batch."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import Drive, Friction
from armdyn.dynamics.base.filtered_regressor import FilteredRegressor, LowPass
from armdyn.errors import ArmdynError

DT = 1e-3


def motion(n, seconds=1.0):
    """A smooth motion with its exact derivatives, at rest nowhere."""
    t = np.arange(0, seconds, DT)[:, None]
    rate, phase = 2.0 + np.arange(n), 0.3 * np.arange(n)
    q = np.sin(rate * t + phase)
    return q, rate * np.cos(rate * t + phase), -(rate**2) * q


def test_low_pass_is_exact_for_ramps():
    """dz/dt = a (u - z) with u = 2 + 3 t has z = u - 3/a + c exp(-a t)."""
    a = 20.0
    t = np.arange(200) * DT
    z = LowPass(a, DT).batch(2 + 3 * t, z0=1.0)
    c = 1 - 2 + 3 / a
    np.testing.assert_allclose(z, 2 + 3 * t - 3 / a + c * np.exp(-a * t), rtol=1e-12)


def test_a_single_sample_is_the_initial_state():
    np.testing.assert_array_equal(LowPass(20.0, DT).batch([[3.0, 4.0]], z0=1.0), [[1.0, 1.0]])


@pytest.mark.parametrize("kinds", ["RPR", "RRR"])
def test_filtered_regressor_equals_filtered_torque(random_arm, kinds):
    arm = random_arm(kinds, seed=2)
    q, qd, qdd = motion(arm.n)
    filtered = FilteredRegressor(arm, bandwidth=30.0, dt=DT)
    tau = filtered.low_pass.batch(armdyn.inverse_dynamics(arm, q, qd, qdd))
    Y = filtered.batch(q, qd)
    assert Y.shape == (len(q), arm.n, 10 * arm.n)
    # Straight lines between samples: an error of (rate dt)², with rates up to 12 rad/s.
    np.testing.assert_allclose(Y @ arm.theta, tau, rtol=0, atol=1e-4 * np.abs(tau).max())


def test_every_column_at_second_order(random_arm):
    """Against the low-passed torque regressor: halving dt divides the difference by four."""
    arm = random_arm("RR", seed=5)

    def worst(step):
        q, qd, qdd = (x[::step] for x in motion(arm.n))
        filtered = FilteredRegressor(arm, 30.0, step * DT)
        return np.abs(filtered.batch(q, qd) - filtered.low_pass.batch(armdyn.regressor(arm, q, qd, qdd))).max()

    assert worst(8) / worst(4) == pytest.approx(4, rel=0.1)


def test_steps_equal_the_batch(random_arm):
    arm = random_arm("RRP", seed=3)
    q, qd, _ = (x[:20] for x in motion(arm.n))
    filtered = FilteredRegressor(arm, 30.0, DT)
    batch = filtered.batch(q, qd)
    state = filtered.init(q[0], qd[0])
    for k in range(1, len(q)):
        Y, state = filtered.step(state, q[k], qd[k])
        np.testing.assert_allclose(Y, batch[k], rtol=1e-10, atol=1e-12)


def test_base_parameters_with_joint_terms(random_arm):
    arm = random_arm("RRR", seed=4)
    friction, drive = Friction(viscous=0.3, offset=0.2), Drive(rotor_inertia=0.02)
    arm = arm.with_joints([dataclasses.replace(j, friction=friction, drive=drive) for j in arm.joints])
    base = armdyn.base_parameters(arm, joint_terms=("rotor", "viscous", "offset"))
    q, qd, qdd = motion(arm.n)
    filtered = FilteredRegressor(base, 30.0, DT)
    tau = filtered.low_pass.batch(armdyn.joint_torque(arm, q, qd, qdd))
    np.testing.assert_allclose(filtered.batch(q, qd) @ base.theta, tau, rtol=0, atol=1e-4 * np.abs(tau).max())


def test_symbols_pass_through_a_step(random_arm):
    import casadi as ca

    arm = random_arm("RR", seed=1)
    filtered = FilteredRegressor(arm, 30.0, DT)
    q, state = ca.SX.sym("q", 2), ca.SX.sym("state", 2, 20)
    Y, after = filtered.step(state, q, q)
    f = ca.Function("f", [state, q], [Y, after])
    numbers = filtered.step(np.ones((2, 20)), np.array([0.1, 0.2]), np.array([0.1, 0.2]))
    for symbolic, number in zip(f(np.ones((2, 20)), [0.1, 0.2]), numbers, strict=True):
        np.testing.assert_allclose(symbolic.full(), number, rtol=1e-12, atol=1e-12)


def test_mistakes_are_named(random_arm):
    with raises(ArmdynError, expected="bandwidth as a finite number > 0", got="-1"):
        FilteredRegressor(random_arm("R", seed=0), -1, DT)
    with raises(ArmdynError, expected="samples along the first axis", got="shape ()"):
        LowPass(1.0, DT).batch(3.0)
