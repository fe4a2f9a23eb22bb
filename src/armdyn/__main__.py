"""`python -m armdyn`: the same as the command `armdyn`."""

from armdyn.cli.app import main

main()
