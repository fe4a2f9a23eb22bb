"""Small studies for the tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from armdyn.study.spec import Study, read_study

# Two joints and 50 samples per run: a case takes microseconds.
SMALL = """
name = "small"
arm = "planar2"
seed = 3
part = 64

[run]
rate = 200.0
duration = 0.25

[[controllers]]
design = "PD"

[[controllers]]
design = "computed torque"

[[references]]
kind = "point-to-point"
start = [0.0, 0.3]
end = [0.4, 0.1]

[samples]
method = "sobol"
count = 200

[parameters]
payload = { low = 0.0, high = 2.0 }
inertia = { low = 0.8, high = 1.25, distribution = "log-uniform" }

[success]
max_error = 0.05
"""


@pytest.fixture(scope="session")
def small_text() -> str:
    return SMALL


@pytest.fixture
def study(tmp_path: Path) -> Callable[..., Study]:
    """`study()`: the small study; `study(old="new")` with replacements; `study(text=...)` another one."""

    def build(replacements: dict[str, str] | None = None, text: str = SMALL) -> Study:
        for old, new in (replacements or {}).items():
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "small.toml"
        path.write_text(text)
        return read_study(path)

    return build
