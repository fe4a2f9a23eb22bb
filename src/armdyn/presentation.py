"""The one way upward: how results reach their pages, figures and tables.

Imports point one way, from commands down to formulas, also those inside functions. A result shows itself all the same
(`fit.report("fit.html")`, `fit.plot()`, the last line of a notebook's cell): it asks this table, and the function that
is named there is imported at that moment. Nothing else looks up a module of armdyn by its name to reach a folder above
its own; `tests/test_layers.py` checks it. To show a new result, write its module and add a line here.
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

# Class of a result -> the module that shows it, and as what.
RENDERERS = {
    "armdyn.model.arm.Arm": ("armdyn.report.arm", "html"),
    "armdyn.kinematics.inverse.InverseKinematics": ("armdyn.report.solutions", "html"),
    "armdyn.dynamics.linear.linearize.LinearMotion": ("armdyn.report.modes", "figure"),
    "armdyn.trajectory.excitation.excite.Excitation": ("armdyn.report.excitation", "page html figure"),
    "armdyn.identification.logs.log.Log": ("armdyn.report.log", "html figure"),
    "armdyn.identification.hypotheses.check.DataCheck": ("armdyn.report.check", "page html"),
    "armdyn.identification.fit.result.Fit": ("armdyn.report.fit", "page html figure"),
    "armdyn.calibration.result.Calibration": ("armdyn.report.calibration", "page html figure"),
    "armdyn.simulation.compare.Comparison": ("armdyn.report.comparison", "page html figure"),
    "armdyn.simulation.result.SimulationResult": ("armdyn.report.run", "page html figure"),
    "armdyn.servo.result.ServoFit": ("armdyn.report.servo", "page html figure"),
    "armdyn.study.summary.Summary": ("armdyn.study.page", "page"),
    "armdyn.control.protocol.Law": ("armdyn.control.export", "code"),
}
# The module's functions, which take the result: a whole HTML document, what a notebook shows, a matplotlib figure, C.
FUNCTIONS = {"page": "page", "html": "notebook", "figure": "draw", "code": "law_code"}
PAGES, PICTURES = (".html", ".htm"), (".png", ".svg", ".pdf")  # endings of their files


def present(result: Any, how: str, **options: Any) -> Any:
    """The page, HTML or figure of a result, made by the function that the table names.

    Parameters
    ----------
    result : Fit or another result of the table
    how : {"page", "html", "figure", "code"}
    **options
        Those of the function.
    """
    for kind in type(result).__mro__:
        module, ways = RENDERERS.get(f"{kind.__module__}.{kind.__qualname__}", ("", ""))
        if how in ways.split():
            return getattr(importlib.import_module(module), FUNCTIONS[how])(result, **options)
    known = ", ".join(name.rpartition(".")[2] for name, (_, ways) in RENDERERS.items() if how in ways.split())
    raise ArmdynError(f"no {how} for a {type(result).__name__}", where="report", expected=f"one of {known}")


def write_page(result: Any, path: str | os.PathLike[str] | None = None, **options: Any) -> Path:
    """Write the page of a result as one HTML file that needs no network, whole or not at all; returns its path.

    Without a path it is named after the kind of result, `fit.html` or `data-check.html`, in the current folder.
    """
    from armdyn.files import write_whole  # what only describes an arm writes no files

    require_page(path)
    if path is None:
        path = "-".join(re.findall("[A-Z][a-z]*", type(result).__name__)).lower() + ".html"
    return write_whole(path, present(result, "page", **options))


def require_page(path: str | os.PathLike[str] | None, what: str = "report") -> None:
    """Reject a file of another kind than a page."""
    _require_ending(path, what, PAGES[:1], PAGES, "print the page from a browser for a PDF")


def require_picture(path: str | os.PathLike[str] | None, what: str = "plot") -> None:
    """Reject a file of another kind than a picture."""
    _require_ending(path, what, PICTURES, PICTURES)


def _require_ending(path: Any, what: str, named: tuple[str, ...], endings: tuple[str, ...], remedy: str = "") -> None:
    if path is not None and Path(path).suffix.lower() not in endings:
        expected = f"a file that ends in {', '.join(named)}"
        raise ArmdynError(where=what, expected=expected, got=f"'{path}'", remedy=remedy)


def draw_figure(result: Any, path: str | os.PathLike[str] | None = None, **options: Any) -> Figure:
    """The figure of a result, written to a file where a path is given."""
    from armdyn.files import write_figure

    require_picture(path)
    figure: Figure = present(result, "figure", **options)
    if path is not None:
        write_figure(path, figure)
    return figure


class Reported:
    """A result with a page, a figure and a form for notebooks."""

    def report(self, path: str | os.PathLike[str] | None = None, **options: Any) -> Path:
        """Write a page about it, one HTML file that needs no network; see `armdyn.report`."""
        return write_page(self, path, **options)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw it, and write it to `path` if one is given (.png, .svg, .pdf); the figure can be changed."""
        return draw_figure(self, path)

    def _repr_html_(self) -> str:
        return present(self, "html")
