"""Formulas written once: numbers, symbols, C and LaTeX from one text. Knows nothing of robots."""
