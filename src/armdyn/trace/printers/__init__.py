"""Traced functions as C99, LaTeX and SymPy."""
