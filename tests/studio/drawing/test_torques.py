"""Torque bars."""

import dataclasses

import numpy as np
import pytest

from armdyn import Limits, gravity_torque, joint_torque
from armdyn.studio.drawing.torques import Bar, TorqueBars, bars_html
from armdyn.studio.motion import Moment
from armdyn.studio.state import ArmState, StudioState


def limited(arm, effort):
    joints = [dataclasses.replace(joint, limits=Limits(effort=effort)) for joint in arm.joints]
    return arm.with_joints(joints)


def test_at_rest_gravity_in_motion_everything(arm):
    bars = TorqueBars(arm)
    q, qd, qdd = np.array([0.3, -0.8]), np.array([1.0, 2.0]), np.array([-1.0, 0.5])
    still = bars.bars(StudioState(arm, arm, Moment(q, np.zeros(2), np.zeros(2))))
    np.testing.assert_allclose([bar.total for bar in still], gravity_torque(arm, q))
    moving = bars.bars(StudioState(arm, arm, Moment(q, qd, qdd, np.array([1.0, 2.0]))))
    np.testing.assert_allclose([bar.total for bar in moving], joint_torque(arm, q, qd, qdd))
    assert [bar.measured for bar in moving] == [1.0, 2.0]


def test_limits_scale_the_bars_and_turn_them_red(arm):
    weak = limited(arm, 1e-3)
    bars = TorqueBars(weak).bars(StudioState(weak, weak, Moment(np.zeros(2), np.zeros(2), np.zeros(2))))
    assert bars[0].scale == 1e-3
    assert bars[0].over
    html = bars_html(bars)
    assert 'class="d o"' in html
    assert "of 0.001 N m" in html


def test_without_limits_no_bar_leaves_its_track(arm):
    moment = Moment(np.zeros(2), np.full(2, 50.0), np.full(2, 300.0))
    for bar in TorqueBars(arm).bars(StudioState(arm, arm, moment)):
        assert abs(bar.total) <= bar.scale
        assert not bar.over


def test_the_load_counts(arm):
    state = ArmState(arm)
    bars = TorqueBars(arm)
    before = bars.bars(state.now)[0].gravity
    state.change(payload=5.0)
    assert abs(bars.bars(state.now)[0].gravity) > abs(before)


def test_the_described_arm_is_marked_beside_an_identified_one(arm):
    state = ArmState(arm)
    state.change(arm=arm.with_theta(2 * arm.theta))
    bars = TorqueBars(arm).bars(state.now)
    np.testing.assert_allclose([2 * bar.described for bar in bars], [bar.total for bar in bars])
    assert "</b>described" in bars_html(bars)
    assert "</b>described" not in bars_html(TorqueBars(arm).bars(ArmState(arm).now))


def test_unknown_inertia_is_said(arm):
    state = ArmState(arm.with_theta(np.full(20, np.nan)))
    bars = TorqueBars(state.arm).bars(state.now)
    assert all(np.isnan(bar.total) for bar in bars)
    assert "unknown" in bars_html(bars)


@pytest.mark.parametrize("name", ['<img src=x onerror="alert(1)">', "a&b"])
def test_names_from_files_cannot_become_markup(name):
    html = bars_html([Bar(name, "N m", 1.0, 1.0, float("nan"), float("inf"), 2.0)])
    assert name not in html
