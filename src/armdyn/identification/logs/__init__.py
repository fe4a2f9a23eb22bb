"""Logs: what was measured, read from the files that people have."""

NO_FORMULAS = True  # its text is no part of the key of compiled code
