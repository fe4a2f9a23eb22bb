"""Traced functions on arrays: checks, kernels, and the fast path for single samples."""

from __future__ import annotations

import functools
import hashlib
import threading
import weakref
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from armdyn.arrays import common_batch
from armdyn.errors import ArmdynError, ShapeError
from armdyn.trace import backend
from armdyn.trace.compiled import dispatcher
from armdyn.trace.function import TracedCallable
from armdyn.trace.kernel import check_threads, default_threads, make_kernel
from armdyn.trace.program import Port
from armdyn.trace.recent import kernels
from armdyn.trace.shapes import evaluate, text

if TYPE_CHECKING:
    from armdyn.trace.traced import Subject, Traced, TracedFunction, Variant

P = ParamSpec("P")
R = TypeVar("R", covariant=True)
S = TypeVar("S", bound=Any)  # the subject that the formula takes


class Runner:
    """The kernels of one traced function, and the fast paths to them."""

    def __init__(self, traced: Traced) -> None:
        self.traced = traced
        self.fast_paths: dict[int, Callable[..., Any]] = {}  # by id of the subject: the fast path, once it is known
        # By id of the subject: the kernel of its fast path, and what waits for its end.
        self._installed: dict[int, Any] = {}
        # `fast_paths` alone keeps alive what native code calls: both change together, in one thread at a time. The lock
        # is reentrant, since the end of a subject may be noticed inside. No other lock is taken inside.
        self._lock = threading.RLock()
        self._known_ports: dict[tuple[Any, ...], list[Port]] = {}
        self.function = TracedCallable(traced.call)  # the public one, once it is made
        backend.on_change(self._drop_fast_paths)

    def __call__(
        self, subject: Subject, values: dict[str, Any], options: dict[str, Any], out: Any, threads: Any
    ) -> list[Any]:
        """Compute one array an output."""
        traced = self.traced
        bound = [name for name in traced.bound if name not in values]
        for name in bound:
            values[name] = subject.trace_data(name)
        if traced.check is not None:
            traced.check(subject, bound)
        sizes = traced.sizes(subject, options)
        ports = self._ports(sizes, tuple(name for name in traced.order if name in values))
        arrays = [values[p.name] if p.name in bound else self.array(subject, p, values[p.name]) for p in ports]
        single = [a.ndim == len(p.shape) for a, p in zip(arrays, ports, strict=True)]
        shared = frozenset(p.name for p, one in zip(ports, single, strict=True) if one and p.name in traced.bound)
        variant = traced.variant(values, options)
        kernel = self.kernel(subject, variant, shared)
        count = default_threads() if threads is None else check_threads(threads)
        results = self.evaluate(kernel, arrays, out, count)
        if len(bound) == len(traced.bound) and variant == traced.plain_variant and hasattr(kernel, "gufunc"):
            self._install_fast_path(subject, kernel)
        return results

    def _ports(self, sizes: Mapping[str, int], names: tuple[str, ...]) -> list[Port]:
        """The inputs that are present, with their shapes for these sizes."""
        key = (*sizes.items(), *names)
        if key not in self._known_ports:
            self._known_ports[key] = [Port(name, evaluate(self.traced.shapes[name], sizes)) for name in names]
        return self._known_ports[key]

    # -- kernels --------------------------------------------------------------------------------------

    def kernel(self, subject: Subject, variant: Variant, shared: frozenset[str], fold: bool = False) -> Any:
        """The kernel of a variant, made at the first need."""
        constants = _digest(subject, self.traced.bound) if fold else ""
        place = self, subject.trace_key, variant, shared, constants
        interpreted = backend.is_interpreting() and (*place, "native") not in kernels
        engine = "virtual" if interpreted else backend.current()

        def make() -> Any:
            program = functools.partial(self.traced.make_program, subject, variant, fold=fold)
            return make_kernel(program, shared, self.traced.key(subject, variant, constants), engine)

        return kernels.find((*place, engine), make)

    def _install_fast_path(self, subject: Subject, kernel: Any) -> None:
        """Remember the fast paths for this subject as long as it lives."""
        if id(subject) in self._installed:
            return
        bound = [subject.trace_data(name) for name in self.traced.bound]
        reference, call, result = weakref.ref(subject), self.traced.call, self.traced.result
        dispatch = dispatcher()

        def general(*args: Any, **keywords: Any) -> Any:
            return call(reference(), args, keywords)  # type: ignore[arg-type]  # it lives, or nobody could have asked

        with self._lock:
            if id(subject) in self._installed:  # by another thread meanwhile
                return
            kernel.fast_paths[id(subject)] = self._drop_fast_path
            end = weakref.finalize(subject, self._drop_fast_path, id(subject))
            end.atexit = False
            self._installed[id(subject)] = kernel, end
            self.fast_paths[id(subject)] = short = kernel.bind(bound, general, result)
            self.function.put(id(subject), short, dispatch)

    def _drop_fast_paths(self) -> None:
        for identity in list(self._installed):
            self._drop_fast_path(identity)

    def _drop_fast_path(self, identity: int) -> None:
        """Drop the fast path of an arm whose kernel was dropped, or that was collected (Python reuses identities)."""
        with self._lock:
            self.function.drop(identity)
            self.fast_paths.pop(identity, None)
            if learned := self._installed.pop(identity, None):
                kernel, end = learned
                kernel.fast_paths.pop(identity, None)
                end.detach()

    # -- arrays ---------------------------------------------------------------------------------------

    def array(self, subject: Subject, port: Port, value: Any) -> NDArray:
        """A value as a float array whose last axes are the declared ones."""
        if isinstance(value, (tuple, list)) and len(port.shape) == 2 and len(value) == port.shape[0]:
            value = np.stack(np.broadcast_arrays(*(self._floats(port, v) for v in value)), axis=-2)
        array = self._floats(port, value)
        if array.shape[max(array.ndim - len(port.shape), 0) :] != port.shape:
            expected = f"{port.name} of shape {text(port.shape)} for {_describe(subject)}"
            raise ShapeError(where=self.traced.name, expected=expected, got=array.shape)
        return array

    def _floats(self, port: Port, value: Any) -> NDArray:
        try:
            array = np.asarray(value)
            if array.dtype != np.float64:
                if array.dtype.kind not in "biuf":
                    raise TypeError(array.dtype)
                array = array.astype(np.float64)
        except (TypeError, ValueError):
            expected = f"numbers for {port.name}"
            raise ShapeError(where=self.traced.name, expected=expected, got=f"{value!r:.60}") from None
        return array

    def evaluate(self, kernel: Any, arrays: list[NDArray], out: Any, threads: int) -> list[Any]:
        """Run a kernel on checked arrays."""
        ports = list(zip(arrays, kernel.inputs, strict=True))
        batch = common_batch(self.traced.name, {p.name: a.shape[: a.ndim - len(p.shape)] for a, p in ports})
        return kernel(arrays, self._outs(out, kernel.outputs, batch), batch, threads)

    def _outs(self, out: Any, ports: tuple[Port, ...], batch: tuple[int, ...]) -> list[NDArray | None]:
        """The arrays to write into, checked."""
        if out is None:
            return [None] * len(ports)
        outs = list(out) if self.traced.result else [out]
        if len(outs) != len(ports):
            raise ShapeError(where=self.traced.name, expected=f"{len(ports)} arrays in out", got=len(outs))
        for array, port in zip(outs, ports, strict=True):
            if array is None:
                continue
            if not isinstance(array, np.ndarray) or array.dtype != np.float64:
                got = f"{array.dtype} array" if isinstance(array, np.ndarray) else type(array).__name__
                raise ShapeError(where=self.traced.name, expected=f"a float64 array as out for {port.name}", got=got)
            if not array.flags.writeable:
                raise ShapeError(f"out for {port.name} is read-only", where=self.traced.name)
            if array.shape != batch + port.shape:
                expected = f"out for {port.name} of shape {batch + port.shape}"
                raise ShapeError(where=self.traced.name, expected=expected, got=array.shape)
        return outs


def _describe(subject: Subject) -> str:
    """`arm 'puma560'` for an `Arm` of that name."""
    return f"{type(subject).__name__.lower()} '{getattr(subject, 'name', '')}'"


def _digest(subject: Subject, names: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for name in names:
        digest.update(np.ascontiguousarray(subject.trace_data(name), float).tobytes())
    return digest.hexdigest()


class BoundFunction(Protocol[P, R]):
    """A traced function with its subject fixed, as type checkers see it: parameters and result of the formula."""

    @overload
    def __call__(self, *args: P.args, **keywords: P.kwargs) -> R: ...
    @overload
    def __call__(self, *args: Any, out: Any, threads: int | None = None, **keywords: Any) -> R: ...
    @overload
    def __call__(self, *args: Any, threads: int | None, **keywords: Any) -> R: ...


def kernel(
    function: TracedFunction[Concatenate[S, P], R], subject: S, fold: bool = False, **options: Any
) -> BoundFunction[P, R]:
    """A callable bound to one arm, for hot loops.

    Parameters
    ----------
    function : traced function
        Such as `armdyn.inverse_dynamics`.
    subject : Arm
    fold : bool, optional
        Compile the arm's inertia and gravity in as constants: a fifth faster, one compilation per arm.
    **options
        Options of the function, such as `model="full"`.

    Returns
    -------
    call : callable
        `call(q, ...)` gives a fresh array, `call(q, ..., out=y)` fills `y`. Contiguous float64 arrays of
        one sample take a direct path of some 0.3 us; all other calls work as with the function itself.

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> call = armdyn.kernel(armdyn.gravity_torque, arm)
    >>> call(np.zeros(2)).round(2)  # N m
    array([55.16,  6.13])
    """
    traced = declaration(function, "kernel")
    traced.reject_unknown_options("kernel", options)
    variant = traced.variant(dict.fromkeys(traced.required), {**traced.options, **options})
    runner = traced.runner
    if traced.check is not None:
        traced.check(subject, traced.bound)
    compiled = runner.kernel(subject, variant, frozenset(() if fold else traced.bound), fold)

    def general(*args: Any, **keywords: Any) -> Any:
        return traced.call(subject, args, {**options, **keywords})

    def folded(*args: Any, out: Any = None, threads: Any = None) -> Any:
        if len(args) != len(compiled.inputs):
            raise TypeError(f"{traced.name}: expected {len(compiled.inputs)} arrays, got {len(args)}")
        arrays = [runner.array(subject, port, value) for port, value in zip(compiled.inputs, args, strict=True)]
        count = default_threads() if threads is None else check_threads(threads)
        return traced.wrap(runner.evaluate(compiled, arrays, out, count))

    bound: list[NDArray] = [] if fold else [subject.trace_data(name) for name in traced.bound]
    return compiled.bind(bound, folded if fold else general, traced.result)


def declaration(function: Any, where: str, example: str = "inverse_dynamics") -> Traced:
    """The declaration behind a traced function, or an error that says what to pass."""
    traced = getattr(function, "traced", None)
    if not hasattr(traced, "make_program"):
        what = getattr(function, "__name__", repr(function))
        raise ArmdynError(where=where, expected=f"a traced function such as armdyn.{example}", got=f"{what:.80}")
    return traced  # type: ignore[return-value]


def as_names(names: Iterable[str]) -> tuple[str, ...]:
    """Names as a tuple, from one or from several."""
    return (names,) if isinstance(names, str) else tuple(names)


def reject_unknown(where: str, owner: str, kind: str, asked: Iterable[str], known: Collection[str]) -> None:
    """Raise at the first name that is asked for and not known."""
    for name in asked:
        if name not in known:
            cause = f"{owner} has no {kind} {name!r}"
            raise ArmdynError(cause, where=where, expected=" or ".join(known) or "none", names=(name,))
