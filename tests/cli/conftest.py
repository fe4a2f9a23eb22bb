"""What the tests of commands share."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module", autouse=True)
def searches(short_searches: None) -> None:
    """Searches for exciting motions end soon, but in processes of their own."""
