"""`report(result, path)`: one HTML file that needs no network, whatever the result is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from armdyn.presentation import write_page


def report(result: Any, path: str | os.PathLike[str]) -> Path:
    """Write a result as one self-contained HTML file.

    Parameters
    ----------
    result : Fit or another result that has a page
    path : str or path
        Of the file to write, whole or not at all.

    Returns
    -------
    Path
        Where it was written.
    """
    return write_page(result, path)
