"""Gains from bandwidth and poles, and what is rejected."""

import numpy as np
import pytest
from tests.raising import raises

from armdyn.control.theory.gains import bryson, commute, gains_from_bandwidth, gains_from_poles, pd_gains, slow_sampling
from armdyn.dynamics.mass_matrix import mass_matrix
from armdyn.errors import ArmdynError


def test_poles_are_those_wanted():
    wanted = np.array([[-3 + 4j, -3 - 4j], [-5, -7]])
    kp, kd, ki = gains_from_poles(wanted)
    for joint in range(2):
        assert np.allclose(np.sort_complex(np.roots([1, kd[joint], kp[joint]])), np.sort_complex(wanted[joint]))
    assert not ki.any()


def test_three_poles_give_an_integral_gain():
    kp, kd, ki = gains_from_poles([-2.0, -3.0, -4.0])
    assert np.allclose(np.sort(np.roots([1, kd, kp, ki])), [-4, -3, -2])


def test_bandwidth_gives_frequency_and_damping():
    kp, kd, _ = gains_from_bandwidth(3.0, 0.5)
    poles = np.roots([1, kd, kp])
    assert np.allclose(np.abs(poles), 6 * np.pi)
    assert np.allclose(-poles.real / np.abs(poles), 0.5)


def test_torque_gains_are_scaled_by_inertia(planar):
    q = [0.3, 0.5]
    kp, kd, _ = pd_gains(planar, q, 2.0)
    inertia = np.diag(mass_matrix(planar, q))
    assert np.allclose(kp, inertia * (4 * np.pi) ** 2)
    assert np.allclose(kd, inertia * 8 * np.pi)


def test_bryson_makes_largest_values_cost_one():
    Q = bryson([0.1, 2.0])
    for x in np.diag([0.1, 2.0]):
        assert np.isclose(x @ Q @ x, 1)


def test_sampling_and_commuting_are_judged():
    assert slow_sampling(5.0, 1000.0) is None
    assert "expected at least 100 Hz" in slow_sampling(5.0, 60.0)
    assert commute(np.diag([1.0, 2.0]), np.diag([3.0, 4.0]))
    assert not commute(np.diag([1.0, 2.0]), np.array([[3.0, 1.0], [1.0, 4.0]]))


@pytest.mark.parametrize(
    ("call", "parts"),
    [
        (lambda: gains_from_poles([1.0, -2.0]), {"expected": "poles with negative real parts"}),
        (lambda: gains_from_poles([-1 + 1j, -2.0]), {"expected": "complex poles in conjugate pairs"}),
        (lambda: gains_from_poles([-1.0]), {"expected": "two or three poles per joint", "got": "shape (1,)"}),
        (lambda: gains_from_bandwidth(-1.0), {"expected": "bandwidth > 0", "got": "-1.0"}),
        (lambda: bryson([1.0, 0.0]), {"expected": "largest values > 0", "got": "[1.0, 0.0]"}),
    ],
)
def test_nonsense_is_rejected(call, parts):
    with raises(ArmdynError, **parts):
        call()
