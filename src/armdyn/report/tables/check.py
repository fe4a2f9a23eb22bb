"""A data check in words and a table, for reports and notebooks."""

from __future__ import annotations

from armdyn.html import fragment, listing, paragraph, table
from armdyn.identification.checks.check import DataCheck
from armdyn.numerals import counted


def notebook(check: DataCheck) -> str:
    """What a notebook shows."""
    return fragment(*parts(check))


def parts(check: DataCheck) -> list[str]:
    """Verdict, doubts, a table of the joints and notes."""
    log = check.log
    gaps = f", {counted(len(log.gaps), 'gap')}" if len(log.gaps) else ""
    doubts = any(f.level == "warn" for f in check.findings)
    found = [
        paragraph(check.verdict, "bad" if not check.ok else "warn" if doubts else "good"),
        paragraph(f"{log.name}, arm '{check.arm.name}': {log.extent}{gaps}."),
    ]
    found += [
        paragraph(f.advice, "bad" if f.level == "refuse" else "warn") for f in check.findings if f.level != "note"
    ]
    notes = [f.text for f in check.findings if f.level == "note"]
    return [
        *found,
        table(check.headings, check.rows()),
        paragraph(
            "Condition: how alike a joint's own acceleration, speed, "
            "direction and constant look; up to ten is good, beyond a hundred its friction and inertia cannot be told "
            "apart.",
            "small",
        ),
        *([listing(notes)] if notes else []),
    ]
