"""Files to take away: the arm, its dynamics and control laws as C or FMU, motions as CSV, reports."""

from __future__ import annotations

import io
import tempfile
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from armdyn.calibration.result import Calibration
from armdyn.control.design.purposes import plain_name
from armdyn.control.export import law_code
from armdyn.control.fmu import law_fmu
from armdyn.control.protocol import Law
from armdyn.dynamics.full import joint_torque
from armdyn.dynamics.gravity import gravity_torque
from armdyn.dynamics.mass_matrix import mass_matrix
from armdyn.dynamics.newton_euler import inverse_dynamics
from armdyn.errors import ArmdynError
from armdyn.kinematics.forward import forward_kinematics
from armdyn.kinematics.jacobian import jacobian
from armdyn.model.arm import Arm
from armdyn.presentation import Reported
from armdyn.simulation.mismatch_study import swaying_designs
from armdyn.simulation.plant_fmu import plant_fmu
from armdyn.studio.motion import PlayedMotion
from armdyn.trace.printers.c_code import c_code
from armdyn.trace.printers.c_print import identifier
from armdyn.trajectory.excitation.excite import Excitation
from armdyn.trajectory.save import save_trajectory

FUNCTIONS = (forward_kinematics, jacobian, inverse_dynamics, joint_torque, gravity_torque, mass_matrix)


DRAWING = threading.Lock()  # matplotlib draws one figure at a time


class Download(NamedTuple):
    """A file for the browser."""

    name: str
    data: bytes


def _file(name: str, write: Callable[[Path], Any]) -> Download:
    """A file of this name that `write` makes."""
    with tempfile.TemporaryDirectory(prefix="armdyn-studio-") as folder:
        path = Path(folder) / name
        write(path)
        return Download(name, path.read_bytes())


def arm_file(arm: Arm, suffix: str) -> Download:
    """The arm as `.urdf`, `.xml` (MJCF) or `.toml`, with what else its source of this kind holds: meshes, grippers."""
    source = None if arm.source is None else Path(arm.source.path)
    onto = source if source is not None and source.suffix.lower() == suffix != ".toml" else None
    return _file(f"{identifier(arm.name)}{suffix}", lambda path: arm.save(path, onto=onto))


def plant_file(arm: Arm) -> Download:
    """The arm as an FMU: torques in, motion out."""
    return _file(f"{identifier(arm.name)}.fmu", lambda path: plant_fmu(arm, path))


def calibrated_file(calibration: Calibration | None) -> Download:
    """The calibrated arm as URDF."""
    if calibration is None:
        raise ArmdynError("nothing is calibrated yet", where="studio", remedy="load measured poses first")
    return _file(f"{identifier(calibration.nominal.name)}_calibrated.urdf", calibration.save)


def c_file(arm: Arm) -> Download:
    """Kinematics and dynamics as C99 with a self-test, in a ZIP."""
    name = identifier(arm.name)
    return _archive(f"{name}_c.zip", lambda folder: c_code(FUNCTIONS, arm, folder, prefix=name))


class LawDesign(NamedTuple):
    """The control law that a person asks for."""

    name: str
    bandwidth: float  # [Hz]
    rate: float  # [Hz]

    def law(self, arm: Arm) -> Law:
        """The law for an arm."""
        (law,) = swaying_designs(arm, self.bandwidth, self.rate, [self.name]).values()
        return law

    def prefix(self, arm: Arm) -> str:
        """Start of the names of files."""
        return identifier(f"{arm.name}_{plain_name(self.name)}").lower()


def law_c_file(arm: Arm, design: LawDesign) -> Download:
    """A control law as C99 with a self-test, in a ZIP."""
    prefix, law = design.prefix(arm), design.law(arm)
    return _archive(f"{prefix}_c.zip", lambda folder: law_code(law, folder, design.rate, prefix=prefix))


def law_fmu_file(arm: Arm, design: LawDesign) -> Download:
    """A control law as an FMU."""
    law = design.law(arm)
    return _file(f"{design.prefix(arm)}.fmu", lambda path: law_fmu(law, path, design.rate))


def _archive(name: str, write: Callable[[Path], Any]) -> Download:
    """A ZIP of the files that `write` puts into a folder."""
    stream = io.BytesIO()
    with tempfile.TemporaryDirectory(prefix="armdyn-studio-") as folder:
        write(Path(folder))
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(Path(folder).iterdir()):
                archive.write(path, path.name)
    return Download(name, stream.getvalue())


def csv_file(motion: PlayedMotion | None) -> Download:
    """Return the motion that is loaded, as a log."""
    if motion is None:
        remedy = "load a log, run a comparison or design a motion first"
        raise ArmdynError("no motion is loaded yet", where="studio", remedy=remedy)
    return Download(f"{identifier(Path(motion.name).stem)}.csv", motion.csv().encode())


def trajectory_file(excitation: Excitation | None) -> Download:
    """An exciting motion as `armdyn excite` saves it."""
    if excitation is None:
        raise ArmdynError("no exciting motion yet", where="studio", remedy="design one first")
    motion, names = excitation.trajectory, excitation.base.source.coordinate_names
    kinds = [joint.kind for joint in excitation.base.source.coordinate_joints]
    return _file("motion.csv", lambda path: save_trajectory(motion, path, joint_names=names, kinds=kinds))


def report_file(result: Reported | None, name: str) -> Download:
    """The page of a result."""
    if result is None:
        raise ArmdynError("there is nothing to report yet", where="studio")
    with DRAWING:
        return _file(f"{name}.html", result.report)
