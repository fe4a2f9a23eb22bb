"""The demo's report: what was done, how the laws compare, and the identification in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armdyn.cli.demo.picture import tip_errors
from armdyn.html import document, heading, listing, paragraph, svg, table
from armdyn.report import fit_page

if TYPE_CHECKING:
    from armdyn.cli.demo.study import Study


def page(study: Study, lines: list[str]) -> str:
    """The whole page."""
    tracking = study.tracking
    best = min(tracking.values())
    rows = [(name, f"{1e3 * error:.2f}", f"{error / best:.1f}") for name, error in tracking.items()]
    return document(
        "armdyn demo",
        heading("armdyn demo: a PUMA 560 that is not as described", 1),
        listing(lines),
        heading("Control with the unknown load"),
        paragraph("All laws follow the same motion with a bandwidth of 3 Hz; errors are those of the second half."),
        table(("law", "tip error, RMS [mm]", "times the best"), rows),
        svg(tip_errors(study)),
        *fit_page.parts(study.fit),
    )
