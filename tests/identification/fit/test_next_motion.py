"""The motion to log next is that which helps, by about as much as is said."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.identification.fit.novel_motion import RANGE_SHARE, wide_motion
from armdyn.identification.logs.log import Log


def moving(arm: armdyn.Arm, motion: int, amplitude: np.ndarray) -> Log:
    """20 s of five harmonics, each joint with an amplitude of its own, and 1 N m of noise."""
    rng, t = np.random.default_rng(motion), np.arange(0, 20, 0.01)
    q, qd, qdd = (np.zeros((len(t), arm.n)) for _ in range(3))
    for k in range(1, 6):
        w, (a, b) = 0.2 * np.pi * k, rng.normal(size=(2, arm.n)) * 0.45 / np.sqrt(k) * amplitude
        c, s = np.cos(w * t)[:, None], np.sin(w * t)[:, None]
        q, qd, qdd = q + a * s - b * c, qd + w * (a * c + b * s), qdd + w**2 * (b * c - a * s)
    return Log(t, q, armdyn.joint_torque(arm, q, qd, qdd) + rng.normal(size=q.shape))


@pytest.fixture(scope="module")
def little(puma):
    return np.where(np.arange(puma.n) == 1, 0.05, 1.0)


@pytest.fixture(scope="module")
def fit(puma, little):
    return armdyn.identify(puma, moving(puma, 0, little), prior=0.0)


def test_the_joint_that_hardly_moved_is_named_and_helps(puma, little, fit):
    said = fit.next_motion
    assert said.joints == (1,)
    assert "that move joint 2 'joint2' through at least half of the range" in fit.verdict.next_step
    again = armdyn.identify(puma, [moving(puma, 0, little), moving(puma, 5, np.ones(puma.n))], prior=0.0)
    error = again.validate(moving(puma, 9, np.ones(puma.n))).rel_error
    assert 0.5 * said.after < error < 1.5 * said.after < said.now
    assert again.next_motion is None  # all is well known


@pytest.mark.parametrize("joint", [2, 5])
@pytest.mark.by_day(1)
def test_friction_at_speeds_that_no_log_has_is_not_taken_as_none(puma, joint):
    """A joint that hardly moved is named, and what it may be off at twenty times its speed is not understated."""
    fit = armdyn.identify(puma, moving(puma, 0, np.where(np.arange(puma.n) == joint, 0.05, 1.0)), prior=0.0)
    errors = [fit.validate(moving(puma, k, np.ones(puma.n))).rel_error for k in (5, 9)]
    assert max(errors) < 1.5 * fit.next_motion.now
    assert fit.next_motion.joints == (joint,)


def test_wide_motion_goes_through_half_of_the_ranges(puma, fit):
    spans = np.ptp(wide_motion(fit.tracks, puma, (1,)).q, axis=0)
    lower, upper = puma.position_limits
    room = (upper - lower)[1] if np.isfinite(upper - lower)[1] else 2 * np.pi
    assert spans[1] == pytest.approx(RANGE_SHARE * room)
    assert spans[0] < 1.6 * np.ptp(fit.tracks[0].q[:, 0])
