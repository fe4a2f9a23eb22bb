"""Export to SciPy and python-control."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import MissingExtraError, ShapeError


def test_scipy_gets_the_same_system(random_arm):
    from scipy.signal import cont2discrete

    arm, state = random_arm("RPR", seed=1), np.random.default_rng(0).normal(size=(3, 3))
    system = armdyn.state_space(arm, *state, output="tip")
    continuous = system.to_scipy()
    linear = armdyn.linearize(arm, *state)
    np.testing.assert_array_equal(continuous.A, linear.A)
    np.testing.assert_array_equal(continuous.B, linear.B)
    np.testing.assert_array_equal(continuous.C, armdyn.tip_output(arm, *state[:2]))
    assert continuous.dt is None
    steps = armdyn.state_space(arm, *state, dt=1e-3).to_scipy()
    Ad, Bd, *_ = cont2discrete((linear.A, linear.B, np.eye(6), np.zeros((6, 3))), 1e-3)
    np.testing.assert_allclose(steps.A, Ad, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(steps.B, Bd, rtol=1e-12, atol=1e-14)
    assert steps.dt == 1e-3


def test_control_gets_names_too(random_arm):
    control = pytest.importorskip("control")
    arm = random_arm("RP", seed=2)
    system = armdyn.state_space(arm, [0.3, 0.1], dt=0.01).to_control()
    assert isinstance(system, control.StateSpace)
    assert system.input_labels == ["joint1_torque", "joint2_torque"]
    assert system.state_labels == system.output_labels == ["joint1", "joint2", "joint1_rate", "joint2_rate"]
    assert system.dt == 0.01
    assert armdyn.state_space(arm, [0.3, 0.1]).to_control().dt == 0  # python-control's mark of continuous time
    np.testing.assert_array_equal(system.A, armdyn.state_space(arm, [0.3, 0.1], dt=0.01).A)


def test_missing_control_says_how_to_install_it(random_arm, monkeypatch):
    monkeypatch.setitem(sys.modules, "control", None)
    with raises(MissingExtraError, extra="control"):
        armdyn.state_space(random_arm("R"), [0.0]).to_control()


def test_bad_input_is_named(random_arm):
    arm = random_arm("RR")
    with raises(ShapeError, names=("tool",), expected="one of joint, tip"):
        armdyn.state_space(arm, [0, 0], output="tool")
    with raises(ShapeError, expected="q of shape (2,) for arm 'RR'", got="(5, 2)"):
        armdyn.state_space(arm, np.zeros((5, 2)))
    with raises(ShapeError, expected="finite numbers for q, but an entry is NaN or infinite"):
        armdyn.state_space(arm, [0, np.nan])
