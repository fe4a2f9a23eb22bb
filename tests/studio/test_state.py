"""The state behind the page."""

import numpy as np
import pytest
from tests.raising import raises

from armdyn import ArmdynError, arms, forward_kinematics
from armdyn.studio.motion import Moment
from armdyn.studio.state import ArmState, rest_posture, slider_range


@pytest.fixture
def state():
    return ArmState(arms.planar2())


def test_listeners_hear_every_change_and_the_present(state):
    heard = []
    state.on_change(lambda state: heard.append(state.moment.q.copy()))
    state.move_joint(1, 0.5)
    np.testing.assert_array_equal(heard, [[0, 0], [0, 0.5]])
    np.testing.assert_allclose(state.now.tip, forward_kinematics(state.arm, [0, 0.5]))
    assert state.now.links.shape == (2, 4, 4)


def test_a_motion_ends_at_rest(state):
    state.show(Moment(np.ones(2), np.ones(2), np.ones(2), np.ones(2), 3.0))
    state.rest_at(state.moment.q)
    assert not state.moment.qd.any()
    assert state.moment.measured is None
    np.testing.assert_array_equal(state.moment.q, [1, 1])


def test_a_payload_changes_the_model_only_while_it_is_carried(state):
    state.change(payload=2.0)
    assert state.now.loaded.links[-1].inertia.mass == pytest.approx(state.arm.links[-1].inertia.mass + 2)
    state.change(payload=0.0)
    assert state.now.loaded is state.arm


@pytest.mark.parametrize("q", [[0.0], [np.nan, 0.0], [1, 2, 3]])
def test_nonsense_is_rejected(state, q):
    with raises(ArmdynError, expected="2 finite joint positions"):
        state.rest_at(q)


def test_sliders_have_finite_ranges_that_hold_the_start():
    for name in arms.__all__:
        arm = getattr(arms, name)()
        lower, upper = slider_range(arm)
        start = rest_posture(arm)
        assert np.isfinite([lower, upper]).all(), name
        assert ((lower <= start) & (start <= upper)).all(), name
