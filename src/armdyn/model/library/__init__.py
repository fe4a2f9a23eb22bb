"""Arms from the literature, ready to use; public as `armdyn.arms`.

Every arm says in its `notes` where its numbers come from and what was assumed where the source is silent.
"""

from armdyn.exports import export

NO_FORMULAS = True  # its text is no part of the key of compiled code

export(
    __name__,
    {
        "lu_meng": "lu_meng2 lu_meng4",
        "market": "iiwa14 lwr4 panda ur10 ur5 ur5e xarm7",
        "mechanisms": "gripper palletizer torso_arm two_arms",
        "puma3": "puma3",
        "puma560": "puma560",
        "sarcos": "sarcos",
        "textbook": "cylindrical planar2 scara stanford",
        "vukobratovic": "vukobratovic3",
    },
)
