"""Generated C of every family under the address and undefined-behaviour sanitizers."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import armdyn
from armdyn.errors import ArmdynError

SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
FEW = (
    *("forward_kinematics", "jacobian_rate", "manipulability", "inverse_dynamics", "forward_dynamics", "mass_matrix"),
    *("coriolis_matrix", "friction_torque", "joint_torque", "kinetic_energy", "linearize", "regressor"),
)


@pytest.fixture(scope="module")
def compiler(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A compiler that has sanitizers."""
    folder = tmp_path_factory.mktemp("probe")
    for name in ("gcc", "clang"):
        command = [name, "-x", "c", *SANITIZE, "-", "-o", str(folder / "probe")]
        if shutil.which(name) and not subprocess.run(command, input=b"int main(void) { return 0; }").returncode:
            return name
    pytest.skip("no compiler with sanitizers here")


def selftests(code: armdyn.trace.printers.c_code.CCode, compiler: str, folder: Path) -> int:
    """How many functions pass their self-test; a finding of the sanitizers ends it with another code than 0."""
    program, sources = str(folder / "selftest"), (str(code.source), str(code.selftest))
    subprocess.run([compiler, "-std=c99", "-g", *SANITIZE, *sources, "-lm", "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.count(": ok")


@pytest.mark.parametrize("dtype", ["double", "float"])
def test_no_undefined_behaviour(compiler: str, tmp_path: Path, dtype: str) -> None:
    functions = [getattr(armdyn, name) for name in FEW]
    code = armdyn.c_code(functions, armdyn.arms.planar2(), tmp_path, dtype=dtype, search=False)
    assert selftests(code, compiler, tmp_path) == len(FEW)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["double", "float"])
@pytest.mark.parametrize("arm", ["planar2", "stanford", "puma560"])
def test_no_undefined_behaviour_in_any_function(compiler, tmp_path, arm, dtype, traced_functions) -> None:
    passed = 0
    for name, function in traced_functions.items():
        if name.startswith("base_"):
            continue  # of base parameters, not of arms
        try:
            code = armdyn.c_code(function, getattr(armdyn.arms, arm)(), tmp_path, dtype=dtype, search=False)
        except ArmdynError:
            continue  # not every function suits every arm: a swivel angle needs seven joints
        passed += selftests(code, compiler, tmp_path)
    assert passed > 40
