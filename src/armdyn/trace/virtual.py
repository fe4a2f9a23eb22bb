"""The CasADi virtual machine as a backend: slow, always there, the reference for native kernels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from armdyn.arrays import blocks
from armdyn.trace.program import Program
from armdyn.trace.recent import KERNEL_OVERHEAD_BYTES
from armdyn.trace.symbols import ca

# Memory that CasADi takes per instruction, about.
NODE_BYTES = 100


def size(program: Program) -> int:
    """About how much memory a program takes [bytes]."""
    return KERNEL_OVERHEAD_BYTES + NODE_BYTES * program.function.n_instructions()


def evaluate(program: Program, arrays: Sequence[NDArray]) -> list[NDArray]:
    """Evaluate `program` for inputs of shape (..., *core) with NumPy's broadcasting of the leading axes."""
    ports = list(zip(arrays, program.inputs, strict=True))
    batch = np.broadcast_shapes(*(a.shape[: a.ndim - len(p.shape)] for a, p in ports))
    flat = [np.broadcast_to(a, batch + p.shape).reshape(-1, p.size) for a, p in ports]
    samples = int(np.prod(batch))
    columns = [np.empty((samples, port.size)) for port in program.outputs]
    for part in blocks(samples, sum(port.size for port in (*program.inputs, *program.outputs))):
        results = program.function.call([ca.DM(x[part].T) for x in flat])
        for column, result in zip(columns, results, strict=True):
            column[part] = result.full().T
    return [c.reshape(batch + port.shape) for c, port in zip(columns, program.outputs, strict=True)]
