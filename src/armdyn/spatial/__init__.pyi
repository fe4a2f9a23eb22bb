# Written by tools/write_stubs.py from the tables in __init__.py: change these, not this file.

from armdyn.spatial.inertia import Inertia as Inertia

__all__ = [
    "Inertia",
]
