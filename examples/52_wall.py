"""A PUMA 560 pushes against a stiff wall with 10 N along x, by four laws of force control. Writes wall.png."""

import os

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import armdyn
from armdyn.control import Admittance, HybridForce, ParallelForce, ShapedImpedance
from armdyn.shapes.obstacles import HalfSpace
from armdyn.simulation import Contact

arm = armdyn.arms.puma560()
start = np.array([0.2, -0.6, 0.9, 0.3, 0.7, -0.2])
tip = armdyn.forward_kinematics(arm, start)[:3, 3]
wall = HalfSpace(np.array([-1.0, 0.0, 0.0]), -(tip[0] - 5e-4))  # 0.5 mm before the tip: it presses with 5 N
plant = armdyn.Plant(arm, friction=False, contact=Contact([wall], stiffness=1e4, damping=1.0, friction=0.1))

push, tip_only = [10.0, 0, 0, 0, 0, 0], {"task": "position", "model": "rigid"}
laws = {
    "hybrid": HybridForce(arm, 400.0, 40.0, axes=[1.0, 0, 0], push=push, **tip_only),
    "parallel": ParallelForce(arm, [100.0, 400, 400, 0, 0, 0], 40.0, push, **tip_only),
    "shaped impedance": ShapedImpedance(arm, [0.0, 2e3, 2e3, 0, 0, 0], 250.0, 4.0, push, **tip_only),
    "admittance": Admittance(arm, 4900.0, 210.0, 5.0, 300.0, [0, 5e3, 5e3, 0, 0, 0], push, **tip_only),
}
if os.environ.get("ARMDYN_BENCHMARK") == "small":  # one law has one kernel to compile
    laws = {"hybrid": laws["hybrid"]}
figure, axis = plt.subplots(figsize=(7, 4))
for name, law in laws.items():
    run = armdyn.simulate(plant, law, start, 0.6, 1000, q0=start, qd0=np.zeros(6), check=False)
    force = -run.states["contact"][:, 0, 0]
    off = np.abs(force / 10.0 - 1) > 0.05
    settled = run.t[np.flatnonzero(off)[-1]] if off.any() else 0.0
    when = f"within 5 % after {settled:.2f} s" if settled < 0.59 else "not within 5 % in 0.6 s"
    print(f"{name}: {when}, least force {force.min():.1f} N")
    axis.plot(run.t, force, label=name)
axis.axhline(10.0, color="black", lw=0.5)
axis.set(xlabel="time [s]", ylabel="force on the wall [N]")
axis.legend()
figure.savefig("wall.png", dpi=120)
