"""The time left of a command, from how long its steps took before."""

from __future__ import annotations

import json

import pytest

from armdyn.cli import durations as module
from armdyn.cli.durations import Durations, record_file


@pytest.fixture
def clock(monkeypatch, tmp_path):
    """A clock that the test moves, an empty folder of kernels, and none that were compiled."""
    monkeypatch.setenv("ARMDYN_CACHE_DIR", str(tmp_path))
    now = {"time": 0.0, "compiling": 0.0}
    monkeypatch.setattr(module.time, "monotonic", lambda: now["time"])
    monkeypatch.setattr(module, "BEGIN", 0.0)
    monkeypatch.setattr(module, "_compiling", lambda: now["compiling"])
    return now


def run(clock, arm, pace=1.0):
    """A command: a second of start, two of reading, ten of comparing, four of them with compiling."""
    clock["time"], begin = 0.0, clock["compiling"]
    steps = Durations(["weigh", arm, "--out", "x.toml"])
    clock["time"] = 1.0 * pace
    steps.bar += 1
    steps.enter("reading 3 logs")
    clock["time"] = 3.0 * pace
    steps.enter("comparing with log1.csv")
    yield steps
    clock["time"] = 13.0 * pace
    clock["compiling"] = begin + 4.0 * pace
    steps.save()


def test_a_first_run_knows_nothing_and_the_next_one_how_long_it_takes(clock):
    for steps in run(clock, "ur5e"):
        assert steps.left() is None
    for steps in run(clock, "panda"):  # kernels of another arm are compiled anew
        assert steps.left() == pytest.approx(10.0)
        clock["time"] = 9.0
        assert steps.left() == pytest.approx(4.0)
        clock["time"] = 40.0  # longer than expected, and nobody knows how much
        assert steps.left() is None


def test_kernels_of_the_same_arm_are_there_already(clock):
    for _ in range(2):
        for steps in run(clock, "ur5e"):
            left = steps.left()
    assert left == pytest.approx(6.0)


def test_the_steps_done_tell_how_slow_the_machine_is(clock):
    for _ in run(clock, "ur5e"):
        pass
    for steps in run(clock, "panda", pace=3.0):
        assert steps.left() == pytest.approx(30.0)


def test_bars_behind_the_one_that_is_shown(clock):
    for _ in range(2):
        clock["time"] = 0.0
        steps = Durations(["draw", "ur5e"])
        clock["time"] = 1.0
        steps.bar += 1
        steps.enter("simulating")
        behind = steps.left_after_bar()
        clock["time"] = 2.0
        steps.bar += 1
        steps.enter("drawing")
        clock["time"] = 7.0
        steps.save()
    assert behind == pytest.approx(5.0)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"weigh": 3}', '{"weigh": {"arms": [], "steps": [[1]]}}'])
def test_a_record_that_cannot_be_read_is_none(clock, text):
    record_file().write_text(text)
    for steps in run(clock, "ur5e"):
        assert steps.left() is None
    assert json.loads(record_file().read_text())["weigh"]["arms"] == ["ur5e"]


def test_options_may_change_what_a_command_does(clock):
    for _ in run(clock, "ur5e"):
        pass
    assert json.loads(record_file().read_text()).keys() == {"weigh --out", "weigh"}
    for _ in range(2):
        clock["time"] = 0.0
        steps = Durations(["weigh", "ur5e", "--check"])
        clock["time"] = 1.0
        steps.bar += 1
        steps.enter("checking")
        left = steps.left()
        clock["time"] = 3.0
        steps.save()
    assert left == pytest.approx(2.0)
    for steps in run(clock, "panda"):
        assert steps.left() == pytest.approx(10.0)


def test_commands_that_never_ran_here_know_a_first_run():
    steps = Durations(["validate", "ur5e"])
    assert sum(step.took for step in steps.expected.values()) > 1
