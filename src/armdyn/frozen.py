"""Frozen data stays frozen: through copy, deepcopy and pickle, and so in other processes."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np


class Frozen:
    """Base of frozen dataclasses whose arrays are read-only.

    NumPy's copies and pickles of a read-only array can be written into; a copy of a frozen object has read-only arrays
    again, and computes anew what the original had cached.
    """

    def __getstate__(self) -> dict[str, Any]:
        return {k: x for k, x in self.__dict__.items() if not isinstance(getattr(type(self), k, None), cached_property)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
        self.__dict__.update(state)
