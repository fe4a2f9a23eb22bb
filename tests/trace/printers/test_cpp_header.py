"""The C++17 header: compiles without a warning, with and without Eigen, and computes what Python computes."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import armdyn

PROGRAM = """
#include "arm.hpp"
#include <cstdio>
int main()
{
    const std::array<double, 2> q{0.3, -0.7}, qd{0.5, 0.2}, qdd{1.0, -2.0};
    for (double x : arm::inverse_dynamics(q, qd, qdd)) std::printf("%.17g ", x);
    for (double x : arm::mass_matrix(q)) std::printf("%.17g ", x);
    const auto linear = arm::torque_derivatives(q, qd, qdd);
    for (double x : linear.K) std::printf("%.17g ", x);
#ifdef ARM_HPP_EIGEN
    const Eigen::Vector2d x(0.3, -0.7);
    const auto M = arm::mass_matrix_eigen(x);
    std::printf("%.17g eigen", M(0, 1));
#endif
}
"""
STRICT = ("-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
EIGEN = Path("/usr/include/eigen3")


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.parametrize("eigen", [False, True])
@pytest.mark.by_day(2)
def test_it_compiles_silently_and_is_right(tmp_path, compiler, eigen):
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    if eigen and not EIGEN.is_dir():
        pytest.skip("Eigen is not installed (libeigen3-dev)")
    arm = armdyn.arms.planar2()
    functions = [armdyn.inverse_dynamics, armdyn.mass_matrix, armdyn.torque_derivatives]
    code = armdyn.c_code(functions, arm, tmp_path, prefix="arm", cpp=True)
    assert code.cpp == tmp_path / "arm.hpp"
    (tmp_path / "main.cpp").write_text(PROGRAM)
    cc = {"g++": "gcc", "clang++": "clang"}[compiler]
    subprocess.run([cc, "-std=c99", "-c", "arm.c", "-o", "arm.o"], cwd=tmp_path, check=True)
    include = ("-isystem", str(EIGEN)) if eigen else ()
    subprocess.run([compiler, *STRICT, *include, "main.cpp", "arm.o", "-lm", "-o", "main"], cwd=tmp_path, check=True)
    words = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout.split()
    q, qd, qdd = (0.3, -0.7), (0.5, 0.2), (1.0, -2.0)
    K = armdyn.torque_derivatives(arm, q, qd, qdd).K
    want = [*armdyn.inverse_dynamics(arm, q, qd, qdd), *armdyn.mass_matrix(arm, q).ravel(), *K.ravel()]
    np.testing.assert_allclose([float(word) for word in words[: len(want)]], want, rtol=0, atol=1e-13)
    assert ("eigen" in words) == eigen
