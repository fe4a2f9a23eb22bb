"""`python -m armdyn`, and the command `armdyn`: Ctrl-C ends it in one line, also while it is being loaded."""

import sys

from armdyn.cli import INTERRUPTED


def main() -> None:
    """Load the program and run it."""
    try:
        from armdyn.cli.start import run

        run()
    except KeyboardInterrupt:
        print("armdyn: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
