"""The page of reproductions is fresh, and a quick run judges as the full run that printed it.

`docs/reproductions.md` is printed by `armdyn reproduce all`; statements and verdicts of quick runs must stand in it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reproductions.case import Case
from reproductions.cases import CASES, reproduce
from reproductions.page import HEADS, MARK

PAGE = Path(__file__).parents[2] / "docs" / "reproductions.md"
SEEDS = range(5)


def verdicts(case: Case) -> list[tuple[str, str]]:
    return [(row.quantity, row.verdict) for row in case.rows]


def printed(name: str) -> list[tuple[str, str, str]]:
    """What, source and verdict of a case's statements on the page."""
    text = PAGE.read_text(encoding="utf-8").split(MARK)[1]
    section = next(part for part in text.split("\n## ") if f"`armdyn reproduce {name}`" in part)
    table = section[section.index(f"| {HEADS[0]} |") :].split("\n\n")[0].splitlines()[2:]
    rows = [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table]
    return [(what, source, verdict) for what, source, _, verdict, _ in rows]


@pytest.mark.parametrize("name", CASES)
def test_quick_runs_give_the_verdicts_of_the_page(quick, name):
    assert [(row.quantity, row.source, row.verdict) for row in quick(name).rows] == printed(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_verdicts_depend_neither_on_the_seed_nor_on_haste(name):
    found = {(seed, fast): verdicts(reproduce(name, fast, seed=seed)) for seed in SEEDS for fast in (False, True)}
    for key, each in found.items():
        assert each == found[0, False], key
