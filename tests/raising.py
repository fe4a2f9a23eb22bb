"""Errors that a test expects, by their parts: `with raises(ShapeError, expected="a number > 0", got="-1"): ...`.

The sentence is made of the parts in one place, which `tests/test_errors.py` tests. Messages whose cause is a
sentence of its own are rendered once each, with `pytest.raises(..., match=...)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def raises(error: type[Exception], **parts: Any) -> Iterator[pytest.ExceptionInfo[Any]]:
    """Expect an error whose parts (`where`, `line`, `expected`, `got`, `remedy`, `names`, ...) have these values."""
    assert parts, "name at least one part of the error"
    with pytest.raises(error) as caught:
        yield caught
    assert {name: getattr(caught.value, name, None) for name in parts} == parts
