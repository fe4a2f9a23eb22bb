"""What the tests of trajectories share."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module", autouse=True)
def searches(short_searches: None) -> None:
    """Searches end soon."""
