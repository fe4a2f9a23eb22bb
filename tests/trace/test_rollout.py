"""Rollouts: many steps of a program in one call."""

import gc

import numpy as np
import pytest
from tests.raising import raises

from armdyn.errors import ShapeError
from armdyn.trace import backend
from armdyn.trace.program import Port, Program
from armdyn.trace.rollout import make_rollout
from armdyn.trace.symbols import ca


def program(n: int = 5) -> Program:
    """x' = a x + u, y = sum of x: a state fed back, an input that changes, one that does not."""

    def formula(x, u, a):
        total = x[0]
        for k in range(1, n):
            total = total + x[k]
        return [a * x + u, total]

    inputs = (Port("x", (n,)), Port("u", (n,)), Port("a", (1,)))
    return Program("recursion", inputs, (Port("x", (n,)), Port("y", (1,))), formula)


def by_numpy(x0, u, a):
    """The same in plain NumPy: x (lanes, steps + 1, n)."""
    x = [x0]
    for k in range(u.shape[1]):
        x.append(a[:, 0] * x[-1] + u[:, k])
    return np.stack(x, 1)


def run(rollout, x0, u, a, steps, threads=1):
    x = np.empty((len(x0), steps + 1, x0.shape[1]))
    x[:, 0] = x0
    y = np.empty((len(x0), steps, 1))
    rollout({"x": x[:, :-1], "u": u, "a": a}, {"x": x[:, 1:], "y": y}, threads)
    return x, y


@pytest.mark.parametrize("lanes", [1, 3, 4, 9, 17])
@pytest.mark.parametrize(("threads", "single"), [(1, False), (3, False), (1, True)])
def test_state_is_fed_back(lanes, threads, single):
    rng = np.random.default_rng(lanes)
    x0, u, a = rng.normal(size=(lanes, 5)), rng.normal(size=(1, 20, 5)), np.full((1, 1, 1), 0.9)
    x, y = run(make_rollout(program, frozenset({"a"}), None, single), x0, u, a, 20, threads)
    expected = by_numpy(x0, np.broadcast_to(u, (lanes, 20, 5)), np.full((1, 1, 1), 0.9))
    assert np.allclose(x, expected, rtol=1e-13, atol=1e-13)
    assert np.allclose(y[..., 0], expected[:, :-1].sum(-1), rtol=1e-12, atol=1e-12)


def test_inputs_a_rollout():
    """`a` differs from rollout to rollout, `u` from step to step and rollout to rollout."""
    rng = np.random.default_rng(0)
    x0, u, a = rng.normal(size=(6, 5)), rng.normal(size=(6, 8, 5)), rng.uniform(0.5, 1, (6, 1, 1))
    x, _ = run(make_rollout(program, frozenset(), None), x0, u, a, 8)
    assert np.allclose(x, by_numpy(x0, u, a), rtol=1e-13, atol=1e-13)


def test_the_virtual_machine_agrees():
    rng = np.random.default_rng(0)
    x0, u, a = rng.normal(size=(6, 5)), rng.normal(size=(6, 8, 5)), rng.uniform(0.5, 1, (6, 1, 1))
    with backend.using("virtual"):
        x, _ = run(make_rollout(program, frozenset(), None), x0, u, a, 8)
    assert np.allclose(x, by_numpy(x0, u, a), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("count", [1, 4, 7, 9])
@pytest.mark.by_day(4)
def test_sines_without_lanes_are_those_with_lanes(count, width):
    """To the last bit, whatever stands beside them."""

    def sines():
        return Program(
            "sines", (Port("x", (count,)),), tuple(Port(f, (count,)) for f in "sc"), lambda x: [ca.sin(x), ca.cos(x)]
        )

    rng = np.random.default_rng(count)
    x = rng.uniform(-10, 10, (1, 200, count))
    x[0, :6, -1] = [np.nan, 1e9, -0.0, 0.0, np.inf, -3e5]
    found = []
    for single in (False, True):
        rows = {f: np.empty_like(x) for f in "sc"}
        make_rollout(sines, frozenset(), None, single)({"x": x}, rows)
        found.append(np.stack([rows["s"], rows["c"]]).view(np.int64))
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("name", backend.NAMES)
def test_in_parts(name):
    """Two steps per call; when the arrays are full there is nothing left to do."""
    rng = np.random.default_rng(0)
    x0, u, a = rng.normal(size=(1, 5)), rng.normal(size=(1, 6, 5)), np.full((1, 1, 1), 0.7)
    x, y = np.empty((1, 7, 5)), np.empty((1, 6, 1))
    x[:, 0] = x0
    with backend.using(name):
        rollout = make_rollout(program, frozenset({"a"}), None)
        step = rollout.bind_in_parts({"x": x[:, :-1], "u": u, "a": a}, {"x": x[:, 1:], "y": y}, 2)
    del rollout
    gc.collect()  # the call keeps the code it runs
    for _ in range(3):
        step()
    assert np.allclose(x, by_numpy(x0, u, a), rtol=1e-13, atol=1e-13)
    with pytest.raises(StopIteration):
        step()


SHORT, FEW, NARROW = np.zeros((6, 7, 5)), np.zeros((2, 8, 5)), np.zeros((6, 8, 4))
SINGLE, SPREAD = np.zeros((6, 8, 5), np.float32), np.zeros((6, 8, 10))[..., ::2]


@pytest.mark.parametrize("u", [SHORT, FEW, NARROW, SINGLE, SPREAD])
def test_arrays_that_do_not_fit_are_rejected(u):
    """Native code would read beyond them."""
    rollout = make_rollout(program, frozenset(), None)
    with raises(ShapeError, where="rollout", expected="u as float64 of shape (6 or 1, 8 or 1, *(5,))"):
        run(rollout, np.zeros((6, 5)), u, np.ones((1, 1, 1)), 8)


def test_outputs_must_hold_every_step_of_every_rollout():
    rollout = make_rollout(program, frozenset(), None)
    inputs = {"x": np.zeros((6, 8, 5)), "u": np.zeros((1, 1, 5)), "a": np.ones((1, 1, 1))}
    for x in (np.zeros((1, 8, 5)), np.zeros((6, 1, 5)), np.broadcast_to(0.0, (6, 8, 5))):
        with raises(ShapeError, where="rollout", expected="x as float64 of shape (6 or 1, 8 or 1, *(5,))"):
            rollout.bind(inputs, {"x": x, "y": np.zeros((6, 8, 1))})
