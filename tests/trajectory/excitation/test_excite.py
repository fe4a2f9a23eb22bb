"""Exciting motions: gradients, limits, quality, bad input."""

from __future__ import annotations

import dataclasses
import re
import time

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError, LimitError
from armdyn.trajectory.excitation.options import ObjectiveOptions, SeriesOptions
from armdyn.trajectory.excitation.problem import ExcitationProblem
from armdyn.trajectory.motion_limits import MotionLimits, violations

FREE = {"floor": False, "self_collision": False, "max_torque": False}


def limited(arm, lower=-2.0, upper=2.0, velocity=2.0):
    limits = armdyn.Limits(lower, upper, velocity)
    return arm.with_joints([dataclasses.replace(joint, limits=limits) for joint in arm.joints])


@pytest.fixture(scope="module")
def arm():
    return limited(armdyn.arms.puma3())


@pytest.fixture(scope="module")
def found(arm):
    return armdyn.excite(arm, 8.0, max_acceleration=8.0, steps=300, workers=2)


def problem(arm, at_rest=True, **options):
    limits = MotionLimits.of(arm, acceleration=8.0)
    series = SeriesOptions(harmonics=4, at_rest=at_rest)
    objective = ObjectiveOptions(samples=60, **({"robust": True} | options))
    return ExcitationProblem.of(armdyn.base_parameters(arm), limits, 8.0, series, objective)


@pytest.mark.parametrize("criterion", ["condition", "log-det", "min-singular", "kalman"])
@pytest.mark.parametrize("unit_columns", [False, True])
def test_gradient_is_exact(arm, criterion, unit_columns):
    task = problem(arm, criterion=criterion, unit_columns=unit_columns, noise=np.array([1.0, 2.0, 0.5]))
    rng = np.random.default_rng(0)
    x, h = task.random_start(rng), 1e-6
    step = rng.normal(size=x.shape)
    forms = task.forms[task.worst_choices(x)[:3]]
    _, gradient = task.value(x, forms, 6.0)
    slope = (task.value(x + h * step, forms, 6.0)[0] - task.value(x - h * step, forms, 6.0)[0]) / (2 * h)
    # Central differences; tanh(qd / 0.1) bends sharply.
    assert (gradient * step).sum() == pytest.approx(slope, rel=1e-4)


def test_every_point_inside_the_bounds_keeps_the_limits(arm):
    task = problem(arm, at_rest=False)
    rng = np.random.default_rng(1)
    for _ in range(3):
        x = task.random_start(rng)
        x /= np.abs(np.einsum("irm,im->ir", task.bounds.A, x)).max(1, keepdims=True)
        assert violations(task.series(x), task.limits) == {}
        assert violations(task.series(1.01 * x), task.limits)


def test_it_starts_and_ends_at_rest_within_all_limits(found, arm):
    ends = found.trajectory(np.array([0.0, 8.0]))
    # Where it began. Round-off of sums of five harmonics.
    np.testing.assert_allclose(ends.q[0], ends.q[1], atol=1e-12)
    np.testing.assert_allclose(ends.qd, 0, atol=1e-12)
    np.testing.assert_allclose(ends.qdd, 0, atol=1e-11)
    assert violations(found.trajectory, found.limits) == {}
    t = np.linspace(0, 8, 80_001)
    q, qd, qdd = found.trajectory(t)
    assert np.abs(q).max() <= 2 + 1e-9
    assert np.abs(qd).max() <= 2 + 1e-9
    assert np.abs(qdd).max() <= 8 + 1e-9
    # The limits are used, not merely kept; a margin of 5 % is left.
    assert 0.9 * 2 < np.abs(qd).max() <= 0.95 * 2


def test_the_condition_number_is_that_of_pinocchio_s_regressor(found, arm):
    pin = pytest.importorskip("pinocchio")
    model = armdyn.to_pinocchio(arm)
    data = model.createData()
    rows = []
    for q, qd, qdd in zip(*found.trajectory(found.problem.times), strict=True):
        Y = pin.computeJointTorqueRegressor(model, data, q, qd, qdd)[:, list(found.base.columns)]
        rows.append(np.hstack([Y, np.diag(qd), np.diag(np.tanh(qd / 0.1))]))
    W = np.vstack(rows)
    assert np.linalg.cond(W) == pytest.approx(found.condition, rel=1e-6)
    assert np.linalg.cond(W / np.linalg.norm(W, axis=0)) == pytest.approx(found.condition_unit, rel=1e-6)
    np.testing.assert_allclose(np.linalg.svd(W, compute_uv=False), found.singular_values, rtol=1e-6)


def test_it_beats_random_series(found):
    task = found.problem
    rng = np.random.default_rng(5)
    best = min(task.conditions(task.random_start(rng))[0] for _ in range(100))
    assert found.condition < best / 1.5


def test_the_same_seed_gives_the_same_motion(found, arm):
    again = armdyn.excite(arm, 8.0, max_acceleration=8.0, steps=300, workers=1)
    np.testing.assert_array_equal(again.trajectory.coefficients, found.trajectory.coefficients)
    other = armdyn.excite(arm, 8.0, max_acceleration=8.0, steps=300, seed=1)
    assert not np.array_equal(other.trajectory.coefficients, found.trajectory.coefficients)


def test_progress_tells_the_best_motion_while_the_search_goes_on(arm):
    seen = []
    found = armdyn.excite(arm, 8.0, max_acceleration=8.0, steps=300, progress=seen.append)
    under_way = [standing.best for standing in seen if standing.starts == 0 and np.isfinite(standing.best)]
    assert under_way
    assert sorted(under_way, reverse=True) == under_way
    assert under_way[-1] >= found.condition_worst * (1 - 1e-9)


def test_the_time_budget_is_kept(arm):
    begin = time.monotonic()
    found = armdyn.excite(arm, 8.0, max_acceleration=8.0, time_budget=1.0)
    # A busy machine may be late, but not by much.
    assert time.monotonic() - begin < 10
    assert violations(found.trajectory, found.limits) == {}


def test_periodic_motion_and_other_base_frequency(arm):
    periodic = armdyn.excite(arm, 8.0, max_acceleration=8.0, at_rest=False, steps=300)
    ends = periodic.trajectory(np.array([0.0, 8.0]))
    np.testing.assert_allclose(ends.qd[0], ends.qd[1], atol=1e-10)
    part = armdyn.excite(arm, 8.0, max_acceleration=8.0, frequency=0.1, steps=300)
    np.testing.assert_allclose(part.trajectory(np.array([0.0, 8.0])).qd, 0, atol=1e-11)
    assert violations(part.trajectory, part.limits) == {}


def test_unit_columns_improve_the_scaled_condition_number(found, arm):
    unit = armdyn.excite(arm, 8.0, max_acceleration=8.0, unit_columns=True, steps=300)
    assert unit.condition_unit < found.condition_unit


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (
            {"velocity": np.inf},
            {
                "cause": re.compile("^no velocity limit of joint 1 'joint1'"),
                "remedy": re.compile("^give max_velocity"),
            },
        ),
        (
            {"lower": 1.0, "upper": 1.0},
            {"cause": ("joint 1 'joint1', joint 2 'joint2', joint 3 'joint3' cannot move (lower = upper limit)")},
        ),
        (
            {"velocity": 0.0},
            {"cause": ("the velocity limit of joint 1 'joint1', joint 2 'joint2', joint 3 'joint3' is zero")},
        ),
    ],
)
def test_arms_without_room_are_rejected(change, parts):
    with raises(LimitError, **parts):
        armdyn.excite(limited(armdyn.arms.puma3(), **change), 8.0, max_acceleration=8.0, time_budget=5)


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"duration": -1.0}, {"expected": "duration > 0"}),
        ({"duration": "long"}, {"expected": "duration as a number"}),
        (
            {"max_acceleration": np.inf},
            {
                "cause": re.compile("^no acceleration limit of joint 1 'joint1'"),
                "remedy": re.compile("^give max_acceleration"),
            },
        ),
        ({"max_acceleration": [1.0, 2.0]}, {"where": "max_acceleration", "expected": "one number, or 3"}),
        ({"max_acceleration": -1.0}, {"where": "max_acceleration", "expected": "numbers >= 0"}),
        ({"position": (1.0, -1.0)}, {"cause": "joint 1 'joint1' has no room between 1 and -1"}),
        (
            {"criterion": "beauty"},
            {
                "cause": "unknown criterion 'beauty'",
                "expected": "one of condition, log-det, min-singular, kalman",
                "names": ("beauty",),
            },
        ),
        ({"noise": [1.0, 0.0, 1.0]}, {"where": "excite: noise", "expected": "finite numbers > 0"}),
        ({"noise": [1.0, 1.0]}, {"where": "excite: noise", "expected": "one number, or 3", "got": "[1.0, 1.0]"}),
        ({"harmonics": 0}, {"expected": "harmonics > 0"}),
        ({"harmonics": 500}, {"expected": "harmonics <= 100"}),
        ({"harmonics": 2.5}, {"expected": "harmonics as a whole number", "got": "2.5"}),
        ({"seed": -1}, {"expected": "seed >= 0", "got": "-1"}),
        ({"workers": 0}, {"expected": "workers > 0"}),
        ({"position": 1.0}, {"where": "position", "expected": "a pair of lower and upper positions"}),
        ({"max_torque": [1.0, 2.0]}, {"where": "max_torque", "expected": "one number, or 3"}),
        (
            {"tip_box": (0.0, 1.0, 2.0)},
            {
                "cause": "tip box: expected a lower and an upper corner, got (0.0, 1.0, 2.0)",
                "names": ("(0.0, 1.0, 2.0)",),
            },
        ),
        (
            {"prior_logs": 3},
            {"where": "prior_logs: motion 1", "expected": "a log with t and q, or a trajectory", "got": "int"},
        ),
        (
            {"duration": 1e-3},
            {"cause": re.compile("no motion within .* determines all parameters")},
        ),
    ],
)
def test_bad_settings_are_rejected(arm, options, parts):
    settings = {"duration": 8.0, "max_acceleration": 8.0, "steps": 300} | options
    with raises(ArmdynError, **parts):
        armdyn.excite(arm, settings.pop("duration"), **settings)


def test_sliding_joints_need_an_end():
    arm = armdyn.Arm.from_dh(
        [{"kind": "P", "a": 0.0, "alpha": 0.0, "theta": 0.0}, {"kind": "R", "a": 0.5, "alpha": 0.0, "d": 0.0}]
    )
    with raises(
        LimitError,
        cause="no position limits of joint 1 'joint1', which cannot slide for ever",
        remedy="give position, or limits in the arm's description",
    ):
        armdyn.excite(arm, 8.0, max_acceleration=8.0, max_velocity=2.0, time_budget=5)
    found = armdyn.excite(
        arm, 8.0, max_acceleration=[2.0, 8.0], max_velocity=[1.0, 2.0], position=([-0.5, -np.inf], [0.5, np.inf]),
        steps=300,
    )  # fmt: skip
    assert violations(found.trajectory, found.limits) == {}
    assert np.abs(found.trajectory(found.problem.times).q[:, 0]).max() <= 0.5


def test_one_joint_is_an_arm_too():
    arm = limited(armdyn.Arm.from_dh([{"kind": "R", "a": 0.5, "alpha": np.pi / 2, "d": 0.1, "mass": 1.0}]))
    found = armdyn.excite(arm.with_gravity([0.0, -9.81, 0.0]), 4.0, max_acceleration=8.0, steps=300)
    assert found.base.count == 3
    assert found.condition < 50


def test_what_is_not_seen_is_named(arm):
    joints = list(arm.joints)
    joints[1] = dataclasses.replace(joints[1], limits=armdyn.Limits(0.5, 0.5 + 1e-6, 2.0))
    # A joint that hardly moves does not tell viscous from Coulomb friction.
    with raises(
        LimitError,
        where="excite",
        cause=re.compile(r"determines all parameters \(least of all (Fc2, Fv2|Fv2, Fc2)\)"),
        remedy=re.compile("larger velocities .*, a longer duration or more harmonics, or more time"),
    ):
        armdyn.excite(arm.with_joints(joints), 8.0, max_acceleration=8.0, steps=300, **FREE)


def test_continuous_joints_may_turn_freely():
    arm = limited(armdyn.arms.puma3(), lower=-np.inf, upper=np.inf)
    found = armdyn.excite(arm, 8.0, max_acceleration=8.0, steps=300)
    assert np.isfinite(found.condition)


class Slow:
    """A constraint: no joint faster than 1 rad/s."""

    name = "slow"

    def slack(self, states):
        return 1.0 - np.abs(states[1])

    def least(self, motion, limits):
        return float(self.slack(motion(np.linspace(0, motion.duration, 4001))).min())


def test_a_motion_made_smaller_stays_within_its_limits(arm):
    free = problem(arm)
    task = dataclasses.replace(free, constraints=(Slow(),))
    rng, smaller = np.random.default_rng(2), 0
    for _ in range(20):
        x = free.random_start(rng)
        x /= free.space.peak(x)
        kept = task.repaired(x)
        if kept is not None:
            assert violations(task.series(kept), task.limits) == {}
            smaller += not np.array_equal(kept, x)
    assert smaller > 5
