"""An arm that repeats a motion with an unknown load, and reduces its error at every trial. Writes learning.png."""

import matplotlib

matplotlib.use("Agg")
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

import armdyn
from armdyn.simulation import learn

arm = armdyn.arms.planar2()
friction = (armdyn.Friction(viscous=2.0, coulomb=3.0), armdyn.Friction(viscous=0.5, coulomb=1.0))
true = arm.with_joints([replace(j, friction=f) for j, f in zip(arm.joints, friction, strict=True)]).with_payload(2.0)
law = armdyn.FeedforwardPD(arm, [300.0, 80.0], [60.0, 12.0])
move = armdyn.point_to_point([-0.5, 0.3], [0.6, -0.4], duration=1.0)

found = learn(true, law, move, rate=1000.0, trials=5)
print(found)

figure, (above, below) = plt.subplots(2, 1, figsize=(7, 6))
for k, run in enumerate(found.trials, 1):
    above.plot(run.t, 1e3 * np.linalg.norm(run.error, axis=1), label=f"trial {k}")
above.set(xlabel="time [s]", ylabel="error [mrad]")
above.legend()
below.plot(np.arange(len(found.law.torque)) / 1000.0, found.law.torque)
below.set(xlabel="time [s]", ylabel="learnt torques [N m]")
figure.tight_layout()
figure.savefig("learning.png", dpi=120)
