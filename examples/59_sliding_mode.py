"""An unknown load of 2 kg: computed torque, a sliding mode with its layer, super-twisting. Writes sliding_mode.png."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import armdyn
from armdyn.control import SlidingMode, SuperTwisting
from armdyn.simulation import Sway

arm = armdyn.arms.planar2()
w = 2 * np.pi * 2.0
laws = {
    "computed torque": armdyn.ComputedTorque.from_bandwidth(arm, 2.0),
    "sliding mode": SlidingMode(arm, lam=w, k=[20.0, 5.0], reach=[45.0, 25.0], boundary=[0.5, 0.5]),
    "super-twisting": SuperTwisting.from_bound(arm, lam=w, bound=500.0),
}
motion = Sway.within(arm, 4.0)
figure, axis = plt.subplots(figsize=(7, 4))
for name, law in laws.items():
    run = armdyn.simulate(arm.with_payload(2.0), law, motion, rate=1000, check=False)
    error = 1e3 * np.linalg.norm(run.error, axis=1)
    print(f"{name}: RMS error of the last second {np.sqrt((error[run.t > 3] ** 2).mean()):.3f} mrad")
    axis.semilogy(run.t, error, label=name)
axis.set(xlabel="time [s]", ylabel="error [mrad]", ylim=(1e-3, 1e3))
axis.legend()
figure.savefig("sliding_mode.png", dpi=120)
