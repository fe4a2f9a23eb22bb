"""Point-to-point motions and their laws of motion."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.raising import raises

from armdyn import Cubic, SCurve, point_to_point
from armdyn.errors import ArmdynError
from armdyn.trajectory.protocol import Trajectory

SIZES = st.floats(0.05, 20.0)


@given(SIZES, SIZES, SIZES, SIZES)
def test_s_curves_keep_and_use_their_limits(length, velocity, acceleration, jerk):
    law = SCurve(length, velocity, acceleration, jerk)
    t = np.linspace(0, law.duration, 4001)
    s, sd, sdd = law(t)
    assert s[-1] == pytest.approx(length, rel=1e-9)
    assert sd[-1] == pytest.approx(0, abs=1e-9 * velocity)
    assert sdd[-1] == pytest.approx(0, abs=1e-9 * acceleration)
    assert sd.max() <= velocity * (1 + 1e-9)
    assert np.abs(sdd).max() <= acceleration * (1 + 1e-9)
    assert np.abs(np.diff(sdd) / np.diff(t)).max() <= jerk * (1 + 1e-6)
    assert (np.diff(s) >= -1e-12).all()
    # Time-optimal: it cruises, or it speeds up with no pause but that at the largest acceleration.
    used = sd.max() > velocity * (1 - 1e-6) or law.phases[3] < 1e-9
    assert used
    assert law.phases[1] <= 1e-9 or np.abs(sdd).max() > acceleration * (1 - 1e-6)


@pytest.mark.parametrize(
    "law",
    [Cubic(0.7, 1.3), SCurve(2.0, 1.0, 2.0, 5.0), SCurve(0.01, 1.0, 2.0, 5.0), SCurve(0.8, 1.0, 2.0, 5.0)],
)
def test_rates_are_derivatives(law):
    t, h = np.linspace(0.05, 0.95, 40) * law.duration, 1e-6 * law.duration
    ahead, behind = law(t + h), law(t - h)
    # Central differences; the jerk is bounded.
    np.testing.assert_allclose((ahead.s - behind.s) / (2 * h), law(t).sd, atol=1e-7)
    np.testing.assert_allclose((ahead.sd - behind.sd) / (2 * h), law(t).sdd, atol=1e-4)


@pytest.mark.parametrize("kind", ["cubic", "quintic", "trapezoid", "s-curve"])
def test_all_kinds_reach_the_end_within_the_limits_of_every_joint(kind):
    start, end = np.array([0.0, 1.0, -1.0]), np.array([1.0, 1.0, 2.0])
    velocity, acceleration = np.array([1.0, 1.0, 2.0]), np.array([3.0, 3.0, 4.0])
    motion = point_to_point(start, end, kind=kind, velocity=velocity, acceleration=acceleration, jerk=20.0)
    assert isinstance(motion, Trajectory)
    q, qd, qdd = motion(np.linspace(0, motion.duration, 5001))
    np.testing.assert_allclose(q[[0, -1]], [start, end], atol=1e-12)
    assert (np.abs(qd).max(0) <= velocity * (1 + 1e-9)).all()
    assert (np.abs(qdd).max(0) <= acceleration * (1 + 1e-9)).all()
    # As fast as the limits allow: one of them is met.
    assert max((np.abs(qd).max(0) / velocity).max(), (np.abs(qdd).max(0) / acceleration).max()) > 0.999
    assert not qd[:, 1].any()


def test_a_given_duration_is_kept():
    assert point_to_point([0.0], [1.0], kind="cubic", duration=2.5).duration == 2.5


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"kind": "magic"}, {"cause": "unknown kind 'magic'", "names": ("magic",)}),
        (
            {"kind": "s-curve", "velocity": 1.0, "acceleration": 1.0},
            {"cause": "a s-curve needs a jerk limit (or a duration, if cubic or quintic)"},
        ),
        ({"kind": "quintic"}, {"cause": "a quintic needs a velocity limit (or a duration, if cubic or quintic)"}),
        ({"kind": "trapezoid", "duration": 1.0}, {"remedy": "give no duration"}),
        ({"velocity": 0.0}, {"where": "point_to_point: limits", "expected": "numbers > 0"}),
        ({"end": [0.0, 0.0]}, {"expected": "two configurations (n,)"}),
        ({"end": [0.0]}, {"cause": "start and end are the same; there is nothing to move"}),
    ],
)
def test_bad_requests(options, parts):
    with raises(ArmdynError, **parts):
        point_to_point([0.0], options.pop("end", [1.0]), **options)
