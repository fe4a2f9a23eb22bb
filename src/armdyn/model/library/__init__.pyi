# Written by tools/write_stubs.py from the tables in __init__.py: change these, not this file.

from armdyn.model.library.lu_meng import lu_meng2 as lu_meng2
from armdyn.model.library.lu_meng import lu_meng4 as lu_meng4
from armdyn.model.library.market import iiwa14 as iiwa14
from armdyn.model.library.market import lwr4 as lwr4
from armdyn.model.library.market import panda as panda
from armdyn.model.library.market import ur5 as ur5
from armdyn.model.library.market import ur5e as ur5e
from armdyn.model.library.market import ur10 as ur10
from armdyn.model.library.market import xarm7 as xarm7
from armdyn.model.library.mechanisms import gripper as gripper
from armdyn.model.library.mechanisms import palletizer as palletizer
from armdyn.model.library.mechanisms import torso_arm as torso_arm
from armdyn.model.library.mechanisms import two_arms as two_arms
from armdyn.model.library.puma3 import puma3 as puma3
from armdyn.model.library.puma560 import puma560 as puma560
from armdyn.model.library.sarcos import sarcos as sarcos
from armdyn.model.library.textbook import cylindrical as cylindrical
from armdyn.model.library.textbook import planar2 as planar2
from armdyn.model.library.textbook import scara as scara
from armdyn.model.library.textbook import stanford as stanford
from armdyn.model.library.vukobratovic import vukobratovic3 as vukobratovic3

__all__ = [
    "cylindrical",
    "gripper",
    "iiwa14",
    "lu_meng2",
    "lu_meng4",
    "lwr4",
    "palletizer",
    "panda",
    "planar2",
    "puma3",
    "puma560",
    "sarcos",
    "scara",
    "stanford",
    "torso_arm",
    "two_arms",
    "ur10",
    "ur5",
    "ur5e",
    "vukobratovic3",
    "xarm7",
]
