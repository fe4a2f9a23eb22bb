"""Friction: each kind by hand, dissipation, smooth stand-ins, LuGre's bristles."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.raising import raises

import armdyn
from armdyn import Friction
from armdyn.errors import ModelError


def with_friction(*frictions):
    """An arm of as many revolute joints; friction does not care about links."""
    joints = [armdyn.Joint(f"joint{i}", friction=friction) for i, friction in enumerate(frictions)]
    body = armdyn.Inertia.from_com(1.0, [0.2, 0, 0], np.eye(3) * 0.1)
    return armdyn.Arm(joints, [armdyn.Link(f"link{i}", body) for i in range(len(joints))])


V = np.array([-2.0, -0.05, 0.0, 0.05, 2.0])
Q = np.array([0.1, 0.7, -0.4, 1.3, 2.0])


def torque(friction, **options):
    return armdyn.friction_torque(with_friction(friction), Q[:, None], V[:, None], **options)[:, 0]


@pytest.mark.parametrize(
    ("friction", "expected"),
    [
        (Friction(viscous=3), 3 * V),
        (Friction(coulomb=2), 2 * np.sign(V)),
        (Friction(viscous=3, coulomb=2, offset=0.5), 3 * V + 2 * np.sign(V) + 0.5),
        (Friction(coulomb=2, static=5, stribeck=0.1), (2 + 3 * np.exp(-((V / 0.1) ** 2))) * np.sign(V)),
        (Friction(coulomb=2, asymmetry=0.5), 2 * np.sign(V) + 0.5 * np.abs(np.sign(V))),
        (Friction(viscous=3, viscous_asymmetry=1), 3 * V + np.abs(V)),
        (
            Friction(coulomb=2, harmonics=((1, 0.3, 0.1), (6, 0, 0.2))),
            (2 + 0.3 * np.cos(Q) + 0.1 * np.sin(Q) + 0.2 * np.sin(6 * Q)) * np.sign(V),
        ),
    ],
    ids=["viscous", "coulomb", "both", "stribeck", "asymmetric", "asymmetric viscous", "harmonic"],
)
def test_kinds_by_hand(friction, expected):
    np.testing.assert_allclose(torque(friction), expected, rtol=1e-14, atol=1e-15)


def test_load_and_temperature():
    load, warm = np.array([[4.0], [-3], [2], [1], [-6]]), np.full((5, 1), 10.0)
    friction = Friction(viscous=3, coulomb=2, load=0.1, temperature=-0.02)
    expected = 3 * V * 0.8 + (2 + 0.1 * np.abs(load[:, 0])) * np.sign(V)
    np.testing.assert_allclose(torque(friction, load=load, temperature=warm), expected, rtol=1e-14)


def test_joints_may_have_different_numbers_of_harmonics():
    arm = with_friction(Friction(coulomb=1, harmonics=((2, 0.5, 0),)), Friction(coulomb=1))
    np.testing.assert_allclose(armdyn.friction_torque(arm, [0.3, 0.3], [1, 1]), [1 + 0.5 * np.cos(0.6), 1])


@given(
    seed=st.integers(0, 10**6),
    q=st.floats(-6, 6),
    v=st.floats(-10, 10).filter(lambda v: abs(v) > 1e-6),
    width=st.sampled_from([0.0, 0.01, 0.1]),
)
def test_friction_takes_energy(seed, q, v, width):
    """v tau >= 0 for every kind but the offset, as long as no part outweighs the whole."""
    rng = np.random.default_rng(seed)
    coulomb, viscous = rng.uniform(0.5, 2, 2)
    friction = Friction(
        viscous=viscous,
        coulomb=coulomb,
        static=coulomb * rng.uniform(1, 2),
        stribeck=rng.uniform(0.01, 1),
        asymmetry=0.3 * coulomb * rng.uniform(-1, 1),
        viscous_asymmetry=0.5 * viscous * rng.uniform(-1, 1),
        load=rng.uniform(0, 0.3),
        harmonics=((3.0, 0.2 * coulomb, 0.2 * coulomb),),
    )
    tau = armdyn.friction_torque(with_friction(friction), [q], [v], load=[rng.normal() * 10], width=width)
    assert tau[0] * v > 0


def test_smooth_stand_in_tends_to_the_exact_one():
    friction = Friction(viscous=3, coulomb=2, static=4, asymmetry=0.3, harmonics=((2, 0.2, 0.1),))
    exact = torque(friction)
    moving = V != 0
    errors = [np.abs(torque(friction, width=w) - exact)[moving].max() for w in (0.1, 0.03, 0.003)]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-12  # tanh(0.05 / 0.003) is 1 to 15 digits


def test_smooth_stand_in_has_a_slope_at_rest():
    h = 1e-7
    arm = with_friction(Friction(coulomb=2))
    slope = np.ptp(armdyn.friction_torque(arm, [[0.0], [0.0]], [[-h], [h]], width=0.05)) / (2 * h)
    np.testing.assert_allclose(slope, 2 / 0.05, rtol=1e-6)


def test_breakaway_bounds_the_sticking_joint():
    friction = Friction(coulomb=2, static=5, asymmetry=0.5, offset=0.3, load=0.1)
    forward, backward = armdyn.breakaway_torque(with_friction(friction), [0.2], load=[10.0])
    np.testing.assert_allclose([forward[0], backward[0]], [0.3 + 0.5 + 6, 0.3 + 0.5 - 6])
    slow = armdyn.friction_torque(with_friction(friction), [[0.2]] * 2, [[1e-9], [-1e-9]], load=[10.0])
    np.testing.assert_allclose(slow[:, 0], [forward[0], backward[0]], rtol=1e-8)


def test_impossible_numbers_are_rejected():
    with raises(ModelError, expected="a Stribeck velocity > 0", got="0"):
        Friction(stribeck=0)
    with raises(ModelError, expected="load between -1 and 1 (beyond, it locks)", got="1"):
        Friction(load=1.0)
    with raises(ModelError, expected="harmonics as rows (order, cosine, sine)", got="((1, 2),)"):
        Friction(harmonics=((1, 2),))


BRISTLES = Friction(
    viscous=0.4, coulomb=1, static=1.5, stribeck=0.01, offset=0.1, bristle_stiffness=1e4, bristle_damping=10
)


def test_lugre_slides_with_the_stribeck_curve():
    """In steady sliding the bristles hold what `friction_torque` says."""
    arm, v = with_friction(BRISTLES), np.array([[-0.5], [-0.005], [0.005], [0.5]])
    z = np.zeros((4, 1))
    for _ in range(200):
        z = armdyn.lugre_step(arm, 0 * v, v, z, 0.05)
    tau, zd = armdyn.lugre_torque(arm, 0 * v, v, z)
    np.testing.assert_allclose(zd, 0, atol=1e-12)
    np.testing.assert_allclose(tau, armdyn.friction_torque(arm, 0 * v, v), rtol=1e-12)


def test_lugre_is_a_spring_before_it_slides():
    """Below breakaway: torque = sigma0 times displacement, and nothing creeps."""
    arm = with_friction(dataclasses.replace(BRISTLES, offset=0.0))
    step, z = 1e-7, np.zeros(1)  # 100 steps of 1e-7 rad: a tenth of the breakaway deflection
    for _ in range(100):
        z = armdyn.lugre_step(arm, [0.0], [step / 1e-3], z, 1e-3)
    tau, zd = armdyn.lugre_torque(arm, [0.0], [0.0], z)
    np.testing.assert_allclose(tau, 1e4 * 100 * step, rtol=0.1)
    assert zd == 0.0


def test_lugre_step_solves_the_bristle_equation():
    arm, z0, v = with_friction(BRISTLES), np.array([2e-5]), np.array([0.02])
    fine = z0
    for _ in range(2000):  # Euler with steps of 1e-6: an error of some 1e-4 of the change
        fine = fine + 1e-6 * armdyn.lugre_torque(arm, [0.0], v, fine).zd
    exact = armdyn.lugre_step(arm, [0.0], v, z0, 2e-3)
    np.testing.assert_allclose(exact - z0, fine - z0, rtol=2e-3)
    halves = armdyn.lugre_step(arm, [0.0], v, armdyn.lugre_step(arm, [0.0], v, z0, 1e-3), 1e-3)
    np.testing.assert_allclose(exact, halves, rtol=1e-12)


def test_joints_without_bristles_have_plain_friction():
    arm = with_friction(Friction(viscous=3, coulomb=2, static=4))
    tau, zd = armdyn.lugre_torque(arm, [0.0], [0.3], [0.0])
    np.testing.assert_allclose(tau, armdyn.friction_torque(arm, [0.0], [0.3]), rtol=1e-14)
    assert zd == 0.0


def test_levels_make_the_curve_and_steep_ones_stick():
    """By hand: the pair, and what each level departs from its nearest line; below 0.02 rad/s it is the direction."""
    friction = armdyn.Friction(viscous=1.0, coulomb=2.0, levels=((0.3, 0.5), (0.005, 0.4)), top_speed=2.0)
    arm = armdyn.arms.planar2()
    arm = arm.with_joints([dataclasses.replace(arm.joints[0], friction=friction), arm.joints[1]])
    v = np.array([0.004, 0.5, -1.5])
    qd, q = np.stack([v, 0 * v], axis=1), np.zeros((3, 2))
    u = np.linspace(0, 2.0, 20_001)[1:]
    slope, dry = np.polyfit(u, np.tanh(u / 0.3), 1)
    wide = 0.5 * (np.tanh(v / 0.3) - dry * np.sign(v) - slope * v)
    exact = armdyn.friction_torque(arm, q, qd)
    np.testing.assert_allclose(exact[:, 0], v + 2 * np.sign(v) + wide, rtol=1e-3)
    assert not exact[:, 1].any()
    # Along measured motion a steep level is as steep as it was found.
    measured = armdyn.friction_torque(arm, q, qd, width=0.002)
    side = np.tanh(v / 0.002)
    wide = 0.5 * (np.tanh(v / 0.3) - dry * side - slope * v)
    np.testing.assert_allclose(measured[:, 0], v + 2 * side + wide + 0.4 * (np.tanh(v / 0.005) - side), rtol=1e-3)
    forward, backward = armdyn.breakaway_torque(arm, np.zeros(2))
    np.testing.assert_allclose((forward[0], backward[0]), (2 - 0.5 * dry, -2 + 0.5 * dry), rtol=1e-3)


def test_scaled_friction_has_torques_a_factor_as_large():
    """Also of the friction curve, harmonics, bristles and load: all that an identified joint may have."""
    friction = Friction(
        viscous=3, coulomb=2, offset=0.5, static=5, stribeck=0.3, asymmetry=0.5, viscous_asymmetry=1, temperature=0.01,
        load=0.2, harmonics=((1, 0.3, 0.1), (6, 0, 0.2)), levels=((0.05, 0.7), (0.5, -0.4)), top_speed=2.0,
        bristles=((1e-3, 0.6),), bristle_stiffness=100.0, bristle_damping=2.0,
    )  # fmt: skip
    load = {"load": np.full((len(V), 1), 4.0)}
    np.testing.assert_allclose(torque(friction.scaled(1.5), **load), 1.5 * torque(friction, **load), rtol=1e-12)
    assert friction.scaled(1.5).bristles == ((1e-3, 0.6 * 1.5),)
    assert friction.scaled(1.0) == friction
