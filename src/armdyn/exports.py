"""Public names of packages, loaded when first used.

    export(__name__, {"laws.pd": "PD pd_torque"}, subpackages="estimators")

in `armdyn/control/__init__.py` makes `armdyn.control.PD` the class of `armdyn/control/laws/pd.py`: `dir()` and
completion list it, and importing the package loads nothing else. A name wins over a file or folder of the same name,
as if the package had imported it: `armdyn.simulation.simulate` is the function. `tools/write_stubs.py` writes the
`__init__.pyi` files, from which editors and type checkers learn the types.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from armdyn.names import UnknownName, current_name


class Package(ModuleType):
    """A package whose public names are loaded when first used."""

    _name_to_module: dict[str, str]  # name -> module that has it
    _subpackages: tuple[str, ...]  # packages and modules inside that are public too
    _aliased: tuple[str, ...]  # those of them whose names are reachable here as well

    def __getattr__(self, name: str) -> Any:
        home = None if name.startswith("_") else module_of(self, name)
        if home is None and (current := current_name(["armdyn"], name)) and module_of(self, current):
            return getattr(self, current)
        if home is None:
            raise UnknownName(f"module '{self.__name__}'", name, lambda: public_names(self))
        module = importlib.import_module(home)
        value = module if name in self._subpackages else getattr(module, name)
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType) and name in self._name_to_module:
            return  # the import system binds a file or folder that is named like a function
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        special = [name for name in self.__dict__ if name.startswith("__")]
        return sorted((*special, *self._name_to_module, *self._subpackages))


def export(package: str, names: Mapping[str, str], subpackages: str = "", aliased: str = "") -> None:
    """Give a package its public names.

    Parameters
    ----------
    package : str
        Its `__name__`.
    names : mapping
        The public names of its modules, separated by blanks, by the module's name inside the package.
    subpackages : str
        Packages and modules inside that are public themselves, separated by blanks.
    aliased : str
        Further such packages, whose public names are reachable here too, without being listed.
    """
    name_to_module = {name: f"{package}.{home}" for home, listed in names.items() for name in listed.split()}
    inside = (*subpackages.split(), *aliased.split())
    module = sys.modules[package]
    module.__dict__.update(
        _name_to_module=name_to_module,
        _subpackages=inside,
        _aliased=tuple(aliased.split()),
        __all__=sorted((*name_to_module, *inside)),
    )
    module.__dict__.pop("export", None)
    module.__class__ = Package


def module_of(package: Package, name: str) -> str | None:
    """The module to get a public name of a package from; for a subpackage, the subpackage itself."""
    if name in package._name_to_module:
        return package._name_to_module[name]
    return f"{package.__name__}.{name}" if name in package._subpackages else aliases(package).get(name)


def aliases(package: Package) -> dict[str, str]:
    """Names of subpackages that are reachable by the package too, each with its subpackage."""
    subpackages = [importlib.import_module(f"{package.__name__}.{subpackage}") for subpackage in package._aliased]
    names = {name: subpackage.__name__ for subpackage in subpackages for name in subpackage._name_to_module}
    return {name: subpackage for name, subpackage in names.items() if name not in package._name_to_module}


def public_names(package: Package) -> list[str]:
    """All names by which a package answers."""
    return [*package._name_to_module, *package._subpackages, *aliases(package)]
