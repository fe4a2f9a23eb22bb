"""Examples in the documentation of the names that the home page lists are what the code prints."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import numpy as np
import pytest

import armdyn

INDEX = (Path(__file__).parents[2] / "docs" / "index.md").read_text()
NAMES = [name for name in re.findall(r"`(\w+)`", INDEX.split("## Names to begin with")[1]) if name in armdyn.__all__]
WITH_EXAMPLES = [name for name in NAMES if ">>>" in (getattr(armdyn, name).__doc__ or "")]


def test_most_names_have_an_example() -> None:
    assert len(WITH_EXAMPLES) >= 45


@pytest.mark.parametrize("name", WITH_EXAMPLES)
@pytest.mark.filterwarnings("ignore::armdyn.ArmdynWarning")
def test_the_example_of(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scope = {"armdyn": armdyn, "np": np}
    (test,) = [doctest.DocTestParser().get_doctest(getattr(armdyn, name).__doc__, scope, name, None, None)]
    result = doctest.DocTestRunner().run(test)
    assert result.attempted > 0
    assert result.failed == 0
