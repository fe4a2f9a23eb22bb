"""Memory of large results used again: bounded, safe with views, threads and forks, and given back."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError
from armdyn.trace import pool as module
from armdyn.trace.pool import Pool

LARGE = (512, 1024)  # 4 MB


def test_memory_is_used_again_only_when_all_views_are_gone() -> None:
    pool = Pool(64 * 2**20)
    first = pool.empty(LARGE)
    place, view = first.ctypes.data, first[3:, ::2].T
    view[...] = 7.0
    del first
    gc.collect()
    other = pool.empty(LARGE)
    assert other.ctypes.data != place
    other[...] = 0.0
    assert np.all(view == 7.0)
    del view
    gc.collect()
    assert pool.nbytes == 4 * 2**20
    assert pool.empty(LARGE).ctypes.data == place


def test_the_cap_holds_and_trim_gives_back() -> None:
    pool = Pool(10 * 2**20)
    arrays = [pool.empty(LARGE) for _ in range(5)]
    del arrays
    gc.collect()
    assert pool.nbytes == 8 * 2**20
    assert pool.trim() == 8 * 2**20
    assert pool.nbytes == 0


def test_small_arrays_and_a_pool_switched_off_are_plain() -> None:
    assert Pool(10 * 2**20).empty((10,)).flags.owndata
    assert Pool(0).empty(LARGE).flags.owndata


def test_a_much_larger_block_does_not_serve_a_small_array() -> None:
    pool = Pool(64 * 2**20)
    pool.empty((4, *LARGE))
    gc.collect()
    held = pool.nbytes
    pool.empty(LARGE)
    gc.collect()
    assert pool.nbytes == held + 4 * 2**20


def test_no_block_is_smaller_than_the_array_it_serves() -> None:
    """Blocks of a page less than asked for, and of the very size."""
    size, page = 2**20, 4096
    for waiting in (size - page, size - 1, size, size + page):
        pool = Pool(64 * 2**20)
        pool.give_back(np.empty(waiting, np.uint8))
        assert pool._take(size).nbytes >= size
        assert pool.nbytes == (0 if waiting >= size else waiting)


@pytest.mark.parametrize("size", [2**18, 2**18 + 8, 2**20 - 8, 2**20])
def test_a_fresh_block_holds_the_whole_array(size: int) -> None:
    assert Pool(2**20)._take(size).nbytes >= size


def test_exhausted_memory_falls_back_to_plain_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Pool(64 * 2**20)
    pool.empty(LARGE)
    gc.collect()

    def none(size: int) -> np.ndarray:
        raise MemoryError

    monkeypatch.setattr(pool, "_take", none)
    assert pool.empty(LARGE).flags.owndata
    assert pool.nbytes == 0


def test_many_threads_never_share_memory() -> None:
    pool, errors = Pool(32 * 2**20), []

    def use(k: int) -> None:
        for _ in range(40):
            array = pool.empty((256, 1024))
            array[...] = k
            if not np.all(array == k):
                errors.append(k)

    workers = [threading.Thread(target=use, args=(k,)) for k in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not errors
    assert pool.nbytes <= 32 * 2**20


def test_large_results_come_from_the_pool_and_are_right(monkeypatch: pytest.MonkeyPatch) -> None:
    arm, rng = armdyn.arms.planar2(), np.random.default_rng(0)
    q, qd, qdd = rng.uniform(-1, 1, (3, 60_000, 2))  # regressors of 19 MB
    want = armdyn.regressor(arm, q[::100], qd[::100], qdd[::100])
    armdyn.trim()
    for _ in range(3):
        Y = armdyn.regressor(arm, q, qd, qdd)
        np.testing.assert_array_equal(Y[::100], want)
        row = Y[17].copy()
        view = Y[17]
        del Y
        again = armdyn.regressor(arm, -q, qd, qdd)
        np.testing.assert_array_equal(view, row)
        del again, view
    gc.collect()
    assert armdyn.trim() > 0
    assert armdyn.trim() == 0


PROGRAM = """
import os, numpy as np
from armdyn.trace.pool import pool
a = pool().empty((512, 1024)); a[...] = 1.0
del a
child = os.fork()
b = pool().empty((512, 1024)); b[...] = 2.0 + (child == 0)
assert np.all(b == 2.0 + (child == 0))
if child:
    assert os.waitpid(child, 0)[1] == 0
keep = pool().empty((512, 1024))  # alive at exit
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forks_and_the_end_of_a_process() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_cap_is_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARMDYN_POOL_MB", "lots")
    module.pool.cache_clear()
    with raises(ArmdynError, where="ARMDYN_POOL_MB", expected="a whole number of megabytes", got="'lots'"):
        module.pool()
    module.pool.cache_clear()
