"""Torques as C code for the robot's controller, and as a formula for the paper."""

import tempfile
from pathlib import Path

import armdyn

arm = armdyn.arms.puma560().with_payload(2.0, com=(0, 0, 0.1))
folder = Path(tempfile.mkdtemp(prefix="puma560-"))

code = armdyn.c_code([armdyn.inverse_dynamics, armdyn.gravity_torque], arm, folder)
print(code)
print(f"check it with: cd {folder} && cc -O2 {code.source.name} {code.selftest.name} -lm -o selftest && ./selftest")

print("\nGravity torques of a two-link arm, with its masses as symbols:")
print(armdyn.latex(armdyn.gravity_torque, armdyn.arms.planar2(), symbols=["theta", "gravity"]))
