"""Filters of sampled signals, solved exactly over a period: stable and finite at any rate."""

from __future__ import annotations

import numpy as np

from armdyn.model.arm import Arm
from armdyn.model.quantities import Number, Vec
from armdyn.trace.formula import Array, ca, traced


@traced(returns={"after": "n"})
def low_pass(arm: Arm, before: Vec, value: Vec, cutoff: Vec, dt: Number) -> Array:
    """Output of y' = 2 pi cutoff (value - y) after a period: value + exp(-2 pi cutoff dt) (y - value).

    Parameters
    ----------
    before
        Output y at the beginning of the period.
    value
        Mean of the input over the period.
    cutoff
        [Hz]; infinite passes the input on.
    dt
        Period [s].
    """
    return value + ca.exp(-2 * np.pi * cutoff * dt) * (before - value)
