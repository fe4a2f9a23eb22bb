"""Results written over inputs, over each other's rows and with gaps: always what a plain copy gives."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ShapeError
from armdyn.exports import public_names

# Of arms with six or seven joints or with springs, of constraints, or of base parameters instead of an arm.
OTHERS = (
    *("swivel_angle", "operational_inertia", "base_regressor", "base_adaptive_regressor", "base_regressor_gradient"),
    *("constrained_dynamics", "constrained_torque", "constraint_drift", "constraint_jacobian", "constraint_residual"),
    "spring_columns",
)
TRACED = sorted(
    name
    for name in set(public_names(armdyn)) - set(OTHERS)
    if inspect.isroutine(f := getattr(armdyn, name)) and hasattr(f, "traced")
)
FUNCTIONS = (armdyn.inverse_dynamics, armdyn.mass_matrix, armdyn.forward_dynamics, armdyn.linearize)


@pytest.fixture(autouse=True)
def many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads also for small batches."""
    monkeypatch.setattr(sys.modules["armdyn.trace.kernel"], "THREAD_NS", 1e-3)


def view(rng: np.random.Generator, store: np.ndarray, batch: int, shape: tuple[int, ...]) -> np.ndarray:
    """An array of samples somewhere in a store of numbers: dense, with gaps, backwards, transposed."""
    size = int(np.prod(shape, dtype=int))
    kind = rng.integers(5)
    gap = 2 if kind in (1, 2) else 1
    start = rng.integers(len(store) - gap * batch * size)
    block = store[start : start + gap * batch * size]
    if kind == 1:  # gaps between the samples
        return block.reshape(batch, gap * size)[:, :size].reshape(batch, *shape)
    if kind == 2:  # gaps between the entries
        return np.lib.stride_tricks.as_strided(block[::2], (batch, *shape), _steps(batch, shape, 16))
    if kind == 3:
        return block.reshape(batch, *shape)[::-1]
    if kind == 4 and len(shape) == 1:
        return block.reshape(*shape, batch).T
    return block.reshape(batch, *shape)


def _steps(batch: int, shape: tuple[int, ...], step: int) -> tuple[int, ...]:
    return tuple(step * int(np.prod(shape[k:], dtype=int)) for k in range(len(shape) + 1))


def calls(arms: list[Any], count: int, seed: int, largest: int) -> None:
    """Random calls whose inputs and results lie anywhere in one store, on 1 to 4 threads."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        arm, function = arms[rng.integers(len(arms))], FUNCTIONS[rng.integers(len(FUNCTIONS))]
        batch, n = int(rng.integers(1, largest)), arm.n
        outputs = [(n,)] if function not in (armdyn.mass_matrix, armdyn.linearize) else [(n, n)]
        several = function is armdyn.linearize
        if several:
            outputs = [np.shape(y)[1:] for y in armdyn.linearize(arm, *np.zeros((3, 1, n)))]
        sizes = [batch * int(np.prod(s, dtype=int)) for s in outputs]
        # Results of one call must lie apart; each may lie over any input.
        stores = [rng.normal(size=2 * size + 2 * batch * n + 50) for size in sizes]
        args = [view(rng, stores[rng.integers(len(stores))], batch, (n,)) for _ in range(3)]
        if function is armdyn.mass_matrix:
            args = args[:1]
        want = function(arm, *(np.array(a) for a in args))
        outs = [view(rng, store, batch, shape) for store, shape in zip(stores, outputs, strict=True)]
        got = function(arm, *args, out=tuple(outs) if several else outs[0], threads=int(rng.integers(1, 5)))
        for g, w in zip(got, want, strict=True) if several else [(got, want)]:
            np.testing.assert_array_equal(g, w)
        for out, w in zip(outs, want if several else [want], strict=True):
            np.testing.assert_array_equal(out, w)


def test_random_overlaps_equal_a_plain_copy(random_arm: Callable[..., Any]) -> None:
    calls([random_arm("RPR"), random_arm("RR", seed=1)], 150, seed=0, largest=200)


@pytest.mark.slow
def test_a_thousand_random_overlaps_equal_a_plain_copy(random_arm: Callable[..., Any]) -> None:
    calls([random_arm("RPR"), random_arm("RR", seed=1), random_arm("RRPRR", seed=2)], 1000, seed=1, largest=9000)


@pytest.mark.parametrize("name", TRACED)
def test_every_function_may_write_over_its_input(name: str) -> None:
    arm, function = armdyn.arms.planar2(), getattr(armdyn, name)
    declaration, rng, count = function.traced, np.random.default_rng(3), 64
    program = declaration.program(arm, declaration.plain_variant)
    assert program.function.n_out() == len(program.outputs)
    ports = [port for port in program.inputs if port.name in declaration.required]
    args = [rng.uniform(0.1, 1, (count, *port.shape)) for port in ports]
    want = function(arm, *args)
    first = program.outputs[0]
    store = np.zeros(count * (ports[0].size + first.size))
    shifted = store[: count * ports[0].size].reshape(args[0].shape)
    places = (slice(0, count * first.size), slice(1, 1 + count * first.size))
    for threads, place in product((1, 2, 4), places):
        shifted[...] = args[0]
        outs = [np.empty((count, *port.shape)) for port in program.outputs]
        outs[0] = store[place].reshape(outs[0].shape)[::-1]
        got = function(arm, shifted, *args[1:], out=outs if declaration.result else outs[0], threads=threads)
        for g, w in zip(got, want, strict=True) if declaration.result else [(got, want)]:
            np.testing.assert_array_equal(g, w)


@pytest.mark.parametrize("threads", [None, 1])
@pytest.mark.parametrize("shift", [-3, -1, 0, 1, 2, 3, 5, 24])
def test_dense_results_over_dense_inputs(shift: int, threads: int | None, random_arm: Callable[..., Any]) -> None:
    """The native entry takes dense arrays itself, unless they overlap: later samples would be spoilt unread."""
    arm, rng, count = random_arm("RPR"), np.random.default_rng(4), 60
    others = rng.normal(size=(2, count, 3))
    for place in range(3):
        store = rng.normal(size=3 * count + 60)
        args = [*others[:place], store[30 : 30 + 3 * count].reshape(count, 3), *others[place:]]
        want = armdyn.inverse_dynamics(arm, *(np.array(a) for a in args))  # after it the native entry is known
        out = store[30 + shift : 30 + shift + 3 * count].reshape(count, 3)
        assert armdyn.inverse_dynamics(arm, *args, out=out, threads=threads) is out
        np.testing.assert_array_equal(out, want)


def test_dense_results_over_each_other(random_arm: Callable[..., Any]) -> None:
    """Of numbers at one place the last result stays, as if all were copied one after the other."""
    arm, args = random_arm("RPR"), np.random.default_rng(5).normal(size=(3, 20, 3))
    want = armdyn.linearize(arm, *args)
    size = want[0].size
    store = np.zeros(size + 7)
    first, second = store[:size].reshape(want[0].shape), store[7:].reshape(want[1].shape)
    armdyn.linearize(arm, *args, out=(first, second, *(np.empty_like(w) for w in want[2:])))
    np.testing.assert_array_equal(second, want[1])
    np.testing.assert_array_equal(store[:7], want[0].ravel()[:7])


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("shape", [(104, 3), (96, 3), (2, 100, 3), (100, 4), (1, 3), (3,), (100, 3, 1)])
def test_an_out_of_another_shape_is_rejected(
    shape: tuple[int, ...], threads: int, random_arm: Callable[..., Any]
) -> None:
    arm, q, out = random_arm("RPR"), np.ones((100, 3)), np.full(shape, 7.0)
    for _ in range(2):  # before and after the fast path is known
        with raises(ShapeError, expected="out for tau of shape (100, 3)"):
            armdyn.inverse_dynamics(arm, q, q, q, out=out, threads=threads)
        with raises(ShapeError, expected="out for tau of shape (100, 3)"):
            armdyn.inverse_dynamics(arm, q, q, q, out=out)
        armdyn.inverse_dynamics(arm, q, q, q)
    assert np.all(out == 7.0)


def test_rows_of_out_that_overlap_get_the_later_sample(random_arm: Callable[..., Any]) -> None:
    arm, q = random_arm("RPR"), np.random.default_rng(1).normal(size=(50, 3))
    want = armdyn.inverse_dynamics(arm, q, q, q)
    store = np.zeros(52)
    armdyn.inverse_dynamics(arm, q, q, q, out=np.lib.stride_tricks.as_strided(store, (50, 3), (8, 8)))
    np.testing.assert_array_equal(store, [*want[:, 0], *want[-1, 1:]])


def test_rows_of_out_at_one_place_get_the_last_sample(random_arm: Callable[..., Any]) -> None:
    arm, q = random_arm("RPR"), np.random.default_rng(0).normal(size=(50, 3))
    one = np.empty((1, 3))
    out = np.lib.stride_tricks.as_strided(one, (50, 3), (0, 8))
    armdyn.inverse_dynamics(arm, q, q, q, out=out, threads=3)
    np.testing.assert_array_equal(one[0], armdyn.inverse_dynamics(arm, q, q, q)[-1])
