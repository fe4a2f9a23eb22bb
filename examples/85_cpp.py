"""Dynamics in C++17: a header over std::array (and Eigen, where it is installed) around generated C.

Run it: python examples/85_cpp.py
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import armdyn

MAIN = """
#include <cstdio>
#include "puma.hpp"

int main() {
    const std::array<double, 6> q{{0.1, 0.2, 0.3, 0.4, 0.5, 0.6}};
    const std::array<double, 6> tau = puma::gravity_torque(q);
    for (double x : tau) std::printf("%.17g ", x);
}
"""


def main() -> None:
    arm = armdyn.arms.puma560()
    folder = Path(tempfile.mkdtemp())
    code = armdyn.c_code([armdyn.gravity_torque, armdyn.mass_matrix], arm, folder, prefix="puma", cpp=True)
    print("wrote", code.cpp)
    compilers = shutil.which("cc"), shutil.which("c++")
    if not all(compilers):
        print("no C++ compiler here")
        return
    (folder / "main.cpp").write_text(MAIN)
    cc, cpp = map(str, compilers)
    subprocess.run([cc, "-std=c99", "-O2", "-c", "puma.c"], cwd=folder, check=True)
    subprocess.run([cpp, "-std=c++17", "-O2", "main.cpp", "puma.o", "-o", "main"], cwd=folder, check=True)
    found = np.array(subprocess.run([folder / "main"], capture_output=True, check=True).stdout.split(), float)
    want = armdyn.gravity_torque(arm, np.arange(1, 7) / 10)
    print("largest difference to Python:", np.abs(found - want).max(), "N m")
    assert np.allclose(found, want, rtol=0, atol=1e-12)


if __name__ == "__main__":
    main()
