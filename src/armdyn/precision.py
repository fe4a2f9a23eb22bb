"""How exact numbers are, by where they come from: one scale for all, in parts of the numbers' own size."""

from __future__ import annotations

ROUND_OFF = 1e-14  # of a few products
SOLUTION_ERROR = 1e-12  # of equations, of iterations at their end, of chains of frames
NEGLIGIBLE = 1e-9  # below all that an arm can measure: differences of this size decide nothing
SIX_DIGITS = 1e-6  # of numbers as tables and descriptions have them
FIVE_DIGITS = 1e-5  # of roughly written ones: 1.5708 for pi/2 is off by 3.7e-6
HUGE = 1e16  # numbers beyond stand for infinity in files, and overflow when they are squared twice

MAX_ITERATIONS = 300  # of anything that converges within some ten: more mean that it does not
