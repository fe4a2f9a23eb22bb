"""Every module of some size has a test file: of its name, or one that `capabilities.toml` names."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import armdyn

SOURCE, TESTS = Path(armdyn.__file__).parent, Path(__file__).parent
CAPABILITIES: dict[str, list[str]] = tomllib.loads((TESTS / "capabilities.toml").read_text())
MIN_LINES = 80  # of a module that must have a test
MIN_SHARE = 0.5  # of a module's statements that run in the tests that are named for it


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


@pytest.mark.slow
@pytest.mark.parametrize("test", sorted(CAPABILITIES))
def test_a_capability_test_runs_the_modules_that_it_is_named_for(test: str, tmp_path: Path) -> None:
    coverage = pytest.importorskip("coverage")
    modules = [str(SOURCE / module) for module in CAPABILITIES[test]]
    settings = tmp_path / "settings"
    settings.write_text(f"[run]\nparallel = true\ndata_file = {tmp_path}/data\n[report]\nprecision = 1\n")
    command = [sys.executable, "-m", "coverage", "run", f"--rcfile={settings}", f"--include={','.join(modules)}"]
    options = ["-q", "-n", "0", "-p", "no:cacheprovider", str(TESTS / test)]
    done = subprocess.run([*command, "-m", "pytest", *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]
    data = coverage.Coverage(data_file=str(tmp_path / "data"), config_file=str(settings))
    data.combine([str(tmp_path)])
    shares = {}
    for module in modules:
        _, statements, _, missing, _ = data.analysis2(module)
        shares[module] = 1 - len(missing) / len(statements)
    assert {module: share for module, share in shares.items() if share < MIN_SHARE} == {}
