"""The report of a study."""

from __future__ import annotations

from armdyn.html import document, heading, paragraph, svg, table
from armdyn.study.summary import Summary

TITLES = {"success": "Where it succeeds", "distributions": "Distributions", "ranking": "Best designs"}


def page(summary: Summary) -> str:
    """The page of a study."""
    parts = [heading(f"Study: {summary.name}", 1), paragraph(summary.about + ".", "big")]
    for name, draw in summary.figures.items():
        parts += [heading(TITLES.get(name, name)), svg(draw())]
    for section in summary.sections:
        parts += [heading(section.title), table(section.columns, section.rows)]
    return document(f"armdyn: {summary.name}", *parts)
