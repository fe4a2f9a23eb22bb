"""Random arms against Pinocchio and MuJoCo: `benchmarks/differential.py` in CI size, and in nightly size."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "differential.py"


@pytest.mark.parametrize(
    ("arms", "kernels", "mujoco"),
    [(5, 1, 4), pytest.param(1000, 30, 100, marks=pytest.mark.slow)],
)
def test_engines_agree(arms: int, kernels: int, mujoco: int) -> None:
    for engine in ("pinocchio", "mujoco"):
        pytest.importorskip(engine)
    script = runpy.run_path(str(SCRIPT))
    found = script["run"](arms, kernels, mujoco, seed=6)
    assert [len(result) for result in found.values()] == [13, 13, 2]
    for engine, result in found.items():
        for name, worst in result.items():
            assert worst <= script["tolerance"](engine, name), (engine, name)
