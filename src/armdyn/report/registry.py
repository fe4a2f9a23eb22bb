"""`report(result, path)`: one HTML file that needs no network, whatever the result is."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

from armdyn.errors import ArmdynError
from armdyn.files import write_whole

# Class of the result -> module of this package whose `page(result)` makes its HTML. A result's page is found by
# the class's name, so that a report imports nothing but what it shows.
PAGES = {
    "armdyn.identification.checks.check.DataCheck": "armdyn.report.check_page",
    "armdyn.identification.fit.result.Fit": "armdyn.report.fit_page",
    "armdyn.simulation.compare.Comparison": "armdyn.report.comparison_page",
    "armdyn.simulation.result.SimulationResult": "armdyn.report.simulation_page",
    "armdyn.trajectory.excitation.excite.Excitation": "armdyn.report.excitation_page",
    "armdyn.study.summary.Summary": "armdyn.study.page",
}


def report(result: Any, path: str | os.PathLike[str]) -> Path:
    """Write a result as one self-contained HTML file.

    Parameters
    ----------
    result : Fit or another result that has a page
    path : str or path
        Of the file to write, whole or not at all.

    Returns
    -------
    Path
        Where it was written.
    """
    for kind in type(result).__mro__:
        home = PAGES.get(f"{kind.__module__}.{kind.__qualname__}")
        if home:
            return write_whole(path, importlib.import_module(home).page(result))
    known = ", ".join(name.rpartition(".")[2] for name in PAGES)
    raise ArmdynError(f"report: no page for a {type(result).__name__}; expected one of {known}")
