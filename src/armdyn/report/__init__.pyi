# Written by tools/write_stubs.py from the tables in __init__.py: change these, not this file.

from armdyn.report.modes import plot_modes as plot_modes
from armdyn.report.registry import report as report
from armdyn.report.run import plot_run as plot_run

__all__ = [
    "plot_modes",
    "plot_run",
    "report",
]
