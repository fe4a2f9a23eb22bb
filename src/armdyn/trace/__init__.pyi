# Written by tools/write_stubs.py from the tables in __init__.py: change these, not this file.

from armdyn.trace.numeric import kernel as kernel
from armdyn.trace.pool import trim as trim
from armdyn.trace.printers.c_code import c_code as c_code
from armdyn.trace.printers.latex import latex as latex
from armdyn.trace.printers.sympy_form import sympy_expression as sympy_expression
from armdyn.trace.to_jax import to_jax as to_jax
from armdyn.trace.traced import traced as traced

__all__ = [
    "c_code",
    "kernel",
    "latex",
    "sympy_expression",
    "to_jax",
    "traced",
    "trim",
]
