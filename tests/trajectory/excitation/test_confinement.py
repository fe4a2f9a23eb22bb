"""Which joints cannot use their range, and why: said where a motion shows parameters weakly."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import Arm, Inertia, Joint, Limits, Link
from armdyn.errors import LimitError
from armdyn.report.texts import texts
from armdyn.spatial.transform import transform
from armdyn.trajectory.excitation.confinement import confinements, too_weak
from armdyn.trajectory.excitation.options import ProtectionOptions
from armdyn.trajectory.excitation.protection import protect
from armdyn.trajectory.fourier import FourierSeries
from armdyn.trajectory.motion_limits import MotionLimits

OPTIONS = texts("excitation")["options"]


def palletiser():
    """A swinging column with a lift: the capsules guessed for it are as thick as the lift's lower half is long."""
    body = Inertia.from_com(5.0, (0.1, 0, 0), 0.2 * np.eye(3))
    places = [(0, 0, 0.3), (0.1, 0, 0.4), (0.2, 0, 0), (0.6, 0, 0)]
    kinds = ["revolute", "prismatic", "revolute", "revolute"]
    limits = [
        Limits(-2.9, 2.9, 2, 400),
        Limits(0, 1.1, 0.8, 900),
        Limits(-2.2, 2.2, 2.5, 120),
        Limits(velocity=4, effort=20),
    ]
    joints = [
        Joint(name, kind, (0, 0, 1), transform(None, p), limits=limit)
        for name, kind, p, limit in zip(("swing", "lift", "elbow", "twist"), kinds, places, limits, strict=True)
    ]
    links = [Link(name, body) for name in ("turret", "carriage", "boom", "hand")]
    return Arm(joints, links, mounting_plane=(0, 0, 1, 0))


def held_high(arm):
    """A motion whose lift stays high while the others swing."""
    center = [0.0, 1.0, 0.0, 0.0]
    swing = [[0.9], [0.09], [0.9], [1.0]]
    return FourierSeries(np.column_stack([center, np.zeros((arm.n, 1)), swing]), 0.1, 10.0)


def found_of(arm, **options):
    limits = MotionLimits.of(arm, acceleration=8.0)
    return confinements(held_high(arm), limits, protect(arm, ProtectionOptions.of(margin=0.05, **options)))


def test_guessed_shapes_are_named_with_the_pair_and_the_option():
    one, *more = [one for one in found_of(palletiser()) if one.joint == "lift"]
    assert not more
    assert 0.25 < one.share < 0.27
    assert "would collide" in str(one)
    assert "base and carriage" in str(one)
    assert "capsules from the arm's frames" in str(one)
    assert (one.kind, one.guessed) == ("self", True)
    assert one.remedy() == "If these are too thick, give radius, or self_collision=False"
    assert one.remedy(OPTIONS) == "If these are too thick, give --radius, or --no-self-collision"


def test_a_joint_that_could_go_on_is_not_confined():
    """Without shapes in the way the motion uses little of the lift by its own choice."""
    assert "lift" not in [one.joint for one in found_of(palletiser(), self_collision=False, floor=False)]
    (floor,) = (one for one in found_of(palletiser(), self_collision=False) if one.joint == "lift")
    assert "carriage and the floor would collide" in floor.cause
    assert floor.kind == "floor"
    assert "--no-floor" in floor.remedy(OPTIONS)
    # A joint without end has no range of which a part could be used.
    assert "twist" not in [one.joint for one in found_of(palletiser())]


def test_torque_limits_below_the_weight_are_named():
    arm = palletiser()
    limits = MotionLimits.of(arm)
    weight = float(armdyn.gravity_torque(arm, np.zeros(4))[1])
    weak = too_weak(
        limits, protect(arm, ProtectionOptions.of(margin=0.05, max_torque=[400, weight / 3, 120, 20])).constraints
    )
    assert f"{weight / 3:.3g} N at joint 2 'lift' cannot hold the arm up" in weak
    assert f"gravity alone needs up to {weight:.3g} N" in weak
    assert too_weak(limits, protect(arm, ProtectionOptions.of(margin=0.05)).constraints) == ""


def test_a_search_that_fails_says_what_gravity_needs():
    arm = armdyn.arms.puma560()
    with raises(
        LimitError,
        cause=re.compile(r"5 N m at joint \d '\w+' cannot hold the arm up where gravity alone needs up to \d+"),
    ):
        armdyn.excite(arm.with_gravity((0, 0, 9.81)), 10.0, max_acceleration=8.0, max_torque=5.0, floor=False, steps=40)


@pytest.mark.parametrize(
    ("down", "words"),
    [
        ((0, 0, -9.81), "lowest point below the floor"),
        ((0, 0, 9.81), "closest point beyond the ceiling"),
        ((0, 9.81, 0), "closest point beyond the wall"),
    ],
)
def test_words_for_floors_walls_and_ceilings(down, words):
    """All are passed here: no distance is written with a minus sign."""
    arm = palletiser().with_gravity(down)
    protection = protect(replace(arm, mounting_plane=(0, 0, 1, 0)), ProtectionOptions.of(margin=0.05, radius=0.01))
    said = protection.lowest(FourierSeries(np.zeros((4, 3)), 0.1, 10.0))
    assert said.height < 0
    assert re.fullmatch(words.replace("point ", r"point \d+ mm "), str(said))


def test_positions_without_limits_are_not_said_to_be_within_them():
    arm = palletiser().with_gravity((0, 0, 0))
    found = armdyn.excite(arm, 10.0, max_acceleration=8.0, self_collision=False, floor=False, steps=40)
    assert found.always[0].endswith("within their limits (positions of twist have none)")
