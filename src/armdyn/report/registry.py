"""`report(result, path)`: one HTML file that needs no network, whatever the result is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from armdyn.presentation import write_page


def report(result: Any, path: str | os.PathLike[str] | None = None, **options: Any) -> Path:
    """Write a result as one self-contained HTML file.

    Parameters
    ----------
    result : Fit or another result that has a page
    path : str or path, optional
        File to write, whole or not at all; default named after the kind of result, such as `fit.html`, in the
        current folder.
    **options
        Options of this kind of page, such as `out`, the file of a model that was written.

    Returns
    -------
    Path
        Where it was written.

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> run = armdyn.simulate(arm, armdyn.PD(arm, 100.0, 20.0), [0.4, 0.2], 1.0, 500)
    >>> armdyn.report(run, "run.html").name
    'run.html'
    """
    return write_page(result, path, **options)
