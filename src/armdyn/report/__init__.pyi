# Written by tools/write_stubs.py from the tables in __init__.py: change these, not this file.

from armdyn.report.registry import report as report

__all__ = [
    "report",
]
