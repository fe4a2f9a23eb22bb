"""Imports point one way: wherever they stand, whatever they are for, and also by name."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.raising import raises

import armdyn
from armdyn import presentation
from armdyn.errors import ArmdynError

tomllib = pytest.importorskip("tomllib", reason="Python 3.10 has no tomllib")

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
# The tables of public names, and the one way upward.
BY_NAME = {"armdyn.__init__", "armdyn.exports", "armdyn.presentation"}


def heights() -> dict[str, int]:
    """How high each folder or file of armdyn stands; those of one row stand apart."""
    rows = [re.split(r"\s*[|:]\s*", row) for row in reversed(CONTRACTS[0]["layers"])]
    return {name.strip("()").removeprefix("armdyn."): 10 * k for k, row in enumerate(rows) for name in row}


HEIGHTS = heights()
FILES = sorted((SOURCE / "armdyn").rglob("*.py"))


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts)


def folder_of(module: str) -> str:
    return module.partition(".")[2].partition(".")[0].partition(":")[0]


def may_use(module: str, other: str) -> bool:
    """Whether a module may import another: from its own folder, or from one that stands lower."""
    own, asked = folder_of(module), folder_of(other)
    return asked == own or own not in HEIGHTS or asked not in HEIGHTS or HEIGHTS[asked] < HEIGHTS[own]


def imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """All imports of a file with their lines, also those inside functions and those for types alone."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f".{alias.name}" for alias in node.names] if node.module == "armdyn" else [""]
            yield from ((node.lineno, node.module + name) for name in names)


def test_every_folder_and_file_has_its_height() -> None:
    inside = {
        path.stem for path in (SOURCE / "armdyn").iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    assert inside - {"__init__", "__main__", "arms"} <= set(HEIGHTS)


def test_imports_point_down_wherever_they_stand() -> None:
    wrong = []
    for path in FILES:
        module = module_of(path)
        for line, name in imports(ast.parse(path.read_text())):
            if name.split(".")[0] == "armdyn" and not may_use(module, name):
                wrong.append(f"{module}:{line} imports {name}")
    assert wrong == []


def test_no_name_of_a_module_leads_upward_but_those_of_the_table() -> None:
    """A module that is looked up by its name would escape every check of imports."""
    wrong = []
    for path in FILES:
        module = module_of(path)
        if module in BY_NAME:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            text = getattr(node, "value", None) if isinstance(node, ast.Constant) else None
            if isinstance(text, str) and re.fullmatch(r"armdyn(\.\w+)+(:\w+)?", text) and not may_use(module, text):
                wrong.append(f"{module}: names {text}")
    assert wrong == []


def test_imports_inside_functions_are_seen_by_the_linter() -> None:
    grimp = pytest.importorskip("grimp", reason="import-linter is not installed: pip install '.[lint]'")
    graph = grimp.build_graph("armdyn", cache_dir=None)
    assert "armdyn.model.urdf.read" in graph.find_modules_directly_imported_by("armdyn.model.io")  # inside load()


def test_layers_name_what_exists() -> None:
    for contract in CONTRACTS[1:]:
        (container,) = contract["containers"]
        for row in contract["layers"]:
            for name in re.split(r"\s*[|:]\s*", row):
                if not name.startswith("("):
                    importlib.import_module(f"{container}.{name}")


# -- the one way upward ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", presentation.RENDERERS)
def test_every_line_of_the_table_leads_somewhere(kind: str) -> None:
    home, _, name = kind.rpartition(".")
    assert isinstance(getattr(importlib.import_module(home), name), type)
    module, ways = presentation.RENDERERS[kind]
    for how in ways.split():
        assert callable(getattr(importlib.import_module(module), presentation.FUNCTIONS[how]))


@pytest.mark.parametrize("kind", presentation.RENDERERS)
def test_what_shows_itself_is_in_the_table(kind: str) -> None:
    home, _, name = kind.rpartition(".")
    cls, ways = getattr(importlib.import_module(home), name), presentation.RENDERERS[kind][1].split()
    assert hasattr(cls, "_repr_html_") == ("html" in ways)
    assert hasattr(cls, "plot") == ("figure" in ways)
    if issubclass(cls, presentation.Reported):
        assert set(ways) == {"page", "html", "figure"}


def test_a_result_shows_itself(tmp_path: Path) -> None:
    arm = armdyn.arms.planar2()
    motion = armdyn.trajectory.point_to_point([0, 0], [0.5, -0.5], duration=0.5)
    run = armdyn.simulate(arm, armdyn.ComputedTorque(arm, kp=100.0, kd=20.0), motion, rate=200)
    assert "<html" in run.report(tmp_path / "run.html").read_text()
    assert run.plot(what="q").axes
    assert run._repr_html_().startswith("<")
    assert armdyn.arms.planar2()._repr_html_().startswith("<")


def test_a_result_without_a_page() -> None:
    with raises(
        ArmdynError,
        cause="no page for a dict",
        expected=("one of Excitation, DataCheck, Fit, Calibration, Comparison, SimulationResult, ServoFit, Summary"),
    ):
        presentation.present({}, "page")


def test_the_map_of_contributing_is_true() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    paths = set(re.findall(r"`((?:[\w.]+/)*[\w.]+(?:/|\.py|\.toml|\.md))`", text))
    rooms = [folder for folder in (SOURCE / "armdyn").iterdir() if folder.is_dir()]
    places = [ROOT, SOURCE / "armdyn", *rooms]
    assert len(paths) > 50
    assert [path for path in sorted(paths) if not any((place / path).exists() for place in places)] == []
    folders = {folder.name for folder in rooms if (folder / "__init__.py").is_file()}
    assert {name for name in folders if not re.search(rf"\b{name}\b", text)} == set()
