"""Traced functions as C99, LaTeX and SymPy."""

NO_FORMULAS = True  # its text is no part of the key of compiled code
