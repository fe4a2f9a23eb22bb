"""Solutions of inverse kinematics as a notebook shows them."""

from __future__ import annotations

import numpy as np

from armdyn.html import fragment, paragraph, table
from armdyn.kinematics.inverse import InverseKinematics


def notebook(solution: InverseKinematics) -> str:
    """All solutions of one pose, of many how many were solved."""
    if np.ndim(solution.success):
        return fragment(paragraph(str(solution)))
    rows = [("chosen" if solution.success else "nearest", *_numbers(solution.q), "yes")]
    for name, q, inside in zip(solution.branches, solution.all_solutions, solution.within_limits, strict=True):
        if not np.isnan(q).any():
            rows.append((name, *_numbers(q), "yes" if inside else "no"))
    columns = ("solution", *solution.joint_names, "within limits")
    return fragment(paragraph(str(solution)), table(columns, rows), paragraph("Positions in rad or m.", "small"))


def _numbers(q: np.ndarray) -> list[str]:
    return [f"{value:.4f}" for value in q]
