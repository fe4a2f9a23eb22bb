"""Formulas written once: numbers, symbols, C and LaTeX from one text. Knows nothing of robots."""

from armdyn.exports import export

export(
    __name__,
    {
        "numeric": "kernel",
        "pool": "trim",
        "printers.c_code": "c_code",
        "printers.latex": "latex",
        "printers.sympy_form": "sympy_expression",
        "to_jax": "to_jax",
        "traced": "traced",
    },
)
