"""The files of a reproduction: its figures as PNG, one page that needs nothing else, and all cases as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from armdyn.errors import ArmdynError
from armdyn.files import write_figure, write_whole
from armdyn.html import document, heading, listing, paragraph, svg, table
from reproductions.case import FAILS, Case

HEADS = ("what", "source", "armdyn", "verdict", "why")
MARK = "<!-- Below this line the page is printed by `armdyn reproduce all --page`. -->"
DOTS_PER_INCH = 120  # dots an inch
# Cells are sentences here, not numbers.
STYLE = "<style>.said td,.said th{text-align:left;vertical-align:top;white-space:normal}</style>"


def write(case: Case, folder: Path) -> list[Path]:
    """Write the figures (`<case>-<figure>.png`) and the page (`<case>.html`); the files, the page first."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures = [
        write_figure(folder / f"{case.name}-{picture.name}.png", picture.figure, dpi=DOTS_PER_INCH)
        for picture in case.pictures
    ]
    return [write_whole(folder / f"{case.name}.html", page(case)), *pictures]


def page(case: Case) -> str:
    """The page of a reproduction."""
    parts = [STYLE, heading(case.title, 1), paragraph(f"{case.counted}.", "big")]
    parts += [paragraph(f"{row.quantity}: {row.found}", "warn") for row in case.rows if row.verdict == FAILS]
    said = table(HEADS, case.rows)
    parts += [heading("Statements and results"), f'<div class="said">{said}</div>']
    parts += [heading("Assumed where the source is silent"), listing(case.assumed)] if case.assumed else []
    for each in case.tables:
        parts += [heading(each.title), table(each.columns, each.rows)]
    for picture in case.pictures:
        parts += [heading(picture.caption), svg(picture.figure)]
    return document(f"armdyn: {case.title}", *parts)


def print_into(path: Path, cases: Sequence[Case]) -> None:
    """Put all cases as Markdown below the mark of a page, which stays as it is above."""
    write_whole(path, above_mark(path) + "\n\n" + "\n".join(map(markdown, cases)))


def above_mark(path: Path) -> str:
    """A page up to its mark; the mark alone where there is no page yet."""
    text = path.read_text(encoding="utf-8") if path.is_file() else MARK
    if MARK not in text:
        raise ArmdynError(path=path, expected=f"a page with the line {MARK}")
    return text[: text.index(MARK) + len(MARK)]


def markdown(case: Case) -> str:
    """A case as Markdown: statements, tables, and what was assumed."""
    lines = [f"## {case.title}", "", f"`armdyn reproduce {case.name}`: {case.counted}.", "", *_rows(HEADS, case.rows)]
    for each in case.tables:
        lines += ["", f"**{each.title}**", "", *_rows(each.columns, each.rows)]
    if case.assumed:
        lines += ["", "Assumed where the source is silent:", "", *(f"- {each}" for each in case.assumed)]
    return "\n".join([*lines, ""])


def _rows(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a Markdown table; heads that end in a blank are over numbers."""
    rules = ["--:" if head.endswith(" ") else "---" for head in heads]
    cells = [[cell.replace("|", "\\|") for cell in row] for row in ([head.strip() for head in heads], *rows)]
    head, *body = [f"| {' | '.join(row)} |" for row in cells]
    return [head, f"|{'|'.join(rules)}|", *body]
