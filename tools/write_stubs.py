"""Write the `__init__.pyi` of every package that exports names, from the tables in their `__init__.py`.

    python tools/write_stubs.py

Editors and type checkers read these files; Python does not. `tests/test_face.py` checks that they are fresh.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections import defaultdict
from pathlib import Path

import armdyn
from armdyn.exports import Package, aliases

HEAD = "# Written by tools/write_stubs.py from the tables in __init__.py: change these, not this file."


def _order(name: str) -> tuple[bool, bool, list[str | int]]:
    """Names as ruff sorts them: in capitals, with a capital, others; numbers in them by size."""
    pieces = [int(piece) if piece.isdigit() else piece for piece in re.split(r"(\d+)", name)]
    return not name.isupper(), name[0].islower(), pieces


def packages() -> list[Package]:
    """All packages that export names, armdyn first."""
    found = [importlib.import_module(m.name) for m in pkgutil.walk_packages(armdyn.__path__, "armdyn.") if m.ispkg]
    return [module for module in (armdyn, *found) if isinstance(module, Package)]


def stub(package: Package) -> str:
    """The text of a package's stub: every name imported from the module that defines it."""
    lines: dict[str, list[str]] = defaultdict(list)
    for name, home in {**aliases(package), **package._name_to_module}.items():
        lines[_file(home, name)].append(name)
    text = [HEAD, ""]
    if "__version__" in vars(package):
        text += ["__version__: str", ""]
    for room in sorted(package._subpackages):
        text.append(f"from {package.__name__} import {room} as {room}")
    for home in sorted(lines):
        text += [f"from {home} import {name} as {name}" for name in sorted(lines[home], key=_order)]
    listed = "".join(f'    "{name}",\n' for name in package.__all__)
    return "\n".join([*text, "", f"__all__ = [\n{listed}]", ""])


def _file(home: str, name: str) -> str:
    """The module that a name comes from at last: `home` may be a package that has it from elsewhere."""
    module = importlib.import_module(home)
    return _file(module._name_to_module[name], name) if isinstance(module, Package) else home


def path_of(package: Package) -> Path:
    """Where a package's stub lies."""
    return Path(package.__path__[0]) / "__init__.pyi"


def main() -> None:
    """Write all stubs."""
    for package in packages():
        path_of(package).write_text(stub(package), encoding="utf-8")


if __name__ == "__main__":
    main()
