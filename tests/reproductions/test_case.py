"""Verdicts that follow from several draws."""

import numpy as np
import pytest

from reproductions import kapadia_estimates, kapadia_motion
from reproductions.case import tendency


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [
        ([0.3, 0.4, 0.5, 0.35, 0.6], "supported"),
        ([0.3, 0.4, 1.2, 0.35, 0.3, 0.4, 0.3, 0.5, 0.4, 0.3], "supported"),  # one draw does not turn it
        ([0.3, 1.1, 1.2, 0.35, 0.3, 0.4, 0.3, 0.5, 0.4, 0.3], "undecided"),  # two do
        ([0.3, 1.9, 0.8, 1.5, 0.6], "undecided"),
        ([0.5, 0.55, 0.6, 0.9, 1.3, 1.37], "undecided"),  # two standard errors of six draws are not 95 %
        ([3.0, 2.5, 4.0, 2.0, 3.5], "not supported"),
    ],
)
def test_a_tendency_is_judged_by_its_spread(ratios, verdict):
    row = tendency("less", "yes", "found", np.array(ratios))
    assert row.verdict == verdict
    assert f"smaller in {sum(x < 1 for x in ratios)} of {len(ratios)} draws" in row.found
    assert f"single draws {min(ratios):.2f} to {max(ratios):.2f}" in row.found


@pytest.mark.parametrize("seed", [0, 1, 3, 5])
def test_single_draws_do_not_turn_the_verdict_of_descents(seed):
    """Of the four starts of one draw in eight none falls far enough."""
    assert kapadia_motion.descent_rows(kapadia_motion.descents(seed))[0].verdict == "attainable"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_a_direct_drive_is_better_whatever_the_seed(seed):
    assert kapadia_estimates.drive_row(seed, lambda step: None).verdict == "supported"
