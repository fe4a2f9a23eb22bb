"""Start of the program: the version is known without loading it."""

from __future__ import annotations

import sys


def run() -> None:
    """Print the version if nothing else is asked for, or load the program and run it."""
    if sys.argv[1:] == ["--version"]:
        from armdyn import __version__

        print(f"armdyn {__version__}")
        return
    from armdyn.cli.app import main

    main()
