"""The arm linearised along a motion: how fast its errors grow, a regulator for them, and what a payload changes."""

import numpy as np
from scipy.linalg import solve_discrete_are

import armdyn

arm = armdyn.arms.panda()

# One slow swing of all joints, with exact derivatives, at 1 kHz.
t = np.arange(0, 2, 1e-3)
phase = np.pi * t[:, None] + np.arange(arm.n)
centre = np.array([0, -0.3, 0, -2.0, 0, 2.0, 0.8])
q, qd, qdd = centre + 0.4 * np.sin(phase), 0.4 * np.pi * np.cos(phase), -0.4 * np.pi**2 * np.sin(phase)

# M, C, K, A, B at all 2000 samples in one call, friction and rotors included.
motion = armdyn.linearize_motion(arm, t, q, qd, qdd, model="full")
growth = armdyn.modes(motion.A).eigenvalues.real.max(axis=-1)
print(f"errors left alone grow with time constants from {1 / growth.max():.2f} s to {1 / growth.min():.2f} s")

# A regulator about one sample, exact for torques held over 1 ms.
A, B = (matrix[1000] for matrix in motion.discretize())
Q, R = np.diag([1e4] * arm.n + [1e1] * arm.n), 1e-2 * np.eye(arm.n)
P = solve_discrete_are(A, B, Q, R)
gain = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
print(f"regulated, every step shrinks them to {np.abs(np.linalg.eigvals(A - B @ gain)).max():.3f} or less")

# The same gains with 3 kg in the hand that nobody told the regulator about.
loaded = armdyn.linearize(arm.with_payload(3.0), q[1000], qd[1000], qdd[1000], model="full")
A, B = armdyn.discretize(loaded.A, loaded.B, 1e-3)
print(f"with 3 kg unknown to the regulator, to {np.abs(np.linalg.eigvals(A - B @ gain)).max():.3f}")
