"""Kernels are loaded in processes whose address space has gaps far apart."""

import subprocess
import sys

import pytest

# Closes all gaps, then opens one of more and more pages, 4 GB above the next: in some of them the code has room, but
# not the rest. The same module is loaded every time.
CROWDED = """
import numpy as np
import armdyn
from armdyn.trace.llvm import nearby
from armdyn.trace.llvm.native import LoadedKernel
from armdyn.trace.recent import kernels
arm = armdyn.arms.planar2()
armdyn.linearize(arm, *np.ones((3, 2)))
module = list(kernels._values.values())[-1]._loaded.module
loaded = []
for pages in range(1, 20):
    gap, region = pages << 12, nearby._map(4 << 30)
    nearby._fill_gaps(region)
    nearby._unmap(region + (4 << 30) - gap, gap)
    loaded.append(LoadedKernel(module))
print(len(loaded))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="gaps are closed on Linux alone")
def test_a_crowded_address_space():
    done = subprocess.run([sys.executable, "-c", CROWDED], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "19\n"
