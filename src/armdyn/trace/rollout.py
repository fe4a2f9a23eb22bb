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
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ShapeError
from armdyn.trace import backend, virtual
from armdyn.trace.compiled import compile_program
from armdyn.trace.kernel import thread_pool
from armdyn.trace.program import Port, Program

if TYPE_CHECKING:
    from armdyn.trace.llvm.native import JitModule

Rows = Mapping[str, NDArray]


class Rollout:
    """A program ready to run; make it with `make_rollout`."""

    def __init__(self, code: JitModule | Program) -> None:
        self._program = code if isinstance(code, Program) else None
        ports = code if isinstance(code, Program) else code.module
        self.inputs, self.outputs = ports.inputs, ports.outputs
        if isinstance(code, Program):
            self.nbytes = virtual.size(code)
        else:
            self.nbytes, self._code = code.nbytes, code
            pointer, number = ctypes.c_void_p, ctypes.c_int64
            kind = ctypes.CFUNCTYPE(None, pointer, pointer, pointer, number, number)
            self._driver = kind(code.address("rollout_driver"))

    def dropped(self) -> None:
        """Nothing else refers to it."""

    def bind(self, inputs: Rows, outputs: Rows) -> Callable[[], None]:
        """A call without arguments that fills `outputs` from `inputs`, as often as wanted."""
        arrays = self._arrays(inputs, outputs)
        lanes, steps = arrays[-1].shape[:2]
        if self._program is not None:
            return lambda: self._virtual(arrays, 0, steps)
        pointers, across, along = self._tables(arrays)
        driver = self._driver

        def run(_keep: Any = (self, arrays)) -> None:  # the code must outlive the call
            driver(pointers.ctypes.data, across.ctypes.data, along.ctypes.data, lanes, steps)

        return run

    def bind_in_parts(self, inputs: Rows, outputs: Rows, steps: int) -> Callable[[], None]:
        """A call that computes the next `steps` steps each time, until the arrays are full."""
        arrays = self._arrays(inputs, outputs)
        lanes, total = arrays[-1].shape[:2]
        left = iter(range(0, total - steps + 1, steps))
        if self._program is not None:
            return lambda: self._virtual(arrays, next(left), steps)
        pointers, across, along = self._tables(arrays)
        ahead, driver = along * steps, self._driver
        tables = (pointers.ctypes.data, across.ctypes.data, along.ctypes.data, lanes, steps)

        def run(_keep: Any = (self, arrays, across, along)) -> None:
            next(left)
            driver(*tables)
            np.add(pointers, ahead, out=pointers)

        return run

    def _arrays(self, inputs: Rows, outputs: Rows) -> list[NDArray]:
        """The arrays of all ports, checked."""
        arrays = [inputs[p.name] for p in self.inputs] + [outputs[p.name] for p in self.outputs]
        lanes, steps = np.shape(arrays[-1])[:2]
        for k, (port, array) in enumerate(zip((*self.inputs, *self.outputs), arrays, strict=True)):
            _check(port, array, lanes, steps, is_output=k >= len(self.inputs))
        return arrays

    @staticmethod
    def _tables(arrays: list[NDArray]) -> tuple[NDArray, NDArray, NDArray]:
        """Return where each array starts, and its strides from rollout to rollout and from step to step."""
        pointers = np.array([a.ctypes.data for a in arrays], np.int64)
        across = np.array([a.strides[0] if a.shape[0] > 1 else 0 for a in arrays], np.int64)
        along = np.array([a.strides[1] if a.shape[1] > 1 else 0 for a in arrays], np.int64)
        return pointers, across, along

    def __call__(self, inputs: Rows, outputs: Rows, threads: int = 1) -> None:
        """Fill `outputs` from `inputs`; with threads, each takes a block of the rollouts."""
        lanes = next(iter(outputs.values())).shape[0]
        threads = min(threads, lanes)
        if threads <= 1 or self._program is not None:
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
        assert self._program is not None
        count = len(self.inputs)
        for k in range(first, first + steps):
            rows = [a[:, k if a.shape[1] > 1 else 0] for a in arrays]
            for row, result in zip(rows[count:], virtual.evaluate(self._program, rows[:count]), strict=True):
                row[...] = result


def _check(port: Port, array: NDArray, lanes: int, steps: int, is_output: bool) -> None:
    """Native code trusts its pointers: whatever it will read or write must be there."""
    whole = array.shape[:2] == (lanes, steps) and array.flags.writeable
    fits = (
        array.dtype == np.float64
        and array.ndim == 2 + len(port.shape)
        and (whole if is_output else array.shape[0] in (1, lanes) and array.shape[1] in (1, steps))
        and array.shape[2:] == port.shape
        and array.strides[2:] == port.strides
        and array.flags.aligned
    )
    if not fits:
        expected = f"{port.name} as float64 of shape ({lanes} or 1, {steps} or 1, *{port.shape})"
        raise ShapeError(where="rollout", expected=expected, got=f"{array.dtype} {array.shape}")


def make_rollout(
    program: Callable[[], Program], shared: frozenset[str], key: str | None, single: bool = False
) -> Rollout:
    """A rollout of a program that is traced only if it must be.

    `shared` are inputs that change neither with the step nor with the rollout: what depends on them alone is
    computed once per call. `key` tells apart everything that armdyn's own text does not decide; None for
    programs that hold a user's formulas, which are known by their graph. `single` asks for code without lanes, which
    serves one rollout faster and many slower, one after the other.
    """
    if backend.current() == "virtual":
        return Rollout(program())
    from armdyn.trace.llvm.native import JitModule

    return Rollout(compile_program(program, shared, key, "single rollout" if single else "rollout", JitModule))
