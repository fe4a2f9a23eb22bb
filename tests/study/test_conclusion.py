"""Who wins a study, and how sure: against counts made by hand and against chance."""

from __future__ import annotations

import numpy as np
import pytest

from armdyn.study.conclusion import conclude, proportion


def table(successes: dict[str, np.ndarray], **more):
    """Columns and groups of a study in which all groups ran the same cases."""
    labels = np.concatenate([[name] * len(good) for name, good in successes.items()])
    columns = {"success": np.concatenate(list(successes.values()))}
    columns["payload"] = np.concatenate([np.arange(len(good)) for good in successes.values()])
    columns |= more
    return columns, [(name, labels == name) for name in successes]


def test_wilsons_interval():
    found = proportion(np.arange(100) < 34)  # by hand: (0.34 + 0.0192) / 1.0384 -+ 0.0917
    assert (found.part, round(found.low, 3), round(found.high, 3)) == (0.34, 0.255, 0.437)
    assert proportion(np.ones(20)).low > 0.8  # never sure of all


@pytest.mark.slow
def test_intervals_hold_the_truth_in_95_of_100():
    rng = np.random.default_rng(0)
    held = [(lambda s: s.low <= 0.8 <= s.high)(proportion(rng.random(60) < 0.8)) for _ in range(2000)]
    assert 0.93 < np.mean(held) < 0.98


def test_a_clear_winner_and_one_by_chance():
    clear = {"PD": np.arange(256) < 87, "Slotine-Li": np.arange(256) < 195}
    told = conclude(*table(clear), ["payload"], {})
    assert told.startswith("Slotine-Li succeeds in 76% (71% to 81%) of 256 cases, PD in 34% (28% to 40%)")
    assert "42 ± 6 percentage points better than PD (significant at 95 %)" in told
    close = {"PD": np.arange(40) % 2 == 0, "PID": np.arange(40) % 5 > 1}
    assert "(not significant at 95 %: run more cases)" in conclude(*table(close), ["payload"], {})


def test_the_same_cases_are_compared_one_by_one():
    """A law that succeeds wherever the other does, and in a few cases more: sure, though the intervals overlap."""
    better = {"PD": np.arange(100) % 10 < 5, "PID": np.arange(100) % 10 < 6}
    columns, groups = table(better)
    assert "(significant" in conclude(columns, groups, ["payload"], {})
    columns["payload"] = np.random.default_rng(0).random(200)  # other cases
    assert "(not significant" in conclude(columns, groups, ["payload"], {})


def test_equal_success_is_decided_by_the_metric():
    errors = np.concatenate([np.full(10, 0.3), np.full(10, 0.1)])
    columns, groups = table({"PD": np.ones(10), "PID": np.ones(10)}, max_error=errors)
    told = conclude(columns, groups, ["payload"], {"max_error": "low"})
    assert "they succeed equally often; by largest joint error PID is best (median 0.1, PD 0.3 rad or m)" in told


def test_one_group_alone():
    columns, groups = table({"PD": np.ones(10)})
    assert conclude(columns, groups, ["payload"], {}) == "PD succeeds in 100% (72% to 100%) of 10 cases"


def test_words_for_infinity():
    from armdyn.study.summary import format_metric

    assert format_metric("settling_time", np.inf) == "never"
    assert format_metric("max_error", np.inf) == "diverged"
    assert format_metric("max_error", 0.25) == "0.25"
