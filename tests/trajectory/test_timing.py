"""Laws of motion along a path: ends, limits, and derivatives."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.raising import raises

from armdyn import ConstantAcceleration, Quintic, Trapezoid
from armdyn.errors import ShapeError

sizes = st.floats(1e-3, 1e3)
LAWS = [Quintic(0.7, 1.3), Trapezoid(0.7, 0.5, 2.0), Trapezoid(0.1, 5.0, 2.0), ConstantAcceleration(2.0, 1.5)]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_rates_are_derivatives_between_the_breaks(law):
    assert law.breaks[0] == 0
    assert law.breaks[-1] == law.duration
    h = 1e-6
    for a, b in pairwise(law.breaks):
        t = np.linspace(a + 2 * h, b - 2 * h, 50)
        _, sd, sdd = law(t)
        ahead, behind = law(t + h), law(t - h)
        np.testing.assert_allclose((ahead.s - behind.s) / (2 * h), sd, atol=1e-8)
        np.testing.assert_allclose((ahead.sd - behind.sd) / (2 * h), sdd, atol=1e-7)
        # Inside a part the acceleration has no jump: its own differences stay small.
        assert np.abs(np.diff(sdd)).max() <= 60 * law.length / law.duration**2 / 49 * 2


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_the_whole_length_is_covered_and_it_rests_outside(law):
    s, sd, sdd = law([-1.0, 0.0, law.duration, law.duration + 1.0])
    np.testing.assert_allclose(s, [0, 0, law.length, law.length], rtol=1e-14)
    assert not sd[[0, 3]].any()
    assert not sdd[[0, 3]].any()
    moving = law(np.linspace(0, law.duration, 500)).s
    assert (np.diff(moving) >= 0).all()


@given(sizes, sizes, sizes)
def test_the_trapezoid_keeps_its_limits_and_one_of_them_binds(length, velocity, acceleration):
    law = Trapezoid(length, velocity, acceleration)
    t = np.linspace(0, law.duration, 201)
    _, sd, sdd = law(t)
    assert sd.max() <= velocity * (1 + 1e-12)
    assert np.abs(sdd).max() <= acceleration
    # Least time: s = v T - v²/a with the velocity reached, or two ramps.
    v = min(velocity, np.sqrt(length * acceleration))
    assert law.duration == pytest.approx(length / v + v / acceleration)
    np.testing.assert_allclose(law(law.duration - t).s, length - law(t).s, atol=1e-9 * length)


@given(sizes, sizes, sizes)
def test_the_fastest_quintic_touches_a_limit(length, velocity, acceleration):
    law = Quintic.within(length, velocity, acceleration)
    _, sd, sdd = law(np.linspace(0, law.duration, 2001))
    worst = max(sd.max() / velocity, np.abs(sdd).max() / acceleration)
    # The peak of the acceleration falls between two of the samples.
    assert worst == pytest.approx(1, abs=1e-5)


def test_the_quintic_starts_and_ends_without_acceleration():
    _, sd, sdd = Quintic(2.0, 3.0)([0.0, 3.0])
    assert not sd.any()
    assert not sdd.any()


@pytest.mark.parametrize(
    ("make", "parts"),
    [
        (lambda: Quintic(0.0, 1.0), {"where": "Quintic", "expected": "length as a finite number > 0", "got": "0.0"}),
        (lambda: Quintic(1.0, np.nan), {"expected": "duration as a finite number > 0"}),
        (lambda: Trapezoid(1.0, -1.0, 1.0), {"expected": "velocity as a finite number > 0"}),
        (lambda: ConstantAcceleration("2", 1.0), {"expected": "acceleration as a finite number > 0"}),
        (
            lambda: Quintic(1.0, 1.0)([0.0, np.nan]),
            {"where": "Quintic: times in seconds", "expected": "finite numbers"},
        ),
        (lambda: Quintic(1.0, 1.0)("now"), {"where": "Quintic: times in seconds"}),
    ],
)
def test_impossible_laws_are_rejected(make, parts):
    with raises(ShapeError, **parts):
        make()
