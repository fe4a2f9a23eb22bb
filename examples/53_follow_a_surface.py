"""A PUMA 560 wipes along a wall whose tilt it does not know, pressing with 8 N. Writes surface.png."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import armdyn
from armdyn.control import HybridForce, Tool
from armdyn.shapes.obstacles import HalfSpace
from armdyn.simulation import Contact, WristSensor

arm = armdyn.arms.puma560()
start = np.array([0.2, -0.6, 0.9, 0.3, 0.7, -0.2])
tip = armdyn.forward_kinematics(arm, start)[:3, 3]
askew = np.array([-1.0, 0.15, 0.0]) / np.hypot(1.0, 0.15)
wall = HalfSpace(askew, float(askew @ tip) + 2e-4)

tool = Tool(0.6, (0.0, 0.0, 0.05), (0.5, -0.3, 0.2, 0, 0, 0))
sensor = WristSensor(tool, noise=[0.1, 0.1, 0.1, 0.01, 0.01, 0.01])
plant = armdyn.Plant(arm, friction=False, contact=Contact([wall], 1e4, 1.0, friction=0.2), wrist=sensor)
push = [8.0, 0, 0, 0, 0, 0]
law = HybridForce(arm, 400.0, 40.0, axes=[1.0, 0, 0], push=push, tool=tool, task="position", model="rigid")

aside = armdyn.point_to_point(start, start + 0.25 * np.eye(6)[0], duration=1.5)
run = armdyn.simulate(plant, law, aside, 2.0, 1000, hold=True, check=False)
force = run.states["contact"][:, 0] @ askew
way = armdyn.forward_kinematics(arm, run.q)[:, :3, 3]
print(f"wiped {1e3 * np.ptp(way[:, 1]):.0f} mm along y, {1e3 * np.ptp(way[:, 0]):.0f} mm along x with the wall")
print(f"force on the wall: {force[300:].min():.1f} to {force[300:].max():.1f} N, 8 N along x asked for")

figure, (above, below) = plt.subplots(2, 1, figsize=(7, 6))
above.plot(run.t, force)
above.set(xlabel="time [s]", ylabel="force on the wall [N]")
below.plot(1e3 * way[:, 1], 1e3 * way[:, 0], label="tip")
below.set(xlabel="y [mm]", ylabel="x [mm]")
below.legend()
figure.tight_layout()
figure.savefig("surface.png", dpi=120)
