"""Velocities and accelerations from measured positions."""

NO_FORMULAS = True  # its text is no part of the key of compiled code
