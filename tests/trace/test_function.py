"""Traced functions look like functions, and reach native code without passing through Python."""

from __future__ import annotations

import copy
import functools
import gc
import inspect
import pickle
import pydoc
import sys
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.trace import backend, direct_calls, function
from armdyn.trace.compiled import dispatcher
from armdyn.trace.function import TracedCallable

needs_native = pytest.mark.skipif(not dispatcher(), reason="no direct calls on this Python")


def test_it_looks_like_a_function() -> None:
    f = armdyn.inverse_dynamics
    assert inspect.isroutine(f)
    assert list(inspect.signature(f).parameters)[:4] == ["arm", "q", "qd", "qdd"]
    assert f.__name__ == f.__qualname__ == f.traced.name == "inverse_dynamics"
    assert f.__module__ == "armdyn.dynamics.newton_euler"
    text = pydoc.plain(pydoc.render_doc(f))
    assert "inverse_dynamics(arm" in "".join(text.split())  # from Python 3.13 on a parameter per line
    assert "Parameters" in text
    assert "def inverse_dynamics" in inspect.getsource(f)
    assert f in {f: 1}
    assert repr(f).startswith("<function inverse_dynamics at ")


def test_it_is_pickled_and_copied_by_name() -> None:
    f = armdyn.mass_matrix
    assert pickle.loads(pickle.dumps(f)) is copy.copy(f) is copy.deepcopy(f) is f


def test_it_becomes_a_method(random_arm: Callable[..., Any]) -> None:
    arm = random_arm("RR")

    class Robot:
        mass_matrix = armdyn.mass_matrix

        def __getattr__(self, name: str) -> Any:
            return getattr(arm, name)

    q = np.full(2, 0.3)
    robot = Robot()
    for _ in range(3):
        np.testing.assert_array_equal(robot.mass_matrix(q), armdyn.mass_matrix(arm, q))


@needs_native
def test_a_known_arm_never_passes_through_python(random_arm: Callable[..., Any], monkeypatch: Any) -> None:
    arm, other = random_arm("RR"), random_arm("RP")
    f, q = armdyn.mass_matrix, np.full(2, 0.3)
    want = f(arm, q)
    seen: list[Any] = []
    python = f._python

    def noted(*args: Any, **keywords: Any) -> Any:
        seen.append(args[0])
        return python(*args, **keywords)

    monkeypatch.setattr(f, "_python", noted)
    f._words[0] = id(noted)
    try:
        out = np.empty((2, 2))
        for call in (f, functools.partial(f)):
            np.testing.assert_array_equal(call(arm, q), want)
            assert call(arm, q, out=out) is out
        assert seen == []
        f(other, q)
        assert seen == [other]
        with backend.using("virtual"):
            f(arm, q)
        assert seen == [other, arm]
    finally:
        f._words[0] = id(python)


@needs_native
def test_arms_at_one_place_of_the_table_all_get_their_own(
    random_arm: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(function, "_place", lambda subject: 1)  # as if all fell on one; native code looks elsewhere
    arms, q = [random_arm("RR", seed=k) for k in range(3)], np.full(2, 0.3)
    wants = [armdyn.mass_matrix(arm, q) for arm in arms]
    for _ in range(2):
        for arm, want in zip(arms, wants, strict=True):
            np.testing.assert_array_equal(armdyn.mass_matrix(arm, q), want)


@needs_native
def test_an_arm_that_is_gone_leaves_no_short_way(random_arm: Callable[..., Any]) -> None:
    f, q = armdyn.mass_matrix, np.full(2, 0.3)
    arm = random_arm("RR")
    f(arm, q)
    number, alive = id(arm), weakref.ref(arm)
    assert number in list(f._words)
    del arm
    gc.collect()
    assert alive() is None
    assert number not in list(f._words)


@needs_native
def test_no_reference_is_lost_or_kept(random_arm: Callable[..., Any]) -> None:
    arm, q = random_arm("RR"), np.full(2, 0.3)
    f = armdyn.mass_matrix
    f(arm, q)
    short = f.traced.runner.fast_paths[id(arm)]
    before = [sys.getrefcount(x) for x in (arm, q, short, f)]
    for _ in range(100):
        f(arm, q)
        with pytest.raises(TypeError):
            f(arm)
    assert [sys.getrefcount(x) for x in (arm, q, short, f)] == before


@needs_native
def test_a_short_way_may_be_forgotten_while_it_runs(random_arm: Callable[..., Any]) -> None:
    arm = random_arm("RR")
    f, q = armdyn.mass_matrix, np.full((200_000, 2), 0.3)
    want = f(arm, q[:1])
    stop = threading.Event()

    def forget() -> None:
        while not stop.is_set():
            f.traced.runner._drop_fast_paths()

    other = threading.Thread(target=forget)
    other.start()
    try:
        for _ in range(10):
            np.testing.assert_array_equal(f(arm, q)[[0, -1]], np.concatenate([want, want]))
    finally:
        stop.set()
        other.join()


def is_alive(f: Any, arm: Any) -> bool:
    """Whether the table leads to nothing for an arm, or to the bound call that is kept alive for it."""
    at, short = function._place(id(arm)), f.traced.runner.fast_paths.get(id(arm))
    return f._words[at] != id(arm) or (short is not None and f._words[at + 1] == id(short))


def evict(f: Any) -> None:
    """Forget all fast paths as the table of kernels does when it drops a function's kernels."""
    for kernel, _ in list(f.traced.runner._installed.values()):
        kernel.dropped()


@needs_native
def test_a_kernel_is_dropped_between_learning_and_the_table(
    random_arm: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other thread does all that it can before the first one goes on: it has to wait."""
    f, arm, q = armdyn.mass_matrix, random_arm("RR"), np.full(2, 0.3)
    want = f(random_arm("RR"), q)
    kernel = f.traced.runner.kernel(arm, f.traced.plain_variant, frozenset(f.traced.bound))
    put, other = type(f).put, threading.Thread(target=kernel.dropped)

    def put_late(subject: int, bound: Any, dispatch: int) -> None:
        if other.ident is None:  # the first time
            other.start()
            other.join(0.3)
        put(f, subject, bound, dispatch)

    monkeypatch.setattr(f, "put", put_late)
    f(arm, q)
    other.join()
    assert is_alive(f, arm)
    np.testing.assert_array_equal(f(arm, q), want)


@needs_native
def test_two_threads_learn_one_arm(random_arm: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one binds while the first one does, and fills the table before it, if it may."""
    f, arm, q = armdyn.mass_matrix, random_arm("RR"), np.full(2, 0.3)
    want = f(random_arm("RR"), q)
    kernel = f.traced.runner.kernel(arm, f.traced.plain_variant, frozenset(f.traced.bound))
    bind, put, other = kernel.bind, type(f).put, threading.Thread(target=lambda: f(arm, q))
    both_bind, first_puts = threading.Event(), threading.Event()

    def bind_late(*arguments: Any) -> Any:
        if threading.current_thread() is other:
            both_bind.set()
            first_puts.wait(1.0)
        else:
            other.start()
            both_bind.wait(0.3)
        return bind(*arguments)

    def put_late(subject: int, bound: Any, dispatch: int) -> None:
        if threading.current_thread() is not other:
            first_puts.set()
            other.join(0.3)
        put(f, subject, bound, dispatch)

    monkeypatch.setattr(kernel, "bind", bind_late)
    monkeypatch.setattr(f, "put", put_late)
    f(arm, q)
    other.join()
    assert is_alive(f, arm)
    np.testing.assert_array_equal(f(arm, q), want)


def race(arm: Any, rounds: int) -> None:
    """First calls of four threads at once on new arms, while a fifth drops kernels."""
    f, q = armdyn.gravity_torque, np.full(arm.n, 0.3)
    interval, stop = sys.getswitchinterval(), threading.Event()

    def drop() -> None:
        while not stop.wait(1e-3):
            evict(f)

    dropping = threading.Thread(target=drop)
    try:
        sys.setswitchinterval(1e-6)
        dropping.start()
        for k in range(rounds):
            new = arm.with_payload(0.001 * (k + 1))
            together = threading.Barrier(4)
            results: list[Any] = []

            def call(new: Any = new, together: Any = together, results: list[Any] = results) -> None:
                together.wait()
                results.append(f(new, q))

            threads = [threading.Thread(target=call) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            with f.traced.runner._lock:
                assert is_alive(f, new), k
            want = armdyn.inverse_dynamics(new, q, 0 * q, 0 * q)
            np.testing.assert_allclose(np.stack([*results, f(new, q)]), np.tile(want, (5, 1)), rtol=1e-10, atol=1e-10)
    finally:
        stop.set()
        dropping.join()
        sys.setswitchinterval(interval)


@needs_native
def test_first_calls_of_several_threads(random_arm: Callable[..., Any]) -> None:
    race(random_arm("RRR"), 100)


@needs_native
@pytest.mark.slow
def test_many_first_calls_of_several_threads(random_arm: Callable[..., Any]) -> None:
    race(random_arm("RRRRRR"), 20_000)


def test_without_native_code_it_is_the_python_function() -> None:
    plain = TracedCallable(lambda *args, **keywords: (args, keywords))
    assert plain(1, a=2) == ((1,), {"a": 2})
    assert plain() == ((), {})


@pytest.mark.parametrize(
    "change",
    [
        ("implementation", types.SimpleNamespace(name="pypy")),
        ("version_info", (3, 15, 0)),
        ("maxsize", 2**31 - 1),
        ("version", "3.14.0 free-threading build (main)"),
        ("gettotalrefcount", lambda: 0),
    ],
    ids=lambda change: change[0],
)
def test_other_pythons_call_through_python(change: tuple[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, *change, raising=False)
    assert not direct_calls.supported()
    assert function.function_type.__wrapped__() is TracedCallable
    plain = TracedCallable(lambda *args: args)
    plain.put(id(plain), len, 1)  # nothing happens
    plain.drop(id(plain))
    assert plain(1, 2) == (1, 2)


@needs_native
def test_functions_without_a_short_way_run_in_python_and_die(random_arm: Callable[..., Any]) -> None:
    kind = function.function_type()
    f = kind(lambda *args, **keywords: (args, keywords))
    assert f(1, b=2) == ((1,), {"b": 2})
    f.itself = f  # type: ignore[attr-defined]
    gone = weakref.ref(f)
    del f
    gc.collect()
    assert gone() is None
