"""The page about motions: its code runs and its claims hold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import armdyn

PAGE = (Path(__file__).parents[2] / "docs" / "trajectories.md").read_text()


@pytest.mark.slow
def test_the_code_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(block.replace("max_acceleration=8.0)", "max_acceleration=8.0, steps=100)"), names)
    assert names["q"].shape == (3, 2)
    assert names["design"].condition < 40
    assert (tmp_path / "motion.csv").exists()
    assert names["improved"].factor > 11.6


def test_all_names_exist():
    names = set(re.findall(r"`(\w+)\(", PAGE)) - {"sign", "tanh"}
    assert len(names) > 5
    assert [name for name in names if not hasattr(armdyn, name)] == []
