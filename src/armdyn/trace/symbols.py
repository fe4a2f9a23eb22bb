"""A thin lazy door to CasADi, so that a warm numeric run never imports it."""

from __future__ import annotations

import importlib
import sys
from typing import Any


class _LazyCasadi:
    """Looks like the `casadi` module and imports it at the first use of a name."""

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module("casadi"), name)


ca = _LazyCasadi()


def is_symbol(value: object) -> bool:
    """Whether `value` is a CasADi SX or MX; never imports CasADi to find out."""
    casadi = sys.modules.get("casadi")
    # Another thread may be importing it just now: then nobody has symbols yet.
    return casadi is not None and isinstance(value, (getattr(casadi, "SX", ()), getattr(casadi, "MX", ())))
