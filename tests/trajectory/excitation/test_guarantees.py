"""What is said of a motion is what was checked of it: judged on dense samples by the bodies alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.shapes.bodies import bodies_of
from armdyn.shapes.obstacles import Sphere
from armdyn.trajectory.excitation.guarantees import Guarantee, LeftOut, joint_limits, omissions
from armdyn.trajectory.excitation.options import ProtectionOptions
from armdyn.trajectory.excitation.protection import protect
from armdyn.trajectory.fourier import FourierSeries
from armdyn.trajectory.motion_limits import MotionLimits

DENSE = np.linspace(0.0, 5.0, 20_001)

options = ProtectionOptions.of


def swinging(arm, size, seed):
    """A motion about the middle of the ranges, which asks nobody what it may do."""
    limits = MotionLimits.of(arm, acceleration=8.0, velocity=2.0)
    coefficients = size * np.random.default_rng(seed).normal(size=(arm.n, 7))
    coefficients[:, 0] = limits.center
    return FourierSeries(coefficients, 0.2, 5.0), limits


def heights(arm, motion, offset):
    """The least height of every body above a level during a motion, by its name; the base and link 1 excepted."""
    bodies = bodies_of(arm)
    posed = bodies.at(motion(DENSE).q)
    least = np.minimum(posed.a[..., 2], posed.b[..., 2]).min(0) - bodies.radius - offset
    found = {}
    for one, height in zip(bodies.capsules, least, strict=True):
        if one.link >= 2:
            found[one.name] = min(height, found.get(one.name, np.inf))
    return found


@pytest.mark.parametrize("floor", [-2.0, 0.0, 0.35, 0.6])
@pytest.mark.parametrize("name", ["panda", "ur10"])
def test_a_floor_is_promised_for_the_links_that_keep_it(name, floor):
    arm = getattr(armdyn.arms, name)()
    for seed in range(3):
        motion, limits = swinging(arm, 0.25, seed)
        (one,) = (
            g for g in protect(arm, options(margin=0.0, floor=floor)).guarantees(motion, limits) if g.kind == "floor"
        )
        actual = heights(arm, motion, floor)
        named = {body for body, plane in one.pairs if plane == "floor"}
        dropped = {body for body, _ in one.dropped}
        assert named | dropped == set(actual)  # nothing is passed over in silence
        assert not named & dropped
        assert not {*one.links} & dropped
        if not one.pairs:
            assert not one.holds
            continue
        least = min(actual[body] for body in named)
        assert one.holds == (least >= 0)
        assert one.min_distance <= least + 1e-12
        if one.holds:
            # The bound comes as near as it says: to half a millimetre.
            assert least - one.min_distance < 1e-3


def test_limits_that_are_broken_are_not_said_to_hold():
    arm = armdyn.arms.panda()
    wild, limits = swinging(arm, 4.0, 1)
    found = protect(arm, options(margin=0.0)).guarantees(wild, limits)
    q, qd, qdd = wild(DENSE)
    tau = armdyn.joint_torque(arm, q, qd, qdd)
    broken = {
        "position": ((q < limits.lower) | (q > limits.upper)).any(),
        "velocity": (np.abs(qd) > limits.velocity).any(),
        "acceleration": (np.abs(qdd) > limits.acceleration).any(),
        "torque": (np.abs(tau) > limits.effort).any(),
    }
    assert broken["velocity"]
    assert broken["torque"]
    for one in found:
        if one.kind in broken:
            assert one.holds == (not broken[one.kind]), one.kind
            assert (one.min_distance < 0) == broken[one.kind]
            assert one.falls_short == one.is_alarming == bool(broken[one.kind])
            assert len(one.joints) == 7
    assert joint_limits(g for g in found if g.kind == "velocity") == ()


def test_obstacles_and_pairs_are_named_one_by_one():
    arm = armdyn.arms.panda()
    around = (Sphere(np.array([2.0, 0.0, 0.5]), 0.1, "lamp"), Sphere(np.array([0.0, 0.0, 0.5]), 0.6, "inside"))
    motion, limits = swinging(arm, 0.05, 0)
    found = {one.kind: one for one in protect(arm, options(margin=0.0, obstacles=around)).guarantees(motion, limits)}
    seen = found["obstacle"]
    assert ("panda_link7", "lamp") in seen.pairs
    assert {thing for _, thing in seen.dropped} <= {"inside"}
    assert seen.is_alarming == bool(seen.dropped) or not seen.holds
    assert ("panda_link2", "panda_link4") in found["self"].dropped
    assert ("panda_link2", "panda_link4") not in found["self"].pairs
    assert not found["self"].falls_short  # nothing to do about shapes that always touch; `unchecked` names them
    assert not found["self"].is_alarming or not found["self"].holds


def test_a_switched_off_check_promises_nothing_and_alarms_nobody():
    arm = armdyn.arms.panda()
    motion, limits = swinging(arm, 0.1, 0)
    found = protect(arm, options(margin=0.0, floor=False, self_collision=False, max_torque=False)).guarantees(
        motion, limits
    )
    off = {one.kind: one for one in found if one.kind in ("floor", "self", "torque")}
    for one in off.values():
        assert one == replace(Guarantee(one.kind, left_out=(LeftOut("switched off"),)), min_distance=one.min_distance,
                              rate=one.rate)  # fmt: skip
        assert not one.holds
        assert not one.falls_short
    assert "the floor (switched off)" in omissions(found)


def test_a_floor_that_nobody_knows_falls_short():
    motion, limits = swinging(armdyn.arms.sarcos(), 0.05, 0)
    found = protect(armdyn.arms.sarcos(), options(margin=0.05)).guarantees(motion, limits)
    (floor,) = (one for one in found if one.kind == "floor")
    assert floor.falls_short
    assert not floor.is_alarming
    assert not floor.holds


def test_searches_by_steps_and_by_starts_do_not_ask_the_clock():
    arm = armdyn.arms.puma3()
    options = {"max_acceleration": 8.0, "max_velocity": 2.0, "floor": False, "self_collision": False}
    one, two = (armdyn.excite(arm, 6.0, steps=30, workers=w, time_budget=b, **options) for w, b in ((1, 1e-3), (2, 60)))
    np.testing.assert_array_equal(one.x, two.x)
    many = armdyn.excite(arm, 6.0, steps=30, starts=2, **options)
    assert many.starts == 2
    assert many.problem.score(many.x) <= one.problem.score(one.x)
    by_starts = armdyn.excite(armdyn.arms.planar2(), 4.0, starts=1, time_budget=1e-3, harmonics=2, **options)
    assert by_starts.starts == 1  # it went through, however little time there was


@pytest.mark.usefixtures("shared")
def test_an_arm_that_hangs_below_its_own_plane_is_not_said_to_keep_off_it(shared):
    """An arm whose file puts it below the plane z = 0 of the link that carries it."""
    arm = armdyn.load(shared / "data" / "ic_arm" / "ic.urdf")
    found = armdyn.excite(arm, 8.0, max_velocity=1.0, max_acceleration=4.0, steps=20)
    lowest = armdyn.link_poses(arm, found.trajectory(np.linspace(0, 8, 800)).q)[..., 2, 3].min(0)
    below = {arm.link_names[i] for i in np.flatnonzero(lowest < -0.02)}
    assert below
    for one in found.guarantees:
        if one.kind == "floor":
            assert not below & {*one.links}
            assert one.is_alarming
    assert not any(name in line for line in found.always if "the floor" in line for name in below)
    assert " mm below the floor" in found.lowest


def test_sentences_round_distances_down_and_tell_broken_from_unchecked():
    one = Guarantee("floor", ("two",), pairs=(("two", "floor"),), min_distance=0.0369, holds=True)
    assert str(one) == "two at least 36 mm above the floor"
    assert str(replace(one, min_distance=-0.1, holds=False)) == "not kept: two above the floor"
    assert str(Guarantee("floor")) == "not checked: the floor"
