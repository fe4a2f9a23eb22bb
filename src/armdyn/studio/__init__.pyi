# Written by tools/write_stubs.py from the tables in __init__.py: change these, not this file.

from armdyn.studio.app import Studio as Studio
from armdyn.studio.server import address as address
from armdyn.studio.server import start_server as start_server
from armdyn.studio.server import stop_server as stop_server

__all__ = [
    "Studio",
    "address",
    "start_server",
    "stop_server",
]
