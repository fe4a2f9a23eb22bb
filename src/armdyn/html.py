"""Pieces of a page or a notebook's cell: text is escaped here and nowhere else, figures are inline."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import re
import shlex
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from armdyn.curves import curve_data, description

HERE = Path(__file__).parent
SVG_DPI = 72  # of every SVG; a layout is of the size of texts at it
PLOT = '<figure class="plot"'


@cache
def style(path: Path) -> str:
    """A style sheet as an element of a page."""
    return f"<style>\n{path.read_text(encoding='utf-8')}</style>"


def document(title: str, *parts: str, files: Iterable[str | os.PathLike[str] | None] = ()) -> str:
    """A whole page; its foot names the date, the version, the command and the files that it was made from."""
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    body = "\n".join(parts)
    plots = _plots() if PLOT in body else ("", "")
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}{style(HERE / "page.css")}{plots[0]}</head>\n'
        f"<body><main>{body}</main>\n{_foot(files)}{plots[1]}</body></html>\n"
    )


@cache
def _plots() -> tuple[str, str]:
    """The style and the scripts of plots that zoom, once a page."""
    scripts = (HERE / "uplot" / "uPlot.iife.min.js", HERE / "curves.js")
    texts = "".join(f"<script>{path.read_text(encoding='utf-8')}</script>" for path in scripts)
    return style(HERE / "uplot" / "uPlot.min.css"), texts


def _foot(files: Iterable[str | os.PathLike[str] | None]) -> str:
    """Date, version, command, and the files with their hashes."""
    stamp = os.environ.get("SOURCE_DATE_EPOCH")  # of builds that are to be the same each time
    when = datetime.now(UTC) if stamp is None else datetime.fromtimestamp(int(stamp), UTC)
    parts = [paragraph(f"Made with armdyn {sys.modules['armdyn'].__version__} on {when:%Y-%m-%d %H:%M} UTC.")]
    parts += [code(command)] if (command := command_line()) else []
    paths = dict.fromkeys(Path(path) for path in files if path is not None)
    if rows := [(path.name, _hash(path)) for path in paths if path.is_file()]:
        parts.append(table(("file", "SHA-256 when this page was made"), rows))
    return f"<footer>{''.join(parts)}</footer>"


def command_line() -> str:
    """The command line of this process; empty in a notebook or an interactive session."""
    program = Path(sys.argv[0])
    if not program.name or program.stem.startswith("ipykernel"):
        return ""
    ours = program.name == "armdyn" or (program.name, program.parent.name) == ("__main__.py", "armdyn")
    return shlex.join([*(["armdyn"] if ours else ["python", program.name]), *sys.argv[1:]])


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fragment(*parts: str) -> str:
    """Return what a notebook shows of a result; its style touches nothing else on the notebook's page."""
    body = "\n".join(parts)
    return f'{style(HERE / "notebook.css")}<div class="armdyn">{body}</div>'


def heading(text: str, level: int = 2) -> str:
    """A heading."""
    return f"<h{level}>{escape(text)}</h{level}>"


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph; `kind` may be "big", "small", "good", "warn", "bad" or "next"."""
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def listing(items: Iterable[str]) -> str:
    """A list with bullets."""
    return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"


def code(text: str) -> str:
    """Lines to type."""
    return f"<pre>{escape(text)}</pre>"


def fold(title: str, *parts: str) -> str:
    """Parts behind a line that opens them."""
    return f"<details><summary>{escape(title)}</summary>{''.join(parts)}</details>"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells that are `Markup` are not escaped, and lights stand below each other."""
    rows = [tuple(row) for row in rows]
    lights = [any(str(row[k]).startswith(LIGHT) for row in rows if k < len(row)) for k in range(len(columns))]
    heads = zip(columns, lights, strict=True)
    head = "".join(f"<th{LEFT if light else ''}>{UNIT.sub(_unbroken, escape(column))}</th>" for column, light in heads)
    body = "".join("<tr>" + "".join(_cell(cell) for cell in row) + "</tr>" for row in rows)
    inside = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f'<div class="wide"><table>{inside}</table></div>'


UNIT = re.compile(r"\[[^]]*\]")  # in a heading


def _unbroken(unit: re.Match[str]) -> str:
    return unit.group().replace(" ", "\N{NO-BREAK SPACE}")


LIGHT, LEFT = '<span class="light', ' class="left"'


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def light(word: str, reason: str = "", kind: str | None = None) -> Markup:
    """A verdict's word behind a green ("good"), amber ("care") or red light, and the reason below it."""
    kind = {"good": "good", "usable with care": "care"}.get(word, "") if kind is None else kind
    return Markup(f'{LIGHT} {kind}"></span>{_with_reason(word, reason)}')


def _with_reason(word: str, reason: str) -> str:
    return escape(word) + (f'<br><span class="small why">{escape(reason)}</span>' if reason else "")


def faint(text: str) -> Markup:
    """A number that the data do not determine, in grey."""
    return Markup(f'<span class="unknown" title="not determined by the logs">{escape(text)}</span>')


def swatch(colour: str, text: str, reason: str = "") -> Markup:
    """A text behind a spot of the colour that its curve has, and a remark below it."""
    return Markup(f'{LIGHT}" style="background:{escape(colour)}"></span>{_with_reason(text, reason)}')


def shade(text: str, depth: float) -> Markup:
    """A number on a ground that is the darker the larger `depth`, 0 to 1, is."""
    return Markup(f'<span class="shaded" style="background:rgba(224,123,0,{0.75 * depth:.2f})">{escape(text)}</span>')


MAX_POINTS = 1500  # of a curve on a page: finer than any screen
LONG_CELL = 40  # characters of a cell, from which on it may be broken into lines


def _cell(cell: str) -> str:
    if isinstance(cell, Markup):
        return f"<td{LEFT if cell.startswith(LIGHT) else ''}>{cell}</td>"
    return f'<td class="long">{escape(cell)}</td>' if len(cell) > LONG_CELL else f"<td>{escape(cell)}</td>"


def _fills(figure: Any) -> bool:
    """Whether its contents are laid out to fill it; legends of whole figures may be wider."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    return isinstance(figure.get_layout_engine(), ConstrainedLayoutEngine) and not figure.legends


def svg(figure: Any) -> str:
    """A matplotlib figure as inline SVG, with the data for a plot that zooms where it holds curves; it is closed."""
    import matplotlib.pyplot as plt
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    stream, words = io.StringIO(), escape(description(figure), quote=True)
    figure.set_dpi(SVG_DPI)
    # Text as text, in the page's own font: sharp at any size, found by search, and short.
    with plt.rc_context({"svg.fonttype": "none", "font.family": "sans-serif"}):
        if _fills(figure):  # `savefig` would draw it twice, the first time for the layout
            FigureCanvasSVG(figure).print_svg(stream, metadata={"Date": None})
        else:  # cut to its contents, which "tight" would draw to find; a layout must be drawn first
            around = (
                None
                if figure.get_layout_engine()
                else figure.get_tightbbox().padded(plt.rcParams["savefig.pad_inches"])
            )
            figure.savefig(stream, format="svg", bbox_inches=around or "tight", metadata={"Date": None})
    curves = curve_data(figure)  # after the layout
    plt.close(figure)
    text = stream.getvalue()
    # Without the XML heading; in paths two decimals are finer than any screen.
    short = re.sub(
        r' d="[^"]*"', lambda path: re.sub(r"(\d+\.\d\d)\d+", r"\1", path.group()), text[text.index("<svg") :]
    )
    still = f'<div class="wide figure"><svg role="img" aria-label="{words}"{short.removeprefix("<svg")}</div>'
    if curves is None:
        return still
    data = json.dumps(curves, separators=(",", ":")).replace("<", "\\u003c")
    return f'{PLOT} aria-label="{words}">{still}<script type="application/json">{data}</script></figure>'


def picture(figure: Any, dpi: int = 80) -> str:
    """A matplotlib figure as inline PNG, for notebooks, which may reject SVG; and the figure closed."""
    import matplotlib.pyplot as plt

    stream, words = io.BytesIO(), escape(description(figure), quote=True)
    figure.savefig(stream, format="png", dpi=dpi, bbox_inches=None if _fills(figure) else "tight", facecolor="white")
    plt.close(figure)
    return f'<img alt="{words}" src="data:image/png;base64,{base64.b64encode(stream.getvalue()).decode()}">'


def confidence_bar(value: float, std: float, scale: float) -> Markup:
    """A small picture of a value with its 95 % interval, on a scale from -1 to 1."""
    width, middle = 140, 70
    at = middle + 62 * max(-1.0, min(1.0, value / scale))
    half = 62 * min(2.0, 1.96 * std / scale)
    left, right = max(2.0, at - half), min(width - 2.0, at + half)
    return Markup(
        f'<svg width="{width}" height="12" role="img" aria-label="{value:.3g} ± {1.96 * std:.2g}">'
        f'<line x1="{middle}" x2="{middle}" y1="0" y2="12" stroke="#d5dce4"/>'
        f'<line x1="{left:.1f}" x2="{right:.1f}" y1="6" y2="6" stroke="#7aa5d8" stroke-width="5"/>'
        f'<circle cx="{at:.1f}" cy="6" r="3" fill="#14375e"/></svg>'
    )
