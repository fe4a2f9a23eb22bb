"""Constraints of motions: slacks, gradients, and motions that keep them."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import LimitError, MissingInertiaError
from armdyn.shapes.bodies import bodies_of
from armdyn.shapes.obstacles import mounting_plane, obstacles_of
from armdyn.trajectory.excitation.clearance import Clearance
from armdyn.trajectory.excitation.motion_constraints import TipBox, TorqueLimits


def limited(arm, effort=np.inf):
    limits = armdyn.Limits(-2.0, 2.0, 2.0, effort)
    return arm.with_joints([dataclasses.replace(joint, limits=limits) for joint in arm.joints])


ARM = limited(armdyn.arms.puma3(), 150.0)
OPEN = (np.inf, np.inf, np.inf)
FREE = {"floor": False, "self_collision": False, "max_torque": False, "margin": 0.0}
BOXES = [[[0.3, -0.2, -0.2], [0.6, 0.2, 0.3]], [[-0.9, -0.9, -0.9], [-0.3, 0.9, -0.2]]]


def constraints():
    puma = armdyn.arms.puma560()
    return [
        TorqueLimits.of(ARM, [20.0, 60.0, 20.0]),
        TipBox(ARM, np.array([-0.3, -0.3, -np.inf]), np.array([0.4, 0.4, 0.2])),
        Clearance(bodies_of(puma), (mounting_plane(puma, -0.2), *obstacles_of(BOXES))),
    ]


@pytest.mark.parametrize("constraint", constraints(), ids=lambda c: c.name)
def test_penalties_have_exact_gradients(constraint):
    rng = np.random.default_rng(0)
    states = tuple(rng.uniform(-2, 2, (3, 40, constraint.arm.n)))
    steps = tuple(rng.normal(size=(3, 40, constraint.arm.n)))
    value, pull = constraint.penalty(states, 0.05)
    assert value > 0
    h = 1e-7
    ahead, behind = (
        constraint.penalty(tuple(x + side * h * d for x, d in zip(states, steps, strict=True)), 0.05)[0]
        for side in (1, -1)
    )
    slope = sum(np.sum(p * d) for p, d in zip(pull, steps, strict=True))
    # Central differences of a function whose second derivatives jump.
    assert slope == pytest.approx((ahead - behind) / (2 * h), rel=1e-5)


def test_torque_limits_are_kept():
    options = {"max_acceleration": 8.0, "steps": 300}
    free = armdyn.excite(ARM, 8.0, **options)
    held = armdyn.excite(ARM, 8.0, max_torque=[38.0, 55.0, 19.0], **options)
    t = np.linspace(0, 8, 8001)
    limit = np.array([38.0, 55.0, 19.0])
    assert (np.abs(armdyn.joint_torque(ARM, *held.trajectory(t))).max(0) <= limit).all()
    assert (np.abs(armdyn.joint_torque(ARM, *free.trajectory(t))).max(0) > limit).any()


def test_the_tip_stays_in_its_room():
    found = armdyn.excite(ARM, 8.0, max_acceleration=8.0, tip_box=((-np.inf, -np.inf, 0.0), OPEN), steps=300)
    tip = armdyn.forward_kinematics(ARM, found.trajectory(np.linspace(0, 8, 4001)).q)[:, :3, 3]
    assert tip[:, 2].min() >= 0


def test_links_keep_clear():
    puma = limited(armdyn.arms.puma560())
    box = [[0.3, -0.3, -0.5], [0.6, 0.3, -0.1]]
    found = armdyn.excite(puma, 8.0, max_acceleration=8.0, radius=0.05, boxes=[box], steps=300)
    states = found.trajectory(np.linspace(0, 8, 2001))
    assert Clearance(bodies_of(puma, 0.05), obstacles_of([box])).slack(states).min() >= 0


def test_constraints_that_cannot_be_kept_say_so():
    still = TorqueLimits(ARM, np.full(3, 1.0)).describe((np.zeros((1, 3)),) * 3)
    assert re.fullmatch(r"needs [\d.]+ N m at joint \d 'joint\d', whose limit is 1 N m", still)
    weak = re.compile(r"1 N m at joint \d .* gravity alone needs")
    with raises(LimitError, cause=weak, remedy="allow larger torques (max_torque)"):
        armdyn.excite(ARM, 8.0, max_acceleration=8.0, max_torque=1.0, steps=300)
    with raises(
        LimitError, cause=re.compile(r"none of 2000 poses .*; the best, q = .*, takes the tip .* m out of its box")
    ):
        armdyn.excite(ARM, 8.0, max_acceleration=8.0, tip_box=((5, 5, 5), OPEN), steps=300)


def test_bad_constraints():
    with raises(
        LimitError,
        cause="torque limits: none, or zero, for joint 1 'joint1', joint 2 'joint2', joint 3 'joint3'",
        remedy="give max_torque as numbers > 0",
    ):
        TorqueLimits.of(limited(armdyn.arms.puma3()), True)
    with raises(MissingInertiaError, names=("link1", "link2", "link3")):
        TorqueLimits.of(ARM.with_theta(np.full(30, np.nan)), True)
    with raises(LimitError, where="tip box", expected="lower < upper", got="[0. 0. 0.] and [0. 0. 0.]"):
        TipBox(ARM, np.zeros(3), np.zeros(3))
    with raises(LimitError, where="tip box", expected="lower as three numbers", got="array([0., 0.])"):
        TipBox(ARM, np.zeros(2), np.ones(3))
    options = {"max_acceleration": 8.0, "time_budget": 5.0}
    with raises(LimitError, where="radius", expected="one number, or 4", got="[0.1, 0.1]"):
        armdyn.excite(ARM, 8.0, radius=[0.1, 0.1], **options)
    with raises(LimitError, where="radius", expected="finite numbers >= 0", got="-0.1"):
        armdyn.excite(ARM, 8.0, radius=-0.1, **options)
    with raises(LimitError, where="boxes", expected="two corners of three numbers", got="[1, 2, 3]"):
        armdyn.excite(ARM, 8.0, boxes=[[1, 2, 3]], **options)
    with raises(LimitError, expected="finite corners with lower < upper", got="[0. 0. 0.] and [0. 1. 1.]"):
        armdyn.excite(ARM, 8.0, boxes=[[[0, 0, 0], [0, 1, 1]]], **options)


def test_what_logs_hold_already_counts():
    options = {"max_acceleration": 8.0, "steps": 300} | FREE
    first = armdyn.excite(ARM, 8.0, **options)
    second = armdyn.excite(ARM, 8.0, prior_logs=[first.trajectory], seed=3, **options)
    assert second.condition < first.condition
    # The design for both together is better than two designs on their own, put together.
    alone = armdyn.excite(ARM, 8.0, seed=3, **options)
    together = first.information + alone.information
    assert second.condition_worst <= 1.02 * _worst(first.problem, together)


def _worst(problem, S):
    from armdyn.trajectory.excitation.information import condition_numbers

    return condition_numbers(S, problem.forms).max()


def test_given_logs_may_be_measured():
    from types import SimpleNamespace

    first = armdyn.excite(ARM, 8.0, max_acceleration=8.0, steps=300, **FREE)
    t = np.linspace(0, 8, 1601)
    log = SimpleNamespace(t=t, q=first.trajectory(t).q)
    task = first.problem
    from armdyn.trajectory.excitation.held_information import held_information

    # The ends of a filtered record are less sure than its middle.
    held = held_information(task.space, task.objective, (log,))
    np.testing.assert_allclose(np.diag(held), np.diag(first.information), rtol=0.1)
    with raises(ValueError, where="prior_logs: motion 1", expected="a log with t and q, or a trajectory", got="int"):
        armdyn.excite(ARM, 8.0, max_acceleration=8.0, prior_logs=[3], time_budget=1.0)
