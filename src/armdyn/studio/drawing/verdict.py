"""What was identified, in words: whether to use it, the errors, a light per joint, the next step, masses."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np

from armdyn.html import style
from armdyn.identification.fit.result import Fit
from armdyn.identification.quality import WORDS, error_text

COLORS: dict[str, str] = dict(zip(WORDS, ("#2e8b57", "#c77700", "#c8322b"), strict=True))
STYLE = Path(__file__).with_suffix(".css")


def verdict_html(fit: Fit) -> str:
    """The first screen of the report, in short."""
    verdict = fit.verdict
    parts = [f'<b class="w" style="color:{COLORS[verdict.word]}">{escape(headline(fit))}.</b>']
    parts += [f"<div>{escape(reason)}</div>" for reason in verdict.reasons]
    parts.append(f"<div>{escape(errors(fit))}</div>")
    named = zip(fit.arm.coordinate_names, verdict.joints, strict=False)
    parts.append(_table(("joint", ""), [(name, _light(joint.word, joint.reason)) for name, joint in named], "joints"))
    if verdict.next_step:
        parts.append(f"<div><b>Next:</b> {escape(verdict.next_step)}</div>")
    return f'{style(STYLE)}<div class="vd" id="verdict">{"".join(parts)}</div>'


def headline(fit: Fit) -> str:
    """The verdict with its number."""
    word = f"{fit.verdict.word[:1].upper()}{fit.verdict.word[1:]}"
    if np.isnan(fit.expected_error):
        return f"{word}: {fit.rel_error:.1%} torque error on this log"
    return f"{word}: {error_text(fit.expected_error, fit.error_bound)} torque error on a new motion"


def errors(fit: Fit) -> str:
    """The errors of a model in one sentence."""
    held = fit.held_out if np.isnan(fit.held_out_possible) else fit.held_out_possible
    text = f"Torque error {fit.rel_error:.2%} on this log"
    text += "" if np.isnan(held) else f", {held:.2%} on parts of it that were held out"
    return text + ("." if np.isnan(fit.rel_error_source) else f"; the arm as described has {fit.rel_error_source:.1%}.")


def masses_html(fit: Fit) -> str:
    """Masses before and after, in grey those that the log does not determine."""
    table = _table(("link", "mass described", "identified"), masses(fit), "masses")
    caption = "<div>Grey: the log does not determine this mass alone, only sums in which it takes part.</div>"
    return f'{style(STYLE)}<div class="vd">{table}{caption if "<s>" in table else ""}</div>'


def masses(fit: Fit) -> list[tuple[str, str, str]]:
    """Masses of the links before and after, and of all together, as cells of HTML."""
    links = zip(fit.source.links, fit.arm.links, strict=True)
    rows = [(link.name, link.inertia.mass, new.inertia.mass) for link, new in links]
    known = fit.determined[:, 0] if len(fit.determined) else np.ones(len(rows), bool)
    rows.append(("together", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    sure = (*known, known.all())
    return [
        (escape(name), _kilograms(old), _kilograms(new) if is_known else f"<s>{_kilograms(new)}</s>")
        for (name, old, new), is_known in zip(rows, sure, strict=True)
    ]


def _kilograms(mass: float) -> str:
    return "unknown" if np.isnan(mass) else f"{mass:.2f} kg"


def _light(word: str, reason: str) -> str:
    return f'<i style="background:{COLORS[word]}"></i>{escape(f"{word}: {reason}" if reason else word)}'


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]], name: str) -> str:
    """Cells are HTML."""
    top = "".join(f"<th>{cell}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<table id="{name}"><tr>{top}</tr>{body}</table>'
