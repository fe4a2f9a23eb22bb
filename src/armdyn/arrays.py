"""Arrays of what callers give."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def as_floats(value: Any) -> NDArray:
    """A new array of floats; one NaN where the value holds no numbers, for the check of shape and sizes to reject."""
    try:
        return np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return np.array(np.nan)
