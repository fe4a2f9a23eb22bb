"""What was identified, in words: whether to use it, the errors, a light per joint, the next step, masses."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np

from armdyn.html import style
from armdyn.identification.fit.result import Fit
from armdyn.identification.quality import WORDS, error_text
from armdyn.model.arm import Arm

COLORS: dict[str, str] = dict(zip(WORDS, ("#2e8b57", "#c77700", "#c8322b"), strict=True))
STYLE = Path(__file__).with_suffix(".css")


def verdict_html(fit: Fit) -> str:
    """The first screen of the report, in short."""
    verdict = fit.verdict
    word = f"{verdict.word[:1].upper()}{verdict.word[1:]}"
    parts = [f'<b class="w" style="color:{COLORS[verdict.word]}">{escape(word)}</b>']
    parts += [f"<div>{escape(reason)}</div>" for reason in verdict.reasons]
    parts.append(f"<div>{escape(errors(fit))}</div>")
    named = zip(fit.arm.coordinate_names, verdict.joints, strict=False)
    parts.append(_table(("joint", ""), [(name, _light(joint.word, joint.reason)) for name, joint in named], "joints"))
    if verdict.next_step:
        parts.append(f"<div><b>Next:</b> {escape(verdict.next_step)}</div>")
    parts.append(_table(("link", "mass described", "identified"), masses(fit.source, fit.arm), "masses"))
    return f'{style(STYLE)}<div class="vd" id="verdict">{"".join(parts)}</div>'


def errors(fit: Fit) -> str:
    """The errors of a model in one sentence."""
    held = fit.held_out if np.isnan(fit.held_out_possible) else fit.held_out_possible
    text = f"Torque error {fit.rel_error:.2%}"
    if not np.isnan(fit.expected_error):
        stated = error_text(fit.expected_error, fit.error_bound)
        text = f"Torque error on new motion {stated}; measured {fit.rel_error:.2%}"
    text += "" if np.isnan(held) else f", {held:.2%} on held-out data"
    return text + ("." if np.isnan(fit.rel_error_source) else f"; the arm as described has {fit.rel_error_source:.1%}.")


def masses(before: Arm, after: Arm) -> list[tuple[str, str, str]]:
    """Masses of the links before and after, and of all together."""
    pairs = [
        (link.name, link.inertia.mass, new.inertia.mass) for link, new in zip(before.links, after.links, strict=True)
    ]
    pairs.append(("together", sum(pair[1] for pair in pairs), sum(pair[2] for pair in pairs)))
    return [(escape(name), _kilograms(old), _kilograms(new)) for name, old, new in pairs]


def _kilograms(mass: float) -> str:
    return "unknown" if np.isnan(mass) else f"{mass:.2f} kg"


def _light(word: str, reason: str) -> str:
    return f'<i style="background:{COLORS[word]}"></i>{escape(f"{word}: {reason}" if reason else word)}'


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]], name: str) -> str:
    """Cells are HTML."""
    top = "".join(f"<th>{cell}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<table id="{name}"><tr>{top}</tr>{body}</table>'
