"""Every module of some size has a test file: of its name, or one that `capabilities.toml` names."""

from __future__ import annotations

import tomllib
from pathlib import Path

import armdyn

SOURCE, TESTS = Path(armdyn.__file__).parent, Path(__file__).parent
CAPABILITIES: dict[str, list[str]] = tomllib.loads((TESTS / "capabilities.toml").read_text())
MIN_LINES = 80  # of a module that must have a test


def mirror_of(module: str) -> Path:
    """The test file of a module's name."""
    place = Path(module)
    return TESTS / place.with_name(f"test_{place.stem}.py")


def large_modules() -> list[str]:
    paths = (path for path in SOURCE.rglob("*.py") if path.stem != "__init__")
    large = (path for path in paths if len(path.read_text().splitlines()) > MIN_LINES)
    return sorted(path.relative_to(SOURCE).as_posix() for path in large)


def test_every_large_module_has_a_test() -> None:
    named = {module for modules in CAPABILITIES.values() for module in modules}
    assert [module for module in large_modules() if not (module in named or mirror_of(module).is_file())] == []


def test_the_table_names_what_is_there_and_needs_it() -> None:
    assert [test for test in CAPABILITIES if not (TESTS / test).is_file()] == []
    named = [module for modules in CAPABILITIES.values() for module in modules]
    assert sorted(set(named)) == sorted(named)
    assert [module for module in named if not (SOURCE / module).is_file()] == []
    assert [module for module in named if mirror_of(module).is_file()] == []
