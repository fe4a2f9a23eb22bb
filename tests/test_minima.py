"""The oldest dependencies that pyproject.toml allows are installed together, and armdyn runs on them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
READERS = PROJECT["optional-dependencies"]["logs"]  # of what users read most
TOOLS = ["pytest>=8", "pytest-xdist>=3.5", "hypothesis>=6.100", "pyyaml>=6"]


def minima(requirements: list[str]) -> list[str]:
    """The requirements with `==` for `>=`."""
    return [re.sub(r">=([\w.]+).*", r"==\1", requirement) for requirement in requirements]


def test_every_dependency_has_a_minimum():
    assert all(re.fullmatch(r"[\w-]+==[\d.]+", pin) for pin in minima(PROJECT["dependencies"] + READERS))


@pytest.mark.slow
def test_smoke_on_the_oldest_dependencies(tmp_path):
    if sys.version_info[:2] > (3, 12):
        pytest.skip("the oldest packages have no wheels for this Python; 3.11 and 3.12 have them")
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    pins = minima(PROJECT["dependencies"] + READERS)
    subprocess.run([python, "-m", "pip", "install", "-q", *pins, *TOOLS], check=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "ARMDYN_CACHE_DIR": str(tmp_path / "cache")}
    environment.pop("ARMDYN_TEST_CACHE", None)
    (tmp_path / "cache").mkdir(mode=0o700)
    run = [python, "-m", "pytest", "-q", "-m", "smoke", "-p", "no:cacheprovider"]
    done = subprocess.run(run, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
    assert re.search(r"\d+ passed|\[100%\]", done.stdout)
