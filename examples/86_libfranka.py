"""Export a law for a Franka arm's torque interface: without gravity and friction, which libfranka adds itself.

86_libfranka.cpp beside this file is the program that runs it; see docs/franka.md.
Run it: python examples/86_libfranka.py [FOLDER]
"""

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

import armdyn
from armdyn.model import Friction


def law_for_franka(arm: armdyn.Arm) -> armdyn.control.Law:
    """Computed torque at 3 Hz for what is left once libfranka has added gravity and friction."""
    weightless = arm.with_gravity([0.0, 0.0, 0.0])
    bare = weightless.with_joints(replace(joint, friction=Friction()) for joint in weightless.joints)
    # Hold the last torque's gravity-free zero when measurements are lost: the arm's own controller carries its weight.
    return armdyn.control.Guarded(armdyn.ComputedTorque.from_bandwidth(bare, 3.0))


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
    arm = armdyn.arms.panda()
    law = law_for_franka(arm)
    code = armdyn.law_code(law, folder, rate=1000.0, prefix="franka_law")
    print("wrote", ", ".join(path.name for path in (*code.sources, code.header)), "to", folder)
    q = np.array([0.0, -np.pi / 4, 0.0, -3 * np.pi / 4, 0.0, np.pi / 2, np.pi / 4])
    held = armdyn.gravity_torque(arm, q)
    print("libfranka adds, at the usual pose [N m]:", np.round(held, 2))
    print("what the law would add at rest there:   ", np.round(armdyn.gravity_torque(law.arm, q), 2))


if __name__ == "__main__":
    main()
