"""Native code for narrower hosts, on this one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from armdyn.trace.llvm.processor import target


@pytest.fixture(params=["1", "2", "4", "8"])
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Every vector width in turn; 1 and 2 are made for a processor without AVX and FMA."""
    monkeypatch.setenv("ARMDYN_SIMD_WIDTH", request.param)
    target.cache_clear()
    yield int(request.param)
    target.cache_clear()
