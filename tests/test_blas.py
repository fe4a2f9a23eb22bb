"""BLAS in one thread."""

from __future__ import annotations

import subprocess
import sys

CODE = """
from armdyn.blas import single_threaded
with single_threaded():
    import scipy.linalg  # as code inside may do it first
    from threadpoolctl import threadpool_info
    print([library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"])
"""


def test_that_of_scipy_too_although_nobody_had_loaded_it():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, timeout=60, check=True)
    counts = done.stdout.strip()
    assert "1" in counts
    assert set(counts) <= set("[1, ]")
