"""Joints and their data: checked once, when built."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.raising import raises

from armdyn.errors import ModelError
from armdyn.model.joint import Drive, Friction, Joint, Limits, plain_pair


def test_defaults_mean_nothing_is_known_or_there():
    joint = Joint("j")
    assert (joint.limits.lower, joint.limits.upper) == (-np.inf, np.inf)
    assert (joint.friction.viscous, joint.drive.rotor_inertia, joint.drive.gear_ratio) == (0.0, 0.0, 1.0)


def test_axes_become_unit_vectors_and_keep_their_bits_if_they_are_one():
    np.testing.assert_allclose(Joint("j", axis=(0, 3, 4)).axis, (0, 0.6, 0.8))
    axis = np.array([1.0, 2.0, 3.0]) / np.sqrt(14)
    assert np.array_equal(Joint("j", axis=Joint("j", axis=axis).axis).axis, Joint("j", axis=axis).axis)


def test_the_plain_pair_is_nearest_to_the_curve():
    levels, top = ((0.3, 2.0), (0.01, 0.5), (1.5, -0.7)), 1.5
    viscous, coulomb = plain_pair(levels, top)
    v = np.linspace(0, top, 20_001)[1:]
    # Below 0.02 rad/s a level is a direction.
    curve = 2.0 * np.tanh(v / 0.3) + 0.5 - 0.7 * np.tanh(v / 1.5)
    np.testing.assert_allclose((viscous, coulomb), np.polyfit(v, curve, 1), rtol=1e-3)
    friction = Friction(viscous=viscous + 0.2, coulomb=coulomb, levels=levels, top_speed=top)
    assert friction.plain == (friction.viscous, friction.coulomb)
    np.testing.assert_allclose(friction.numbers(0, 3)[:2], (0.2, 0.0), atol=1e-12)


def test_plain_formats_get_friction_that_brakes():
    falling = Friction(viscous=-1.0, coulomb=3.0, levels=((0.1, 1.0),), top_speed=2.0)
    assert falling.plain == (0.0, 2.0)
    rising = Friction(viscous=2.0, coulomb=-1.0, levels=((5.0, 1.0),), top_speed=2.0)
    assert rising.plain == (1.25, 0.0)
    with raises(ModelError, where="friction: viscous", expected="a number >= 0", got="-1"):
        Friction(viscous=-1.0)
    with raises(ModelError, where="friction: levels", expected="every speed > 0", got="((0.0, 1.0),)"):
        Friction(levels=((0.0, 1.0),))
    with raises(ModelError, expected="bristles as rows (travel, torque)", got="((0.1, 1.0, 2.0),)"):
        Friction(bristles=((0.1, 1.0, 2.0),))


def test_everything_is_frozen():
    joint = Joint("j")
    with pytest.raises(dataclasses.FrozenInstanceError):
        joint.name = "k"
    with pytest.raises(ValueError, match="read-only"):
        joint.before[0, 3] = 1.0


def test_drive_seen_at_the_joint():
    drive = Drive(rotor_inertia=1e-4, gear_ratio=-50, damping=1e-3)
    assert drive.reflected_inertia == pytest.approx(0.25)
    assert drive.reflected_damping == pytest.approx(2.5)


@pytest.mark.parametrize(
    ("build", "parts"),
    [
        (lambda: Joint(""), {"expected": "a name", "got": "''"}),
        (lambda: Joint(3), {"expected": "a name", "got": "3"}),
        (
            lambda: Joint("j", "helical"),
            {
                "where": "joint 'j'",
                "cause": "unknown kind 'helical'",
                "expected": "one of revolute, prismatic",
                "names": ("helical",),
            },
        ),
        (lambda: Joint("j", ["revolute"]), {"cause": "unknown kind ['revolute']", "names": ("['revolute']",)}),
        (lambda: Joint("j", axis=(0, 0, 0)), {"cause": "joint 'j': the axis has length 0", "expected": "a direction"}),
        (lambda: Joint("j", axis=(1e300, 1e300, 0)), {"cause": "joint 'j': the axis has length inf"}),
        (lambda: Joint("j", axis=(0, 0, np.nan)), {"where": "joint 'j': the axis", "expected": "3 finite numbers"}),
        (lambda: Joint("j", axis=(0, 1)), {"where": "joint 'j': the axis", "expected": "3 finite numbers"}),
        (lambda: Joint("j", axis="up"), {"where": "joint 'j': the axis", "expected": "3 finite numbers"}),
        (lambda: Joint("j", before=np.eye(3)), {"where": "joint 'j': before", "expected": "a 4x4 rigid transform"}),
        (lambda: Joint("j", after=-np.eye(4)), {"where": "joint 'j': after", "expected": "last row 0 0 0 1"}),
        (lambda: Joint("j", limits=(0, 1)), {"where": "joint 'j': limits", "expected": "Limits(...)", "got": "(0, 1)"}),
        (lambda: Joint("j", drive=None), {"where": "joint 'j': drive", "expected": "Drive(...)"}),
        (lambda: Limits(1, -1), {"cause": "lower 1 is above upper -1", "remedy": "reversed?"}),
        (lambda: Limits(lower=np.nan), {"where": "limits: lower", "expected": "a finite number"}),
        (lambda: Limits(velocity=-1), {"where": "limits: velocity", "expected": "a number >= 0", "got": "-1"}),
        (lambda: Limits(effort="strong"), {"where": "limits: effort", "expected": "a number", "got": "'strong'"}),
        (lambda: Limits(effort=True), {"where": "limits: effort", "expected": "a number", "got": "True"}),
        (lambda: Limits(effort=10**400), {"where": "limits: effort", "expected": "a number"}),
        (lambda: Friction(viscous=np.inf), {"where": "friction: viscous", "expected": "a finite number"}),
        (lambda: Friction(coulomb=-1), {"where": "friction: coulomb", "expected": "a number >= 0", "got": "-1"}),
        (lambda: Friction(viscous=-1), {"where": "friction: viscous", "expected": "a number >= 0", "got": "-1"}),
        (lambda: Friction(static=-0.1), {"where": "friction: static", "expected": "a number >= 0", "got": "-0.1"}),
        (lambda: Friction(stribeck=0), {"expected": "a Stribeck velocity > 0"}),
        (lambda: Friction(harmonics=((1, 2),)), {"expected": "harmonics as rows (order, cosine, sine)"}),
        (lambda: Friction(harmonics=3), {"expected": "harmonics as rows (order, cosine, sine)"}),
        (
            lambda: Friction(harmonics=((1, 2, "x"),)),
            {"where": "friction: harmonics", "expected": "a number", "got": "'x'"},
        ),
        (lambda: Drive(gear_ratio=0), {"expected": "a gear ratio other than 0"}),
        (lambda: Drive(rotor_inertia=-1), {"where": "drive: rotor_inertia", "expected": "a number >= 0"}),
    ],
)
def test_bad_data_is_rejected(build, parts):
    with raises(ModelError, **parts):
        build()
