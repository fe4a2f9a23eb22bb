"""Code that is not optimised computes the same, is kept apart, and is made only where it is asked for."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import armdyn
from armdyn.trace.llvm.processor import is_optimised, skip_optimisation, versions
from armdyn.trace.recent import kernels


def test_it_computes_the_same_and_is_kept_apart(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMDYN_CACHE_DIR", str(tmp_path))
    arm = armdyn.arms.planar2()
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 50, 2))
    kernels.clear()
    expected, good = armdyn.inverse_dynamics(arm, q, qd, qdd), versions()
    kernels.clear()
    with skip_optimisation():
        assert versions() != good
        np.testing.assert_allclose(armdyn.inverse_dynamics(arm, q, qd, qdd), expected, rtol=1e-13, atol=1e-13)
    assert versions() == good
    assert len({path.stat().st_size for path in tmp_path.iterdir()}) >= 2
    kernels.clear()
    np.testing.assert_array_equal(armdyn.inverse_dynamics(arm, q, qd, qdd), expected)


def interrupted() -> None:
    with skip_optimisation():
        assert not is_optimised()
        raise KeyboardInterrupt


def test_other_threads_make_optimised_code():
    with ThreadPoolExecutor() as pool, skip_optimisation():
        assert pool.submit(is_optimised).result()
        assert not is_optimised()


def test_it_ends_with_an_interruption():
    before = versions()
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert versions() == before
