"""Native kernels: agreement with Pinocchio and the virtual machine, batches, strides, memory, threads."""

from __future__ import annotations

import ctypes
import inspect
import mmap
import os
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError, ShapeError
from armdyn.exports import public_names
from armdyn.trace import backend
from armdyn.trace.pool import LARGE_RESULT_BYTES

# Different orders of summation: a few hundred roundings of 1e-16.
RTOL = 1e-11


def close(got: Any, want: Any, rtol: float = RTOL) -> None:
    np.testing.assert_allclose(got, want, rtol=0, atol=rtol * max(1.0, float(np.max(np.abs(want), initial=0))))


def states(arm: Any, count: int, seed: int = 0) -> np.ndarray:
    """Positions, velocities and accelerations, (3, count, n)."""
    return np.random.default_rng(seed).uniform(-2, 2, (3, count, arm.n))


@pytest.mark.parametrize(
    "kinds",
    [
        "R",
        "P",
        "RPR",
        "PRRP",
        "RRRRRR",
        *(pytest.param(k, marks=pytest.mark.slow) for k in ("RRPRPRRR", "RRRRRRPRRRRR")),
    ],
)
@pytest.mark.by_day(2)
def test_agreement_with_pinocchio(kinds: str, random_arm: Callable[..., Any]) -> None:
    from armdyn.model.pinocchio_bridge import to_pinocchio

    pin = pytest.importorskip("pinocchio")
    arm = random_arm(kinds, seed=len(kinds))
    model = to_pinocchio(arm)
    data = model.createData()
    q, qd, qdd = states(arm, 6)
    close(
        armdyn.inverse_dynamics(arm, q, qd, qdd),
        [np.atleast_1d(pin.rnea(model, data, *s)) for s in zip(q, qd, qdd, strict=True)],
    )
    close(armdyn.mass_matrix(arm, q), [np.array(pin.crba(model, data, x)) for x in q])
    rows = [
        np.atleast_2d(pin.computeJointTorqueRegressor(model, data, *s)) @ model_theta(model)
        for s in zip(q, qd, qdd, strict=True)
    ]
    close(armdyn.regressor(arm, q, qd, qdd) @ arm.theta, rows)


def model_theta(model: Any) -> np.ndarray:
    """Pinocchio's inertial parameters, joint by joint."""
    return np.concatenate([model.inertias[i].toDynamicParameters() for i in range(1, model.njoints)])


@pytest.mark.parametrize("batch", [(), (0,), (1,), (2,), (3,), (4,), (5,), (7,), (2, 3), (3, 0), (1, 1, 5)])
def test_every_batch_shape(batch: tuple[int, ...], random_arm: Callable[..., Any]) -> None:
    arm = random_arm("RPR")
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, *batch, 3))
    tau = armdyn.inverse_dynamics(arm, q, qd, qdd)
    assert tau.shape == (*batch, 3)
    flat = [armdyn.inverse_dynamics(arm, *s) for s in zip(*(x.reshape(-1, 3) for x in (q, qd, qdd)), strict=True)]
    np.testing.assert_array_equal(tau.reshape(-1, 3), np.reshape(flat, (-1, 3)))
    assert armdyn.link_poses(arm, q).shape == (*batch, 3, 4, 4)


def test_leading_axes_broadcast_like_numpy(random_arm: Callable[..., Any]) -> None:
    arm = random_arm("RPR")
    rng = np.random.default_rng(2)
    q, qd, qdd = rng.normal(size=(4, 1, 3)), rng.normal(size=(5, 3)), rng.normal(size=3)
    tau = armdyn.inverse_dynamics(arm, q, qd, qdd)
    assert tau.shape == (4, 5, 3)
    close(tau[2, 3], armdyn.inverse_dynamics(arm, q[2, 0], qd[3], qdd), 1e-14)
    thetas = arm.theta * rng.uniform(0.5, 2, (4, 1, 30))  # batched parameters broadcast too
    close(
        armdyn.inverse_dynamics(arm, q, qd, qdd, theta=thetas)[1, 4],
        armdyn.inverse_dynamics(arm.with_theta(thetas[1, 0]), q[1, 0], qd[4], qdd),
    )


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


@pytest.mark.parametrize("name", TRACED)
@pytest.mark.by_day(14)
def test_agreement_with_the_virtual_machine(name: str) -> None:
    arm, function = armdyn.arms.planar2(), getattr(armdyn, name)
    declaration = function.traced
    rng = np.random.default_rng(3)
    program = declaration.program(arm, declaration.plain_variant)
    assert program.function.n_out() == len(program.outputs)
    args = [rng.uniform(0.1, 1, (5, *port.shape)) for port in program.inputs if port.name in declaration.required]
    native = function(arm, *args)
    with backend.using("virtual"):
        virtual = function(arm, *args)
    several = declaration.result is not None
    for a, b in zip(native, virtual, strict=True) if several else [(native, virtual)]:
        assert np.array_equal(np.isnan(a), np.isnan(b))
        close(np.nan_to_num(a), np.nan_to_num(b), 1e-12)


@pytest.mark.by_day(2)
def test_every_width_gives_the_same(width: int, random_arm: Callable[..., Any]) -> None:
    arm = random_arm("RPRR", seed=4)
    from armdyn.trace.graphs.graph import graph_of
    from armdyn.trace.llvm.compile import compile_graph
    from armdyn.trace.llvm.native import LoadedKernel

    declaration = armdyn.regressor.traced
    program = declaration.program(arm, declaration.plain_variant)
    shared = frozenset(k for k, port in enumerate(program.inputs) if port.name in declaration.bound)
    kernel = LoadedKernel(compile_graph(graph_of(program), shared))
    q, qd, qdd = states(arm, 11)
    with backend.using("virtual"):
        want = armdyn.regressor(arm, q, qd, qdd)
    for count in (1, 2, 3, 8, 11):
        close(kernel.gufunc(q[:count], qd[:count], qdd[:count], arm.gravity), want[:count], 1e-12)


def test_a_graph_split_into_parts_gives_the_same(
    monkeypatch: pytest.MonkeyPatch, random_arm: Callable[..., Any]
) -> None:
    from armdyn.trace.graphs.graph import graph_of
    from armdyn.trace.llvm import layout
    from armdyn.trace.llvm.compile import compile_graph
    from armdyn.trace.llvm.native import LoadedKernel

    arm = random_arm("RPR", seed=5)
    declaration = armdyn.linearize.traced
    program = declaration.program(arm, declaration.plain_variant)
    shared = frozenset(k for k, port in enumerate(program.inputs) if port.name in declaration.bound)
    monkeypatch.setattr(layout, "SPLIT_ABOVE", 100)
    monkeypatch.setattr(layout, "CHUNK", 37)
    kernel = LoadedKernel(compile_graph(graph_of(program), shared))
    q, qd, qdd = states(arm, 6)
    data = {"q": q, "qd": qd, "qdd": qdd} | {name: arm.trace_data(name) for name in declaration.bound}
    for got, want in zip(
        kernel.gufunc(*(data[p.name] for p in program.inputs)), armdyn.linearize(arm, q, qd, qdd), strict=True
    ):
        close(got, want, 1e-12)


# -- memory ------------------------------------------------------------------------------------------------


def guarded(shape: tuple[int, ...], at_end: bool) -> np.ndarray:
    """An array that ends (or begins) exactly where an unreadable page does: reading past it would crash."""
    page = mmap.PAGESIZE
    count = int(np.prod(shape))
    pages = -(-8 * count // page)
    block = mmap.mmap(-1, (pages + 2) * page)
    base = ctypes.addressof(ctypes.c_char.from_buffer(block))
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    for guard in (base, base + (pages + 1) * page):
        assert protect(ctypes.c_void_p(guard), ctypes.c_size_t(page), 0) == 0
    start = page + (pages * page - 8 * count if at_end else 0)
    array = np.frombuffer(block, float, count, start).reshape(shape)
    _kept.append(block)
    return array


_kept: list[mmap.mmap] = []  # unmapping while views exist would be the error that is looked for


@pytest.mark.skipif(os.name != "posix", reason="needs mprotect")
@pytest.mark.parametrize("at_end", [True, False])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7, 8, 9])
def test_no_kernel_reads_or_writes_outside_its_arrays(count: int, at_end: bool, random_arm: Callable[..., Any]) -> None:
    arm = random_arm("RPR")
    arrays = [guarded((count, 3), at_end) for _ in range(3)]
    for array, values in zip(arrays, states(arm, count), strict=True):
        array[...] = values
    for function, shape in ((armdyn.inverse_dynamics, (3,)), (armdyn.regressor, (3, 30))):
        out = guarded((count, *shape), at_end)
        function(arm, *arrays, out=out)
        close(out, function(arm, *map(np.copy, arrays)), 1e-14)
    single = [guarded((3,), at_end) for _ in range(4)]
    for array, values in zip(single, arrays, strict=False):
        array[...] = values[0]
    bound = armdyn.kernel(armdyn.inverse_dynamics, arm)
    close(bound(*single[:3], out=single[3]), armdyn.inverse_dynamics(arm, *(a[0] for a in arrays)), 1e-14)


def test_large_results_are_streamed_and_right(random_arm: Callable[..., Any]) -> None:
    arm = random_arm("RRRRRR")
    count = LARGE_RESULT_BYTES // (8 * 360) + 3  # just large enough, and a tail
    q, qd, qdd = states(arm, count)
    want = np.concatenate(
        [armdyn.regressor(arm, *(x[k : k + 500] for x in (q, qd, qdd))) for k in range(0, count, 500)]
    )
    np.testing.assert_array_equal(armdyn.regressor(arm, q, qd, qdd), want)
    for shift in range(1, 9):  # every place within a line of the cache
        room = np.full(count * 360 + 10, np.nan)
        out = room[shift : shift - 10].reshape(count, 6, 60)
        np.testing.assert_array_equal(armdyn.regressor(arm, q, qd, qdd, out=out), want)
        assert np.isnan(room).sum() == 10  # nothing beyond


def test_strides_types_and_byte_orders(random_arm: Callable[..., Any]) -> None:
    arm = random_arm("RPR")
    q, qd, qdd = states(arm, 9)
    tau = armdyn.inverse_dynamics(arm, q, qd, qdd)
    wide = np.zeros((9, 6))
    wide[:, ::2] = q
    for same in (np.asfortranarray(q), wide[:, ::2], q[::-1][::-1], q.astype(">f8"), q.tolist()):
        np.testing.assert_array_equal(armdyn.inverse_dynamics(arm, same, qd, qdd), tau)
    unaligned = np.zeros(9 * 24 + 1, np.uint8)[1:].view(np.float64).reshape(9, 3)
    unaligned[...] = q
    np.testing.assert_array_equal(armdyn.inverse_dynamics(arm, unaligned, qd, qdd), tau)
    close(armdyn.inverse_dynamics(arm, q.astype(np.float32), qd, qdd), tau, 1e-5)  # float32 positions
    assert armdyn.inverse_dynamics(arm, [1, 0, 2], np.zeros(3, int), np.zeros(3, bool)).shape == (3,)


def test_out_may_overlap_an_input_or_be_strided(random_arm: Callable[..., Any]) -> None:
    arm = random_arm("RPR")
    q, qd, qdd = states(arm, 9)
    tau = armdyn.inverse_dynamics(arm, q, qd, qdd)
    mixed = qdd.copy()
    assert armdyn.inverse_dynamics(arm, q, qd, mixed, out=mixed) is mixed
    np.testing.assert_array_equal(mixed, tau)
    block = np.concatenate([qdd, np.zeros((1, 3))])
    np.testing.assert_array_equal(armdyn.inverse_dynamics(arm, q, qd, block[:-1], out=block[1:]), tau)
    strided = np.zeros((9, 6))[:, ::2]
    assert armdyn.inverse_dynamics(arm, q, qd, qdd, out=strided) is strided
    np.testing.assert_array_equal(strided, tau)
    one = qdd[0].copy()
    bound = armdyn.kernel(armdyn.inverse_dynamics, arm)
    np.testing.assert_array_equal(bound(q[0], qd[0], one, out=one), tau[0])


def test_nan_in_one_sample_stays_there(random_arm: Callable[..., Any]) -> None:
    arm = random_arm("RPR")
    q, qd, qdd = states(arm, 9)
    tau = armdyn.inverse_dynamics(arm, q, qd, qdd)
    q[4, 0], qd[6, 1] = np.nan, np.inf
    got = armdyn.inverse_dynamics(arm, q, qd, qdd)
    good = [k for k in range(9) if k not in (4, 6)]
    np.testing.assert_array_equal(got[good], tau[good])
    assert np.isnan(got[4]).any()


# -- calls -------------------------------------------------------------------------------------------------


def test_threads_give_the_same_numbers(random_arm: Callable[..., Any]) -> None:
    arm = random_arm("RPR")
    q, qd, qdd = states(arm, 10_001)
    tau = armdyn.inverse_dynamics(arm, q, qd, qdd)
    np.testing.assert_array_equal(armdyn.inverse_dynamics(arm, q, qd, qdd, threads=3), tau)
    np.testing.assert_array_equal(
        armdyn.inverse_dynamics(arm, q, qd, qdd[:1], threads=2)[:5], armdyn.inverse_dynamics(arm, q[:5], qd[:5], qdd[0])
    )
    for bad in (0, -1, 1.5, "2", True):
        with raises(ArmdynError, where="threads", expected="a whole number from 1 to 1024 or 'auto'"):
            armdyn.inverse_dynamics(arm, q, qd, qdd, threads=bad)


def test_many_threads_may_call_at_once(random_arm: Callable[..., Any]) -> None:
    arm = random_arm("RR", seed=8)
    q, qd, qdd = states(arm, 50)
    results: list[np.ndarray] = []
    crowd = [
        threading.Thread(target=lambda: results.append(armdyn.inverse_dynamics(arm, q, qd, qdd))) for _ in range(8)
    ]
    for member in crowd:
        member.start()
    for member in crowd:
        member.join()
    assert len(results) == 8
    assert all(np.array_equal(r, results[0]) for r in results)


def test_the_bound_call_takes_everything_the_function_takes(random_arm: Callable[..., Any]) -> None:
    arm = random_arm("RPR")
    q, qd, qdd = states(arm, 5)
    tau = armdyn.inverse_dynamics(arm, q, qd, qdd)
    for fold in (False, True):
        bound = armdyn.kernel(armdyn.inverse_dynamics, arm, fold=fold)
        close(bound(q[0], qd[0], qdd[0]), tau[0], 1e-14)
        close(bound(q, qd, qdd), tau, 1e-14)
        close(bound(q[0].tolist(), qd[0], qdd[0]), tau[0], 1e-14)
        out = np.empty(3)
        assert bound(q[0], qd[0], qdd[0], out=out) is out
        with raises(ShapeError, expected="qdd of shape (..., 3) for arm 'RPR'", got="(2,)"):
            bound(q[0], qd[0], qdd[0, :2])
        with pytest.raises(TypeError):
            bound(q[0])
    wrench = np.arange(6.0)
    close(
        armdyn.kernel(armdyn.inverse_dynamics, arm)(q[0], qd[0], qdd[0], wrench=wrench),
        armdyn.inverse_dynamics(arm, q[0], qd[0], qdd[0], wrench),
    )


def test_a_bound_call_outlives_its_arm(random_arm: Callable[..., Any]) -> None:
    import gc

    q, qd, qdd = states(random_arm("RPR"), 1)[:, 0]
    want = armdyn.inverse_dynamics(random_arm("RPR"), q, qd, qdd)
    bound = armdyn.kernel(armdyn.inverse_dynamics, random_arm("RPR"))
    gc.collect()
    for _ in range(100):
        np.testing.assert_array_equal(bound(q, qd, qdd), want)
        np.testing.assert_array_equal(bound(q.tolist(), qd, qdd), want)


def test_short_ways_are_forgotten_with_their_arms(random_arm: Callable[..., Any]) -> None:
    import gc

    fast = armdyn.inverse_dynamics.traced.runner.fast_paths
    arm = random_arm("RPR")
    q, qd, qdd = states(arm, 1)[:, 0]
    gc.collect()
    before = len(fast)
    for k in range(20):
        other = arm.with_theta(arm.theta * (1 + k))
        close(armdyn.inverse_dynamics(other, q, qd, qdd), armdyn.inverse_dynamics(other, q, qd, qdd), 0)
    del other
    gc.collect()
    assert len(fast) <= before + 1


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"q": np.zeros(2)}, {"expected": "q of shape (..., 3) for arm 'RPR'", "got": "(2,)"}),
        ({"q": 1.0}, {"expected": "q of shape (..., 3) for arm 'RPR'", "got": "()"}),
        ({"qd": "fast"}, {"expected": "numbers for qd", "got": "'fast'"}),
        ({"qd": np.zeros(3, complex)}, {"expected": "numbers for qd"}),
        ({"qd": [[1, 2, 3], [4]]}, {"expected": "numbers for qd"}),
        (
            {"qdd": np.zeros((4, 3)), "q": np.zeros((5, 3))},
            {"cause": "leading axes do not broadcast: q (5,), qd (), qdd (4,), theta (), gravity ()"},
        ),
        ({"theta": np.zeros(29)}, {"expected": "theta of shape (..., 30) for arm 'RPR'"}),
        ({"out": np.zeros(4)}, {"expected": "out for tau of shape (3,)", "got": "(4,)"}),
        ({"out": np.zeros(3, np.float32)}, {"expected": "a float64 array as out for tau", "got": "float32 array"}),
        ({"out": [0, 0, 0]}, {"expected": "a float64 array as out for tau", "got": "list"}),
    ],
)
def test_bad_input_is_named(change: dict[str, Any], parts: dict[str, object], random_arm: Callable[..., Any]) -> None:
    arm = random_arm("RPR")
    call = {"q": np.zeros(3), "qd": np.zeros(3), "qdd": np.zeros(3)} | change
    with raises(ShapeError, **parts):
        armdyn.inverse_dynamics(arm, **call)
    armdyn.inverse_dynamics(arm, np.zeros(3), np.zeros(3), np.zeros(3))  # and again on the fast path
    with raises(ShapeError, **parts):
        armdyn.inverse_dynamics(arm, **call)


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="arrays have at most 32 axes")
def test_more_leading_axes_than_numpy_broadcasts_are_named(random_arm: Callable[..., Any]) -> None:
    arm = random_arm("RPR")
    with raises(ShapeError, expected="at most 32 leading axes", got="39", remedy="reshape the arrays"):
        armdyn.gravity_torque(arm, np.zeros((1,) * 39 + (3,)))


def test_a_read_only_out_is_rejected(random_arm: Callable[..., Any]) -> None:
    out = np.zeros(3)
    out.flags.writeable = False
    with raises(ShapeError, cause="out for tau is read-only"):
        armdyn.inverse_dynamics(random_arm("RPR"), *np.zeros((3, 3)), out=out)


def test_a_graph_beyond_the_limit_runs_on_the_virtual_machine_and_says_so(
    monkeypatch: pytest.MonkeyPatch, random_arm: Callable[..., Any]
) -> None:
    from armdyn.errors import ArmdynWarning
    from armdyn.trace import compiled

    monkeypatch.setattr(compiled, "MAX_NATIVE_INSTRUCTIONS", 50)
    arm = random_arm("PRP", seed=9)
    with pytest.warns(ArmdynWarning, match="virtual machine"):
        M = armdyn.mass_matrix(arm, np.zeros(3))
    close(M, M.T)


def test_interpreting_takes_native_kernels_only_where_they_are(random_arm: Callable[..., Any]) -> None:
    """A few calls need no compiler; what is compiled already is used, and a later call outside compiles."""
    arm = random_arm("RRR", seed=31)
    q, _, _ = states(arm, 5)
    runner = armdyn.forward_kinematics.traced.runner
    engines = []

    def kernel_type() -> str:
        traced = armdyn.forward_kinematics.traced
        return type(runner.kernel(arm, traced.plain_variant, frozenset(traced.bound))).__name__

    with backend.interpreting():
        first = armdyn.forward_kinematics(arm, q)
        engines.append(kernel_type())
    close(armdyn.forward_kinematics(arm, q), first)
    engines.append(kernel_type())
    with backend.interpreting():
        engines.append(kernel_type())
    assert engines == ["VirtualKernel", "NativeKernel", "NativeKernel"]
