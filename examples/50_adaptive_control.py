"""An arm that learns an unknown load, and the C code of its controller."""

import tempfile

import numpy as np

import armdyn
from armdyn.simulation import Sway

arm = armdyn.arms.puma560()
motion = Sway.within(arm, 8.0)

# What the controller does not know: the mass at the tip, and the joints' friction.
unknowns = armdyn.adapt(armdyn.unknown_mass(arm, (0, 0, 0)), friction=("viscous", "coulomb"))
w = 2 * np.pi * 3.0  # 3 Hz of bandwidth
inertia = np.diagonal(armdyn.augmented_mass_matrix(arm, motion(0.0).q))
gain = armdyn.adaptation_gains(unknowns, *motion(np.linspace(0, 8, 200)), w * inertia, time=0.5)
law = armdyn.SlotineLi(unknowns, lam=w, k=w * inertia, gain=gain)

run = armdyn.simulate(arm.with_payload(2.0), law, motion, rate=1000, check=False)
print(f"mass learnt: {run.states['phi'][-1, 0]:.2f} kg of 2.00 kg")
print(f"RMS error in the last 2 s: {1e3 * np.sqrt((run.error[run.t > 6] ** 2).mean()):.2f} mrad")

code = armdyn.law_code(law, tempfile.mkdtemp(), rate=1000.0, prefix="puma_adaptive")
print(f"C code: {code.update.total}")
