"""A comparison as tables, for reports and notebooks."""

from __future__ import annotations

import numpy as np

from armdyn.html import fragment, paragraph, picture, shaded, swatch, table
from armdyn.report.figures.comparison import colours, comparison_figure
from armdyn.simulation.compare import Comparison, Row

WRITTEN_OUT_FROM = 1000  # from which on digits are written out
LEAST_SHADED_RATIO = 1e-3  # of the largest error, below which the ground stays white


def rank_rows(comparison: Comparison) -> list[Row]:
    """The rows, those that end nearest to the reference first, those that diverged last."""
    return sorted(comparison.rows, key=lambda row: np.nan_to_num(error_of(row), nan=np.inf))


def error_of(row: Row) -> float:
    """What laws are ranked by: the tip's error, or that of the joints where the arm is not known."""
    return row.final_rms if np.isnan(row.tip) else row.tip


def rows(comparison: Comparison) -> str:
    """A row per controller, the best first; errors over the last third."""
    marks = colours(comparison)
    small = unit(comparison)
    heads = ["controller", "tip error [mm]", f"joint error [{small}]", f"largest [{small}]"]
    heads += ["RMS torque", "largest torque"]
    learns = any(not np.isnan(row.parameter_error) for row in comparison.rows)
    return table(
        (*heads, *(["estimate"] if learns else []), ""),
        [
            (
                swatch(marks[row.name], row.name),
                _short(1e3 * row.tip),
                *(_short(1e3 * value) for value in (row.final_rms, row.largest)),
                _short(row.torque),
                _peak(row),
                *([_short(row.parameter_error, 2)] if learns else []),
                row.note,
            )
            for row in rank_rows(comparison)
        ],
    )


def joint_rows(comparison: Comparison) -> str:
    """Errors per joint [mrad or mm] over the last third, darker where larger; nothing where all runs diverged."""
    known = [row for row in rank_rows(comparison) if row.joints]
    if not known:
        return ""
    names = _joint_names(comparison)
    most = max(max(row.joints) for row in known)
    least = max(min(min(row.joints) for row in known), LEAST_SHADED_RATIO * most)
    body = [(row.name, *(shaded(_short(1e3 * x, 2), _depth(x, least, most)) for x in row.joints)) for row in known]
    named = ", ".join(f"{j + 1} {name}" for j, name in enumerate(names))
    return table(("controller", *(str(j + 1) for j in range(len(names)))), body) + paragraph(
        f"Joints: {named}.", "small"
    )


def unit(comparison: Comparison) -> str:
    """Of joint errors times a thousand."""
    arm = next((result.arm for result in comparison.results.values()), None)
    kinds = {"revolute", "prismatic"} if arm is None else {joint.kind for joint in arm.joints}
    return " or ".join(name for kind, name in (("revolute", "mrad"), ("prismatic", "mm")) if kind in kinds)


def _depth(x: float, least: float, most: float) -> float:
    """From 0 to 1, by the logarithm."""
    return 0.0 if most <= least or x <= least else float(np.log(x / least) / np.log(most / least))


def _peak(row: Row) -> str:
    return "-" if np.isnan(row.peak) else f"{_short(row.peak)} (joint {row.peak_joint + 1})"


def _joint_names(comparison: Comparison) -> tuple[str, ...]:
    return next((result.joint_names for result in comparison.results.values()), ())


def notebook(comparison: Comparison) -> str:
    """What was compared, the table and the picture."""
    return fragment(paragraph(comparison.about), rows(comparison), picture(comparison_figure(comparison), 70))


def _short(value: float, digits: int = 3) -> str:
    if np.isnan(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= WRITTEN_OUT_FROM else f"{value:.{digits}g}"
