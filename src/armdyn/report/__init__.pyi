# Written by tools/write_stubs.py from the tables in __init__.py: change these, not this file.

from armdyn.report.figures.modes import plot_modes as plot_modes
from armdyn.report.figures.run import plot_run as plot_run
from armdyn.report.registry import report as report

__all__ = [
    "plot_modes",
    "plot_run",
    "report",
]
