"""A comparison as a table, for reports and notebooks."""

from __future__ import annotations

import numpy as np

from armdyn.html import fragment, paragraph, picture, table
from armdyn.report.figures.comparison import comparison_figure
from armdyn.simulation.compare import Comparison

COLUMNS = ("controller", "rms error", "final rms", "final max", "rms torque", "estimate", "")


def rows(comparison: Comparison) -> str:
    """A row a controller; errors in rad or m over all joints."""
    return table(
        COLUMNS,
        [
            (
                row.name,
                *(_short(value, "{:.2e}") for value in (row.rms, row.final_rms, row.largest)),
                _short(row.torque, "{:.1f}"),
                _short(row.parameter_error, "{:.2f}"),
                row.note,
            )
            for row in comparison.rows
        ],
    )


def notebook(comparison: Comparison) -> str:
    """What was compared, the table and the picture."""
    return fragment(paragraph(comparison.about), rows(comparison), picture(comparison_figure(comparison), 70))


def _short(value: float, how: str) -> str:
    return "-" if np.isnan(value) else how.format(value)
