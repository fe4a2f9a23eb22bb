"""The linear model along a motion: does it predict what the arm does, and does bad input get named?"""

from __future__ import annotations

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ShapeError


def swing(n, N=60, dt=2e-3):
    """A smooth motion of all joints."""
    t = dt * np.arange(N)
    w, phase = 2 + np.arange(n), np.arange(n)
    x = np.outer(t, w) + phase
    return t, np.sin(x), w * np.cos(x), -(w**2) * np.sin(x)


def integrate(arm, x, torques, dt):
    """States reached under torques held over each step, by Runge-Kutta."""

    def rate(y, tau):
        return np.concatenate([y[arm.n :], armdyn.forward_dynamics(arm, y[: arm.n], y[arm.n :], tau)])

    states = [x]
    for tau in torques:
        k1 = rate(x, tau)
        k2 = rate(x + dt / 2 * k1, tau)
        k3 = rate(x + dt / 2 * k2, tau)
        x = x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + rate(x + dt * k3, tau))
        states.append(x)
    return np.array(states)


@pytest.mark.parametrize("kinds", ["RR", "RPR"])
def test_small_deviations_follow_the_linear_model(random_arm, kinds):
    arm, rng = random_arm(kinds, seed=1), np.random.default_rng(0)
    t, q, qd, qdd = swing(arm.n)
    motion = armdyn.linearize_motion(arm, t, q, qd, qdd)
    Ad, Bd = motion.discretize()
    tau, x0 = armdyn.inverse_dynamics(arm, q, qd, qdd)[:-1], np.concatenate([q[0], qd[0]])
    dx, du = 1e-4 * rng.normal(size=2 * arm.n), 1e-3 * rng.normal(size=(len(t) - 1, arm.n))
    actual = integrate(arm, x0 + dx, tau + du, t[1]) - integrate(arm, x0, tau, t[1])
    predicted = [dx]
    for A, B, u in zip(Ad, Bd, du, strict=True):
        predicted.append(A @ predicted[-1] + B @ u)
    # A and B are held over steps in which the arm moves: a first-order error of about 1 % after 0.1 s.
    error = np.abs(actual - predicted).max(axis=0) / np.abs(actual).max(axis=0)
    assert error.max() < 0.02
    assert np.abs(actual[-1] - dx).max() > 10 * np.abs(actual[-1] - predicted[-1]).max()


def test_euler_and_tustin_approach_the_exact_step(random_arm):
    arm = random_arm("RR", seed=2)
    motion = armdyn.linearize_motion(arm, *swing(2, dt=1e-3))
    exact = motion.discretize()
    euler, tustin = (
        np.abs(motion.discretize(method).A - exact.A).max() / np.abs(motion.A).max() for method in ("euler", "tustin")
    )
    assert tustin < euler / 100 < 1e-4


def test_bad_motions_name_the_first_bad_sample(random_arm):
    arm = random_arm("RR", seed=0)
    t, q, qd, qdd = swing(2, N=10)
    broken = qd.copy()
    broken[7, 1] = np.nan
    with raises(ShapeError, expected="finite numbers for qd, but sample 7 is NaN or infinite"):
        armdyn.linearize_motion(arm, t, q, broken, qdd)
    with raises(ShapeError, expected="increasing times, but t[4] = 0.006 after t[3] = 0.006"):
        armdyn.linearize_motion(arm, np.where(np.arange(10) == 4, t[3], t), q, qd, qdd)
    with raises(ShapeError, expected="qdd of shape (10, 2) for arm 'RR'", got="(9, 2)"):
        armdyn.linearize_motion(arm, t, q, qd, qdd[:-1])
    with raises(ShapeError, expected="t of shape (N,) with at least two samples", got="(1,)"):
        armdyn.linearize_motion(arm, [0.0], q[:1], qd[:1], qdd[:1])


def test_the_plot_shows_all_modes(random_arm, tmp_path):
    motion = armdyn.linearize_motion(random_arm("RR", seed=2), *swing(2))
    figure = armdyn.plot_modes(motion)
    real = figure.axes[0].get_lines()
    assert len(real) == 4
    np.testing.assert_array_equal(
        np.array([line.get_ydata() for line in real]).T, armdyn.modes(motion.A).eigenvalues.real
    )
    figure.savefig(tmp_path / "modes.png")
    assert (tmp_path / "modes.png").stat().st_size > 10_000
