"""Calibrate an arm from points that an instrument measured: frames, zeros, sag; errors at poses that were left out."""

import tempfile
from pathlib import Path

import numpy as np

import armdyn
from armdyn.calibration import Poses, calibrated_kinematics

# A stand-in for a laser tracker: a PUMA 560 whose frames are 0.3 mm and 1 mrad off, zeros 4 mrad, three markers.
arm, rng = armdyn.arms.puma560(), np.random.default_rng(1)
errors = rng.normal(size=(6, 6)) * (3e-4, 3e-4, 3e-4, 1e-3, 1e-3, 4e-3)
q = rng.uniform(*np.clip(arm.position_limits, -1.5, 1.5), (40, 6))
tips = calibrated_kinematics(arm, q, geometry=errors)
markers = np.array([[0.05, 0, 0.1], [-0.05, 0.02, 0.1], [0, -0.06, 0.12]])
points = np.einsum("kab,mb->kma", tips[:, :3, :3], markers) + tips[:, None, :3, 3]
points = points + np.array([2.0, -1.0, 0.5]) + rng.normal(0, 5e-5, points.shape)

cal = armdyn.calibrate(arm, Poses(q, points))
print(f"verdict: {cal.verdict}")
for name in ("base_and_tool", "offsets", "full"):
    print(f"{name:14s} {1e3 * getattr(cal.held_out, name).mean:.3f} mm at poses that were not fitted to")
target = cal.pose(q[0])
print(f"command for a target: {np.round(cal.command(target, q[0]), 4)} rad, read as {np.round(q[0], 4)}")
with tempfile.TemporaryDirectory() as folder:
    cal.save(Path(folder) / "calibrated.urdf")
    print(f"written and read again: {armdyn.load(Path(folder) / 'calibrated.urdf')}")
