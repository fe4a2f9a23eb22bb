"""The report of a study: who wins, by how much and how sure; then its tables and pictures."""

from __future__ import annotations

from armdyn.html import document, heading, paragraph, svg, table
from armdyn.study.summary import WORST, Summary

TITLES = {"success": "Where it succeeds", "distributions": "Distributions", "parallel": "Designs side by side"}


def page(summary: Summary) -> str:
    """The page of a study."""
    lead = summary.conclusion or summary.about
    parts = [heading(f"Study: {summary.name}", 1), paragraph(f"{lead[0].upper()}{lead[1:]}.", "big good")]
    parts += [paragraph(summary.about + ".")] if summary.conclusion else []
    worst = next((section.rows[0] for section in summary.sections if section.title == WORST), None)
    if worst:
        metric, _, _ = worst[0].partition(" [")
        parts.append(paragraph(f"Next: look at the worst case by {metric}: {worst[-1]}", "next"))
    tables = [heading(section.title) + table(section.columns, section.rows) for section in summary.sections]
    pictures = [heading(TITLES.get(name, name)) + svg(draw()) for name, draw in summary.figures.items()]
    return document(f"armdyn: {summary.name}", *parts, *tables[:1], *pictures, *tables[1:])
