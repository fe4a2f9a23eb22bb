"""Machine code from LLVM text, loaded into this process, and what NumPy and Python call it through."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.trace import function
from armdyn.trace.graphs.graph import Graph
from armdyn.trace.llvm.emit import Host
from armdyn.trace.llvm.entry import BOUND, CONTEXT, FALLBACK, HEADER, MOST_BOUND, entry
from armdyn.trace.llvm.nearby import side_by_side
from armdyn.trace.program import Port
from armdyn.trace.recent import KERNEL_OVERHEAD_BYTES


@cache
def llvm_binding() -> Any:
    """llvmlite's binding, ready for this machine."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@dataclass(frozen=True)
class Target:
    """The processor that code is made for; part of the cache key."""

    cpu: str
    features: str
    host: Host


# FE_ALL_EXCEPT by processor.
FP_FLAGS = {"x86_64": 0x3D, "amd64": 0x3D, "aarch64": 0x1F, "arm64": 0x1F}


@cache
def target() -> Target:
    """This machine; `ARMDYN_SIMD_WIDTH=1|2|4|8` makes other code, below 4 without AVX and FMA."""
    llvm = llvm_binding()
    machine = platform.machine().lower()
    features = llvm.get_host_cpu_features()
    best = 8 if features.get("avx512f") else 4 if features.get("avx2") else 2
    wanted = os.environ.get("ARMDYN_SIMD_WIDTH")
    width = int(wanted) if wanted in ("1", "2", "4", "8") else best
    arm64, flags = machine in ("aarch64", "arm64"), FP_FLAGS.get(machine, 0)
    if width < 4 and not arm64:
        return Target("x86-64" if machine in ("x86_64", "amd64") else "", "", Host(width, False, flags))
    fma = arm64 or bool(features.get("fma"))
    return Target(llvm.get_host_cpu_name(), features.flatten(), Host(width, fma, flags))


OPTIMISATION = 1  # of code generation; 0 makes the same operations into slower code in half the time


def target_machine() -> Any:
    """A target machine: small code model (constants as memory operands), no costly optimisation."""
    t, opt = target(), OPTIMISATION
    return (
        llvm_binding()
        .Target.from_default_triple()
        .create_target_machine(cpu=t.cpu, features=t.features, opt=opt, codemodel="small", reloc="pic", jit=True)
    )


def versions() -> str:
    """What the machine code depends on besides its source."""
    llvm = llvm_binding()
    host = (sys.implementation.cache_tag, platform.machine(), target(), OPTIMISATION)
    return repr((llvm.llvm_version_info, np.__version__, *host))


@dataclass(frozen=True)
class Module:
    """Compiled code with all that is needed to load it again without the graph."""

    code: bytes
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    shared: tuple[int, ...]
    uniform_size: int
    cost: float  # [ns] of one sample, about


# What is compiled around a graph: calls from NumPy and Python, the same with what finds them, calls from XLA, many
# steps for lanes of rollouts, or for one.
FORMS = ("kernel", "trial", "xla", "rollout", "single rollout")


# What an operation and an entry of a result cost per sample, on one core of 2023 [ns]; within a factor of two for
# kernels from 10 to 1,000 ns.
OPERATION_NS, ENTRY_NS = 0.03, 0.1


def cost(graph: Graph) -> float:
    """About how long one sample of a batch takes [ns]."""
    return OPERATION_NS * len(graph.nodes) + ENTRY_NS * sum(port.size for port in graph.outputs)


def compile_graph(graph: Graph, shared: frozenset[int], form: str = "kernel") -> Module:
    """Machine code of a graph whose ports `shared` carry no batch axes, in one of `FORMS`."""
    from armdyn.trace.graphs.divisions import with_fewer_divisions  # code found on disk needs neither
    from armdyn.trace.llvm.lower import lower
    from armdyn.trace.llvm.xla_handler import xla_handler

    llvm, machine = llvm_binding(), target_machine()
    host = target().host
    if form == "single rollout":
        host = replace(host, width=1, pack=host.width)
    graph = with_fewer_divisions(graph)
    lowered = lower(graph, host, shared, steps="rollout" in form)
    text = lowered.text
    if form == "xla":
        text += xla_handler(graph, shared)
    elif "rollout" not in form:
        text += entry(graph, shared, lowered.uniform_size)
    if form == "trial":
        text += "\n" + function.DISPATCH.replace("PLACE", str(function.offset() + 8))
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    if form == "single rollout" and OPTIMISATION:
        _pair_scalars(llvm, machine, module)
    code = machine.emit_object(module)
    ports = graph.own_inputs, graph.own_outputs
    return Module(code, *ports, tuple(sorted(shared)), lowered.uniform_size, cost(graph))


def _pair_scalars(llvm: Any, machine: Any, module: Any) -> None:
    """Let LLVM put equal operations on scalars into one on vectors: code without lanes has the registers for it."""
    options = llvm.create_pipeline_tuning_options()
    options.speed_level, options.slp_vectorization = 1, True
    options.loop_vectorization = options.loop_unrolling = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


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
        collect: Callable[..., Any] | None = None,
        limit: int = 2**62,
        pays: int = 0,
    ) -> Callable[..., Any]:
        """A callable for contiguous arrays with the shared inputs fixed; other calls go to `fallback`.

        Several results are passed to `collect`; batches of `limit` samples and more are left to `fallback`,
        those of `pays` also if several threads are asked for.
        """
        if self._method is None:
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


class _MethodDef(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


# -- NumPy's and CPython's C interfaces -----------------------------------------------------------------------

# Positions in NumPy's tables of C functions, fixed by its ABI.
UFUNC_FROM_SIGNATURE, ARRAY_EMPTY = 31, 184
FLOAT64 = 12


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
        "out": id(sys.intern("out")),
        "threads": id(sys.intern("threads")),
    }
    addresses = [values[name] for name in CONTEXT]
    if len(bound) <= MOST_BOUND:
        addresses += [id(_intern(name)) for name in bound]
    (ctypes.c_uint64 * len(addresses)).from_address(address)[:] = addresses


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
def _trial(make: Callable[[Graph], Module]) -> Loaded:
    """A tiny kernel, a difference and a product, with the code that finds short ways; it stays in memory."""
    graph = Graph("self_test", (Port("x", (2,)),), (Port("y", (2,)),))
    x = [graph.add("input", value=(0, k)) for k in range(2)]
    graph.results = [[graph.add("sub", x[1], x[0]), graph.add("mul", x[0], x[1])]]
    return Loaded(make(graph))


@cache
def dispatcher(make: Callable[[Graph], Module]) -> int:
    """The address of the code that finds short ways, 0 where it may not be used."""
    if not has_fast_call() or function.function_type() is function.Function:
        return 0
    api, loaded = ctypes.pythonapi, _trial(make)
    context = (ctypes.c_uint64 * 3).from_address(loaded.address("dispatch_context"))
    for k, f in enumerate((api.PyObject_Vectorcall, api.Py_DecRef, api.Py_IncRef)):
        context[k] = ctypes.cast(f, ctypes.c_void_p).value or 0
    return loaded.address("dispatch")


def self_test(make: Callable[[Graph], Module] = lambda graph: compile_graph(graph, frozenset(), "trial")) -> None:
    """Make, load and run a tiny kernel; raises if anything about this machine is not as expected."""
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
