# Written by tools/write_stubs.py from the tables in __init__.py: change these, not this file.

from armdyn.model.arm import Arm as Arm
from armdyn.model.arm import Link as Link
from armdyn.model.dh_frames import as_dh as as_dh
from armdyn.model.dh_frames import dh_frames as dh_frames
from armdyn.model.dh_frames import dh_parameters as dh_parameters
from armdyn.model.diagnosis import diagnose as diagnose
from armdyn.model.io import load as load
from armdyn.model.joint import Drive as Drive
from armdyn.model.joint import Friction as Friction
from armdyn.model.joint import Joint as Joint
from armdyn.model.joint import Limits as Limits
from armdyn.model.mechanism import Frame as Frame
from armdyn.model.mechanism import Spring as Spring
from armdyn.model.pinocchio_bridge import from_pinocchio as from_pinocchio
from armdyn.model.pinocchio_bridge import to_pinocchio as to_pinocchio
from armdyn.model.preprocessing import Preprocessing as Preprocessing
from armdyn.model.tool_data import tool_data as tool_data

__all__ = [
    "Arm",
    "Drive",
    "Frame",
    "Friction",
    "Joint",
    "Limits",
    "Link",
    "Preprocessing",
    "Spring",
    "as_dh",
    "dh_frames",
    "dh_parameters",
    "diagnose",
    "from_pinocchio",
    "load",
    "to_pinocchio",
    "tool_data",
]
