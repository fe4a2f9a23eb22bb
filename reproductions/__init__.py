"""Results of five published papers and reports, computed again: one module a document, see `cases`.

`python -m reproductions` runs them in a source folder of armdyn, as `armdyn reproduce` does.
"""

from reproductions.cases import CASES, reproduce

__all__ = ["CASES", "reproduce"]
