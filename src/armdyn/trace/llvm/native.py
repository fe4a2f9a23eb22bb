"""Machine code loaded into this process, and what NumPy and Python call it through."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.trace import direct_calls
from armdyn.trace.llvm.entry import BOUND, CONTEXT, FALLBACK, HEADER, MAX_BOUND
from armdyn.trace.llvm.nearby import contiguous_mapping
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


class JitModule:
    """A module in memory; keeps the code alive as long as anything that calls it."""

    def __init__(self, module: Module) -> None:
        llvm = llvm_binding()
        self.module = module
        self.nbytes = KERNEL_OVERHEAD_BYTES + len(module.code)
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine())
        with contiguous_mapping(len(module.code)):
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(module.code))
            self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Return the address of a function or variable of the module."""
        return int(self._engine.get_global_value_address(name))


class LoadedKernel(JitModule):
    """A module in memory with all that NumPy and Python call it through."""

    def __init__(self, module: Module) -> None:
        super().__init__(module)
        self.gufunc = _make_gufunc(self, self.address("loop"))
        prepare = self.address("prepare")
        self._prepare = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(module.shared) + 1))(prepare)
        self._method: Any = None
        if direct_calls.available():
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
        for at, values in ((FALLBACK, (id(fallback), id(collect), limit, pays)), (BOUND, places[:MAX_BOUND])):
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


_MethodDef = direct_calls.structure(
    "PyMethodDef", name=ctypes.c_char_p, function=ctypes.c_void_p, flags=ctypes.c_int, doc=ctypes.c_char_p
)


# -- NumPy's and CPython's C interfaces -----------------------------------------------------------------------

# Positions in NumPy's tables of C functions, fixed by its ABI.
UFUNC_FROM_SIGNATURE, ARRAY_EMPTY, ARRAY_RETURN = 31, 184, 76
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


def _make_gufunc(owner: LoadedKernel, address: int) -> Any:
    """A NumPy generalised ufunc over the inner loop; fixed sizes keep wrong lengths from reading out of bounds."""
    inputs, outputs = owner.module.inputs, owner.module.outputs
    count = len(inputs) + len(outputs)

    def core(ports: tuple[Port, ...]) -> str:
        return ",".join(f"({','.join(map(str, port.shape))})" for port in ports)

    functions = (ctypes.c_void_p * 1)(address)
    data = (ctypes.c_void_p * 1)(None)
    types = (ctypes.c_char * count)(*[bytes([np.dtype(float).num])] * count)
    signature = f"{core(inputs)}->{core(outputs)}".encode()
    gufunc = _ufunc_maker()(
        ctypes.addressof(functions), ctypes.addressof(data), ctypes.addressof(types),
        1, len(inputs), len(outputs), -1, b"kernel", b"", 0, signature,
    )  # fmt: skip
    # NumPy keeps the addresses, not the arrays: they must live as long as the gufunc.
    owner.keep = (functions, data, types, signature)  # type: ignore[attr-defined]
    return gufunc


# What native code calls and compares with, by the names of `entry.CONTEXT`.
FUNCTIONS = {
    "vectorcall": "PyObject_Vectorcall", "incref": "Py_IncRef", "decref": "Py_DecRef", "getitem": "PyTuple_GetItem",
    "save": "PyEval_SaveThread", "restore": "PyEval_RestoreThread", "as_long": "PyLong_AsLongLongAndOverflow",
    "tuple_of": "PyTuple_New", "setitem": "PyTuple_SetItem",
}  # fmt: skip
OBJECTS: dict[str, Any] = {
    "ndarray": np.ndarray, "float64": np.dtype(np.float64), "int": int, "none": None, "tuple": tuple,
    "out": sys.intern("out"), "threads": sys.intern("threads"),
}  # fmt: skip


def function_address(name: str) -> int:
    """Return the address of a function of CPython's C interface."""
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


def _fill_context(address: int, bound: list[str]) -> None:
    """Write this process's addresses into a loaded module's table."""
    values: dict[str, Any] = {name: function_address(function) for name, function in FUNCTIONS.items()}
    values |= {name: id(thing) for name, thing in OBJECTS.items()}
    arrays = _capsule("_ARRAY_API")
    values |= {"empty": arrays[ARRAY_EMPTY], "scalar": arrays[ARRAY_RETURN], "new_tuple": _new_tuple()}
    addresses = [values[name] for name in CONTEXT]
    if len(bound) <= MAX_BOUND:
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
