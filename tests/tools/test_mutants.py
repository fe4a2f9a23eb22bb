"""The list of mutants: every edit still applies and compiles, enough of every area, and by night all are killed."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
AREAS = (
    *("memory pool", "native calls", "guards and limits", "contact", "observers", "xacro", "MJCF", "C printer"),
    *("Newton-Euler", "Coriolis", "friction", "regressors", "drives", "elastic", "adaptive", "identification"),
)


def load() -> Any:
    """The tool, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("mutants", ROOT / "tools" / "mutants.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


tool = load()
MUTANTS = tool.read_mutants()


def test_every_edit_applies_once_and_compiles() -> None:
    for mutant in MUTANTS:
        path = mutant.path(ROOT)
        edited = mutant.edited(path.read_text())
        if path.suffix == ".py":
            compile(edited, str(path), "exec")


def test_every_test_exists() -> None:
    for test in {test for mutant in MUTANTS for test in mutant.tests}:
        file, _, name = test.partition("::")
        assert f"def {name.partition('[')[0]}(" in (ROOT / file).read_text(), test


def test_no_area_is_forgotten() -> None:
    counts = Counter(mutant.area for mutant in MUTANTS)
    assert set(counts) == set(AREAS)
    assert min(counts.values()) >= 3
    assert len(MUTANTS) >= 60


def mutant(**fields: Any) -> Any:
    tests = ("tests/spatial/test_rotation.py::test_skew",)
    return tool.Mutant(
        **{"name": "m", "area": "a", "file": "files.py", "old": "a", "new": "b", "tests": tests} | fields
    )


@pytest.mark.parametrize(
    ("text", "fields", "message"),
    [
        ("xax", {}, None),
        ("xx", {}, "m: the fragment occurs 0 times in files.py, expected once"),
        ("aa", {}, "m: the fragment occurs 2 times in files.py, expected once"),
        ("a", {"new": "a"}, "m: the edit changes nothing"),
    ],
)
def test_edits_apply_exactly_once(text: str, fields: dict[str, str], message: str | None) -> None:
    if message is None:
        assert mutant(**fields).edited(text) == "xbx"
    else:
        with pytest.raises(tool.MutantError, match=message):
            mutant(**fields).edited(text)


@pytest.mark.slow
def test_no_mutant_survives() -> None:
    assert tool.main([]) == 0
