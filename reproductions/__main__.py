"""`python -m reproductions [NAME|all]`: the same as `armdyn reproduce`."""

import sys

from armdyn.__main__ import main

if __name__ == "__main__":
    sys.argv[1:1] = ["reproduce"]
    main()
