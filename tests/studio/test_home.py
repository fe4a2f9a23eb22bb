"""The posture in which an arm is shown first."""

import numpy as np
import pytest

from armdyn import arms
from armdyn.shapes.obstacles import mounting_plane
from armdyn.studio.drawing.subject import open_subject
from armdyn.studio.home import home_posture
from armdyn.studio.state import rest_posture, slider_range
from armdyn.trajectory.excitation.clearance import TOUCHING_DISTANCE_M


@pytest.mark.parametrize("name", ["ur5", "ur5e", "ur10", "stanford", "cylindrical"])
def test_arms_that_would_touch_the_floor_begin_above_it(name):
    subject = open_subject(name)
    off_floor = subject.to_obstacles((mounting_plane(subject.arm),))
    assert off_floor.worst(rest_posture(subject.arm)[None])[0] < TOUCHING_DISTANCE_M
    assert off_floor.worst(subject.home[None])[0] >= TOUCHING_DISTANCE_M


@pytest.mark.parametrize("name", ["panda", "two_arms", "palletizer", "gripper"])
def test_others_begin_at_rest_within_their_limits(name):
    subject = open_subject(name)
    lower, upper = slider_range(subject.arm)
    np.testing.assert_array_equal(subject.home, rest_posture(subject.arm))
    assert ((lower < subject.home) & (subject.home < upper)).all()


def test_where_no_turn_helps_it_stays():
    arm = arms.planar2()
    np.testing.assert_array_equal(home_posture(arm, lambda q: -1.0), rest_posture(arm))


def test_the_first_joint_that_frees_it_turns():
    arm = arms.planar2()
    q = home_posture(arm, lambda q: 0.1 if q.any() else -0.1)
    np.testing.assert_allclose(np.abs(q), [np.pi / 2, 0])
