"""Files to take away: the arm as URDF, its dynamics as C, motions as CSV, reports."""

from __future__ import annotations

import io
import tempfile
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from armdyn.calibration.result import Calibration
from armdyn.dynamics.full import joint_torque
from armdyn.dynamics.gravity import gravity_torque
from armdyn.dynamics.mass_matrix import mass_matrix
from armdyn.dynamics.newton_euler import inverse_dynamics
from armdyn.errors import ArmdynError
from armdyn.kinematics.forward import forward_kinematics
from armdyn.kinematics.jacobian import jacobian
from armdyn.model.arm import Arm
from armdyn.presentation import Reported
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


def urdf_file(arm: Arm, onto: Path | None = None) -> Download:
    """The arm as URDF, with armdyn's own additions; what else the file `onto` holds (meshes, grippers) is kept."""
    return _file(f"{identifier(arm.name)}.urdf", lambda path: arm.save(path, onto=onto))


def calibrated_file(calibration: Calibration | None) -> Download:
    """The calibrated arm as URDF."""
    if calibration is None:
        raise ArmdynError("nothing is calibrated yet", where="studio", remedy="load measured poses first")
    return _file(f"{identifier(calibration.nominal.name)}_calibrated.urdf", calibration.save)


def c_file(arm: Arm) -> Download:
    """Kinematics and dynamics as C99 with a self-test, in a ZIP."""
    name = identifier(arm.name)
    with tempfile.TemporaryDirectory(prefix="armdyn-studio-") as folder:
        code = c_code(FUNCTIONS, arm, folder, prefix=name)
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in (code.source, code.header, code.selftest):
                archive.write(path, Path(path).name)
    return Download(f"{name}_c.zip", stream.getvalue())


def csv_file(motion: PlayedMotion | None) -> Download:
    """Return the motion that plays, as a log."""
    if motion is None:
        raise ArmdynError(
            "nothing plays yet", where="studio", remedy="load a log, run a comparison or design a motion first"
        )
    return Download(f"{identifier(Path(motion.name).stem)}.csv", motion.csv().encode())


def trajectory_file(excitation: Excitation | None) -> Download:
    """An exciting motion as `armdyn excite` saves it."""
    if excitation is None:
        raise ArmdynError("no exciting motion yet", where="studio", remedy="design one first")
    motion, names = excitation.trajectory, excitation.base.source.coordinate_names
    kinds = [joint.kind for joint in excitation.base.source.joints]
    return _file("motion.csv", lambda path: save_trajectory(motion, path, joint_names=names, kinds=kinds))


def report_file(result: Reported | None, name: str) -> Download:
    """The page of a result."""
    if result is None:
        raise ArmdynError("there is nothing to report yet", where="studio")
    with DRAWING:
        return _file(f"{name}.html", result.report)
