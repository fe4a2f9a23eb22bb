"""Every document reproduced once, quickly."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from reproductions.case import Case
from reproductions.cases import reproduce


@pytest.fixture(scope="session")
def steps() -> dict[str, list[str]]:
    """The steps that each case named."""
    return {}


@pytest.fixture(scope="session")
def quick(steps: dict[str, list[str]]) -> Callable[[str], Case]:
    """`quick("ece470")`: the case with `quick=True`, computed when first asked for."""
    return cache(lambda name: reproduce(name, quick=True, tell=steps.setdefault(name, []).append))
