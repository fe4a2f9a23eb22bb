"""What compiled code is known by on disk."""

from __future__ import annotations

import re
from pathlib import Path

import armdyn
from armdyn.trace.compiled import NOT_FORMULAS

FORMULA = re.compile(r"@traced|\(Law\):|keyed_rollout\(|make_rollout\(")


def test_folders_left_out_of_the_digest_hold_no_formulas() -> None:
    """Else a changed formula would be answered by the code of the old one."""
    top = Path(armdyn.__file__).parent
    found = {path: FORMULA.search(path.read_text()) for path in top.rglob("*.py")}
    outside = {path for path in found if NOT_FORMULAS & set(path.relative_to(top).parts)}
    assert {part for path in outside for part in path.relative_to(top).parts} >= NOT_FORMULAS
    assert not [path for path in outside if found[path]]
    assert sum(map(bool, found.values())) > 50
