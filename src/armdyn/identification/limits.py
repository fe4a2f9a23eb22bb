"""Limits by which several parts of identification decide, each stated once."""

from __future__ import annotations

# Share by which an error must fall to matter. Gains and zeros [rad] that are off by less are tolerated: a gain by this
# share, or a zero by as many rad where gravity loads the joint, change a torque by about this share.
MIN_REDUCTION = 0.1
NOTABLE_RATIO = 1.5  # of two numbers that should agree, from which on the difference asks for an explanation
CHARACTERISTIC_SHARE = 0.25  # of a log, from which on it is of the kind that this share is
MIN_SECONDS = 8.0  # of motion, below which other motion is unknown
CAREFUL_ERROR, NOT_USABLE_ERROR = 0.1, 0.4  # expected errors of the whole
