# Written by tools/write_stubs.py from the tables in __init__.py: change these, not this file.

from armdyn.study.run import run_study as run_study
from armdyn.study.spec import read_study as read_study

__all__ = [
    "read_study",
    "run_study",
]
