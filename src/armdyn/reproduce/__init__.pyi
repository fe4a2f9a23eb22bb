# Written by tools/write_stubs.py from the tables in __init__.py: change these, not this file.

from armdyn.reproduce.cases import reproduce as reproduce

__all__ = [
    "reproduce",
]
