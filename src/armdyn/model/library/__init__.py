"""Arms from the literature, ready to use; public as `armdyn.arms`.

Every arm says in its `notes` where its numbers come from and what was assumed where the source is silent.
"""

from __future__ import annotations

from armdyn.model.library.kuka import iiwa14, lwr4
from armdyn.model.library.lu_meng import lu_meng2, lu_meng4
from armdyn.model.library.panda import panda
from armdyn.model.library.planar import planar2
from armdyn.model.library.puma3 import puma3
from armdyn.model.library.puma560 import puma560
from armdyn.model.library.sarcos import sarcos
from armdyn.model.library.stanford import stanford
from armdyn.model.library.textbook import cylindrical, scara
from armdyn.model.library.universal_robots import ur5, ur5e, ur10
from armdyn.model.library.vukobratovic import vukobratovic3
from armdyn.model.library.xarm import xarm7

__all__ = [
    "cylindrical",
    "iiwa14",
    "lu_meng2",
    "lu_meng4",
    "lwr4",
    "panda",
    "planar2",
    "puma3",
    "puma560",
    "sarcos",
    "scara",
    "stanford",
    "ur5",
    "ur5e",
    "ur10",
    "vukobratovic3",
    "xarm7",
]
