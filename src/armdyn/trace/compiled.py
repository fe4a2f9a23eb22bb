"""From a program to machine code in this process: found on disk, or compiled and kept there."""

from __future__ import annotations

import hashlib
import os
import threading
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from armdyn.errors import ArmdynWarning
from armdyn.trace.program import Program

if TYPE_CHECKING:
    from armdyn.trace.graphs.graph import Graph
    from armdyn.trace.llvm.native import Module

# Graphs with more instructions than this would compile for longer than 7 s: the virtual machine runs them.
LARGEST_NATIVE = 60_000
# Folders whose text cannot change a formula.
NOT_FORMULAS = {"cli", "study", "reproduce", "report", "studio", "servo", "library", "printers"}
NOT_FORMULAS |= {"checks", "fit", "logs", "motion"}  # of identification

Code = TypeVar("Code")
_lock = threading.Lock()  # LLVM's global state; also keeps two threads from compiling the same program


def compiled(
    program: Callable[[], Program],
    shared: frozenset[str],
    key: str | None,
    form: str,
    load: Callable[[Module], Code],
) -> Code | Program:
    """The code of a program that is traced only if it must be; the program itself if it is too large for that.

    `shared` names the inputs without batch axes: what depends on them alone is computed once per call. `key` tells
    apart everything that armdyn's own text does not decide; None means that the graph does. `form` is one of
    `compile.FORMS`, and `load` brings machine code into this process.
    """
    from armdyn.trace import cache as disk

    with _lock:
        name = _digest(f"{form} {key}", shared) if key else None
        module = disk.read(name) if name else None
        if module is not None:
            return load(module)
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
        return load(module)


def _graph(program: Program, shared: frozenset[str], form: str) -> Graph | None:
    """What is compiled, or None where it is too large for that."""
    from armdyn.trace.graphs.graph import graph_of
    from armdyn.trace.stages import staged_graph

    if "rollout" in form:  # a repeated formula is traced once, not at each of its calls
        graph = staged_graph(program, shared)
        return graph if len(graph.nodes) <= LARGEST_NATIVE else None
    return graph_of(program) if program.function.n_instructions() <= LARGEST_NATIVE else None


def trial_module() -> Module:
    """The code of a tiny graph that tests this machine, from disk if it is there."""
    from armdyn.trace import cache as disk

    with _lock:
        name = _digest("trial", frozenset())
        module = disk.read(name, disk.TRIAL)
        if module is None:
            from armdyn.trace.llvm.compile import compile_trial

            module = compile_trial()
            disk.write(name, module, disk.TRIAL)
    return module


def _digest(key: str, shared: frozenset[str]) -> str:
    """The name of an entry on disk: what it computes, which inputs are shared, and what made it."""
    from armdyn.trace.llvm.processor import versions

    return hashlib.sha256(repr((key, sorted(shared), versions(), source_digest())).encode()).hexdigest()


@cache
def source_digest() -> str:
    """A digest of armdyn's own text, as far as it can change a formula."""
    digest = hashlib.sha256()
    for folder, inner, files in os.walk(Path(__file__).parents[1]):
        inner[:] = sorted(set(inner) - NOT_FORMULAS)
        for name in sorted(files):
            if name.endswith((".py", ".ll")):
                with open(os.path.join(folder, name), "rb") as stream:
                    digest.update(name.encode() + stream.read())
    return digest.hexdigest()


def _warn_too_large(program: Any) -> None:
    warnings.warn(
        f"{program.name} has {program.function.n_instructions()} instructions, more than {LARGEST_NATIVE}: "
        "it runs on CasADi's virtual machine, about 100 times slower than a native kernel",
        ArmdynWarning,
        stacklevel=4,
    )
