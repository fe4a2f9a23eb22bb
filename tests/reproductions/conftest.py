"""Every document reproduced once, quickly."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from reproductions.case import Case
from reproductions.cases import reproduce


@pytest.fixture(scope="session")
def quick() -> Callable[[str], Case]:
    """`quick("ece470")`: the case with `quick=True`, computed when first asked for."""
    return cache(lambda name: reproduce(name, quick=True))
