"""The processor that code is made for."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, NamedTuple

import numpy as np


@cache
def llvm_binding() -> Any:
    """llvmlite's binding, ready for this machine."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


class Host(NamedTuple):
    """Target of the code: lanes a vector, whether multiply-add rounds once, all floating-point flags."""

    width: int
    fma: bool
    fp_flags: int = 0  # FE_ALL_EXCEPT of the C library, 0 where it is not known
    pack: int = 1  # angles of one sample whose sines are computed in one vector, where the width is 1

    @property
    def attributes(self) -> str:
        """Attributes of functions that keep vectors on the stack: aligned there, or every other one would cross a cache
        line.
        """
        size = 8 * max(self.width, self.pack)
        return f"noinline nounwind alignstack({size})" if size > 16 else "noinline nounwind"


class Target(NamedTuple):
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


OPTIMISATION = 2  # of code generation; 0 makes the same operations into slower code in half the time
_optimised: ContextVar[bool] = ContextVar("optimised", default=True)


@contextmanager
def skip_optimisation() -> Iterator[None]:
    """Make code that is half as fast in a fraction of the time, for runs of few samples.

    The loop of a six-joint arm and its controller is compiled in 0.2 s instead of 1.1 s; each of its steps takes 3 us
    instead of 2 us. What other threads compile meanwhile is optimised.
    """
    token = _optimised.set(False)
    try:
        yield
    finally:
        _optimised.reset(token)


def is_optimised() -> bool:
    """Whether code that is made now is optimised."""
    return _optimised.get()


def target_machine() -> Any:
    """A target machine: small code model (constants as memory operands), no costly optimisation."""
    t, opt = target(), OPTIMISATION if is_optimised() else 0
    return (
        llvm_binding()
        .Target.from_default_triple()
        .create_target_machine(cpu=t.cpu, features=t.features, opt=opt, codemodel="small", reloc="pic", jit=True)
    )


def versions() -> str:
    """Return what the machine code depends on besides its source."""
    llvm = llvm_binding()
    host = (sys.implementation.cache_tag, platform.machine(), target(), is_optimised())
    return repr((llvm.llvm_version_info, np.__version__, *host))
