"""Formulas are tested on the virtual machine: `tests/trace` compares the kernels of all functions with it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from armdyn.trace import backend


@pytest.fixture(autouse=True)
def on_virtual_machine(request: pytest.FixtureRequest) -> Iterator[None]:
    """No kernel is compiled but in tests that name kernels: tracing takes a quarter of that time."""
    with backend.using("native" if "kernels" in request.node.name else "virtual"):
        yield
