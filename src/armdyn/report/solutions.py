"""Solutions of inverse kinematics as a notebook shows them."""

from __future__ import annotations

import numpy as np

from armdyn.html import fragment, paragraph, table
from armdyn.kinematics.inverse import InverseKinematics


def notebook(found: InverseKinematics) -> str:
    """All solutions of one pose, of many how many were solved."""
    if np.ndim(found.success):
        return fragment(paragraph(str(found)))
    rows = [("chosen" if found.success else "nearest", *_numbers(found.q), "yes")]
    for name, q, inside in zip(found.branches, found.all_solutions, found.within_limits, strict=True):
        if not np.isnan(q).any():
            rows.append((name, *_numbers(q), "yes" if inside else "no"))
    columns = ("solution", *found.joint_names, "within limits")
    return fragment(paragraph(str(found)), table(columns, rows), paragraph("Positions in rad or m.", "small"))


def _numbers(q: np.ndarray) -> list[str]:
    return [f"{value:.4f}" for value in q]
