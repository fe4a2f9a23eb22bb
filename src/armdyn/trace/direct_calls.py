"""The one door to direct calls, in which native code reads Python's and NumPy's objects by their layout.

`available()` decides for the process. It is false on every Python that is not listed, on free-threaded and debug
builds, where an object is not laid out as below, and where the environment variable ARMDYN_DIRECT_CALLS is 0; then
calls pass through Python and NumPy's generalised ufuncs, with the same results; docs/development/direct-calls.md has
a drawing.

Offsets are derived from the structures of CPython's and NumPy's headers and from the size of this Python's objects,
and compared with objects of this process before anything relies on them.
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from typing import Any

VERIFIED = (3, 11), (3, 14)  # versions of CPython, the first and the last that are tested
SWITCH = "ARMDYN_DIRECT_CALLS"


def structure(title: str, /, **fields: Any) -> Any:
    """A type of CPython's headers by its fields, in order."""
    return type(title, (ctypes.Structure,), {"_fields_": tuple(fields.items())})


_Array = structure(
    "PyArrayObject_fields",
    data=ctypes.c_void_p, ndim=ctypes.c_int, dims=ctypes.c_void_p, strides=ctypes.c_void_p, base=ctypes.c_void_p,
    dtype=ctypes.c_void_p, flags=ctypes.c_int,
)  # fmt: skip
HEAD = object.__basicsize__  # of every object [bytes]: reference count and type
# Byte offsets in an object, in NumPy's arrays, and of the length of a tuple.
TYPE = HEAD - ctypes.sizeof(ctypes.c_void_p)
DATA, NDIM, DIMS, STRIDES, DTYPE, FLAGS = (
    HEAD + getattr(_Array, name).offset for name in ("data", "ndim", "dims", "strides", "dtype", "flags")
)
SIZE = HEAD
CONTIGUOUS, ALIGNED, WRITEABLE = 0x0001, 0x0100, 0x0400  # flags of arrays, of NumPy's ABI


def supported() -> bool:
    """Whether this is a Python whose objects are those that direct calls are written for.

    CPython of `VERIFIED` versions and 64 bits with the global lock, no debug build.
    """
    other_build = hasattr(sys, "gettotalrefcount") or "free-threading" in sys.version
    return (
        os.environ.get(SWITCH) != "0"
        and sys.implementation.name == "cpython"
        and VERIFIED[0] <= sys.version_info[:2] <= VERIFIED[1]
        and sys.maxsize > 2**32
        and not other_build
    )


@cache
def available() -> bool:
    """Whether direct calls may be made in this process."""
    return supported() and layouts_hold()


def layouts_hold() -> bool:
    """Compare the layouts of an array and a tuple with Python's own view of them."""
    import numpy as np

    probe = np.arange(6.0).reshape(2, 3)

    def read(offset: int, kind: Any = ctypes.c_uint64) -> int:
        return int(kind.from_address(id(probe) + offset).value)

    flags = CONTIGUOUS | ALIGNED | WRITEABLE
    return (
        read(TYPE) == id(np.ndarray)
        and read(DATA) == probe.ctypes.data
        and read(NDIM, ctypes.c_int32) == 2
        and list((ctypes.c_int64 * 2).from_address(read(DIMS))) == [2, 3]
        and list((ctypes.c_int64 * 2).from_address(read(STRIDES))) == [24, 8]
        and read(DTYPE) == id(probe.dtype) == id(np.dtype(np.float64))
        and read(FLAGS, ctypes.c_int32) & flags == flags
        and ctypes.c_int64.from_address(id((1, 2, 3)) + SIZE).value == 3
    )
