"""Traced functions as Python sees them: functions in all but their type, which native code can call directly.

A `TracedCallable` runs the Python function it was made from. On the Pythons that `direct_calls` names, functions are
of a type with two more words in every object, made by CPython's documented `PyType_FromSpecWithBases` with the member
`__vectorcalloffset__`: once native code runs here (`compiled.dispatcher`), a call whose first argument is a subject
with a fast path goes there without passing through Python. Its kernel checks the arguments and computes, and leaves
what it does not know to the Python function.
"""

from __future__ import annotations

import ctypes
import types
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from armdyn.files import fill_template
from armdyn.trace import direct_calls
from armdyn.trace.direct_calls import structure

# Fast paths per function that are found natively; a subject whose place another one takes goes through Python.
PLACES = 64
# A place is the subject, the bound call, its code and its uniform block; before them stands the Python function.
WORDS = 4


class TracedCallable:
    """A callable that looks like the Python function it runs."""

    def __init__(self, python: Callable[..., Any]) -> None:
        self._python = python

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

    # -- fast paths: none without native calls ---------------------------------------------------------

    def put(self, subject: int, bound: Any, dispatch: int) -> None:
        """Let calls for a subject, given by its id, go to a bound call of `native.LoadedKernel`."""

    def drop(self, subject: int) -> None:
        """Forget a subject's fast path."""


class WithTable(TracedCallable):
    """A function with a table of fast paths; `function_type` adds the words that lead native code to it."""

    def __init__(self, python: Callable[..., Any]) -> None:
        super().__init__(python)
        self._words = (ctypes.c_uint64 * (1 + WORDS * PLACES))(id(python))

    def put(self, subject: int, bound: Any, dispatch: int) -> None:
        """Let calls for a subject, given by its id, go to a bound call of `native.LoadedKernel`."""
        if not dispatch or not isinstance(bound, types.BuiltinFunctionType):  # else a Python function
            return
        block: Any = bound.__self__
        at = _place(subject)
        self._words[at : at + WORDS] = [subject, id(bound), block.code, id(block)]
        (ctypes.c_uint64 * 2).from_address(id(self) + offset())[:] = [dispatch, ctypes.addressof(self._words)]

    def drop(self, subject: int) -> None:
        """Forget a subject's fast path."""
        at = _place(subject)
        if self._words[at] == subject:
            self._words[at] = 0


def _place(subject: int) -> int:
    """Return the row of a subject in the table: objects are 16 bytes apart or more."""
    return 1 + WORDS * ((subject >> 4) % PLACES)


# -- the type --------------------------------------------------------------------------------------------

# Of CPython's stable ABI.
MEMBERS, SIZE_MEMBER, READ_ONLY = 72, 19, 1
HAVE_VECTORCALL, DEFAULT = 1 << 11, 1 << 18


_Member = structure(
    "PyMemberDef",
    name=ctypes.c_char_p, kind=ctypes.c_int, offset=ctypes.c_ssize_t, flags=ctypes.c_int, doc=ctypes.c_char_p,
)  # fmt: skip
_Slot = structure("PyType_Slot", number=ctypes.c_int, value=ctypes.c_void_p)
_Spec = structure(
    "PyType_Spec",
    name=ctypes.c_char_p, size=ctypes.c_int, item_size=ctypes.c_int, flags=ctypes.c_uint, slots=ctypes.c_void_p,
)  # fmt: skip


def offset() -> int:
    """Return the place of a function's two words, the native code to call and its table [bytes]."""
    return WithTable.__basicsize__


@cache
def function_type() -> type[TracedCallable]:
    """Return the type of traced functions: `TracedCallable` where native calls are not known to work."""
    if not direct_calls.supported():
        return TracedCallable
    make = ctypes.pythonapi.PyType_FromSpecWithBases
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object]
    members = (_Member * 2)(_Member(b"__vectorcalloffset__", SIZE_MEMBER, offset(), READ_ONLY, None))
    slots = (_Slot * 2)(_Slot(MEMBERS, ctypes.addressof(members)))
    size, name = offset() + 16, f"{__name__}.NativeFunction".encode()
    spec = _Spec(name, size, 0, DEFAULT | HAVE_VECTORCALL, ctypes.addressof(slots))
    kind: type[TracedCallable] = make(ctypes.addressof(spec), (WithTable,))
    referenced.extend((members, slots, spec, name))
    as_made = kind.__basicsize__ == size and kind.__flags__ & HAVE_VECTORCALL and offset() % 8 == 0
    return kind if as_made else TracedCallable


referenced: list[Any] = []  # what CPython may refer to as long as the type lives


def dispatch_text() -> str:
    """The native code that finds fast paths, as LLVM text."""
    return fill_template(Path(__file__).with_name("dispatch.ll"), table=offset() + 8, last_row=PLACES - 1, words=WORDS)
