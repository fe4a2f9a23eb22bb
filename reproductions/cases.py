"""The documents that can be reproduced, by name."""

from __future__ import annotations

import importlib
import re

from armdyn.blas import single_threaded
from armdyn.errors import ArmdynError
from reproductions.case import Case, Tell

# What each document is about; the module of "lu-meng-1993" is `lu_meng`, with `reproduce(quick, seed, tell)`.
CASES = {
    "eindhoven-1987": "the two-link arm linearised, and regulated about a motion while its load changes",
    "lu-meng-1993": "regressor of a planar arm; two adaptive laws on a four-joint PUMA, their gains and their cost",
    "vukobratovic-1979": "the tip of a three-member arm goes straight up: torques and trajectories",
    "ece470": "rotations, kinematics, feedback linearisation and adaptive control",
    "kapadia-1995": "identification of the PUMA 560 and of the Sarcos arm",
}

# How many steps each one names through `tell`, in full and with `quick`: for the time left.
N_STEPS = {
    "eindhoven-1987": (24, 11), "lu-meng-1993": (10, 10), "vukobratovic-1979": (2, 2), "ece470": (5, 5),
    "kapadia-1995": (66, 64),
}  # fmt: skip


def _silent(_step: str) -> None:
    """Tell nobody."""


def reproduce(name: str, quick: bool = False, tell: Tell = _silent, seed: int = 0) -> Case:
    """Compute the results of a document again.

    Parameters
    ----------
    name : str
        One of `CASES`.
    quick : bool
        Coarser grids and fewer runs, for a first look: the same statements with the same verdicts.
    tell : callable, optional
        Told what begins now.
    seed : int
        Of all that is random: noise, motions that the sources do not give, states at which formulas are compared.

    Returns
    -------
    Case
    """
    if name not in CASES:
        raise ArmdynError(
            f"unknown case {name!r}", where="reproduce", expected=f"one of {', '.join(CASES)}, or all", names=(name,)
        )
    module = re.sub(r"-\d{4}$", "", name).replace("-", "_")
    with single_threaded():
        case: Case = importlib.import_module(f"reproductions.{module}").reproduce(quick, seed, tell)
    return case
