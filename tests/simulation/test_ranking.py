"""What counts in a ranking, and that its words follow from its figures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.figures import with_figures

from armdyn.simulation.compare import ComparisonRow, TorqueFigures, TrackingFigures, torque_jumps
from armdyn.simulation.ranking import FAR_ERROR, ROUGH_RATIO, Ranking, failure_words, standing


def row(name: str, far: float, **figures: Any) -> ComparisonRow:
    """A law that ends so many metres off and is fine otherwise."""
    errors, torques = TrackingFigures(0.1, far, far, far), TorqueFigures(20.0, jump=0.4, roughness=0.02)
    plain = ComparisonRow(name, errors, torques, seconds=0.1, crossover=(6.0, 6.4))
    return with_figures(plain, **figures)


def text(*rows: ComparisonRow) -> str:
    return " ".join(sentence.text for sentence in Ranking.of(rows).sentences())


@pytest.mark.parametrize(
    ("figures", "failure"),
    [
        ({}, ""),
        ({"largest": 0.99 * FAR_ERROR, "roughness": 0.99 * ROUGH_RATIO}, ""),
        ({"largest": 1.01 * FAR_ERROR}, "far"),
        ({"roughness": 1.01 * ROUGH_RATIO}, "rough"),
        ({"rms": np.nan, "tip": np.nan, "final_rms": np.nan, "note": "diverged at 1 s"}, "diverged"),
        ({"rms": np.nan, "tip": np.nan, "final_rms": np.nan, "note": "failed"}, "failed"),
    ],
)
def test_a_law_that_fails_never_comes_first(figures: dict[str, Any], failure: str) -> None:
    """Whatever its error: the other one is worse, and wins where this one fails."""
    one, other = row("one", 1e-6, **figures), row("other", 1e-2)
    ranking = Ranking.of([one, other])
    assert standing(one).failure == failure
    assert ranking.valid[0].row.name == ("other" if failure else "one")
    assert text(one, other).startswith("Other has the smallest" if failure else "One has the smallest")
    assert bool(failure_words(standing(one))) == bool(failure)


def test_nobody_wins_where_all_fail() -> None:
    assert text(row("one", 1e-3, largest=2.0)) == (
        "No law follows the motion. 1 law lost the motion: a joint was more than 0.5 rad or m off: one."
    )


def test_rough_torques_are_said_with_their_size() -> None:
    told = text(row("smooth", 1e-2), row("rough", 1e-5, jump=107.0, roughness=4.5))
    assert "Rough does not count: from sample to sample its torques change by 450% (RMS) of the torque that" in told


def test_laws_of_other_speed_are_said_to_be() -> None:
    """Equally fast only where crossovers are about the same."""
    slow, fast = row("slow", 1e-2, crossover=(4.0, 4.0)), row("fast", 1e-3, crossover=(40.0, 40.0))
    middle = row("middle", 1e-4, crossover=(6.0, np.nan))
    told = text(slow, fast, middle)
    assert "not equally fast: their torque loops cross over at 4 Hz (slow) to 40 Hz (fast), middle's at 6 Hz." in told
    assert "about equally fast" in text(slow, with_figures(slow, name="same", crossover=(4.4, 4.4)))
    assert "fast" not in text(row("unknown", 1e-2, crossover=()), row("other", 1e-3))


def test_jumps_are_those_from_sample_to_sample() -> None:
    """Random torques jump by sqrt(2) of their deviation; a smooth motion does not."""
    noise = np.random.default_rng(0).standard_normal((100_000, 1))
    slow = 50 * np.sin(2 * np.pi * 0.5 * np.arange(100_000) * 5e-3)[:, None]
    assert torque_jumps(noise + slow)[0] == pytest.approx(np.sqrt(2), rel=0.01)
    assert torque_jumps(slow)[0] < 0.01
    assert torque_jumps(slow[:2])[0] == 0
