"""What the tests of trajectories share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def short_searches() -> Iterator[None]:
    """Searches that begin anew but twice and end sooner: what holds for them holds for longer ones."""
    from armdyn.trajectory.excitation import search as excitation_search

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(excitation_search, "HOPS", 2)
        shorter = tuple(stage._replace(steps=40) for stage in excitation_search.THOROUGH)
        patch.setattr(excitation_search, "THOROUGH", shorter)
        yield
