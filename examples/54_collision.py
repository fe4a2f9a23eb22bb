"""An arm runs into something it cannot see, notices it by its momentum, and reacts. Writes collision.png."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import armdyn
from armdyn.control import MomentumObserver, detection_delay, noise_threshold
from armdyn.shapes.obstacles import Sphere
from armdyn.simulation import Contact

arm = armdyn.arms.planar2()
law = armdyn.ComputedTorque.from_bandwidth(arm, 3.0)
move = armdyn.point_to_point([-0.6, 0.4], [0.9, 0.6], duration=1.2)

watched = MomentumObserver(law, threshold=1e6, bandwidth=20.0, reaction="none")
clean = armdyn.simulate(arm, watched, move, 1.5, 1000, hold=True, check=False)
threshold = np.maximum(noise_threshold(clean.states["residual"]), 1.0)
print("thresholds from a clean run:", ", ".join(f"{x:.2f} N m" for x in threshold))
print(f"20 N m would be noticed after {1e3 * detection_delay(threshold, 20.0, 20.0).max():.0f} ms")

halfway = armdyn.forward_kinematics(arm, move(0.75).q)[:3, 3]
plant = armdyn.Plant(arm, contact=Contact([Sphere(halfway, 0.05)], stiffness=2e4))
figure, axis = plt.subplots(figsize=(7, 4))
for reaction in ("none", "stop", "reflex"):
    law_ = MomentumObserver(law, threshold, 20.0, reaction)
    run = armdyn.simulate(plant, law_, move, 1.5, 1000, hold=True, check=False)
    force = np.linalg.norm(run.states["contact"][:, 0], axis=-1)
    touched, seen = np.argmax(force > 0), np.argmax(run.states["detected"][:, 0] > 0)
    print(f"{reaction}: touched at {run.t[touched]:.3f} s, noticed {seen - touched} ms later, peak {force.max():.0f} N")
    axis.plot(run.t, force, label=f"reaction: {reaction}")
axis.set(xlabel="time [s]", ylabel="contact force [N]", xlim=(0.5, 1.2))
axis.legend()
figure.savefig("collision.png", dpi=120)
