"""Machine code loaded into this process, and what NumPy and Python call it through."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.trace import function
from armdyn.trace.llvm.entry import BOUND, CONTEXT, FALLBACK, HEADER, MOST_BOUND
from armdyn.trace.llvm.nearby import side_by_side
from armdyn.trace.llvm.processor import llvm_binding, target_machine
from armdyn.trace.program import Port
from armdyn.trace.recent import KERNEL_OVERHEAD_BYTES


class Module(NamedTuple):
    """Compiled code with all that is needed to load it again without the graph."""

    code: bytes
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    shared: tuple[int, ...]
    uniform_size: int
    cost: float  # [ns] of one sample, about


class Code:
    """A module in memory; keeps the code alive as long as anything that calls it."""

    def __init__(self, module: Module) -> None:
        llvm = llvm_binding()
        self.module = module
        self.nbytes = KERNEL_OVERHEAD_BYTES + len(module.code)
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine())
        with side_by_side(len(module.code)):
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(module.code))
            self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Where a function or variable of the module is."""
        return int(self._engine.get_global_value_address(name))


class Loaded(Code):
    """A module in memory with all that NumPy and Python call it through."""

    def __init__(self, module: Module) -> None:
        super().__init__(module)
        self.gufunc = _make_gufunc(self, self.address("loop"))
        prepare = self.address("prepare")
        self._prepare = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(module.shared) + 1))(prepare)
        self._method: Any = None
        if has_fast_call():
            _fill_context(self.address("context"), [module.inputs[k].name for k in module.shared])
            self._method = _MethodDef(b"kernel", self.address("pycall"), 0x80 | 0x02, None)

    def bind(
        self,
        shared: Sequence[NDArray],
        fallback: Callable[..., Any],
        collect: type[tuple[Any, ...]] | None = None,
        limit: int = 2**62,
        pays: int = 0,
    ) -> Callable[..., Any]:
        """A callable for contiguous arrays with the shared inputs fixed; other calls go to `fallback`.

        Several results are collected in the NamedTuple `collect`; batches of `limit` samples and more are left to
        `fallback`, those of `pays` also if several threads are asked for.
        """
        if self._method is None or (collect is not None and collect.__bases__ != (tuple,)):  # with a __new__ of its own
            return fallback
        block = _aligned_zeros(HEADER // 8 + max(self.module.uniform_size, 1))  # never empty: its address matters
        arrays = [np.ascontiguousarray(a, float) for a in shared]
        places = [a.ctypes.data for a in arrays]
        for at, values in ((FALLBACK, (id(fallback), id(collect), limit, pays)), (BOUND, places[:MOST_BOUND])):
            start = (HEADER + at) // 8
            block[start : start + len(values)].view(np.uintp)[:] = values
        uniform = block[HEADER // 8 :].view(_Bound)
        uniform.keep, uniform.code = (block, fallback, collect, arrays, self), self.address("pycall")
        self._prepare(*places, uniform.ctypes.data)
        make = ctypes.pythonapi.PyCFunction_NewEx
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
        return make(ctypes.addressof(self._method), uniform, None)


class _Bound(np.ndarray):
    """The uniform block of a bound call, with what must live as long as it."""

    keep: Any = None
    code: int = 0  # address of the entry


def _aligned_zeros(size: int) -> NDArray:
    """Zeros that start at a cache line."""
    raw = np.zeros(size + 8)
    start = (-raw.ctypes.data // 8) % 8
    return raw[start : start + size]


_MethodDef = function.structure(
    "PyMethodDef", name=ctypes.c_char_p, function=ctypes.c_void_p, flags=ctypes.c_int, doc=ctypes.c_char_p
)


# -- NumPy's and CPython's C interfaces -----------------------------------------------------------------------

# Positions in NumPy's tables of C functions, fixed by its ABI.
UFUNC_FROM_SIGNATURE, ARRAY_EMPTY = 31, 184
FLOAT64 = 12
NEW_SLOT = 65  # of types, in CPython's stable ABI


def _capsule(module_attribute: str) -> Any:
    """A table of C functions that NumPy exports."""
    from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = get(getattr(_multiarray_umath, module_attribute), None)
    return ctypes.cast(address, ctypes.POINTER(ctypes.c_void_p))


@cache
def _ufunc_maker() -> Any:
    """PyUFunc_FromFuncAndDataAndSignature."""
    c = ctypes
    kind = c.PYFUNCTYPE(
        c.py_object, c.c_void_p, c.c_void_p, c.c_void_p, c.c_int, c.c_int, c.c_int, c.c_int, c.c_char_p, c.c_char_p,
        c.c_int, c.c_char_p,
    )  # fmt: skip
    return kind(_capsule("_UFUNC_API")[UFUNC_FROM_SIGNATURE])


def _make_gufunc(owner: Loaded, address: int) -> Any:
    """A NumPy generalised ufunc over the inner loop; fixed sizes keep wrong lengths from reading out of bounds."""
    inputs, outputs = owner.module.inputs, owner.module.outputs
    count = len(inputs) + len(outputs)

    def core(ports: tuple[Port, ...]) -> str:
        return ",".join(f"({','.join(map(str, port.shape))})" for port in ports)

    functions = (ctypes.c_void_p * 1)(address)
    data = (ctypes.c_void_p * 1)(None)
    types = (ctypes.c_char * count)(*[bytes([FLOAT64])] * count)
    signature = f"{core(inputs)}->{core(outputs)}".encode()
    gufunc = _ufunc_maker()(
        ctypes.addressof(functions), ctypes.addressof(data), ctypes.addressof(types),
        1, len(inputs), len(outputs), -1, b"kernel", b"", 0, signature,
    )  # fmt: skip
    # NumPy keeps the addresses, not the arrays: they must live as long as the gufunc.
    owner.keep = (functions, data, types, signature)  # type: ignore[attr-defined]
    return gufunc


def _fill_context(address: int, bound: list[str]) -> None:
    """Write this process's addresses into a loaded module's table."""
    api = ctypes.pythonapi
    values = {
        "ndarray": id(np.ndarray),
        "float64": id(np.dtype(np.float64)),
        "empty": _capsule("_ARRAY_API")[ARRAY_EMPTY],
        "vectorcall": ctypes.cast(api.PyObject_Vectorcall, ctypes.c_void_p).value,
        "incref": ctypes.cast(api.Py_IncRef, ctypes.c_void_p).value,
        "decref": ctypes.cast(api.Py_DecRef, ctypes.c_void_p).value,
        "getitem": ctypes.cast(api.PyTuple_GetItem, ctypes.c_void_p).value,
        "save": ctypes.cast(api.PyEval_SaveThread, ctypes.c_void_p).value,
        "restore": ctypes.cast(api.PyEval_RestoreThread, ctypes.c_void_p).value,
        "int": id(int),
        "as_long": ctypes.cast(api.PyLong_AsLongLongAndOverflow, ctypes.c_void_p).value,
        "none": id(None),
        "tuple": id(tuple),
        "tuple_of": ctypes.cast(api.PyTuple_New, ctypes.c_void_p).value,
        "setitem": ctypes.cast(api.PyTuple_SetItem, ctypes.c_void_p).value,
        "new_tuple": _new_tuple(),
        "out": id(sys.intern("out")),
        "threads": id(sys.intern("threads")),
    }
    addresses = [values[name] for name in CONTEXT]
    if len(bound) <= MOST_BOUND:
        addresses += [id(_intern(name)) for name in bound]
    (ctypes.c_uint64 * len(addresses)).from_address(address)[:] = addresses


@cache
def _new_tuple() -> int:
    """The address of `tuple.__new__(class, arguments, keywords)`."""
    get = ctypes.pythonapi.PyType_GetSlot
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_int]
    return int(get(tuple, NEW_SLOT))


@cache
def _intern(name: str) -> str:
    """A name as Python holds those of keywords, kept alive."""
    return sys.intern(name)


@cache
def has_fast_call() -> bool:
    """Whether the direct entry may be used."""
    return function.native_calls() and _layouts_hold()


def _layouts_hold() -> bool:
    """Check the object layouts that `entry` relies on against Python's own view of them."""
    probe = np.arange(6.0).reshape(2, 3)
    at = id(probe)

    def read(offset: int, kind: Any = ctypes.c_uint64) -> int:
        return int(kind.from_address(at + offset).value)

    from armdyn.trace.llvm import entry as e

    size = ctypes.c_int64.from_address(id((1, 2, 3)) + e.SIZE).value
    dims, strides, flags = read(e.DIMS), read(e.STRIDES), e.CONTIGUOUS | e.ALIGNED | e.WRITEABLE
    return (
        read(e.TYPE) == id(np.ndarray)
        and read(e.DATA) == probe.ctypes.data
        and read(e.NDIM, ctypes.c_int32) == 2
        and list((ctypes.c_int64 * 2).from_address(dims)) == [2, 3]
        and list((ctypes.c_int64 * 2).from_address(strides)) == [24, 8]
        and read(e.DTYPE) == id(probe.dtype) == id(np.dtype(np.float64))
        and read(e.FLAGS, ctypes.c_int32) & flags == flags
        and size == 3
    )


@cache
def _trial(make: Callable[[], Module]) -> Loaded:
    """The kernel that tests this machine, with the code that finds short ways; it stays in memory."""
    return Loaded(make())


@cache
def dispatcher(make: Callable[[], Module]) -> int:
    """The address of the code that finds short ways, 0 where it may not be used."""
    if not has_fast_call() or function.function_type() is function.Function:
        return 0
    api, loaded = ctypes.pythonapi, _trial(make)
    context = (ctypes.c_uint64 * 3).from_address(loaded.address("dispatch_context"))
    for k, f in enumerate((api.PyObject_Vectorcall, api.Py_DecRef, api.Py_IncRef)):
        context[k] = ctypes.cast(f, ctypes.c_void_p).value or 0
    return loaded.address("dispatch")


def self_test(make: Callable[[], Module]) -> None:
    """Load and run a tiny kernel (`compile_trial`); raises if anything about this machine is not as expected."""
    loaded = _trial(make)
    batch = np.arange(10.0).reshape(5, 2)
    want = np.stack([batch[:, 1] - batch[:, 0], batch[:, 0] * batch[:, 1]], -1)
    bound = loaded.bind([], loaded.gufunc)
    got = [loaded.gufunc(batch), bound(batch), np.stack([bound(row) for row in batch])]
    if dispatcher(make):
        found = function.function_type()(lambda *args: args)
        python = found(batch, 1)
        found.put(id(batch), bound, dispatcher(make))
        got.append(found(batch, batch))
        if python[1] != 1 or found(want, 1)[1] != 1 or found() != ():
            raise RuntimeError("a test function gave a wrong result")
    if not all(np.array_equal(g, want) for g in got):
        raise RuntimeError("a test kernel gave a wrong result")
