"""What the tests of trajectories share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def short_searches() -> Iterator[None]:
    """Searches that begin anew but twice: what holds for them holds for longer ones."""
    from armdyn.trajectory import excite

    usual, excite.HOPS = excite.HOPS, 2
    yield
    excite.HOPS = usual
