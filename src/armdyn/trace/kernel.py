"""Kernels: a program made ready to run on arrays."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynError
from armdyn.trace import virtual
from armdyn.trace.compiled import compile_program
from armdyn.trace.pool import LARGE_RESULT_BYTES, pool
from armdyn.trace.program import Program, as_list

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

Outs = Sequence[NDArray | None]  # the arrays to write into, None for a fresh one

# A thread is worth waking for so much work [ns].
THREAD_NS = 500_000.0


class VirtualKernel:
    """Runs a program on CasADi's virtual machine."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.inputs, self.outputs = program.inputs, program.outputs
        self.nbytes = virtual.size(program)

    def dropped(self) -> None:
        """Nothing else refers to it."""

    def __call__(self, arrays: Sequence[NDArray], outs: Outs, batch: tuple[int, ...], threads: int) -> list[NDArray]:
        """Compute one array an output for checked arrays."""
        return _put(virtual.evaluate(self.program, arrays), outs)

    def bind(
        self,
        shared: Sequence[NDArray],
        fallback: Callable[..., Any],
        collect: type[tuple[Any, ...]] | None = None,
    ) -> Callable[..., Any]:
        """There is no faster way."""
        return fallback


class NativeKernel:
    """Runs machine code through a NumPy gufunc."""

    def __init__(self, loaded: Any) -> None:
        self._loaded = loaded
        self.inputs, self.outputs = loaded.module.inputs, loaded.module.outputs
        self.gufunc = loaded.gufunc
        self.nbytes, self.cost = loaded.nbytes, loaded.module.cost
        self.fast_paths: dict[int, Callable[[int], None]] = {}  # by id of a subject: what forgets its fast path

    def bind(
        self, shared: Sequence[NDArray], fallback: Callable[..., Any], collect: type[tuple[Any, ...]] | None = None
    ) -> Callable[..., Any]:
        """A callable for contiguous arrays with the shared inputs fixed; other calls go to `fallback`."""
        pays = math.ceil(2 * THREAD_NS / self.cost)
        # Where threads are the rule, batches that are worth them are left to the general way.
        return self._loaded.bind(shared, fallback, collect, 2**62 if default_threads() == 1 else pays, pays)

    def threads_that_pay(self, samples: int) -> int:
        """Return the number of threads that have enough to do."""
        return int(samples * self.cost / THREAD_NS)

    def dropped(self) -> None:
        """Fast paths would keep the code in memory: forget them too."""
        for subject, forget in list(self.fast_paths.items()):
            forget(subject)

    def __call__(self, arrays: Sequence[NDArray], outs: Outs, batch: tuple[int, ...], threads: int) -> list[NDArray]:
        """Compute one array an output for checked arrays of a batch, in parallel over blocks of samples if asked."""
        arrays = [
            a if port.is_plain(a) else np.array(a, float, order="C")
            for a, port in zip(arrays, self.inputs, strict=True)
        ]
        if 8 * math.prod(batch) * sum(port.size for port in self.outputs) >= LARGE_RESULT_BYTES:
            outs = [pool().empty(batch + p.shape) if o is None else o for o, p in zip(outs, self.outputs, strict=True)]
        if threads > 1 and batch:
            threads = min(threads, batch[0], self.threads_that_pay(math.prod(batch)))
            if threads > 1:
                return self._threaded(arrays, outs, threads, batch)
        return self._run(arrays, outs)

    def _run(self, arrays: Sequence[NDArray], outs: Outs) -> list[NDArray]:
        """One call; results that may overlap an input are computed apart and copied."""
        if all(out is None for out in outs):
            return as_list(self.gufunc(*arrays), outs)
        direct = [
            o if o is not None and port.is_plain(o) and _is_apart(o, arrays, outs) else None
            for o, port in zip(outs, self.outputs, strict=True)
        ]
        return _put(as_list(self.gufunc(*arrays, out=tuple(direct)), outs), outs)

    def _threaded(self, arrays: Sequence[NDArray], outs: Outs, threads: int, batch: tuple[int, ...]) -> list[NDArray]:
        """Blocks of the first batch axis, one per thread; the gufunc releases the GIL."""
        results = [
            out if out is not None and _is_apart(out, arrays, outs) else np.empty(batch + port.shape)
            for out, port in zip(outs, self.outputs, strict=True)
        ]
        edges = np.linspace(0, batch[0], threads + 1).astype(int)

        def block(k: int) -> None:
            part = slice(edges[k], edges[k + 1])
            sliced = [
                a[part] if a.ndim - len(p.shape) == len(batch) and a.shape[0] > 1 else a
                for a, p in zip(arrays, self.inputs, strict=True)
            ]
            self._run(sliced, [r[part] for r in results])

        list(thread_pool(threads, os.getpid()).map(block, range(threads)))
        return _put(results, outs)


@cache
def thread_pool(threads: int, process: int) -> ThreadPoolExecutor:
    """Threads of this process (a forked child makes its own)."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(threads, thread_name_prefix="armdyn")


@cache
def default_threads() -> int:
    """`ARMDYN_NUM_THREADS` when first asked, else 1: worker processes and BLAS then never compete with us for cores."""
    text = os.environ.get("ARMDYN_NUM_THREADS", "1")
    return check_threads(int(text) if text.isdigit() else text)


def check_threads(threads: Any) -> int:
    """A number of threads, or an error that says what it should be; "auto" means one per core of this process."""
    if isinstance(threads, str) and threads == "auto":
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)) or not 1 <= threads <= 1024:
        raise ArmdynError(where="threads", expected="a whole number from 1 to 1024 or 'auto'", got=f"{threads!r}")
    return int(threads)


def _put(results: list[NDArray], outs: Outs) -> list[NDArray]:
    """The results in the arrays that are given for them."""
    for result, out in zip(results, outs, strict=True):
        if out is not None and out is not result:
            out[...] = result
    return [result if out is None else out for result, out in zip(results, outs, strict=True)]


def _is_apart(out: NDArray, arrays: Sequence[NDArray], outs: Outs) -> bool:
    """Whether no two entries of `out`, and no entry of another array, can be at the same place."""
    others = [*arrays, *(other for other in outs if other is not None and other is not out)]
    steps = sorted((abs(step), size) for step, size in zip(out.strides, out.shape, strict=True) if size > 1)
    reach = 8
    for step, size in steps:
        if step < reach:
            return False
        reach += step * (size - 1)
    return not any(np.may_share_memory(out, other) for other in others) and sum(o is out for o in outs) == 1


def make_kernel(program: Callable[[], Program], shared: frozenset[str], key: str | None, backend: str) -> Any:
    """A kernel for a program that is traced only if it must be; `key` None means: keyed by its graph."""
    if backend == "virtual":
        return VirtualKernel(program())
    from armdyn.trace.llvm.native import LoadedKernel

    code = compile_program(program, shared, key, "kernel", LoadedKernel)
    return VirtualKernel(code) if isinstance(code, Program) else NativeKernel(code)
