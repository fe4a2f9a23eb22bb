"""Kernels: a program made ready to run on arrays, found in memory, on disk, or compiled."""

from __future__ import annotations

import hashlib
import os
import threading
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynError, ArmdynWarning
from armdyn.trace import virtual
from armdyn.trace.program import Port, Program

# Graphs with more instructions than this would compile for minutes: the virtual machine runs them.
LARGEST_NATIVE = 30_000
# Batches below this many samples are not worth waking threads for.
THREAD_FROM = 4096

# Folders whose text cannot change a formula.
_NOT_FORMULAS = {"cli", "report", "studio", "library"}


class VirtualKernel:
    """Runs a program on CasADi's virtual machine."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.inputs, self.outputs = program.inputs, program.outputs

    def __call__(self, arrays: Sequence[NDArray], outs: Sequence[NDArray | None], threads: int) -> list[NDArray]:
        """Compute one array an output."""
        return virtual.evaluate(self.program, arrays, outs)

    def bind(
        self, shared: Sequence[NDArray], fallback: Callable[..., Any], collect: Callable[..., Any] | None = None
    ) -> Callable[..., Any]:
        """There is no faster way for single samples."""
        return fallback


class NativeKernel:
    """Runs machine code through a NumPy gufunc."""

    def __init__(self, loaded: Any) -> None:
        self._loaded = loaded
        self.inputs, self.outputs = loaded.module.inputs, loaded.module.outputs
        self._axes = [(len(port.shape), strides(port)) for port in self.inputs]
        self.gufunc, self.bind = loaded.gufunc, loaded.bind

    def __call__(self, arrays: Sequence[NDArray], outs: Sequence[NDArray | None], threads: int) -> list[NDArray]:
        """Compute one array an output, in parallel over blocks of samples if asked."""
        arrays = [
            a if a.strides[a.ndim - k :] == steps and a.flags.aligned else np.array(a, order="C")
            for a, (k, steps) in zip(arrays, self._axes, strict=True)
        ]
        if threads > 1:
            batch = np.broadcast_shapes(
                *(a.shape[: a.ndim - len(p.shape)] for a, p in zip(arrays, self.inputs, strict=True))
            )
            if batch and batch[0] >= threads and int(np.prod(batch)) >= THREAD_FROM:
                return self._threaded(arrays, outs, threads, batch)
        return self._run(arrays, outs)

    def _run(self, arrays: Sequence[NDArray], outs: Sequence[NDArray | None]) -> list[NDArray]:
        if all(out is None for out in outs):
            results = self.gufunc(*arrays)
            return list(results) if len(outs) > 1 else [results]
        direct = [o if o is None or _is_plain(o, port) else None for o, port in zip(outs, self.outputs, strict=True)]
        results = self.gufunc(*arrays, out=tuple(direct))
        results = list(results) if len(outs) > 1 else [results]
        for k, out in enumerate(outs):
            if out is not None and out is not results[k]:
                if out.shape != results[k].shape:
                    raise ValueError("out has another shape than the result")
                out[...] = results[k]
                results[k] = out
        return results

    def _threaded(
        self, arrays: Sequence[NDArray], outs: Sequence[NDArray | None], threads: int, batch: tuple[int, ...]
    ) -> list[NDArray]:
        """Blocks of the first batch axis, one a thread; the gufunc releases the GIL."""
        results = [
            np.empty(batch + port.shape) if out is None else out for out, port in zip(outs, self.outputs, strict=True)
        ]
        edges = np.linspace(0, batch[0], threads + 1).astype(int)

        def block(k: int) -> None:
            part = slice(edges[k], edges[k + 1])
            own = [
                a[part] if a.ndim - len(p.shape) == len(batch) and a.shape[0] > 1 else a
                for a, p in zip(arrays, self.inputs, strict=True)
            ]
            self._run(own, [r[part] for r in results])

        list(thread_pool(threads, os.getpid()).map(block, range(threads)))
        return results


@cache
def thread_pool(threads: int, process: int) -> ThreadPoolExecutor:
    """Threads of this process (a forked child makes its own)."""
    return ThreadPoolExecutor(threads, thread_name_prefix="armdyn")


@cache
def default_threads() -> int:
    """`ARMDYN_NUM_THREADS` when first asked, else 1: worker processes and BLAS then never compete with us for cores."""
    text = os.environ.get("ARMDYN_NUM_THREADS", "1")
    return check_threads(int(text) if text.isdigit() else text)


def check_threads(threads: Any) -> int:
    """A number of threads, or an error that says what it should be."""
    if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)) or not 1 <= threads <= 1024:
        raise ArmdynError(f"threads: expected a whole number from 1 to 1024, got {threads!r}")
    return int(threads)


def strides(port: Port) -> tuple[int, ...]:
    """Distances in bytes between the entries of one sample in C order."""
    steps, step = [], 8
    for size in reversed(port.shape):
        steps.append(step)
        step *= size
    return tuple(reversed(steps))


def _is_plain(array: NDArray, port: Port) -> bool:
    """Whether the entries of each sample are contiguous, aligned doubles."""
    k = len(port.shape)
    return (k == 0 or array.strides[-k:] == strides(port)) and array.flags.aligned


# -- finding or making them ----------------------------------------------------------------------------------


@cache
def source_digest() -> str:
    """A digest of armdyn's own text, as far as it can change a formula."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        if not _NOT_FORMULAS & set(path.relative_to(root).parts):
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


compile_lock = threading.Lock()


def make_kernel(program: Callable[[], Program], shared: frozenset[str], key: str | None, backend: str) -> Any:
    """A kernel for a program that is traced only if it must be; `key` None means: keyed by its graph."""
    if backend == "virtual":
        return VirtualKernel(program())
    from armdyn.trace import cache as disk
    from armdyn.trace.llvm.native import Loaded, compile_graph, versions

    with compile_lock:  # LLVM's global state; also keeps two threads from compiling the same kernel
        name = key_digest(key, shared, versions()) if key else None
        module = disk.read(name) if name else None
        if module is None:
            from armdyn.trace.graphs.graph import graph_of

            traced = program()
            if traced.function.n_instructions() > LARGEST_NATIVE:
                return too_large(traced)
            graph = graph_of(traced)
            if name is None:
                name = key_digest(repr((graph.nodes, graph.results, graph.inputs, graph.outputs)), shared, versions())
                module = disk.read(name)
            if module is None:
                ports = frozenset(k for k, port in enumerate(traced.inputs) if port.name in shared)
                module = compile_graph(graph, ports)
                disk.write(name, module)
        return NativeKernel(Loaded(module))


def key_digest(key: str, shared: frozenset[str], versions: str) -> str:
    """The name of a kernel on disk: what it computes, which inputs are shared, and what made it."""
    return hashlib.sha256(repr((key, sorted(shared), versions, source_digest())).encode()).hexdigest()


def too_large(program: Program) -> VirtualKernel:
    """A kernel on the virtual machine, with a warning that says why."""
    warnings.warn(
        f"{program.name} has {program.function.n_instructions()} instructions, more than {LARGEST_NATIVE}: "
        "it runs on CasADi's virtual machine, about 100 times slower than a native kernel",
        ArmdynWarning,
        stacklevel=4,
    )
    return VirtualKernel(program)
