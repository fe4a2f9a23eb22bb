"""Errors that a test expects, by their parts: `with raises(ShapeError, expected="a number > 0", got="-1"): ...`.

The sentence is made of the parts in one place, which `tests/test_errors.py` tests. A cause that is a sentence of its
own is named once; other tests of the same error name its other parts. Patterns stand for numbers that are computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


@contextmanager
def raises(error: type[Exception] | tuple[type[Exception], ...], **parts: Any) -> Iterator[pytest.ExceptionInfo[Any]]:
    """Expect an error whose parts (`where`, `line`, `expected`, `got`, `remedy`, `names`, ...) have these values.

    `file` is the name of the file in `path`; a part may be a pattern that is searched for.
    """
    assert parts, "name at least one part of the error"
    with pytest.raises(error) as caught:
        yield caught
    values = {name: _part(caught.value, name) for name in parts}
    for name, part in parts.items():
        if isinstance(part, re.Pattern) and part.search(values[name]):
            values[name] = part
    assert values == parts


def _part(error: Exception, name: str) -> Any:
    return Path(getattr(error, "path", None) or "").name if name == "file" else getattr(error, name, None)
