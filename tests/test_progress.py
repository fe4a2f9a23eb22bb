"""One callback for all long work, and a bar with the time left."""

from __future__ import annotations

import pytest
from tests.raising import raises

import armdyn
from armdyn import progress
from armdyn.errors import ShapeError
from armdyn.progress import TimeLeft, reporting, with_share, with_share_and_text, with_text


def calls(function, fewer=with_share, **options):
    """What a caller's function is called with."""
    with reporting(function, "work", fewer, **options) as tell:
        tell(1, 4, "a thing")


def test_a_function_of_three_is_called_as_it_is():
    seen = []
    calls(lambda done, total, text: seen.append((done, total, text)))
    assert seen == [(1, 4, "a thing")]
    calls(None)
    calls(False)


@pytest.mark.parametrize(
    ("fewer", "function", "expected"),
    [
        (with_share, lambda seen: seen.append, 0.25),
        (with_text, lambda seen: seen.append, "a thing"),
        (with_share_and_text, lambda seen: lambda share, text: seen.append((share, text)), (0.25, "a thing")),
    ],
)
def test_functions_of_earlier_versions_are_called_as_before(fewer, function, expected):
    seen = []
    with pytest.warns(DeprecationWarning, match=r"work: progress is called with \(done, total, text\) now"):
        calls(function(seen), fewer)
    assert seen == [expected]


def test_functions_of_a_record_are_no_earlier_version(recwarn):
    calls([].append, lambda one: lambda *_: one("record"), renamed=False)
    assert not recwarn


def test_anything_else_is_rejected():
    with raises(ShapeError, where="work: progress", expected="True or a function", got="3"):
        calls(3)


def test_a_bar_shows_the_time_left(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")  # stands for a terminal
    calls(True)
    assert "a thing" in capsys.readouterr().err


def test_no_bar_in_pipes(capsys):
    calls(True)
    assert capsys.readouterr().err == ""


def test_the_time_left_goes_on_between_two_reports(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    left = TimeLeft()
    assert str(left) == ""
    now[0] = 110.0
    left.update(0.25)
    assert str(left) == "30 s left, "
    now[0] = 125.0
    assert str(left) == "15 s left, "
    now[0] = 139.5
    assert str(left) == "less than a second left, "
    now[0] = 190.0
    assert str(left) == ""
    left.update(0.25)
    assert str(left) == "4 min left, "


@pytest.mark.parametrize("compare", [armdyn.compare, armdyn.compare_scenarios])
def test_comparisons_count_their_runs(compare):
    arm = armdyn.arms.planar2()
    laws = {name: armdyn.PD(arm, 50.0, 10.0) for name in ("first", "second")}
    motion = armdyn.point_to_point([0.0, 0.0], [0.5, -0.3], duration=0.2)
    seen = []
    options = {"scenarios": ("free", "noise")} if compare is armdyn.compare_scenarios else {}
    compare(arm, laws, motion, 500.0, progress=lambda *state: seen.append(state), **options)
    total = 2 * len(options.get("scenarios", ("one",)))
    assert [state[:2] for state in seen] == [(k, total) for k in range(total)]
    assert "second" in seen[-1][2]
