"""Base parameters: same torques from fewer parameters, numbers against rules, counts, names."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import Arm, Joint, Link
from armdyn.dynamics.base.parameters import base_regressor
from armdyn.errors import ArmdynError, RankError, ShapeError
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.rotation import from_axis_angle
from armdyn.spatial.transform import transform

# Torques of order 100 through matrices with entries up to 1: round-off only.
CLOSE = {"rtol": 1e-11, "atol": 1e-10}


def states(arm, count=5, seed=0):
    return np.random.default_rng(seed).normal(size=(3, count, arm.n))


@pytest.mark.parametrize("kinds", ["R", "P", "RPR", "PPR", "RRRRRR"])
@pytest.mark.parametrize("method", ["numeric", "rules"])
def test_torques_are_kept(random_arm, kinds, method):
    arm = random_arm(kinds, seed=2)
    base = armdyn.base_parameters(arm, method=method)
    state = states(arm)
    tau = armdyn.inverse_dynamics(arm, *state)
    np.testing.assert_allclose(base.regressor(*state) @ base.theta, tau, **CLOSE)
    np.testing.assert_allclose(armdyn.inverse_dynamics(base.arm, *state), tau, **CLOSE)
    assert np.count_nonzero(base.arm.theta) <= base.count
    # Every direction called unidentifiable moves no torque at all.
    np.testing.assert_allclose(armdyn.regressor(arm, *state) @ base.null, 0, atol=1e-10)


def test_gravity_alone(random_arm):
    arm = random_arm("RRPR", seed=3)
    base = armdyn.base_parameters(arm, terms="gravity")
    q = states(arm)[0]
    tau = armdyn.gravity_torque(arm, q)
    np.testing.assert_allclose(base.regressor(q) @ base.theta, tau, **CLOSE)
    np.testing.assert_allclose(armdyn.gravity_torque(base.arm, q), tau, **CLOSE)


def test_adaptive_regressor_in_base_form(random_arm):
    arm = random_arm("RRR", seed=4)
    base = armdyn.base_parameters(arm, method="rules")
    q, qd, v = states(arm)
    np.testing.assert_allclose(
        base.adaptive_regressor(q, qd, v, q) @ base.theta,
        armdyn.adaptive_regressor(arm, q, qd, v, q) @ arm.theta,
        **CLOSE,
    )


def test_numbers_and_rules_agree_on_18_arms(golden, golden_arm):
    for case in golden("base_parameter_counts")["arms"]:
        arm = golden_arm(case)
        for terms, key in (("full", "base_inertial_parameters"), ("gravity", "gravity_base_parameters")):
            by_numbers, by_rules = (armdyn.base_parameters(arm, terms, method=m) for m in ("numeric", "rules"))
            assert by_numbers.count == by_rules.count == case[key], case["arm"]
            assert by_numbers.columns == by_rules.columns, case["arm"]
            # Least squares on unit columns against exact elimination.
            np.testing.assert_allclose(by_numbers.P, by_rules.P, atol=1e-11)


def test_projection_and_what_lies_behind_it(random_arm):
    arm = random_arm("RRR", seed=5)
    base = armdyn.base_parameters(arm)
    theta_base = base.project(arm.theta)
    assert theta_base.shape == (base.count,)
    np.testing.assert_allclose(base.project(base.expand(theta_base)), theta_base, rtol=1e-14)
    guess = arm.theta + 0.1 * np.random.default_rng(0).normal(size=arm.theta.shape)
    nearest = base.nearest(theta_base, guess)
    np.testing.assert_allclose(base.project(nearest), theta_base, **CLOSE)
    # The nearest one differs from the guess only across the null directions.
    np.testing.assert_allclose(base.null.T @ (nearest - guess), 0, atol=1e-12)
    assert base.project(np.stack([arm.theta] * 3)).shape == (3, base.count)


def test_names_of_the_three_link_puma(golden, golden_arm):
    """The groupings of the thesis's arm, with rotors: Ia1 and Ia2 are one with Izz, Ia3 is the 16th parameter."""
    case = next(a for a in golden("base_parameter_counts")["arms"] if a["arm"] == "PUMA560 3dof (MDH)")
    base = armdyn.base_parameters(golden_arm(case), joint_terms=("rotor",))
    assert base.count == 16
    assert base.formulas == (
        *("Izz1 + Iyy2 + x3^2 m3 + Iyy3 + Ia1", "mx2 + x3 m3", "my2", "Ixx2 - Iyy2 - x3^2 m3", "Ixy2"),
        *("Ixz2 - x3 mz3", "Iyz2", "Izz2 + x3^2 m3 + Ia2", "mx3", "my3", "Ixx3 - Iyy3"),
        *("Ixy3", "Ixz3", "Iyz3", "Izz3", "Ia3"),
    )
    assert base.lengths == {"x3": 0.4318}
    assert base.names[0] == "Izz1 + Iyy2 + 0.186451 m3 + Iyy3 + Ia1"
    assert base.labels[7] == "Izz2"
    assert "m2" in base.unidentifiable
    assert "mz2" in base.unidentifiable


def test_formulas_are_the_numbers(random_arm):
    """Formulas of a general arm, evaluated with its lengths, give the rows of P."""
    arm = random_arm("RPR", seed=6)
    base = armdyn.base_parameters(arm, method="rules")
    theta = dict(zip(base.parameter_names, np.random.default_rng(1).normal(size=base.P.shape[1]), strict=True))
    for text, row in zip(base.formulas, base.P, strict=True):
        code = " ".join(text.replace("^", "**").split()).replace(") (", ") * (")
        code = _with_products(code)
        value = eval(code, {}, {**theta, **base.lengths})
        # The text carries six digits.
        assert value == pytest.approx(row @ list(theta.values()), rel=2e-5, abs=2e-5)


def _with_products(text: str) -> str:
    """Python of a sum in which a space between factors means a product."""
    words = text.split(" ")
    code = words[0]
    for before, word in pairwise(words):
        product = before not in "+-" and word not in "+-"
        code += (" * " if product and before != "*" and word != "*" else " ") + word
    return code


def test_base_parameters_with_joint_terms(random_arm):
    arm = random_arm("RRP", seed=7)
    terms = ("rotor", "viscous", "offset")
    for method in ("numeric", "rules"):
        base = armdyn.base_parameters(arm, joint_terms=terms, method=method)
        state = states(arm)
        every = np.random.default_rng(2).normal(size=10 * arm.n + 3 * arm.n)
        tau = armdyn.full_regressor(arm, *state, terms=terms) @ every
        np.testing.assert_allclose(base.regressor(*state) @ base.project(every), tau, **CLOSE)
        # The joints keep their own parameters; the links' torques are the original's.
        rigid = armdyn.inverse_dynamics(arm, *state)
        np.testing.assert_allclose(armdyn.inverse_dynamics(base.arm, *state), rigid, **CLOSE)


def test_planar_arm_with_gravity_along_its_axes_has_no_gravity_parameters():
    rows = [{"kind": "R", "a": 0.5}, {"kind": "R", "a": 0.3}]
    arm = Arm.from_dh(rows, gravity=[0, 0, -9.81])
    base = armdyn.base_parameters(arm, terms="gravity")
    assert base.count == 0
    assert base.regressor(np.zeros((4, 2))).shape == (4, 2, 0)


def nearly_planar(angle):
    rows = [{"kind": "R", "a": 0.4, "d": 0.1, "alpha": alpha} for alpha in (angle, 0.0, 0.0)]
    return Arm.from_dh(rows, gravity=[0, -9.81, 0])


def test_rounded_angles_count_as_exact():
    """3.1416 for pi, as files have it: the axes are parallel to 7e-6 only, and the report says so."""
    for method in ("numeric", "rules"):
        assert armdyn.base_parameters(nearly_planar(3.1416), method=method).count == 9
    gap = armdyn.base_parameters(nearly_planar(3.1416)).gap
    assert 1e-7 < gap.strongest_dropped < 1e-5
    assert gap.weakest_kept > 1e-2


def hung_arm(digits):
    """Six joints with right angles written with so many decimals, hung from a ceiling."""
    half, whole = (float(f"{angle:.{digits}f}") for angle in (np.pi / 2, np.pi))
    rng = np.random.default_rng(3)
    body = np.array([9, 0, 0, 0, 9, 0, 9, 0, 0, 9])
    table = [(0, 0.3, -half), (0.45, 0.1, 0), (0.05, 0, half), (0, 0.4, -half), (0, 0, half), (0, 0.1, 0)]
    rows = [
        {"kind": "R", "a": a, "d": d, "alpha": alpha, "inertial": body + rng.uniform(0.1, 1, 10)}
        for a, d, alpha in table
    ]
    c, s = np.cos(whole), np.sin(whole)
    mount = [[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 2.5], [0, 0, 0, 1]]
    return Arm.from_dh(rows, base_pose=mount)


@pytest.mark.parametrize("method", ["numeric", "rules"])
@pytest.mark.parametrize("digits", [6, 7, 8, 9])
def test_angles_written_with_few_digits_are_right_angles(digits, method):
    """1.5707963 for pi/2: no grouping, name or length may show the digits that are missing."""
    rounded, exact = (armdyn.base_parameters(hung_arm(count), method=method) for count in (digits, 17))
    assert rounded.labels == exact.labels
    assert rounded.formulas == exact.formulas
    assert rounded.names == exact.names
    assert rounded.lengths == pytest.approx(exact.lengths)
    state = states(rounded.source)
    tau = armdyn.inverse_dynamics(rounded.source, *state)
    error = np.abs(rounded.regressor(*state) @ rounded.theta - tau).max()
    assert error < 100 * 10.0**-digits * np.abs(tau).max()  # the digits, over some lengths and joints


def test_entries_that_are_nearly_zero_are_no_terms():
    """A frame turned by 1e-10 leaves coefficients that are neither zero nor a letter."""
    base = armdyn.base_parameters(hung_arm(17), method="rules")
    assert replace(base, P=np.where(base.P == 0, 3e-10, base.P)).formulas == base.formulas


def test_unclear_rank_is_reported():
    """An angle of 1e-3 is small and not zero: at a tolerance of that size the rank cannot be told."""
    with raises(RankError, cause=re.compile(r"of the weakest of \d+ kept columns .* unexplained .* give a tolerance")):
        armdyn.base_parameters(nearly_planar(1e-3), tolerance=3e-4)


def test_unknown_inertia_is_no_obstacle():
    arm = Arm([Joint("a"), Joint("b")], [Link("one"), Link("two")])
    base = armdyn.base_parameters(arm)
    assert base.count == 2  # both joints turn about the same line, along gravity: two rates of turning
    with raises(ArmdynError, names=("one", "two")):
        base.theta


def test_symbols_work(random_arm):
    import casadi as ca

    arm = random_arm("RR", seed=1)
    base = armdyn.base_parameters(arm, method="rules")
    q = ca.SX.sym("q", 2)
    f = ca.Function("f", [q], [base_regressor(base, q, q, q)])
    np.testing.assert_allclose(f([0.1, 0.2]).full(), base.regressor(*[[0.1, 0.2]] * 3), **CLOSE)


def test_mistakes_are_named(random_arm):
    arm = random_arm("RR", seed=0)
    with raises(ArmdynError, names=("all",), expected="one of full, gravity"):
        armdyn.base_parameters(arm, terms="all")
    with raises(ArmdynError, names=("svd",), expected="one of numeric, rules, theorems"):
        armdyn.base_parameters(arm, method="svd")
    with raises(
        ArmdynError,
        cause="unknown joint term 'stiction'",
        expected="some of rotor, damping, viscous, coulomb, asymmetry, viscous_asymmetry, spring, offset",
        names=("stiction",),
    ):
        armdyn.base_parameters(arm, joint_terms=("stiction",))
    with raises(ArmdynError, expected="0 < tolerance < 1", got="-1"):
        armdyn.base_parameters(arm, tolerance=-1)
    base = armdyn.base_parameters(arm, method="rules")
    with raises(ShapeError, cause="project: expected theta of shape (..., 20), got (19,)"):
        base.project(np.zeros(19))


def near_wrist(kinds, axes, offset, tilt=0.0, known=True, scale=1.0):
    """An arm whose joints' origins coincide but for `offset`, as exporters of CAD programs write them."""
    turn = from_axis_angle([1, 2, 3], tilt)
    joints, links = [], []
    for i, (kind, axis) in enumerate(zip(kinds, axes, strict=True)):
        before = transform(turn if i else None, [0, 0, offset * scale if i else 0.3 * scale])
        joints.append(Joint(f"j{i}", {"R": "revolute", "P": "prismatic"}[kind], axis, before, np.eye(4)))
        tensor = np.diag([0.1, 0.2, 0.25]) * scale**2
        body = Inertia.from_com(1.0 + i, np.array([0.11, 0.08 * i, 0.07]) * scale, tensor)
        links.append(Link(f"l{i}", body if known else Inertia.unknown()))
    return Arm(joints, links)


X, Y, Z = np.eye(3)
WRISTS = {"pan-tilt": ("RR", (Z, Y)), "wrist": ("RRR", (Z, Y, Z)), "polar": ("RRP", (Z, Y, X)), "RP": ("RP", (Y, X))}


@pytest.mark.parametrize("method", ["numeric", "rules"])
@pytest.mark.parametrize("wrist", WRISTS)
def test_origins_that_nearly_coincide(wrist, method):
    """The torques of base parameters are those of the arm, whatever is left of an offset that should be zero.

    An offset below 1e-9 of the links' sizes counts as zero, and shares of 1e-11 are round-off: some of so much of the
    torques. The rules take small angles for rounded ones, so frames are turned for the numbers alone.
    """
    rng = np.random.default_rng(0)
    counts = []
    for offset in [0.0, *10.0 ** np.arange(-14, -3)]:
        for tilt, scale in ((0.0, 1.0), (1e-3 if method == "numeric" else 0.0, 1.0), (0.0, 1e-3)):
            arm = near_wrist(*WRISTS[wrist], offset, tilt, scale=scale)
            q, qd, qdd = rng.normal(size=(3, 20, arm.n))
            slides = np.array([scale if joint.kind == "prismatic" else 1.0 for joint in arm.joints])
            q, qd, qdd = q * slides, qd * slides, qdd * slides
            base = armdyn.base_parameters(arm, method=method)
            tau = armdyn.inverse_dynamics(arm, q, qd, qdd)
            got = np.einsum("kij,j->ki", base.regressor(q, qd, qdd), base.theta)
            size = np.abs(tau).max()
            assert np.abs(got - tau).max() < (1e-8 + 1e-10 / scale) * size, (offset, tilt, scale)
            assert tilt or np.abs(base.theta).max() < 100, (offset, scale)
            counts.append(base.count if not tilt else counts[0])
        unknown = armdyn.base_parameters(near_wrist(*WRISTS[wrist], offset, known=False), method=method)
        assert min(counts) <= unknown.count <= max(counts)
    assert counts[0] == min(counts)  # an offset can only make parameters independent
