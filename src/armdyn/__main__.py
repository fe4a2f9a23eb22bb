"""`python -m armdyn`, and the command `armdyn`: Ctrl-C ends it in one line, also while it is being loaded."""

import sys

INTERRUPTED = 130


def main() -> None:
    """Load the program and run it."""
    try:
        if sys.argv[1:] == ["--version"]:  # known without loading the program
            from armdyn import __version__

            print(f"armdyn {__version__}")
            return
        from armdyn.cli.app import main as run

        run()
    except KeyboardInterrupt:
        print("armdyn: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
