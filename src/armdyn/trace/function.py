"""Traced functions as Python sees them: functions in all but their type, which native code can call directly.

A `Function` runs the Python function it was made from. Once native code runs here (`native.dispatcher`), a call whose
first argument is a subject with a short way goes there without passing through Python: its kernel checks the
arguments and computes, and leaves what it does not know to the Python function.
"""

from __future__ import annotations

import ctypes
import types
from collections.abc import Callable
from typing import Any

# Short ways per function that are found natively; a subject whose place another one takes goes through Python.
PLACES = 64
# A place is the subject, the bound call, its code and its uniform block; before them stands the Python function.
WORDS = 4


class Function(ctypes.Structure):
    """A callable with two words of memory at a fixed place: the native code to call, and its table."""

    _fields_ = (("_code", ctypes.c_void_p), ("_table", ctypes.c_void_p))

    def __init__(self, python: Callable[..., Any]) -> None:
        super().__init__()
        self._python = python
        self._words = (ctypes.c_uint64 * (1 + WORDS * PLACES))(id(python))
        self._table = ctypes.addressof(self._words)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Run the Python function; with native code Python calls that in place of this."""
        return self._python(*args, **keywords)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Become a method in a class, as a function does."""
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> str:
        """Pickled and copied by name, as a function is."""
        name: str = self.__qualname__  # type: ignore[attr-defined]
        return name

    def __repr__(self) -> str:
        return f"<function {self.__qualname__} at {id(self):#x}>"  # type: ignore[attr-defined]

    __hash__ = object.__hash__

    # -- short ways ----------------------------------------------------------------------------------

    def put(self, subject: int, bound: Any, dispatch: int) -> None:
        """Let calls for a subject, given by its id, go to a bound call of `native.Loaded`."""
        if not _has_entry(bound):
            return
        method = ctypes.c_uint64.from_address(id(bound) + METHOD).value
        at = _place(subject)
        code = ctypes.c_uint64.from_address(method + CODE).value
        self._words[at : at + WORDS] = [subject, id(bound), code, id(bound.__self__)]
        self._code = dispatch

    def drop(self, subject: int) -> None:
        """Forget a subject's short way."""
        at = _place(subject)
        if self._words[at] == subject:
            self._words[at] = 0

    def clear(self) -> None:
        """Forget all short ways."""
        for at in range(1, len(self._words), WORDS):
            self._words[at] = 0


# Byte offsets in CPython's builtin function, in its method definition, and in its types.
METHOD, CODE = 16, 8
BASIC_SIZE, VECTORCALL_OFFSET, FLAGS = 32, 56, 168
HAVE_VECTORCALL = 1 << 11


def _has_entry(bound: Any) -> bool:
    """Whether a short way is native; where it is not, it is a Python function."""
    return isinstance(bound, types.BuiltinFunctionType)


def _place(subject: int) -> int:
    """Where the table has a subject: objects are 16 bytes apart or more."""
    return 1 + WORDS * ((subject >> 4) % PLACES)


def offset() -> int:
    """Where in a `Function` its two words are [bytes]."""
    probe = Function(len)
    return ctypes.addressof(probe) - id(probe)


def enable() -> bool:
    """Let Python call the native code that a `Function` names; whether the layouts are as this needs them."""
    at = id(Function)
    words = ctypes.c_int64.from_address(at + BASIC_SIZE), ctypes.c_uint64.from_address(at + FLAGS)
    place = offset()
    inside = 0 < place <= Function.__basicsize__ - ctypes.sizeof(Function)
    if not inside or (words[0].value, words[1].value) != (Function.__basicsize__, Function.__flags__):
        return False
    ctypes.c_int64.from_address(at + VECTORCALL_OFFSET).value = place
    words[1].value |= HAVE_VECTORCALL
    return True


# `dispatch(callable, arguments, count and a flag, names of keywords)`, as CPython's vectorcall has it; PLACE is where
# the address of the table is. A bound call gets a reference more while it runs: another thread may forget it meanwhile.
DISPATCH = f"""@dispatch_context = global [2 x i64] zeroinitializer
define ptr @dispatch(ptr %callable, ptr %argv, i64 %flagged, ptr %kwnames) nounwind {{
  %table.p = getelementptr i8, ptr %callable, i64 PLACE
  %table = load ptr, ptr %table.p
  %nargs = and i64 %flagged, {2**63 - 1}
  %none = icmp eq i64 %nargs, 0
  br i1 %none, label %python, label %find
find:
  %subject = load i64, ptr %argv
  %coarse = lshr i64 %subject, 4
  %row = and i64 %coarse, {PLACES - 1}
  %words = mul i64 %row, {WORDS}
  %next = add i64 %words, 1
  %at = getelementptr i64, ptr %table, i64 %next
  %key = load i64, ptr %at
  %known = icmp eq i64 %key, %subject
  br i1 %known, label %short, label %python
short:
  %bound.p = getelementptr i64, ptr %at, i64 1
  %bound = load ptr, ptr %bound.p
  %code.p = getelementptr i64, ptr %at, i64 2
  %code = load ptr, ptr %code.p
  %self.p = getelementptr i64, ptr %at, i64 3
  %self = load ptr, ptr %self.p
  %refs = load i64, ptr %bound
  %more = add i64 %refs, 1
  store i64 %more, ptr %bound
  %rest = getelementptr ptr, ptr %argv, i64 1
  %fewer = sub i64 %nargs, 1
  %result = call ptr %code(ptr %self, ptr %rest, i64 %fewer, ptr %kwnames)
  %decref.p = getelementptr i64, ptr @dispatch_context, i64 1
  %decref = load ptr, ptr %decref.p
  call void %decref(ptr %bound)
  ret ptr %result
python:
  %function = load ptr, ptr %table
  %vectorcall = load ptr, ptr @dispatch_context
  %answer = call ptr %vectorcall(ptr %function, ptr %argv, i64 %flagged, ptr %kwnames)
  ret ptr %answer
}}
"""
