"""A PUMA 560 with friction picks up 2 kg in mid-motion: PD against computed torque.

Run: python examples/45_simulate.py
"""

import numpy as np

import armdyn

arm = armdyn.arms.puma560()


class Reach:
    """All joints swing out by 40 degrees and back in 2 s."""

    n, duration = 6, 2.0

    def __call__(self, t):
        """Positions, velocities and accelerations at times t."""
        t, w, a = np.asarray(t)[..., None] + np.zeros(6), np.pi, np.radians(20)
        return a * (1 - np.cos(w * t)), a * w * np.sin(w * t), a * w**2 * np.cos(w * t)


plant = armdyn.Plant(arm, changes=[armdyn.PickUp(1.0, mass=2.0, at_rest=False)])
laws = {
    "PD": armdyn.PD(arm, [2000, 2000, 800, 100, 100, 100], [200, 200, 80, 8, 8, 8]),
    "computed torque": armdyn.ComputedTorque.from_bandwidth(arm, 5.0),
}
for name, law in laws.items():
    run = armdyn.simulate(plant, law, Reach(), name=name)
    m = run.metrics
    worst = np.degrees(m.max_error).max()
    print(f"{name:16s} tip error {1e3 * m.rms_tip_error:5.1f} mm rms, worst joint {worst:4.2f} deg, {m.effort:4.0f} J")

# The same loop from 1000 starting positions at once: rollouts are the lanes of one kernel.
starts = np.random.default_rng(0).normal(size=(1000, 6)) * 0.05
runs = armdyn.simulate(plant, laws["computed torque"], Reach(), q0=starts, every=20)
print(f"1000 starts      tip error {1e3 * np.percentile(runs.metrics.rms_tip_error, 95):5.1f} mm rms at most in 95 %")
