"""One arm described by a DH table, saved, and its table found again in the other convention."""

import tempfile
from pathlib import Path

import numpy as np

import armdyn

ROWS = [
    {"kind": "R", "d": 0.3, "a": 0.4, "alpha": "-pi/2", "limits": (-3.0, 3.0)},
    {"kind": "R", "theta": "pi/2", "alpha": "pi/2"},
    {"kind": "P", "d": 0.2, "mass": 1.5, "com": (0, 0, -0.1), "inertia": np.diag([0.01, 0.01, 0.001])},
]

arm = armdyn.Arm.from_dh(ROWS, "standard", name="crane")
print(arm)

# Nothing was said about the first two links: kinematics works, dynamics tells what is missing.
q = np.array([0.3, -0.2, 0.1])
print("tip at", armdyn.forward_kinematics(arm, q)[:3, 3].round(4))
try:
    armdyn.inverse_dynamics(arm, q, 0 * q, 0 * q)
except armdyn.ArmdynError as error:
    print("but:", error)

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "crane.toml"
    arm.save(path)
    same = armdyn.load(path)
print("saved and loaded bit by bit:", same.fingerprint == arm.fingerprint)

table = armdyn.dh_parameters(arm, "modified")
print("Craig's table; consecutive axes are", ", ".join(table.cases))
for row in table.rows:
    print(f"  {row.kind}  a {row.a:6.3f}  alpha {row.alpha:7.4f}  d {row.d:6.3f}  theta {row.theta:7.4f}")
