"""Formulas of small arms that pages show are those that the code prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import armdyn

DOCS = Path(__file__).parents[2] / "docs"


def entries(line: str) -> list[str]:
    """What stands in the matrix of an equation."""
    inside = re.sub(r"^.*?\\begin\{bmatrix\}|\\end\{bmatrix\}.*$", "", line)
    return [entry.strip() for row in inside.split(r"\\") for entry in row.split("&")]


@pytest.mark.parametrize(
    ("page", "function", "outputs"),
    [
        ("kinematics", armdyn.forward_kinematics, ("pose",)),
        ("kinematics", armdyn.jacobian, ("J",)),
        ("linearization", armdyn.linearize, ("M", "C", "K")),
    ],
)
def test_every_entry_is_on_the_page(page, function, outputs):
    text = (DOCS / f"{page}.md").read_text()
    lines = {re.sub(r"\\mathrm\{(\w+)\}", r"\1", line.split(" = ")[0]): line
             for line in armdyn.latex(function, armdyn.arms.planar2()).splitlines()}  # fmt: skip
    for output in outputs:
        found = entries(lines[output])
        assert len(found) >= 4
        assert [entry for entry in found if entry not in text] == []
