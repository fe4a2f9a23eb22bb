"""The example for libfranka compiles without a warning against stand-ins for its headers, and keeps its word there."""

import runpy
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import armdyn

ROOT = Path(__file__).parents[2]
STAND_INS = ROOT / "tests" / "data" / "libfranka"
STRICT = ("-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror")


@pytest.fixture(scope="module")
def law():
    return runpy.run_path(str(ROOT / "examples" / "86_libfranka.py"))["law_for_franka"](armdyn.arms.panda())


@pytest.fixture(scope="module")
def folder(law, tmp_path_factory):
    path = tmp_path_factory.mktemp("franka")
    armdyn.law_code(law, path, rate=1000.0, prefix="franka_law")
    return path


@pytest.mark.parametrize(("cc", "cpp"), [("gcc", "g++"), ("clang", "clang++")])
@pytest.mark.by_day(1)
def test_it_runs_against_stand_ins(cc, cpp, folder, tmp_path):
    if not shutil.which(cpp):
        pytest.skip(f"{cpp} is not installed")
    sources = [path for path in folder.glob("*.c") if "selftest" not in path.name]
    subprocess.run([cc, "-std=c99", *STRICT, "-c", *sources], cwd=tmp_path, check=True)
    program, main = tmp_path / "program", ROOT / "examples" / "86_libfranka.cpp"
    objects = list(tmp_path.glob("*.o"))
    include = (f"-I{STAND_INS}", f"-I{folder}")
    command = [cpp, "-std=c++17", *STRICT, *include, str(main), *objects, "-lm", "-o", program]
    subprocess.run(command, check=True)
    steps, rate, largest, first, limits, cutoff = map(
        float, subprocess.run([program, "stand-in"], capture_output=True, text=True, check=True).stdout.split()
    )
    assert steps == 8000
    assert rate <= 1000.0
    assert first < 1e-9  # at rest on its reference: gravity is libfranka's
    assert largest > 1.0
    assert (limits, cutoff) == (0, 1000)
    assert subprocess.run([program, "nobody"], capture_output=True).returncode == 1


def test_neither_gravity_nor_friction_is_in_it(law):
    q = np.random.default_rng(0).uniform(-1, 1, (20, 7))
    assert np.abs(armdyn.gravity_torque(law.arm, q)).max() == 0
    assert np.abs(armdyn.friction_torque(law.arm, q, 0 * q + 1.0)).max() == 0
    np.testing.assert_array_equal(law.arm.theta, armdyn.arms.panda().theta)
