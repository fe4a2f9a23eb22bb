"""Drives of a catalogue, and which of them suffices for a joint.

A catalogue is a TOML file with one [[drive]] table each: `name`, `peak_torque` and `continuous_torque` at the gear's
output [N m or N], `speed` there [rad/s or m/s], `rotor_inertia` at the motor [kg m²], `gear_ratio`, and perhaps
`stiffness` of the gear [N m/rad or N/m] and `mass` [kg].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.files import read_text
from armdyn.model.toml_format import parse_toml
from armdyn.study.spec import Head
from armdyn.study.table import StudyError, StudyTable


@dataclass(frozen=True)
class CatalogueDrive:
    """One drive with its gear."""

    name: str
    peak_torque: float  # at the output [N m or N]
    continuous_torque: float
    speed: float  # of the output [rad/s or m/s]
    rotor_inertia: float  # at the motor [kg m²]
    gear_ratio: float
    stiffness: float = np.inf  # of the gear [N m/rad or N/m]
    mass: float = 0.0  # [kg]

    @property
    def reflected_inertia(self) -> float:
        """Inertia of the rotor, at the output."""
        return self.rotor_inertia * self.gear_ratio**2

    def suffices(self, load: Load) -> bool:
        """Whether it moves a load, its own rotor included."""
        peak = continuous = speed = 0.0
        for tau, qd, qdd in load:
            whole = tau + self.reflected_inertia * qdd
            peak = max(peak, float(np.abs(whole).max()))
            continuous = max(continuous, float(np.sqrt(np.mean(whole**2))))
            speed = max(speed, float(np.abs(qd).max()))
        return peak <= self.peak_torque and continuous <= self.continuous_torque and speed <= self.speed


# Torque, velocity and acceleration (T,) of one joint in each task.
Load = list[tuple[NDArray, NDArray, NDArray]]


class DriveChoice(NamedTuple):
    """A drive for every joint, or the first joint for which none suffices."""

    drives: tuple[CatalogueDrive, ...]
    missing: int = -1


def choose(catalogue: tuple[CatalogueDrive, ...], loads: list[Load]) -> DriveChoice:
    """Return the lightest drive that suffices for each joint; of equally heavy ones the one with the least torque."""
    order = sorted(catalogue, key=lambda drive: (drive.mass, drive.peak_torque))
    chosen: list[CatalogueDrive] = []
    for i, load in enumerate(loads):
        drive = next((drive for drive in order if drive.suffices(load)), None)
        if drive is None:
            return DriveChoice(tuple(chosen), i)
        chosen.append(drive)
    return DriveChoice(tuple(chosen))


def read_catalogue(name: str, head: Head, where: str) -> tuple[CatalogueDrive, ...]:
    """Return the drives of a file that a study names."""
    path = head.folder / name
    document = StudyTable(parse_toml(read_text(path), str(path)), f"{where}: drives: {name}")
    drives = tuple(_drive(table) for table in document.tables("drive"))
    document.done()
    names = [drive.name for drive in drives]
    if doubles := sorted({one for one in names if names.count(one) > 1}):
        cause = f"{', '.join(doubles)} is listed more than once"
        raise StudyError(cause, where=document.where, expected="every name once", names=doubles)
    return drives


def _drive(table: StudyTable) -> CatalogueDrive:
    positive = {name: table.number(name, low=0.0, above=True) for name in ("peak_torque", "continuous_torque", "speed")}
    drive = CatalogueDrive(
        table.text("name"),
        **positive,
        rotor_inertia=table.number("rotor_inertia", low=0.0),
        gear_ratio=table.number("gear_ratio", 1.0, low=0.0, above=True),
        stiffness=table.number("stiffness", low=0.0, above=True) if table.has("stiffness") else np.inf,
        mass=table.number("mass", low=0.0) if table.has("mass") else 0.0,
    )
    if drive.continuous_torque > drive.peak_torque:
        cause = f"the continuous torque {drive.continuous_torque:g} is above the peak {drive.peak_torque:g}"
        raise StudyError(cause, where=f"{table.where}: drive '{drive.name}'", expected="at most as much")
    table.done()
    return drive
