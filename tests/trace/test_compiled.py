"""What compiled code is known by on disk."""

from __future__ import annotations

import re
from pathlib import Path

import armdyn
from armdyn.trace.compiled import holds_formulas

FORMULA = re.compile(r"@traced|\(Law\):|keyed_rollout\(|make_rollout\(")


def test_folders_left_out_of_the_digest_hold_no_formulas() -> None:
    """Else a changed formula would be answered by the code of the old one."""
    top = Path(armdyn.__file__).parent
    found = {path: FORMULA.search(path.read_text()) for path in top.rglob("*.py")}
    outside = {path for path in found if not all(holds_formulas(folder) for folder in path.parents)}
    assert {"cli", "report", "studio", "library", "printers"} <= {path.parent.name for path in outside}
    assert not [path for path in outside if found[path]]
    assert sum(map(bool, found.values())) > 50
