"""Hygiene of the package: public names, documentation, import cost, README, no traces of a machine."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import armdyn
from armdyn.errors import MissingExtraError
from armdyn.exports import public_names

ROOT = Path(__file__).parents[1]
HEAVY = ("casadi", "scipy", "matplotlib", "llvmlite", "cvxpy", "rich", "typer", "pinocchio")


def run(code: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("name", public_names(armdyn))
def test_every_public_name_exists_and_is_documented(name):
    value = getattr(armdyn, name)
    assert inspect.getdoc(value), f"armdyn.{name} has no docstring"


ROOMS = ("spatial", "model", "kinematics", "dynamics", "trajectory", "identification", "control", "simulation", "trace")
# They mean the same everywhere: data of the arm that may be replaced, where to write, how many threads.
COMMON = {"arm", "theta", "gravity", "friction", "drive", "out", "threads"}


def public(room: str) -> dict[str, Any]:
    """The names that a folder offers."""
    module = importlib.import_module(f"armdyn.{room}")
    return {name: getattr(module, name) for name in module.__all__}


def documents(text: str, name: str) -> bool:
    """Whether a docstring has an entry for a parameter or speaks of it as code (`name`)."""
    entry = rf"(?m)^\s*(?:\*{{0,2}}\w+, )*\*{{0,2}}{name}(?:, \*{{0,2}}\w+)*(?: :|$)"
    return bool(re.search(rf"{entry}|`[^`]*\b{name}\b[^`]*`", text))


def test_an_article_documents_nothing():
    assert documents("Parameters\n----------\na, b : float\n", "a")
    assert not documents("A law of a joint.", "a")


@pytest.mark.parametrize("room", ROOMS)
def test_every_parameter_of_a_public_function_is_documented(room):
    functions = {name: x for name, x in public(room).items() if inspect.isroutine(x)}
    silent = [
        f"{name}: {parameter}"
        for name, function in functions.items()
        for parameter in inspect.signature(function).parameters
        if parameter not in COMMON and not documents(inspect.getdoc(function) or "", parameter)
    ]
    assert silent == []


def test_every_field_of_a_law_is_documented():
    """Beside the field, or in the docstring; by the class itself or one that it is based on."""
    silent = []
    for name, law in public("control").items():
        if not (inspect.isclass(law) and issubclass(law, armdyn.control.Law)):
            continue
        own = [base for base in law.__mro__ if base.__module__.startswith("armdyn")]
        texts = "".join(inspect.getdoc(base) or "" for base in own)
        source = "".join(inspect.getsource(base) for base in own)
        for field in dataclasses.fields(law) if dataclasses.is_dataclass(law) else ():
            beside = re.search(rf"(?m)^    {field.name}:[^#\n]*#", source)
            if field.init and field.name not in COMMON and not (beside or documents(texts, field.name)):
                silent.append(f"{name}: {field.name}")
    assert silent == []


def test_the_version_is_the_same_everywhere():
    assert re.search(rf"(?m)^## {re.escape(armdyn.__version__)}$", (ROOT / "CHANGELOG.md").read_text())
    assert f"\nversion: {armdyn.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"Version {armdyn.__version__}." in (ROOT / "docs/faq.md").read_text()
    assert 'dynamic = ["version"]' in (ROOT / "pyproject.toml").read_text()


def test_names_of_a_wrong_kind_are_rejected():
    with pytest.raises(AttributeError, match="no attribute 'inverse_dynamic'"):
        armdyn.inverse_dynamic


def test_import_is_light():
    loaded = run(f"import sys, armdyn; print(*(m for m in {HEAVY!r} if m in sys.modules))")
    assert loaded == ""


def test_modules_of_formulas_import_without_heavy_libraries():
    """CasADi is reached when a formula is traced, not when its module is imported."""
    code = f"""
import importlib, pkgutil, sys, armdyn
for package in ("spatial", "model", "kinematics", "dynamics"):
    root = importlib.import_module(f"armdyn.{{package}}")
    for module in pkgutil.walk_packages(root.__path__, root.__name__ + "."):
        importlib.import_module(module.name)
print(*(m for m in {HEAVY!r} if m in sys.modules))
"""
    assert run(code) == ""


def test_shapes_are_declared_once():
    """As annotations: the decorator keeps the name and shape of a single result, and a check."""
    calls = [
        (path, node)
        for path in (ROOT / "src").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "traced"
    ]
    assert len(calls) > 50
    assert [
        path for path, call in calls if not {k.arg for k in call.keywords} <= {"returns", "check", "redescribable"}
    ] == []


def readme_commands() -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.S)
    return [line for block in blocks for line in block.splitlines() if line]


def test_readme_has_two_commands_of_one_line_each():
    text, commands = (ROOT / "README.md").read_text(), readme_commands()
    assert len(commands) == 2
    for word, command in zip(("armdyn demo", "pytest"), commands, strict=True):
        assert word in command
        first = next(line for line in text.splitlines() if word in line)
        assert first == command, f"'{word}' is mentioned before its command"
        assert command.startswith("python3 -m venv ")
        assert "pip install" in command


def test_readme_example_runs():
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.S)
    assert len(run(example).strip("[]").split()) == 6


def test_readme_links_lead_somewhere():
    for target in re.findall(
        r"\]\(([^)#]+)\)", (ROOT / "README.md").read_text() + (ROOT / "CONTRIBUTING.md").read_text()
    ):
        assert (ROOT / target).exists(), target


def test_no_machine_paths_in_what_is_published():
    """Paths of the machine something was written on help nobody elsewhere."""
    suspicious = re.compile(r"(?<![\w.])/(?:work|root|home/\w+|Users/\w+)/")
    files = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "pyproject.toml")]
    for folder, pattern in (("src", "*.py"), ("docs", "*.md"), ("examples", "*.py"), ("benchmarks", "*.py")):
        files += (ROOT / folder).rglob(pattern)
    found = [str(file.relative_to(ROOT)) for file in files if suspicious.search(file.read_text(encoding="utf-8"))]
    assert not found


def test_no_command_installs_the_package_by_its_name():
    """It is not published: whoever publishes something under its name must not be installed by what armdyn prints."""
    folders = (ROOT / name for name in ("src", "docs", "examples", "tests", "tools", "benchmarks"))
    files = [
        path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".md", ".ipynb", ".toml")
    ]
    by_name = re.compile(r"""pip3? install (-\S+ )*['"]?armdyn\b""")
    found = [str(path) for path in (*files, ROOT / "README.md") if by_name.search(path.read_text("utf-8"))]
    assert not found


@pytest.mark.parametrize(
    ("record", "command"),
    [
        ('{"url": "file://FOLDER", "dir_info": {}}', "pip install 'FOLDER[mujoco]'"),
        ('{"url": "file://FOLDER/armdyn.whl"}', "pip install 'FOLDER/armdyn.whl[mujoco]'"),
        ('{"url": "file://FOLDER/gone.whl"}', "pip install '.[mujoco]' inside the folder of armdyn's source"),
        ('{"url": "https://example.org/armdyn.whl"}', "pip install '.[mujoco]' inside the folder of armdyn's source"),
        (None, "pip install '.[mujoco]' inside the folder of armdyn's source"),
    ],
)
def test_extras_are_installed_from_where_armdyn_came_from(record, command, tmp_path, monkeypatch):
    """The folder or wheel stands in the command, so that it runs in any folder."""
    for name in ("pyproject.toml", "armdyn.whl"):
        (tmp_path / name).touch()
    folder = tmp_path.as_posix()
    texts = {"direct_url.json": record and record.replace("FOLDER", folder)}
    monkeypatch.setattr("importlib.metadata.distribution", lambda name: SimpleNamespace(read_text=texts.get))
    error = MissingExtraError("MJCF needs MuJoCo", "mujoco")
    assert str(error) == f"MJCF needs MuJoCo; install it with {command.replace('FOLDER', folder)}"
