"""Linear algebra in one thread: for small matrices, threads inside BLAS cost a hundred times what they save."""

from __future__ import annotations

from functools import cache
from typing import Any


def single_threaded() -> Any:
    """Keep BLAS to one thread, that of NumPy and that of SciPy: for good, or for the body of a `with`."""
    return _libraries().limit(limits=1, user_api="blas")


@cache
def _libraries() -> Any:
    """The libraries with threads of their own; looking for them takes milliseconds."""
    import scipy.linalg  # noqa: F401 - its BLAS is a library of its own, which can be told only once it is loaded
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
