"""Many steps of a program in one native call, for batches of rollouts.

A port's array has the axes (rollouts, steps, ...), either of length 1 where it does not change. State is fed
back by the caller's choice of arrays: with `x` of shape (rollouts, steps + 1, n), the input is `x[:, :-1]`
and the output `x[:, 1:]`. Rollouts are the lanes of the kernel, and blocks of them run in threads; a kernel for
single rollouts has one lane.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ShapeError
from armdyn.trace import backend, virtual
from armdyn.trace.kernel import LARGEST_NATIVE, compile_lock, key_digest, strides, thread_pool, too_large
from armdyn.trace.program import Port, Program

Rows = Mapping[str, NDArray]


class Rollout:
    """A program ready to run; make it with `make_rollout`."""

    def __init__(self, inputs: tuple[Port, ...], outputs: tuple[Port, ...], engine: Any, program: Any) -> None:
        self.inputs, self.outputs = inputs, outputs
        self._ports = (*inputs, *outputs)
        self._engine, self._program = engine, program
        if engine is not None:
            pointer, number = ctypes.c_void_p, ctypes.c_int64
            kind = ctypes.CFUNCTYPE(None, pointer, pointer, pointer, number, number)
            self._march = kind(engine.get_function_address("march"))

    def bind(self, inputs: Rows, outputs: Rows) -> Callable[[], None]:
        """A call without arguments that fills `outputs` from `inputs`, as often as wanted."""
        arrays = self._arrays(inputs, outputs)
        lanes, steps = arrays[-1].shape[:2]
        if self._engine is None:
            return lambda: self._virtual(arrays, 0, steps)
        pointers, across, along = self._tables(arrays)
        march = self._march

        def run(_keep: Any = (self, arrays)) -> None:  # the code must outlive the call
            march(pointers.ctypes.data, across.ctypes.data, along.ctypes.data, lanes, steps)

        return run

    def bind_in_parts(self, inputs: Rows, outputs: Rows, steps: int) -> Callable[[], None]:
        """A call that computes the next `steps` steps each time, until the arrays are full."""
        arrays = self._arrays(inputs, outputs)
        lanes, total = arrays[-1].shape[:2]
        left = iter(range(0, total - steps + 1, steps))
        if self._engine is None:
            return lambda: self._virtual(arrays, next(left), steps)
        pointers, across, along = self._tables(arrays)
        ahead, march = along * steps, self._march
        tables = (pointers.ctypes.data, across.ctypes.data, along.ctypes.data, lanes, steps)

        def run(_keep: Any = (self, arrays, across, along)) -> None:
            next(left)
            march(*tables)
            np.add(pointers, ahead, out=pointers)

        return run

    def _arrays(self, inputs: Rows, outputs: Rows) -> list[NDArray]:
        """The arrays of all ports, checked."""
        arrays = [inputs[p.name] for p in self.inputs] + [outputs[p.name] for p in self.outputs]
        lanes, steps = np.shape(arrays[-1])[:2]
        for k, (port, array) in enumerate(zip(self._ports, arrays, strict=True)):
            _check(port, array, lanes, steps, is_output=k >= len(self.inputs))
        return arrays

    @staticmethod
    def _tables(arrays: list[NDArray]) -> tuple[NDArray, NDArray, NDArray]:
        """Where each array starts, and its strides from rollout to rollout and from step to step."""
        pointers = np.array([a.ctypes.data for a in arrays], np.int64)
        across = np.array([a.strides[0] if a.shape[0] > 1 else 0 for a in arrays], np.int64)
        along = np.array([a.strides[1] if a.shape[1] > 1 else 0 for a in arrays], np.int64)
        return pointers, across, along

    def __call__(self, inputs: Rows, outputs: Rows, threads: int = 1) -> None:
        """Fill `outputs` from `inputs`; with threads, each takes a block of the rollouts."""
        lanes = next(iter(outputs.values())).shape[0]
        threads = min(threads, lanes)
        if threads <= 1 or self._engine is None:
            self.bind(inputs, outputs)()
            return
        edges = np.linspace(0, lanes, threads + 1).astype(int)
        blocks = [slice(a, b) for a, b in pairwise(edges)]

        def part(rows: Rows, block: slice) -> Rows:
            return {name: a[block] if a.shape[0] > 1 else a for name, a in rows.items()}

        runs = [self.bind(part(inputs, block), part(outputs, block)) for block in blocks]
        list(thread_pool(threads, os.getpid()).map(lambda run: run(), runs))

    def _virtual(self, arrays: list[NDArray], first: int, steps: int) -> None:
        """Step by step on CasADi's virtual machine."""
        count = len(self.inputs)
        for k in range(first, first + steps):
            rows = [a[:, k if a.shape[1] > 1 else 0] for a in arrays]
            for row, result in zip(
                rows[count:], virtual.evaluate(self._program, rows[:count], [None] * len(self.outputs)), strict=True
            ):
                row[...] = result


def _check(port: Port, array: NDArray, lanes: int, steps: int, is_output: bool) -> None:
    """Native code trusts its pointers: whatever it will read or write must be there."""
    whole = array.shape[:2] == (lanes, steps) and array.flags.writeable
    fits = (
        array.dtype == np.float64
        and array.ndim == 2 + len(port.shape)
        and (whole if is_output else array.shape[0] in (1, lanes) and array.shape[1] in (1, steps))
        and array.shape[2:] == port.shape
        and array.strides[2:] == strides(port)
        and array.flags.aligned
    )
    if not fits:
        raise ShapeError(
            f"rollout: expected {port.name} as float64 of shape ({lanes} or 1, {steps} or 1, *{port.shape}), "
            f"got {array.dtype} {array.shape}"
        )


def make_rollout(
    program: Callable[[], Program], shared: frozenset[str], key: str | None, single: bool = False
) -> Rollout:
    """A rollout of a program that is traced only if it must be.

    `shared` are inputs that change neither with the step nor with the rollout: what depends on them alone is
    computed once a call. `key` tells apart everything that armdyn's own text does not decide; None for
    programs that hold a user's formulas, which are known by their graph. `single` asks for code without lanes, which
    serves one rollout faster and many slower, one after the other.
    """
    if backend.current() == "virtual":
        traced = program()
        return Rollout(traced.inputs, traced.outputs, None, traced)
    from armdyn.trace import cache as disk
    from armdyn.trace.llvm.native import llvm_binding, target_machine, versions

    with compile_lock:
        name = key_digest(f"rollout {key}{' single' * single}", shared, versions()) if key else None
        module = disk.read(name) if name else None
        if module is None:
            traced = program()
            if traced.function.n_instructions() > LARGEST_NATIVE:
                too_large(traced)
                return Rollout(traced.inputs, traced.outputs, None, traced)
            module, name = _compiled(traced, shared, name, single)
        engine = llvm_binding().create_mcjit_compiler(llvm_binding().parse_assembly(""), target_machine())
        engine.add_object_file(llvm_binding().ObjectFileRef.from_data(module.code))
        engine.finalize_object()
    return Rollout(module.inputs, module.outputs, engine, None)


def _compiled(program: Program, shared: frozenset[str], name: str | None, single: bool) -> tuple[Any, str]:
    """Machine code of a program, from the cache if it is known there by its graph."""
    from armdyn.trace import cache as disk
    from armdyn.trace.graphs.graph import graph_of
    from armdyn.trace.llvm.lower import lower
    from armdyn.trace.llvm.native import Module, llvm_binding, target, target_machine, versions

    graph = graph_of(program)
    if name is None:
        text = repr(("rollout", single, graph.nodes, graph.results, graph.inputs, graph.outputs))
        name = key_digest(text, shared, versions())
        module = disk.read(name)
        if module is not None:
            return module, name
    ports = frozenset(k for k, port in enumerate(program.inputs) if port.name in shared)
    host = replace(target().host, width=1) if single else target().host
    lowered = lower(graph, host, ports)
    machine = target_machine()
    assembly = llvm_binding().parse_assembly(lowered.text + _march(graph, host.width, ports, lowered.uniform_size))
    assembly.triple, assembly.data_layout = machine.triple, str(machine.target_data)
    code = machine.emit_object(assembly)
    module = Module(code, graph.inputs, graph.outputs, tuple(sorted(ports)), lowered.uniform_size, False)
    disk.write(name, module)
    return module, name


def _march(graph: Any, width: int, shared: frozenset[int], uniform_size: int) -> str:
    """`march(pointers, strides across, strides along, rollouts, steps)`: all steps of a vector of rollouts in turn."""
    count = len(graph.inputs) + len(graph.outputs)
    start, row, step, words = [], [], [], []
    for p in range(count):
        for table, kind in (("args", "ptr"), ("across", "i64"), ("along", "i64")):
            start.append(f"  %at_{table}{p} = getelementptr {kind}, ptr %{table}, i64 {p}")
            start.append(f"  %{table}{p} = load {kind}, ptr %at_{table}{p}")
        row.append(f"  %shift{p} = mul i64 %k, %across{p}")
        row.append(f"  %row{p} = getelementptr i8, ptr %args{p}, i64 %shift{p}")
        step.append(f"  %go{p} = mul i64 %t, %along{p}")
        step.append(f"  %p{p} = getelementptr i8, ptr %row{p}, i64 %go{p}")
        words.append(f"ptr %p{p}, i64 %across{p}")
    prepare = ", ".join([*(f"ptr %args{p}" for p in sorted(shared)), "ptr %uniform"])
    return "\n".join(
        [
            "define void @march(ptr %args, ptr %across, ptr %along, i64 %count, i64 %steps) nounwind {",
            "entry:",
            "  %some = icmp sgt i64 %count, 0",
            "  %any = icmp sgt i64 %steps, 0",
            "  %work = and i1 %some, %any",
            "  br i1 %work, label %start, label %done",
            "start:",
            *start,
            f"  %uniform = alloca [{max(uniform_size, width)} x double], align 64",
            f"  call void @prepare({prepare})",
            "  br label %rollouts",
            "rollouts:",
            "  %k = phi i64 [ 0, %start ], [ %next_k, %after ]",
            "  %remaining = sub i64 %count, %k",
            *row,
            "  br label %steps_of",
            "steps_of:",
            "  %t = phi i64 [ 0, %rollouts ], [ %next_t, %steps_of ]",
            *step,
            f"  call void @kern({', '.join(words)}, ptr %uniform, i64 %remaining)",
            "  %next_t = add i64 %t, 1",
            "  %more_t = icmp slt i64 %next_t, %steps",
            "  br i1 %more_t, label %steps_of, label %after",
            "after:",
            f"  %next_k = add i64 %k, {width}",
            "  %more_k = icmp slt i64 %next_k, %count",
            "  br i1 %more_k, label %rollouts, label %done",
            "done:",
            "  ret void",
            "}",
            "",
        ]
    )
