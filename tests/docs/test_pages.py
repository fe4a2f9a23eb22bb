"""Pages whose examples need nothing but themselves are what the code prints; tables of names hold names that exist."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

import armdyn

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(("page", "least"), [("start", 8), ("adaptive-payload", 15), ("controller-c", 6)])
def test_examples_of_the_page(page: str, least: int) -> None:
    result = doctest.testfile(str(DOCS / f"{page}.md"), module_relative=False)
    assert result.attempted >= least
    assert result.failed == 0


def test_names_in_the_last_column_exist() -> None:
    table = (DOCS / "names.md").read_text().split("## What differs")[0]
    rows = [row.split("|")[4] for row in table.splitlines() if row.count("|") == 5]
    names = {name.split("(")[0].removeprefix("armdyn.") for row in rows for name in re.findall(r"`([^`]+)`", row)}
    assert len(names) > 25
    missing = []
    for name in names - {"casadi.SX"}:
        owner, _, member = name.rpartition(".")
        if not hasattr(getattr(armdyn, owner) if owner else armdyn, member):
            missing.append(name)
    assert missing == []
