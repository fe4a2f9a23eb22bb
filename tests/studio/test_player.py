"""Playing a motion."""

import time

import numpy as np
import pytest

from armdyn.studio.motion import PlayedMotion
from armdyn.studio.player import Player
from armdyn.studio.state import ArmState


@pytest.fixture
def player(arm):
    player = Player(ArmState(arm))
    yield player
    player.close()


@pytest.fixture
def ramp():
    t = np.linspace(0, 2, 21)
    q = np.stack([t, -t], axis=1)
    return PlayedMotion("ramp", t, q, np.full_like(q, 1.0), np.zeros_like(q))


def test_time_passes_at_the_chosen_speed_and_starts_again(player, ramp):
    player.load(ramp)
    player.speed = 2.0
    player.advance(0.5)
    np.testing.assert_allclose(player.state.moment.q, [1, -1])
    assert player.state.moment.time == 1.0
    player.advance(0.6)
    assert player.time == 0.0


def test_it_runs_until_paused(player, ramp):
    player.load(ramp)
    player.play()
    deadline = time.monotonic() + 5
    while player.time == 0 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert player.time > 0
    player.pause()
    assert not player.playing


def test_nothing_plays_without_a_motion(player):
    player.play()
    player.advance(1.0)
    assert not player.playing


def test_it_ends(player, ramp):
    player.load(ramp)
    player.play()
    player.close()
    assert not player._thread.is_alive()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_after_an_error_it_can_be_played_again(player, ramp):
    player.load(ramp)
    trouble = [True]

    def listener(state):
        if trouble[0] and state.moment.time:
            raise ValueError("once")

    player.state.on_change(listener)
    player.play()
    player._thread.join(5)
    assert not player.playing
    trouble[0] = False
    player.play()
    before = player.time
    deadline = time.monotonic() + 5
    while player.time == before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert player.time != before
