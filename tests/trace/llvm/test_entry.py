"""The direct native entry: the same results as the general way, for every call that it takes or leaves."""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError, ShapeError
from armdyn.trace import direct_calls
from armdyn.trace.numeric import Runner

pytestmark = pytest.mark.skipif(not direct_calls.available(), reason="this Python has no direct entry")


def states(n: int, *batch: int) -> list[np.ndarray]:
    return list(np.random.default_rng(0).uniform(-1, 1, (3, *batch, n)))


def general(function: Any, arm: Any, *args: np.ndarray, **keywords: Any) -> Any:
    """The same call by the general way."""
    return function.traced.call(arm, args, keywords)


@pytest.mark.parametrize("batch", [(), (1,), (2,), (7,), (8,), (9,), (17,), (600,), (3, 4), (2, 1, 3), (1,) * 9])
@pytest.mark.parametrize("name", ["inverse_dynamics", "mass_matrix", "linearize", "kinetic_energy", "link_poses"])
def test_every_batch_equals_the_general_way(name: str, batch: tuple[int, ...], random_arm: Callable[..., Any]) -> None:
    arm, function = random_arm("RPR"), getattr(armdyn, name)
    count = len(function.traced.required)
    args = states(3, *batch)[:count]
    want = general(function, arm, *args)
    got = function(arm, *args)
    for g, w in zip(got, want, strict=True) if function.traced.result else [(got, want)]:
        assert type(g) is type(w)
        np.testing.assert_array_equal(g, w)
    if function.traced.result:
        for kind in (function.traced.result._make, tuple, list):
            outs = kind([np.full_like(w, np.nan) for w in want])
            answer = function(arm, *args, out=outs)
            assert type(answer) is type(want)
            assert all(a is o for a, o in zip(answer, outs, strict=True))
            for o, w in zip(outs, want, strict=True):
                np.testing.assert_array_equal(o, w)
    elif batch:
        out = np.full_like(want, np.nan)
        assert function(arm, *args, out=out) is out
        np.testing.assert_array_equal(out, want)


def test_a_number_comes_without_python(random_arm: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    arm, (q, qd, _) = random_arm("RPR"), states(3)
    want = armdyn.kinetic_energy(arm, q, qd)
    monkeypatch.setattr(Runner, "__call__", None)
    got = armdyn.kinetic_energy(arm, q, qd)
    assert type(got) is np.float64
    assert got == want


def test_single_inputs_serve_all_samples(random_arm: Callable[..., Any]) -> None:
    arm, (q, qd, qdd) = random_arm("RPR"), states(3, 20)
    armdyn.inverse_dynamics(arm, q, qd, qdd)
    for args in ((q[0], qd, qdd), (q, qd[0], qdd[0]), (q[:1], qd, qdd), (q[:, None], qd, qdd[0])):
        np.testing.assert_array_equal(armdyn.inverse_dynamics(arm, *args), general(armdyn.inverse_dynamics, arm, *args))


@pytest.mark.parametrize("keywords", [
    {"theta": 2.0}, {"gravity": 1.0}, {"theta": 2.0, "gravity": 1.0}, {"theta": None, "gravity": None, "out": None},
    {"threads": 1}, {"threads": 2}, {"threads": 1024}, {"threads": "auto"}, {"threads": None, "theta": 2.0},
    {"threads": True}, {"threads": 0}, {"threads": 1025}, {"threads": -1}, {"threads": 10**30}, {"threads": 1.5},
])  # fmt: skip
def test_keywords(keywords: dict[str, Any], random_arm: Callable[..., Any]) -> None:
    arm, args = random_arm("RPR"), states(3, 30)
    given = dict(keywords)
    for name in ("theta", "gravity"):
        if isinstance(given.get(name), float):
            given[name] = given[name] * getattr(arm, name)
    armdyn.inverse_dynamics(arm, *args)

    def result(call: Callable[[], Any]) -> Any:
        try:
            return call()
        except ArmdynError as error:
            return str(error)

    got = result(lambda: armdyn.inverse_dynamics(arm, *args, **given))
    want = result(lambda: general(armdyn.inverse_dynamics, arm, *args, **given))
    np.testing.assert_array_equal(got, want)
    assert isinstance(got, str) == (repr(keywords.get("threads")) in ("True", "0", "1025", "-1", repr(10**30), "1.5"))
    if not isinstance(got, str):
        out = np.empty_like(want)
        np.testing.assert_array_equal(armdyn.inverse_dynamics(arm, *args, **{**given, "out": out}), want)


def test_batches_of_parameters_take_the_general_way(random_arm: Callable[..., Any]) -> None:
    arm, args = random_arm("RPR"), states(3, 5)
    armdyn.inverse_dynamics(arm, *args)
    thetas = arm.theta * np.linspace(1, 2, 5)[:, None]
    got = armdyn.inverse_dynamics(arm, *args, theta=thetas)
    for k in range(5):
        np.testing.assert_allclose(got[k], armdyn.inverse_dynamics(arm, *(a[k] for a in args), theta=thetas[k]))


def test_bound_data_may_be_overwritten_by_the_result(random_arm: Callable[..., Any]) -> None:
    arm, args = random_arm("RPR"), states(3, 10)
    want = armdyn.inverse_dynamics(arm, *args)
    store = np.concatenate([arm.theta, np.zeros(30)])
    got = armdyn.inverse_dynamics(arm, *args, theta=store[:30], out=store[:30].reshape(10, 3))
    np.testing.assert_array_equal(got, want)


def test_results_given_over_each_other_take_the_general_way(random_arm: Callable[..., Any]) -> None:
    arm, args = random_arm("RPR"), states(3, 6)
    want = armdyn.linearize(arm, *args)
    shared = np.empty((6, 3, 3))
    outs = (shared, shared, *(np.empty_like(w) for w in want[2:]))
    got = armdyn.linearize(arm, *args, out=outs)
    for k in range(1, len(want)):
        np.testing.assert_array_equal(got[k], want[k])  # of two at one place, the last
    with raises(ShapeError, expected=f"{len(want)} arrays in out", got="2"):
        armdyn.linearize(arm, *args, out=outs[:2])


def test_wrong_arrays_are_named_as_ever(random_arm: Callable[..., Any]) -> None:
    arm, (q, qd, qdd) = random_arm("RPR"), states(3, 5)
    armdyn.inverse_dynamics(arm, q, qd, qdd)
    with raises(ShapeError, cause="leading axes do not broadcast: q (5,), qd (4,), qdd (5,), theta (), gravity ()"):
        armdyn.inverse_dynamics(arm, q, qd[:4], qdd)
    with raises(ShapeError, expected="qd of shape (..., 3) for arm 'RPR'", got="(5, 2)"):
        armdyn.inverse_dynamics(arm, q, qd[:, :2], qdd)
    with raises(ShapeError, expected="qd of shape (..., 3) for arm 'RPR'", got="(5, 2)"):
        armdyn.inverse_dynamics(arm, q, np.ones((5, 2)), qdd)  # dense: the native entry looks at it
    with pytest.raises(TypeError, match="unknown argument 'speed'"):
        armdyn.inverse_dynamics(arm, q, qd, qdd, speed=1)


def test_other_numbers_are_converted(random_arm: Callable[..., Any]) -> None:
    """Whatever the native entry cannot read as it lies: other types, gaps, other byte orders, lists."""
    arm, (q, qd, qdd) = random_arm("RPR"), states(3, 20)
    q = np.round(10 * q)
    want = armdyn.inverse_dynamics(arm, q, qd, qdd)
    gaps = np.zeros((20, 6))
    gaps[:, ::2] = q
    others = (q.astype(int), q.astype(np.float32), q.astype(">f8"), gaps[:, ::2], np.asfortranarray(q), q.tolist())
    for other in others:
        np.testing.assert_array_equal(armdyn.inverse_dynamics(arm, other, qd, qdd), want)


def test_a_read_only_result_is_rejected(random_arm: Callable[..., Any]) -> None:
    arm, args = random_arm("RPR"), states(3, 5)
    want = armdyn.inverse_dynamics(arm, *args)
    out = np.zeros_like(want)
    out.flags.writeable = False
    with raises(ShapeError, cause="out for tau is read-only"):
        armdyn.inverse_dynamics(arm, *args, out=out)
    assert not out.any()


def test_no_reference_is_lost_or_kept(random_arm: Callable[..., Any]) -> None:
    arm, args = random_arm("RPR"), states(3, 5)
    out, theta = np.empty((5, 3)), np.array(arm.theta)
    armdyn.inverse_dynamics(arm, *args)
    armdyn.linearize(arm, *args)  # now all is loaded
    objects = (out, theta, args[0], np.dtype(float), None, arm)
    before = [sys.getrefcount(x) for x in objects]
    for _ in range(200):
        armdyn.inverse_dynamics(arm, *args, out=out, theta=theta, threads=None)
        armdyn.inverse_dynamics(arm, *args)
        armdyn.linearize(arm, *args)
    after = [sys.getrefcount(x) for x in objects]
    assert max(b - a for a, b in zip(before, after, strict=True)) < 50
    results = [armdyn.inverse_dynamics(arm, *args), *armdyn.linearize(arm, *args)]
    gone = [weakref.ref(result) for result in results]
    del results
    assert [reference() for reference in gone] == [None] * len(gone)


def test_other_threads_run_meanwhile(random_arm: Callable[..., Any]) -> None:
    arm, args = random_arm("RRRRRR"), states(6, 300_000)
    out = armdyn.inverse_dynamics(arm, *args)
    ticks, stop = [], threading.Event()

    def tick() -> None:
        while not stop.is_set():
            ticks.append(None)
            stop.wait(0.0005)

    ticker = threading.Thread(target=tick)
    ticker.start()
    for _ in range(5):
        before = len(ticks)
        armdyn.inverse_dynamics(arm, *args, out=out)
    stop.set()
    ticker.join()
    assert len(ticks) > before
