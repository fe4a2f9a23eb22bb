"""The way from the package to `reproductions/`, which lies beside `src/` in a source folder and is not installed."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from armdyn.errors import ArmdynError

FOLDER = Path(__file__).parents[2] / "reproductions"


def load(module: str) -> ModuleType:
    """Import a module of `reproductions`; an `ArmdynError` says where they are if armdyn is installed without them."""
    if "reproductions" not in sys.modules:
        file = FOLDER / "__init__.py"
        spec = importlib.util.spec_from_file_location("reproductions", file) if file.is_file() else None
        if spec is None or spec.loader is None:
            raise ArmdynError(
                "the reproductions are not part of the installed package; they are in the folder reproductions/ of "
                "armdyn's source: install it with 'pip install -e .' there, then run the same again"
            )
        package = importlib.util.module_from_spec(spec)
        sys.modules["reproductions"] = package
        spec.loader.exec_module(package)
    return importlib.import_module(f"reproductions.{module}")


def reproduce(name: str, quick: bool = False, **options: Any) -> Any:
    """Compute the results of a document again: `reproductions.reproduce`, which see.

    Parameters
    ----------
    name : str
        A document, such as "lu-meng-1993"; `armdyn reproduce` lists them.
    quick : bool
        Coarser grids and fewer runs.
    **options
        `seed` of all that is random; `tell`, called with what begins now.
    """
    return load("cases").reproduce(name, quick, **options)
