"""Processes that are interrupted, crowded, or miss a library: the rest works, nobody sees a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

START = (sys.executable, "-m", "armdyn")


def begin(folder: Path, *command: str, **environment: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, env=os.environ | environment, stdout=pipe, stderr=pipe, text=True)


@pytest.mark.parametrize("module", ["typer", "numpy"])
def test_ctrl_c_while_the_program_is_loaded_ends_it_in_one_line(tmp_path, module):
    (tmp_path / f"{module}.py").write_text("raise KeyboardInterrupt\n")
    process = begin(tmp_path, *START, "info", "panda", PYTHONPATH=str(tmp_path))
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, "armdyn: interrupted\n")


PROGRAM = """
import numpy as np, sys
import armdyn
arm = armdyn.arms.planar2()
print(armdyn.inverse_dynamics(arm, np.ones((5, 2)), np.ones(2), np.ones(2))[0].tolist())
"""


@pytest.mark.parametrize("crowd", [4, pytest.param(50, marks=pytest.mark.slow)])
def test_many_processes_on_an_empty_cache(tmp_path, crowd):
    processes = [begin(tmp_path, sys.executable, "-c", PROGRAM, ARMDYN_CACHE_DIR=str(tmp_path)) for _ in range(crowd)]
    answers = {process.communicate(timeout=600)[0] for process in processes}
    assert len(answers) == 1
    assert all(process.returncode == 0 for process in processes)
    assert not list(tmp_path.glob("*.tmp"))


def test_a_warm_process_works_without_casadi(tmp_path):
    broken = tmp_path / "broken" / "casadi"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise ImportError('gone')\n")
    cache = str(tmp_path / "cache")
    cold = begin(tmp_path, sys.executable, "-c", PROGRAM, ARMDYN_CACHE_DIR=cache)
    expected, errors = cold.communicate(timeout=120)
    assert cold.returncode == 0, errors
    path = os.pathsep.join(filter(None, (str(broken.parent), os.environ.get("PYTHONPATH"))))
    warm = begin(tmp_path, sys.executable, "-c", PROGRAM, ARMDYN_CACHE_DIR=cache, PYTHONPATH=path)
    found, errors = warm.communicate(timeout=120)
    assert found == expected, errors


def test_generated_code_needs_no_compiler_here(tmp_path):
    """Without a C compiler in reach the code is still written; only its self-test waits."""
    process = begin(tmp_path, *START, "codegen", "planar2", "gravity_torque", PATH=str(tmp_path))
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert (tmp_path / "planar2.c").exists()


def test_no_module_reads_the_wall_clock_for_durations():
    """So a clock that is set back, or forward, in mid-work changes nothing."""
    source = Path(__file__).parents[2] / "src" / "armdyn"
    users = [path.name for path in source.rglob("*.py") if "time.time(" in path.read_text()]
    assert users == []


def test_a_function_has_one_entry_in_the_cache(tmp_path):
    """The kernel that tests the machine is kept apart: who counts or damages entries meets those of functions alone."""
    done = begin(tmp_path, sys.executable, "-c", PROGRAM, ARMDYN_CACHE_DIR=str(tmp_path / "cache"))
    _, errors = done.communicate(timeout=120)
    assert done.returncode == 0, errors
    assert len(list((tmp_path / "cache").glob("*.kernel"))) == 1
