"""From a program to machine code in this process: found on disk, or compiled and kept there."""

from __future__ import annotations

import ctypes
import hashlib
import os
import threading
import time
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from armdyn.errors import ArmdynWarning
from armdyn.trace import direct_calls, function
from armdyn.trace.program import Program

if TYPE_CHECKING:
    from armdyn.trace.graphs.graph import Graph
    from armdyn.trace.llvm.compile import Form
    from armdyn.trace.llvm.native import LoadedKernel, Module

# Graphs with more instructions than this would compile for longer than 7 s: the virtual machine runs them.
MAX_NATIVE_INSTRUCTIONS = 60_000
# A folder whose text cannot change a formula says so in its `__init__.py`.
NO_FORMULAS = b"NO_FORMULAS = True"

Code = TypeVar("Code")
seconds_compiling = 0.0  # of this process, tracing included
_lock = threading.Lock()  # LLVM's global state; also keeps two threads from compiling the same program


def compile_program(
    program: Callable[[], Program],
    shared: frozenset[str],
    key: str | None,
    form: Form,
    load: Callable[[Module], Code],
) -> Code | Program:
    """The code of a program that is traced only if it must be; the program itself if it is too large for that.

    `shared` names the inputs without batch axes: what depends on them alone is computed once per call. `key` tells
    apart everything that armdyn's own text does not decide; None means that the graph does. `form` says
    what is compiled around the graph, and `load` brings machine code into this process.
    """
    global seconds_compiling
    from armdyn.trace import cache as disk

    with _lock:
        name = _digest(f"{form} {key}", shared) if key else None
        module = disk.read(name) if name else None
        if module is not None:
            return load(module)
        begin = time.perf_counter()
        from armdyn.trace.llvm.compile import compile_graph

        traced = program()
        graph = _graph(traced, shared, form)
        if graph is None:
            _warn_too_large(traced)
            return traced
        if name is None:
            name = _digest(repr((form, graph.nodes, graph.results, graph.inputs, graph.outputs)), shared)
            module = disk.read(name)
        if module is None:
            module = compile_graph(graph, frozenset(k for k, p in enumerate(traced.inputs) if p.name in shared), form)
            disk.write(name, module)
        seconds_compiling += time.perf_counter() - begin
        return load(module)


def _graph(program: Program, shared: frozenset[str], form: Form) -> Graph | None:
    """Return the graph to compile, or None where it is too large for that."""
    from armdyn.trace.graphs.graph import graph_of
    from armdyn.trace.stages import staged_graph

    if "rollout" in form:  # a repeated formula is traced once, not at each of its calls
        graph = staged_graph(program, shared)
        return graph if len(graph.nodes) <= MAX_NATIVE_INSTRUCTIONS else None
    return graph_of(program) if program.function.n_instructions() <= MAX_NATIVE_INSTRUCTIONS else None


@cache
def self_test_kernel() -> LoadedKernel:
    """The tiny kernel that tests this machine, with the code that finds fast paths; it stays in memory."""
    from armdyn.trace import cache as disk
    from armdyn.trace.llvm.native import LoadedKernel

    with _lock:
        name = _digest("trial", frozenset())
        module = disk.read(name, disk.TRIAL)
        if module is None:
            from armdyn.trace.llvm.compile import compile_trial

            module = compile_trial()
            disk.write(name, module, disk.TRIAL)
    return LoadedKernel(module)


@cache
def dispatcher() -> int:
    """The address of the code that finds fast paths, 0 where it may not be used."""
    from armdyn.trace.llvm.native import function_address

    if not direct_calls.available() or function.function_type() is function.TracedCallable:
        return 0
    context = (ctypes.c_uint64 * 3).from_address(self_test_kernel().address("dispatch_context"))
    context[:] = [function_address(name) for name in ("PyObject_Vectorcall", "Py_DecRef", "Py_IncRef")]
    return self_test_kernel().address("dispatch")


def self_test() -> None:
    """Run the tiny kernel; raises if anything about this machine is not as expected."""
    batch = np.arange(10.0).reshape(5, 2)
    want = np.stack([batch[:, 1] - batch[:, 0], batch[:, 0] * batch[:, 1]], -1)
    gufunc = self_test_kernel().gufunc
    bound = self_test_kernel().bind([], gufunc)
    got = [gufunc(batch), bound(batch), np.stack([bound(row) for row in batch])]
    if dispatcher():
        callable_ = function.function_type()(lambda *args: args)
        python = callable_(batch, 1)
        callable_.put(id(batch), bound, dispatcher())
        got.append(callable_(batch, batch))
        if python[1] != 1 or callable_(want, 1)[1] != 1 or callable_() != ():
            raise RuntimeError("a test function gave a wrong result")
    if not all(np.array_equal(g, want) for g in got):
        raise RuntimeError("a test kernel gave a wrong result")


def _digest(key: str, shared: frozenset[str]) -> str:
    """The name of an entry on disk: what it computes, which inputs are shared, and what made it."""
    from armdyn.trace.llvm.processor import versions

    return hashlib.sha256(repr((key, sorted(shared), versions(), source_digest())).encode()).hexdigest()


def holds_formulas(folder: Path) -> bool:
    """Whether the text of a folder may change a formula."""
    file = folder / "__init__.py"
    return not file.is_file() or NO_FORMULAS not in file.read_bytes()


@cache
def source_digest() -> str:
    """A digest of armdyn's own text, as far as it can change a formula."""
    digest = hashlib.sha256()
    for folder, inner, files in os.walk(Path(__file__).parents[1]):
        inner[:] = [name for name in sorted(inner) if holds_formulas(Path(folder, name))]
        for name in sorted(files):
            if name.endswith((".py", ".ll")):
                with open(os.path.join(folder, name), "rb") as stream:
                    digest.update(name.encode() + stream.read())
    return digest.hexdigest()


def _warn_too_large(program: Any) -> None:
    warnings.warn(
        f"{program.name} has {program.function.n_instructions()} instructions, more than {MAX_NATIVE_INSTRUCTIONS}: "
        "it runs on CasADi's virtual machine, about 100 times slower than a native kernel",
        ArmdynWarning,
        stacklevel=4,
    )
