"""The examples of docs/simulation.md run."""

import os
import re
from pathlib import Path


def test_the_examples_of_the_page_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[2] / "docs" / "simulation.md").read_text(encoding="utf-8")
    names: dict = {}
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.S)
    for block in blocks:
        exec(block, names)
    assert len(blocks) >= 2
    assert os.path.exists("run.npz")
    assert names["runs"].metrics.settling_time.shape == (100, 2)
    assert (names["run"].metrics.rms_error < 0.05).all()
