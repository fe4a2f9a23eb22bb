"""Linear algebra in one thread: for small matrices, threads inside BLAS cost a hundred times what they save."""

from __future__ import annotations

from typing import Any


def single_threaded() -> Any:
    """Keep BLAS to one thread, that of NumPy and that of SciPy: for good, or for the body of a `with`."""
    import scipy.linalg  # noqa: F401 - its BLAS is a library of its own, which can be told only once it is loaded
    from threadpoolctl import threadpool_limits

    return threadpool_limits(limits=1, user_api="blas")
