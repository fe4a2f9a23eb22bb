"""A program: one formula traced for one subject and one choice of inputs and options.

Its inputs and outputs are flat vectors in C order, whatever their shapes; the backends (native
kernel, CasADi virtual machine, C printer) all start from here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.trace.shapes import Shape
from armdyn.trace.symbols import ca

FLOAT64 = np.dtype(np.float64)


@dataclass(frozen=True, eq=False)
class Port:
    """A named input or output of a program."""

    name: str
    shape: Shape

    @property
    def size(self) -> int:
        """Number of entries of one sample."""
        return prod(self.shape)

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """Distances in bytes between the entries of one sample in C order."""
        return tuple(8 * prod(self.shape[k + 1 :]) for k in range(len(self.shape)))

    def is_plain(self, array: NDArray) -> bool:
        """Whether `array` holds samples of this shape, each as contiguous, aligned doubles."""
        start = array.ndim - len(self.shape)
        return (
            start >= 0
            and array.dtype is FLOAT64
            and array.shape[start:] == self.shape
            and array.strides[start:] == self.strides
            and array.flags.aligned
        )


@dataclass(frozen=True, eq=False)
class Program:
    """A formula with its ports; the CasADi function is traced when first asked for."""

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    formula: Callable[..., Any]  # takes one symbol an input, returns one symbol (or nested list) an output

    @cached_property
    def function(self) -> Any:
        """The CasADi function over flat vectors, common subexpressions shared."""
        flat, columns = self.trace()
        names = [port.name for port in self.inputs], [f"out_{port.name}" for port in self.outputs]
        return ca.Function(self.name, flat, ca.cse(columns), *names)

    def trace(self) -> tuple[list[Any], list[Any]]:
        """Flat symbols of the inputs, and what the formula makes of them."""
        flat = [ca.SX.sym(port.name, port.size) for port in self.inputs]
        results = self.formula(*(unflatten(x, port.shape) for x, port in zip(flat, self.inputs, strict=True)))
        return flat, [flatten(y, port) for y, port in zip(results, self.outputs, strict=True)]


def unflatten(vector: Any, shape: Shape) -> Any:
    """A symbol of the declared shape from a flat vector in C order; three axes become a list of matrices."""
    if len(shape) <= 1:
        return vector
    if len(shape) == 2:
        return ca.reshape(vector, shape[1], shape[0]).T
    step = prod(shape[1:])
    return [unflatten(vector[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]


def flatten(value: Any, port: Port) -> Any:
    """A dense flat column in C order from what a formula returned."""
    if isinstance(value, (list, tuple)):
        return ca.vertcat(*(flatten(item, Port(port.name, port.shape[1:])) for item in value))
    matrix = ca.densify(ca.SX(value))
    if matrix.numel() != port.size:
        raise ValueError(f"formula output '{port.name}': declared shape {port.shape}, returned {matrix.shape}")
    return ca.vec(matrix.T) if len(port.shape) == 2 else ca.vec(matrix)


def as_list(results: Any, outputs: Sequence[Any]) -> list[Any]:
    """Return what a formula or a kernel returned as one entry an output."""
    return list(results) if len(outputs) > 1 else [results]
