"""Forward dynamics by all its ways, and the arms that have none."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError, ModelError
from armdyn.trace import backend


@pytest.mark.parametrize("kinds", ["R", "P", "RPR", "PRRP", "RRRRRR"])
@pytest.mark.by_day(2)
def test_all_ways_invert_newton_euler(random_arm, kinds):
    arm, rng = random_arm(kinds, seed=31), np.random.default_rng(0)
    q, qd, qdd = rng.normal(size=(3, 4, arm.n))
    wrench = rng.normal(size=(4, 6))
    tau = armdyn.inverse_dynamics(arm, q, qd, qdd, wrench=wrench)
    close = {"rtol": 1e-9, "atol": 1e-9}  # M's condition of up to 1e3 costs three digits of 1e-12
    for method in ("auto", "composite", "articulated"):
        got = armdyn.forward_dynamics(arm, q, qd, tau, wrench, method=method)
        np.testing.assert_allclose(got, qdd, **close)
    free = armdyn.inverse_dynamics(arm, q, qd, qdd)
    by_regressor = armdyn.forward_dynamics_regressor(arm, q, qd, free)
    np.testing.assert_allclose(by_regressor.qdd, qdd, **close)
    np.testing.assert_allclose(by_regressor.M, armdyn.mass_matrix(arm, q), rtol=1e-11, atol=1e-11)


def test_long_chains_take_articulated_bodies(random_arm):
    """13 joints: the choice by size gives what the explicit choice gives, bit by bit."""
    arm, rng = random_arm("R" * 13, seed=32), np.random.default_rng(0)
    q, qd, tau = 0.3 * rng.normal(size=(3, arm.n))
    by_size = armdyn.forward_dynamics(arm, q, qd, tau)
    np.testing.assert_array_equal(by_size, armdyn.forward_dynamics(arm, q, qd, tau, method="articulated"))
    torque = armdyn.inverse_dynamics(arm, q, qd, by_size)
    np.testing.assert_allclose(torque, tau, rtol=0, atol=1e-9 * np.abs(by_size).max())


def test_kernels_agree_with_the_virtual_machine():
    arm, rng = armdyn.arms.puma560(), np.random.default_rng(0)
    q, qd, tau = rng.normal(size=(3, 5, 6))
    native = [
        armdyn.forward_dynamics(arm, q, qd, tau, method="composite"),
        armdyn.forward_dynamics(arm, q, qd, tau, method="articulated"),
    ]
    with backend.using("virtual"):
        reference = armdyn.forward_dynamics(arm, q, qd, tau, method="composite")
    for got in native:
        np.testing.assert_allclose(got, reference, rtol=1e-9, atol=1e-9)


def test_unknown_method_is_rejected():
    with raises(ArmdynError, names=("fast",), expected="one of auto, composite, articulated"):
        armdyn.forward_dynamics(armdyn.arms.planar2(), [0, 0], [0, 0], [0, 0], method="fast")


def test_massless_ends_are_named():
    arm = armdyn.arms.puma560()
    theta = arm.theta.copy()
    theta[40:] = 0  # links 5 and 6 weigh nothing
    light = arm.with_theta(theta)
    names = list(arm.joint_names[4:])
    assert armdyn.massless_joints(light) == names
    state = np.zeros((3, 6))
    for function in (armdyn.forward_dynamics, armdyn.forward_dynamics_regressor):
        with raises(ModelError, cause=re.compile("no inertia resists"), names=tuple(names)):
            function(light, *state)
    # Given parameters, not the arm's, are the caller's affair, and rotors are inertia too.
    assert np.isfinite(armdyn.forward_dynamics(light, *state, theta=arm.theta)).all()
    assert np.isfinite(armdyn.joint_acceleration(light, *state)).all()


def test_a_mass_on_the_axis_is_no_inertia():
    point = armdyn.Link("load", armdyn.Inertia.from_com(2.0, [0, 0, 0.4]))
    arm = armdyn.Arm((armdyn.Joint("spin"),), (point,))
    assert armdyn.massless_joints(arm) == ["spin"]
    aside = armdyn.Arm((armdyn.Joint("spin"),), (armdyn.Link("load", armdyn.Inertia.from_com(2.0, [0.1, 0, 0])),))
    assert armdyn.massless_joints(aside) == []


def test_coaxial_joints_with_nothing_between_are_singular():
    """M = [[I, I], [I, I]]: both diagonal entries are positive, and still joint 1 cannot be told from 2."""
    wheel = armdyn.Link("wheel", armdyn.Inertia.from_com(1.0, [0, 0, 0], np.eye(3)))
    nothing = armdyn.Link("nothing", armdyn.Inertia.zero())
    arm = armdyn.Arm((armdyn.Joint("first"), armdyn.Joint("second")), (nothing, wheel))
    assert armdyn.massless_joints(arm) == ["first"]


def test_library_arms_can_move():
    for name in ("planar2", "puma560", "stanford", "panda", "vukobratovic3"):
        assert armdyn.massless_joints(getattr(armdyn.arms, name)()) == []
