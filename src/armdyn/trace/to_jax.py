"""Traced functions for JAX: native kernels that XLA calls on the CPU, with derivatives from the same text.

A kernel and the entry by which XLA calls it are compiled by LLVM; no C++ compiler is needed. The reverse-mode
derivative is traced from the same formula and compiled when it is first needed, its own derivative likewise, so that
`grad`, `jacrev` and their repetition are exact. Numbers are doubles inside, whatever JAX uses outside.
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from armdyn.arrays import common_batch
from armdyn.errors import ArmdynError, MissingExtraError, ShapeError
from armdyn.trace import backend
from armdyn.trace.compiled import compile_program
from armdyn.trace.numeric import declaration
from armdyn.trace.program import Port, Program, flatten, unflatten
from armdyn.trace.shapes import text
from armdyn.trace.symbols import ca

if TYPE_CHECKING:
    from armdyn.trace.llvm.native import JitModule
    from armdyn.trace.traced import Subject, Traced, Variant

MIN_JAX = (0, 8, 1)  # whose foreign function interface is as it is written for

# What XLA calls by name, kept as long as the process: nothing says when XLA is done with it.
_registered: dict[str, JitModule] = {}


def to_jax(function: Callable[..., Any], subject: Subject, **options: Any) -> Callable[..., Any]:
    """A traced function as a function of JAX arrays, on the CPU, for `jit`, `vmap`, `grad` and `scan`.

    Derivatives are reverse mode (`grad`, `vjp`, `jacrev`), of any order, exact, and only those that are asked for are
    computed. Forward mode (`jvp`, `jacfwd`, `hessian`, which uses it) is rejected by JAX: use `jacrev(jacrev(f))`.
    Where a formula has a kink (dry friction at rest), the derivative of sign is zero.

    Parameters
    ----------
    function : traced function
        Such as `armdyn.forward_dynamics`.
    subject : Arm
        Its data (theta, gravity) are constants, unless the call gives them.
    **options
        Options of the function, such as `model="full"`.

    Returns
    -------
    call : callable
        `call(q, ...)` with the function's own arguments, `theta=` and the like included, without `out` and `threads`.
        Leading axes are batches. float32 in gives float32 out; computed in float64 always.
    """
    traced, jax = declaration(function, "to_jax"), _jax()
    traced.reject_unknown_options("to_jax", options)
    if backend.current() != "native":
        cause = "needs native kernels, which are unavailable or switched off here (ARMDYN_BACKEND)"
        raise ArmdynError(cause, where="to_jax")
    functions: dict[Variant, _Function] = {}

    def call(*args: Any, **keywords: Any) -> Any:
        values, chosen = traced.sort_arguments(args, {**options, **keywords})
        bound = [name for name in traced.bound if name not in values]
        if traced.check is not None:
            traced.check(subject, bound)
        variant = traced.variant(values, chosen)
        key = variant._replace(inputs=tuple(values))
        if key not in functions:
            functions[key] = _first(traced, subject, variant, bound)
        compiled = functions[key]
        arrays = [_array(traced.name, port, values[port.name], jax) for port in compiled.data]
        return traced.wrap(list(compiled.call(*arrays)))

    call.__name__, call.__doc__ = f"{traced.name}_jax", traced.doc
    return call


def _jax() -> Any:
    try:
        import jax
        import jax.custom_batching
        import jax.ffi
    except ImportError:
        raise MissingExtraError("to_jax needs JAX", "jax") from None
    if jax.__version_info__ < MIN_JAX:  # which would end the process when the handler is registered
        oldest = ".".join(map(str, MIN_JAX))
        raise MissingExtraError(f"to_jax needs JAX {oldest} or newer, got {jax.__version__}", "jax")
    return jax


def _first(traced: Traced, subject: Subject, variant: Variant, bound: list[str]) -> _Function:
    """The function itself, of which all derivatives are made."""
    # Copies: JAX remembers read-only arrays by identity, and as doubles once they were used as such.
    constants = {name: np.array(subject.trace_data(name), float, order="C") for name in bound}
    program, key = traced.program(subject, variant), traced.key(subject, variant)
    return _Function(program, key, frozenset(traced.bound), constants)


def _array(name: str, port: Port, value: Any, jax: Any) -> Any:
    """A value as an array of JAX whose last axes are the declared ones."""
    try:
        array = jax.numpy.asarray(value)
    except TypeError:
        raise ShapeError(where=name, expected=f"numbers for {port.name}", got=f"{value!r:.60}") from None
    if array.dtype.kind not in "biuf" and not jax.numpy.issubdtype(array.dtype, np.floating):
        raise ShapeError(where=name, expected=f"real numbers for {port.name}", got=array.dtype)
    if array.shape[max(array.ndim - len(port.shape), 0) :] != port.shape:
        raise ShapeError(where=name, expected=f"{port.name} of shape {text(port.shape)}", got=array.shape)
    return array if jax.numpy.issubdtype(array.dtype, np.floating) else array.astype(float)


@dataclass(frozen=True)
class _Static:
    """Inputs that were differentiated; part of the structure for JAX, not of the numbers."""

    wanted: tuple[int, ...]
    shapes: tuple[Any, ...]


@functools.cache
def _register_static() -> None:
    _jax().tree_util.register_static(_Static)


@dataclass(eq=False)
class _Function:
    """A program as a function of JAX arrays, with leading axes as batches and its own derivative."""

    program: Program
    key: str | None
    bound: frozenset[str]  # inputs that samples may share: what depends on them alone is computed once per call
    constants: Mapping[str, NDArray]
    _adjoints: dict[tuple[Any, ...], _Function] = field(default_factory=dict)
    _targets: dict[frozenset[str], str] = field(default_factory=dict)

    @functools.cached_property
    def data(self) -> tuple[Port, ...]:
        """The inputs that a call gives."""
        return tuple(port for port in self.program.inputs if port.name not in self.constants)

    @functools.cached_property
    def call(self) -> Callable[..., tuple[Any, ...]]:
        """The function for JAX: one array per input that is no constant; one per output."""
        jax = _jax()
        _register_static()
        batched = self._batched(jax)
        differentiable = jax.custom_vjp(batched)

        def forward(*primals: Any) -> tuple[Any, Any]:
            arrays = tuple(p.value for p in primals)
            static = _Static(
                tuple(k for k, p in enumerate(primals) if p.perturbed), tuple((a.shape, a.dtype) for a in arrays)
            )
            return differentiable(*arrays), (arrays, static)

        differentiable.defvjp(forward, self._backward, symbolic_zeros=True)
        return jax.jit(differentiable)

    def _backward(self, residuals: tuple[Any, _Static], bars: Sequence[Any]) -> tuple[Any, ...]:
        """Return the sensitivities to the inputs for those to the outputs; None where nobody asks."""
        zero = _jax().custom_derivatives.SymbolicZero
        arrays, static = residuals
        seeds = tuple(k for k, bar in enumerate(bars) if not isinstance(bar, zero))
        result: list[Any] = [None] * len(arrays)
        if seeds and static.wanted:
            gradients = self._adjoint(static.wanted, seeds).call(*arrays, *(bars[k] for k in seeds))
            for k, bar in zip(static.wanted, gradients, strict=True):
                shape, dtype = static.shapes[k]
                result[k] = _sum_broadcast(bar, shape).astype(dtype)
        return tuple(result)

    def _adjoint(self, wanted: tuple[int, ...], seeds: tuple[int, ...]) -> _Function:
        if (wanted, seeds) not in self._adjoints:
            places = tuple(self.program.inputs.index(self.data[k]) for k in wanted)
            program = adjoint(self.program, places, seeds)
            key = f"adjoint {places} {seeds} of {self.key}" if self.key else None
            self._adjoints[wanted, seeds] = _Function(program, key, self.bound, self.constants)
        return self._adjoints[wanted, seeds]

    # -- batches --------------------------------------------------------------------------------------

    def _batched(self, jax: Any) -> Callable[..., tuple[Any, ...]]:
        """The function with a rule for `vmap`: one more leading axis, one call all the same."""
        single = jax.custom_batching.custom_vmap(lambda *arrays: self._run(jax, arrays))

        def rule(size: int, flags: Sequence[bool], *arrays: Any) -> tuple[Any, Any]:
            leads = [a.ndim - len(p.shape) - bool(f) for a, f, p in zip(arrays, flags, self.data, strict=True)]
            most = max(leads, default=0)
            padded = [
                a.reshape(size, *(1,) * (most - lead), *a.shape[1:]) if flag else a
                for a, flag, lead in zip(arrays, flags, leads, strict=True)
            ]
            return single(*padded), (True,) * len(self.program.outputs)

        single.def_vmap(rule)
        return single

    def _run(self, jax: Any, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """One call of the native kernel; arrays of less precision are widened on the way in, results narrowed."""
        kind = jax.numpy.result_type(*arrays) if arrays else jax.numpy.result_type(float)
        leads = [a.shape[: a.ndim - len(p.shape)] for a, p in zip(arrays, self.data, strict=True)]
        batch = common_batch("to_jax", {p.name: lead for p, lead in zip(self.data, leads, strict=True)})
        count = math.prod(batch)
        if count == 0:
            return tuple(jax.numpy.zeros((*batch, *port.shape), kind) for port in self.program.outputs)
        single = [p.name for p, lead in zip(self.data, leads, strict=True) if not lead]
        shared = frozenset(name for name in (*single, *self.constants) if name in self.bound)
        by_name = dict(zip((p.name for p in self.data), arrays, strict=True))
        with jax.enable_x64(True):
            operands = [
                self.constants[port.name]
                if port.name in self.constants
                else _samples(jax, by_name[port.name], port, batch, port.name in shared)
                for port in self.program.inputs
            ]
            shapes = [jax.ShapeDtypeStruct((count, *port.shape), np.float64) for port in self.program.outputs]
            results = jax.ffi.ffi_call(self._target(shared), shapes)(*operands)
            return tuple(
                y.reshape(*batch, *port.shape).astype(kind)
                for y, port in zip(results, self.program.outputs, strict=True)
            )

    def _target(self, shared: frozenset[str]) -> str:
        """The name under which XLA knows the kernel: of its machine code, so that it means the same everywhere."""
        if shared in self._targets:
            return self._targets[shared]
        from armdyn.trace.llvm.native import JitModule

        code = compile_program(lambda: self.program, shared, self.key, "xla", JitModule)
        if isinstance(code, Program):
            cause = f"{code.name} has {code.function.n_instructions()} instructions, too many for a native kernel"
            raise ArmdynError(cause, where="to_jax", remedy="differentiate by fewer inputs, or a smaller part of it")
        name = f"armdyn_{hashlib.sha256(code.module.code).hexdigest()[:32]}"
        if name not in _registered:
            ffi = _jax().ffi
            ffi.register_ffi_target(name, ffi.pycapsule(code.address("handler")), platform="cpu")
            _registered[name] = code
        self._targets[shared] = name
        return name


def _samples(jax: Any, array: Any, port: Port, batch: tuple[int, ...], is_shared: bool) -> Any:
    """An input as the handler takes it: doubles, (samples, ...), or (1, ...) where all have the same."""
    array = jax.lax.convert_element_type(array, np.float64)
    lead = array.shape[: array.ndim - len(port.shape)]
    if is_shared:
        return array
    if math.prod(lead) == 1:
        return array.reshape(1, *port.shape)
    return jax.numpy.broadcast_to(array, (*batch, *port.shape)).reshape(-1, *port.shape)


def _sum_broadcast(bar: Any, shape: tuple[int, ...]) -> Any:
    """A sensitivity of broadcast entries as that of the entries before: their sum."""
    bar = bar.sum(tuple(range(bar.ndim - len(shape))))
    axes = tuple(k for k, size in enumerate(shape) if size == 1 and bar.shape[k] != 1)
    return bar.sum(axes, keepdims=True)


def adjoint(program: Program, wanted: tuple[int, ...], seeds: tuple[int, ...]) -> Program:
    """A program of the inputs and of the sensitivities to the outputs `seeds`; gives those to the inputs `wanted`.

    With y = f(x) it computes bar_x = (dy/dx)' bar_y (reverse mode: about the price of a few f), each named after
    what it is the sensitivity to. Where f has a kink (dry friction at rest) it takes CasADi's choice: sign has
    derivative zero.

    References
    ----------
    Griewank and Walther (2008), section 3.2.
    """
    seed_ports, outputs = _bars(program.outputs, seeds), _bars(program.inputs, wanted)

    def formula(*symbols: Any) -> list[Any]:
        values = [flatten(symbol, port) for symbol, port in zip(symbols, (*program.inputs, *seed_ports), strict=True)]
        x, bar_y = values[: len(program.inputs)], values[len(program.inputs) :]
        y = program.function.call(x)
        columns, weights = ca.vertcat(*(y[k] for k in seeds)), ca.vertcat(*bar_y)
        bars = ca.jtimes(columns, ca.vertcat(*(x[k] for k in wanted)), weights, True)
        ends = [0, *accumulate(port.size for port in outputs)]
        return [unflatten(bar, port.shape) for bar, port in zip(ca.vertsplit(bars, ends), outputs, strict=True)]

    return Program(f"{program.name}_adjoint", (*program.inputs, *seed_ports), outputs, formula)


def _bars(ports: Sequence[Port], chosen: tuple[int, ...]) -> tuple[Port, ...]:
    """Ports of the sensitivities to some of the ports."""
    return tuple(Port(f"bar_{ports[k].name}", ports[k].shape) for k in chosen)
