"""Reports: self-contained HTML pages, one module a kind of result.

`armdyn.report` is both this package and the public function: whichever of the two Python binds to the name first,
`armdyn.report(result, path)` works.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    def __call__(self, result: Any, path: str | os.PathLike[str]) -> Path:
        from armdyn.report.registry import report

        return report(result, path)


sys.modules[__name__].__class__ = _Callable
