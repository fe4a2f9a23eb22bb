"""Known and unknown parameters, masses at known centres, payloads."""

from __future__ import annotations

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import Inertia
from armdyn.dynamics.regressors.split import (
    linear_parameters,
    unknown_mass,
    unknown_parameters,
    unknown_payload,
)
from armdyn.errors import ArmdynError, ShapeError

CLOSE = {"rtol": 1e-12, "atol": 1e-11}  # round-off on torques of order 100


@pytest.fixture
def arm(random_arm):
    return random_arm("RPRR", seed=3)


@pytest.fixture
def state(arm):
    return np.random.default_rng(0).normal(size=(3, 5, arm.n))


def test_known_and_unknown_parts_add_up(arm, state):
    split = unknown_parameters(arm, ["Ixx2", "m4", "link3"])
    assert split.names[:2] == ("Ixx2", "m3")
    assert len(split.names) == 12
    Y, tau = split.regressor(*state)
    np.testing.assert_allclose(Y @ split.phi + tau, armdyn.inverse_dynamics(arm, *state), **CLOSE)
    np.testing.assert_array_equal(split.theta(split.phi), arm.theta)
    # (17), (18): the columns and the torque are those of the parts of Y.
    every = armdyn.regressor(arm, *state)
    chosen = [k for k in range(40) if split.S[k].any()]
    np.testing.assert_allclose(Y, every[..., chosen], **CLOSE)
    np.testing.assert_allclose(tau, every @ split.theta_known, **CLOSE)


def test_adaptive_split(arm, state):
    q, qd, v = state
    split = unknown_payload(arm)
    Y, tau = split.adaptive_regressor(q, qd, v, q)
    load = (0.7, [0.1, 0.2, -0.1], np.diag([0.02, 0.03, 0.04]))
    phi = Inertia.from_com(*load).theta
    carrying = arm.with_payload(*load)
    np.testing.assert_allclose(Y @ phi + tau, armdyn.adaptive_torque(carrying, q, qd, v, q), **CLOSE)


def test_adaptive_torque_is_the_regressor_times_theta(arm, state):
    q, qd, v = state
    expected = armdyn.adaptive_regressor(arm, q, qd, v, q) @ arm.theta
    np.testing.assert_allclose(armdyn.adaptive_torque(arm, q, qd, v, q), expected, **CLOSE)


def test_physical_names_stand_for_every_entry_that_contains_them(arm):
    assert set(unknown_parameters(arm, ["mass2"]).names) == {f"{n}2" for n in armdyn.spatial.inertia.NAMES}
    assert set(unknown_parameters(arm, ["px4"]).names) == {"mx4", "Iyy4", "Izz4", "Ixy4", "Ixz4"}
    assert unknown_parameters(arm, "Jxy1").names == ("Ixy1",)
    # Changing the centre along x changes exactly those entries.
    body = Inertia.from_com(2.0, [0.1, 0.2, 0.3], np.eye(3))
    moved = Inertia.from_com(2.0, [0.4, 0.2, 0.3], np.eye(3))
    changed = {n for n, a, b in zip(armdyn.spatial.inertia.NAMES, body.theta, moved.theta, strict=True) if a != b}
    assert changed == {"mx", "Iyy", "Izz", "Ixy", "Ixz"}


def test_mass_at_a_known_centre(random_arm, state):
    """The case study V-B: link 4 is a point mass at its end; its mass is the only unknown."""
    arm = random_arm("RRRR", seed=1)
    theta = arm.theta.copy()
    theta[30:] = Inertia.from_com(0.5, [0.2, 0, 0]).theta
    arm = arm.with_theta(theta)
    split = unknown_mass(arm, [0.2, 0, 0], link="link4", mass=0.5)
    Y, tau = split.regressor(*state)
    assert Y.shape == (5, 4, 1)
    np.testing.assert_allclose(split.theta_known[30:], 0, atol=1e-15)
    np.testing.assert_allclose(Y[..., 0] * 0.5 + tau, armdyn.inverse_dynamics(arm, *state), **CLOSE)
    load = unknown_mass(arm, [0, 0, 0.1])
    Y, tau = load.regressor(*state)
    carrying = arm.with_payload(1.5, [0, 0, 0.1])
    np.testing.assert_allclose(Y[..., 0] * 1.5 + tau, armdyn.inverse_dynamics(carrying, *state), **CLOSE)


def test_any_linear_map(arm, state):
    rng = np.random.default_rng(2)
    S, known, phi = rng.normal(size=(40, 3)), rng.normal(size=40), rng.normal(size=3)
    split = linear_parameters(arm, S, known)
    Y, tau = split.regressor(*state)
    np.testing.assert_allclose(Y @ phi + tau, armdyn.inverse_dynamics(arm, *state, theta=known + S @ phi), **CLOSE)
    assert split.names == ("phi1", "phi2", "phi3")


def test_two_splits_together(arm, state):
    both = unknown_parameters(arm, ["Ixx2"]) & unknown_mass(arm, [0, 0, 0.1])
    Y, tau = both.regressor(*state)
    phi = np.array([both.phi[0], 0.4])
    carrying = arm.with_payload(0.4, [0, 0, 0.1])
    np.testing.assert_allclose(Y @ phi + tau, armdyn.inverse_dynamics(carrying, *state), **CLOSE)
    with raises(
        ArmdynError,
        cause="the unknowns Ixx2, m2, mx2, my2, mz2, Ixx2, Ixy2, Iyy2, Ixz2, Iyz2, Izz2 are not independent",
        remedy="is one of them named twice?",
    ):
        unknown_parameters(arm, ["Ixx2"]) & unknown_parameters(arm, ["link2"])


def test_unknown_entries_may_be_missing_from_the_arm(arm, state):
    theta = arm.theta.copy()
    theta[14] = np.nan
    split = unknown_parameters(arm.with_theta(theta), ["Ixx2"])
    Y, tau = split.regressor(*state)
    np.testing.assert_allclose(Y @ arm.theta[14:15] + tau, armdyn.inverse_dynamics(arm, *state), **CLOSE)


def test_mistakes_are_named(arm):
    with raises(
        ArmdynError,
        cause="arm 'RPRR' has no parameter 'Ixx5'",
        expected=(
            "m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz or mass, px, py, pz, Jxx, Jyy, Jzz, Jxy, Jxz, "
            "Jyz with a link's number 1 to 4, or a link: link1, link2, link3, link4"
        ),
        names=("Ixx5",),
    ):
        unknown_parameters(arm, ["Ixx5"])
    with raises(ArmdynError, names=("hand",), remedy="links: link1, link2, link3, link4"):
        unknown_mass(arm, [0, 0, 0], link="hand")
    with raises(ArmdynError, expected="at least one name", got="none"):
        unknown_parameters(arm, [])
    with raises(ShapeError, expected="S of shape (40, u) and theta_known of (40,) for arm 'RPRR'"):
        linear_parameters(arm, np.eye(3), np.zeros(40))
    with raises(ArmdynError, cause="the columns of S are not independent"):
        linear_parameters(arm, np.ones((40, 2)), np.zeros(40))
    with raises(ShapeError, expected="phi of shape (..., 1)", got="(2,)"):
        unknown_parameters(arm, ["m1"]).theta([1, 2])


@pytest.mark.parametrize("axis", "xyz")
def test_reduced_payloads_are_lu_and_mengs_six_parameters(arm, state, axis):
    """(50), (51): m, m p, m p² and three moments about the centre, through the sixteen-parameter regressor."""
    k, m, p, moments = "xyz".index(axis), 0.8, 0.15, np.array([0.02, 0.03, 0.04])
    split = unknown_payload(arm, shape="principal", axis=axis)
    assert split.names == ("m of load", f"m{axis} of load", "Ixx of load", "Iyy of load", "Izz of load")
    about_tip = moments + m * p**2 * (np.arange(3) != k)
    Y, tau = split.regressor(*state)
    ours = Y @ np.array([m, m * p, *about_tip]) + tau
    body = Inertia.from_com(m, p * np.eye(3)[k], np.diag(moments))
    sixteen = armdyn.regressor16(arm, *state, load=True) @ armdyn.theta16(arm, load=body)
    np.testing.assert_allclose(ours, sixteen, **CLOSE)


def test_unknown_shapes_of_payloads_are_rejected(arm):
    with raises(ArmdynError, names=("bar",), expected="one of any, principal"):
        unknown_payload(arm, shape="bar")
    with raises(ArmdynError, names=("w",), expected="one of x, y, z"):
        unknown_payload(arm, shape="principal", axis="w")


def test_a_wrench_on_the_tip_is_part_of_what_is_known(arm, state):
    wrench, (q, qd, v) = np.array([3.0, -2.0, 5.0, 0.4, 0.1, -0.3]), state
    split = unknown_parameters(arm, ["link3"])
    touched = armdyn.inverse_dynamics(arm, *state, wrench=wrench)
    W = armdyn.wrench_columns(arm, q)
    np.testing.assert_allclose(armdyn.regressor(arm, *state) @ arm.theta + W @ wrench, touched, **CLOSE)
    Y, tau = split.regressor(*state, wrench=wrench)
    np.testing.assert_allclose(Y @ split.phi + tau, touched, **CLOSE)
    Y, tau = split.adaptive_regressor(q, qd, v, q, wrench=wrench)
    expected = armdyn.adaptive_regressor(arm, q, qd, v, q) @ arm.theta + W @ wrench
    np.testing.assert_allclose(Y @ split.phi + tau, expected, **CLOSE)
