"""The files of a reproduction: its figures as PNG, and one page that needs nothing else."""

from __future__ import annotations

import io
from pathlib import Path

from armdyn.files import write_whole
from armdyn.html import document, heading, listing, paragraph, svg, table
from armdyn.reproduce.case import FAILS, Case

RESOLUTION = 120  # dots an inch
# Cells are sentences here, not numbers.
STYLE = "<style>.said td,.said th{text-align:left;vertical-align:top;white-space:normal}</style>"


def write(case: Case, folder: Path) -> list[Path]:
    """Write the figures (`<case>-<figure>.png`) and the page (`<case>.html`); the files, the page first."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures = []
    for picture in case.pictures:
        stream = io.BytesIO()
        picture.figure.savefig(stream, format="png", dpi=RESOLUTION)
        pictures.append(write_whole(folder / f"{case.name}-{picture.name}.png", stream.getvalue()))
    return [write_whole(folder / f"{case.name}.html", page(case)), *pictures]


def page(case: Case) -> str:
    """The page of a reproduction."""
    parts = [STYLE, heading(case.title, 1), paragraph(f"{case.counted}.", "big")]
    parts += [paragraph(f"{row.quantity}: {row.found}", "warn") for row in case.rows if row.verdict == FAILS]
    said = table(("what", "source", "armdyn", "verdict", "why"), case.rows)
    parts += [heading("Statements and results"), f'<div class="said">{said}</div>']
    parts += [heading("Assumed where the source is silent"), listing(case.assumed)] if case.assumed else []
    for each in case.tables:
        parts += [heading(each.title), table(each.columns, each.rows)]
    for picture in case.pictures:
        parts += [heading(picture.caption), svg(picture.figure)]
    return document(f"armdyn: {case.title}", *parts)
