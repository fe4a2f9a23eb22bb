"""The one way upward: how results reach their pages, figures and tables.

Imports point one way, from commands down to formulas, also those inside functions. A result shows itself all the same
(`fit.report("fit.html")`, `fit.plot()`, the last line of a notebook's cell): it asks this table, and the function that
is named there is imported at that moment. Nothing else looks up a module of armdyn by its name to reach a folder above
its own; `tests/test_layers.py` checks it. To show a new result, write the function and add its line here.
"""

from __future__ import annotations

import importlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armdyn.errors import ArmdynError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Class of a result -> what it can show -> "module:function", which takes the result:
# "page" gives a whole HTML document, "html" what a notebook shows, "figure" a matplotlib figure, "file" writes one.
SHOWN = {
    "armdyn.model.arm.Arm": {"html": "armdyn.report.tables.arm:notebook"},
    "armdyn.kinematics.inverse.InverseKinematics": {"html": "armdyn.report.tables.solutions:notebook"},
    "armdyn.dynamics.linear.linearize.LinearMotion": {"figure": "armdyn.report.figures.modes:plot_modes"},
    "armdyn.trajectory.excitation.excite.Excitation": {
        "page": "armdyn.report.excitation_page:page",
        "html": "armdyn.report.figures.excitation:notebook",
        "figure": "armdyn.report.figures.excitation:motion_figure",
    },
    "armdyn.identification.logs.log.Log": {
        "html": "armdyn.report.figures.log:notebook",
        "figure": "armdyn.report.figures.log:log_figure",
    },
    "armdyn.identification.checks.check.DataCheck": {
        "page": "armdyn.report.check_page:page",
        "html": "armdyn.report.tables.check:notebook",
    },
    "armdyn.identification.fit.result.Fit": {
        "page": "armdyn.report.fit_page:page",
        "html": "armdyn.report.figures.fit:notebook",
        "figure": "armdyn.report.figures.fit:fit_figure",
    },
    "armdyn.simulation.compare.Comparison": {
        "page": "armdyn.report.comparison_page:page",
        "html": "armdyn.report.tables.comparison:notebook",
        "figure": "armdyn.report.figures.comparison:comparison_figure",
        "file": "armdyn.report.figures.comparison:draw",
    },
    "armdyn.simulation.result.SimulationResult": {
        "page": "armdyn.report.simulation_page:page",
        "html": "armdyn.report.tables.run:notebook",
        "figure": "armdyn.report.figures.run:plot_run",
    },
    "armdyn.servo.result.ServoFit": {
        "page": "armdyn.report.servo_page:page",
        "html": "armdyn.report.tables.servo:notebook",
        "figure": "armdyn.report.figures.servo:replay_figure",
    },
    "armdyn.study.summary.Summary": {"page": "armdyn.study.page:page"},
}


def present(result: Any, how: str, **options: Any) -> Any:
    """The page, HTML or figure of a result, made by the function that the table names.

    Parameters
    ----------
    result : Fit or another result of the table
    how : {"page", "html", "figure", "file"}
    **options
        Those of the function.
    """
    for kind in type(result).__mro__:
        target = SHOWN.get(f"{kind.__module__}.{kind.__qualname__}", {}).get(how)
        if target:
            module, _, function = target.partition(":")
            return getattr(importlib.import_module(module), function)(result, **options)
    known = ", ".join(name.rpartition(".")[2] for name, ways in SHOWN.items() if how in ways)
    raise ArmdynError(f"report: no {how} for a {type(result).__name__}; expected one of {known}")


def write_page(result: Any, path: str | os.PathLike[str] | None = None) -> Path:
    """Write the page of a result as one HTML file that needs no network, whole or not at all; returns its path.

    Without a path it is named after the kind of result, `fit.html` or `data-check.html`, in the current folder.
    """
    from armdyn.files import write_whole  # what only describes an arm writes no files

    if path is None:
        path = "-".join(re.findall("[A-Z][a-z]*", type(result).__name__)).lower() + ".html"
    return write_whole(path, present(result, "page"))


class Reported:
    """A result with a page, a figure and a form for notebooks."""

    def report(self, path: str | os.PathLike[str] | None = None) -> Path:
        """Write a page about it, one HTML file that needs no network; see `armdyn.report`."""
        return write_page(self, path)

    def plot(self) -> Figure:
        """Draw it; the figure can be changed, and saved with `savefig`."""
        return present(self, "figure")

    def _repr_html_(self) -> str:
        return present(self, "html")
