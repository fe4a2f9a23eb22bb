"""Logs that are larger than memory should be: `identify` in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is told by Linux's /proc")
def test_two_million_samples_in_bounded_memory():
    """0.24 GB on disk. Beside the mapped file: times and marks of all samples, a piece at work, rows that are kept."""
    command = [sys.executable, str(ROOT / "benchmarks/identification.py"), "--big", "2000000"]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=900).stdout
    found = re.search(r"relative error ([\d.]+)%; memory at most ([\d.]+) GB, ([\d.]+) GB without", told)
    assert found is not None, told
    error, resident, anonymous = map(float, found.groups())
    assert error < 0.5
    # 0.4 GB whatever the length, and for each sample 20 numbers: the 15 of the log, and what is kept of them.
    assert anonymous < 0.4 + 2e6 * 5 * 8e-9 + 0.1
    assert resident < 0.4 + 2e6 * 20 * 8e-9 + 0.2
