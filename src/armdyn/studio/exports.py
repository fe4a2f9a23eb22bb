"""Files to take away: the arm as URDF, its dynamics as C, what plays as CSV."""

from __future__ import annotations

import io
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

from armdyn.dynamics.full import joint_torque
from armdyn.dynamics.gravity import gravity_torque
from armdyn.dynamics.mass_matrix import mass_matrix
from armdyn.dynamics.newton_euler import inverse_dynamics
from armdyn.errors import ArmdynError
from armdyn.kinematics.forward import forward_kinematics
from armdyn.kinematics.jacobian import jacobian
from armdyn.model.arm import Arm
from armdyn.studio.motion import Motion
from armdyn.trace.printers.c_code import c_code
from armdyn.trace.printers.c_print import identifier

FUNCTIONS = (forward_kinematics, jacobian, inverse_dynamics, joint_torque, gravity_torque, mass_matrix)


class Download(NamedTuple):
    """A file for the browser."""

    name: str
    data: bytes


def urdf_file(arm: Arm, onto: Path | None = None) -> Download:
    """The arm as URDF, with armdyn's own additions; what else the file `onto` holds (meshes, grippers) is kept."""
    with tempfile.TemporaryDirectory(prefix="armdyn-studio-") as folder:
        path = Path(folder) / f"{identifier(arm.name)}.urdf"
        arm.save(path, onto=onto)
        return Download(path.name, path.read_bytes())


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


def csv_file(motion: Motion | None) -> Download:
    """What plays, as a log."""
    if motion is None:
        raise ArmdynError("studio: nothing plays yet; load a log, run a comparison or design a motion first")
    return Download(f"{identifier(Path(motion.name).stem)}.csv", motion.csv().encode())
