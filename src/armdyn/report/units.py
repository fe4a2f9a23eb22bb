"""Units by the kind of a joint, for headings, cells and axes of pages."""

from __future__ import annotations

from typing import NamedTuple

from armdyn.model.arm import Arm


class JointUnits(NamedTuple):
    """Units of what is measured at a joint."""

    position: str
    small: str  # of its errors, a thousandth of the unit of position
    speed: str
    torque: str
    viscous: str
    stiffness: str
    inertia: str


UNITS = {
    "revolute": JointUnits("rad", "mrad", "rad/s", "N m", "N m s/rad", "N m/rad", "kg m²"),
    "prismatic": JointUnits("m", "mm", "m/s", "N", "N s/m", "N/m", "kg"),
}


def joint_units(arm: Arm) -> list[JointUnits]:
    """Units of each coordinate."""
    return [UNITS[joint.kind] for joint in arm.coordinate_joints]


def shared_unit(arm: Arm, quantity: str) -> str:
    """The unit of a quantity where all joints have the same; empty where joints turn and slide."""
    units = {getattr(one, quantity) for one in joint_units(arm)}
    return units.pop() if len(units) == 1 else ""


def with_unit(name: str, unit: str) -> str:
    """A heading with its unit."""
    return f"{name} [{unit}]" if unit else name


def cell(arm: Arm, joint: int, quantity: str, text: str) -> str:
    """A number, with its unit where the heading has none."""
    return text if text == "-" or shared_unit(arm, quantity) else f"{text} {getattr(joint_units(arm)[joint], quantity)}"


def short(value: float, digits: int = 3) -> str:
    """A number of so many significant digits, of more where it is larger (1,830, not 1.83e+03); a dash for NaN."""
    text = f"{value:,.0f}" if abs(value) >= 10**digits - 0.5 else f"{value:.{digits}g}"  # 99.7 is 100, not 1e+02
    return "-" if text == "nan" else text
