"""What formulas are written with: `from armdyn.trace.formula import Array, ca, traced`."""

from armdyn.trace.shapes import Array, Matrix, Scalar, Vector
from armdyn.trace.symbols import Symbol, ca, on_symbols
from armdyn.trace.traced import traced

__all__ = ["Array", "Matrix", "Scalar", "Symbol", "Vector", "ca", "on_symbols", "traced"]
