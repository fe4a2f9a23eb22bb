"""Which machine runs traced functions: native kernels, or CasADi's virtual machine where those cannot be."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

from armdyn.errors import ArmdynError, ArmdynWarning

NAMES = ("native", "virtual")

_chosen: list[str] = []  # a stack: the innermost `using` decides
_listeners: list = []
_interpreting: ContextVar[bool] = ContextVar("interpreting", default=False)


def current() -> str:
    """The backend in force: chosen by `using`, else by `ARMDYN_BACKEND`, else native if it works here."""
    name = _chosen[-1] if _chosen else os.environ.get("ARMDYN_BACKEND", "native")
    if name not in NAMES:
        raise ArmdynError(where="ARMDYN_BACKEND", expected=" or ".join(NAMES), got=f"{name!r}")
    return "virtual" if name == "native" and not native_works() else name


@contextmanager
def using(name: str) -> Iterator[None]:
    """Run everything inside on the named backend; for tests and comparisons."""
    if name not in NAMES:
        raise ArmdynError(where="backend", expected=" or ".join(NAMES), got=f"{name!r}")
    _chosen.append(name)
    _tell()
    try:
        yield
    finally:
        _chosen.pop()
        _tell()


@contextmanager
def interpreting(wanted: bool = True) -> Iterator[None]:
    """Run what has no native kernel yet on the virtual machine: for few calls, which end before a compiler would."""
    token = _interpreting.set(wanted)
    try:
        yield
    finally:
        _interpreting.reset(token)


def is_interpreting() -> bool:
    """Whether native kernels are used only where they are there already, in this thread."""
    return _interpreting.get()


def on_change(listener) -> None:  # type: ignore[no-untyped-def]
    """Call `listener` whenever the backend may have changed."""
    _listeners.append(listener)


def _tell() -> None:
    for listener in _listeners:
        listener()


@cache
def native_works() -> bool:
    """Whether native kernels can be made here; warns once, in one line, if not."""
    try:
        from armdyn.trace.compiled import self_test

        self_test()
    except Exception as error:  # any failure of llvmlite or the C interfaces means: not here
        warnings.warn(
            f"native kernels are unavailable ({type(error).__name__}: {error}); CasADi's virtual machine "
            "serves, about 100 times slower",
            ArmdynWarning,
            stacklevel=2,
        )
        return False
    return True
