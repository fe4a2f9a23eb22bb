"""What control laws are written with: `from armdyn.control.formula import Answer, Law, Reference, traced_step`."""

from armdyn.control.protocol import Answer, Law, Reference, SaturationExcess, Values, check_setting
from armdyn.control.step import traced_step
from armdyn.model.arm import Arm
from armdyn.trace.formula import Array, Scalar, Symbol, Vector, ca, traced

__all__ = [
    "Answer", "Arm", "Array", "Law", "Reference", "SaturationExcess", "Scalar", "Symbol", "Values", "Vector", "ca",
    "check_setting", "traced", "traced_step",
]  # fmt: skip
