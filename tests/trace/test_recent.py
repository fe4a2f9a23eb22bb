"""Kernels in memory are bounded, and safe while in use."""

from __future__ import annotations

import dataclasses
import gc
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.trace import recent
from armdyn.trace.recent import LRUCache, kernels


class Value:
    """Something with a size that knows whether it was dropped."""

    def __init__(self, nbytes: int) -> None:
        self.nbytes, self.out = nbytes, False

    def dropped(self) -> None:
        self.out = True


def test_those_used_last_stay_within_count_and_size() -> None:
    store = LRUCache(count=3, size=100)
    values = {k: store.find(k, lambda: Value(10)) for k in "abc"}
    assert store.find("a", pytest.fail) is values["a"]
    store.find("d", lambda: Value(10))
    assert [k for k in "abc" if values[k].out] == ["b"]
    large = store.find("e", lambda: Value(500))  # larger than all the room: alone
    assert (len(store), large.out) == (1, False)
    store.clear()
    assert (len(store), large.out) == (0, True)


@pytest.fixture
def little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "count", 5)


def geometry(arm: Any, k: int) -> Any:
    """The arm with its first link a little longer."""
    pose = np.array(arm.joints[1].before)
    pose[0, 3] += 1e-3 * k
    return dataclasses.replace(arm, joints=(arm.joints[0], dataclasses.replace(arm.joints[1], before=pose)))


@pytest.mark.usefixtures("little_room")
def test_a_kernel_that_was_dropped_is_made_again(random_arm: Callable[..., Any]) -> None:
    arms, q = [geometry(random_arm("RR"), k) for k in range(8)], np.ones((4, 2))
    first = [armdyn.inverse_dynamics(arm, q, q, q) for arm in arms]
    runner = armdyn.inverse_dynamics.traced.runner
    assert len(kernels) <= 5
    assert sum(id(arm) in runner.fast_paths for arm in arms) <= 5  # the fast paths go with their kernels
    for _ in range(2):
        for arm, tau in zip(arms, first, strict=True):
            np.testing.assert_array_equal(armdyn.inverse_dynamics(arm, q, q, q), tau)
            np.testing.assert_array_equal(armdyn.inverse_dynamics(arm, q[0], q[0], q[0]), tau[0])


@pytest.mark.usefixtures("little_room")
def test_bound_calls_outlive_the_store_and_the_code_is_freed_after_them(random_arm: Callable[..., Any]) -> None:
    arm, q = random_arm("RR"), np.ones(2)
    bound = armdyn.kernel(armdyn.mass_matrix, arm)
    want = bound(q)
    kernels.clear()
    gc.collect()
    np.testing.assert_array_equal(bound(q), want)


@pytest.mark.usefixtures("little_room")
def test_kernels_are_dropped_while_threads_use_them(random_arm: Callable[..., Any]) -> None:
    arms, q = [geometry(random_arm("RR"), k) for k in range(6)], np.ones((500, 2))
    want = [armdyn.mass_matrix(arm, q) for arm in arms]
    errors: list[Any] = []

    def use(k: int) -> None:
        for _ in range(30):
            if not np.array_equal(armdyn.mass_matrix(arms[k], q), want[k]):
                errors.append(k)

    workers = [threading.Thread(target=use, args=(k,)) for k in range(6)]
    for worker in workers:
        worker.start()
    for _ in range(60):
        kernels.clear()
    for worker in workers:
        worker.join()
    assert not errors


def resident() -> float:
    """Memory of this process that is in use [bytes]."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_five_thousand_geometries_stay_within_600_megabytes(random_arm: Callable[..., Any]) -> None:
    base, q, alive = random_arm("RR"), np.ones((4, 2)), []
    others = max(0.0, resident() - 300e6)  # what tests before this one left to the process
    for k in range(5000):
        arm = geometry(base, k)
        armdyn.inverse_dynamics(arm, q, q, q)
        armdyn.mass_matrix(arm, q[0])
        alive.append(arm)
        assert resident() - others < 600e6, f"after {k} geometries"
    assert len(kernels) <= recent.kernels.count
