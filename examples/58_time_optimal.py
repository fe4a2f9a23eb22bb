"""A PUMA 560 as fast as its drives allow, and a law that slows down where these are weak. Writes time_optimal.png."""

import os

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import armdyn
from armdyn.control import PathScaling
from armdyn.trajectory import time_optimal

arm = armdyn.arms.puma560().with_payload(1.5)
effort = np.array([60.0, 90.0, 50.0, 12.0, 12.0, 10.0])
waypoints = np.array(
    [[0.0, -0.6, 0.9, 0.3, 0.7, -0.2], [0.6, -0.2, 0.5, 0.5, 0.2, 0.3], [1.0, -0.8, 1.2, -0.3, 0.6, 0.5]]
)
if os.environ.get("ARMDYN_BENCHMARK") == "small":  # two joints instead of six
    arm, effort = armdyn.arms.planar2().with_payload(1.5), np.array([78.0, 13.0])
    waypoints = np.array([[0.0, 0.6], [0.6, -0.2], [1.0, -0.8]])
quick = time_optimal(arm, waypoints, effort=effort)
t = np.linspace(0.0, quick.duration, 1000)
part = armdyn.joint_torque(arm, *quick(t), width=1e-3) / effort
print(f"{quick.duration:.3f} s, largest torque {np.abs(part).max():.1%} of its limit, friction and payload included")

# A straight motion that asks for 70 % more torque than there is: the path is left, or the pace yields.
hurried = armdyn.point_to_point(waypoints[0], waypoints[2], duration=0.6)
best = time_optimal(arm, waypoints[[0, 2]], effort=effort)
print(f"straight in 0.60 s asked for, {best.duration:.2f} s possible")
scaled = PathScaling.from_bandwidth(arm, hurried, 4.0, limit=effort)
weak = armdyn.Plant(arm, saturation=effort)
figure, (above, below) = plt.subplots(2, 1, figsize=(7, 7))
above.plot(t, part)
above.set(xlabel="time [s]", ylabel="torque over limit", title="time-optimal")
line = hurried(np.linspace(0.0, 0.6, 2000)).q
for name, law in {"computed torque": armdyn.ComputedTorque(arm, scaled.kp, scaled.kd), "path scaling": scaled}.items():
    run = armdyn.simulate(weak, law, hurried, 1.5, 1000, hold=True, check=False)
    away = np.array([np.linalg.norm(line - q, axis=1).min() for q in run.q[::5]])
    print(f"{name}: at most {1e3 * away.max():.1f} mrad off the path")
    below.plot(run.t[::5], 1e3 * away, label=name)
below.set(xlabel="time [s]", ylabel="off the path [mrad]", title="in 0.6 s, with too little torque")
below.legend()
figure.tight_layout()
figure.savefig("time_optimal.png", dpi=120)
