"""Arms from the literature, ready to use: `armdyn.arms.puma560()`."""

from typing import Any

from armdyn.model.library import *  # noqa: F403
from armdyn.model.library import __all__ as __all__
from armdyn.names import UnknownName


def __getattr__(name: str) -> Any:
    raise UnknownName("module 'armdyn.arms'", name, lambda: __all__)
