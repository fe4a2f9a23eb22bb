"""Regressors of an arm that touches something, and of a load whose principal axes are known."""

import numpy as np

import armdyn

arm = armdyn.arms.puma560()
rng = np.random.default_rng(0)
q, qd, qdd = rng.uniform(-1, 1, (3, 500, 6))

# A tool presses with 15 N while the arm moves; the wrist sensor knows it, the load is unknown.
wrench = np.array([0.0, 0.0, -15.0, 0.0, 0.0, 0.0])
carrying = arm.with_payload(1.2, [0, 0, 0.08], np.diag([0.004, 0.005, 0.002]))
carried = carrying.theta - arm.theta
tau = armdyn.inverse_dynamics(carrying, q, qd, qdd, wrench)
tau += rng.normal(size=tau.shape) * 0.5  # noise of the torque sensors

for shape in ("any", "principal"):
    split = armdyn.unknown_payload(arm, shape=shape, axis="z")
    Y, known = split.regressor(q, qd, qdd, wrench=wrench)
    phi, *_ = np.linalg.lstsq(Y.reshape(-1, len(split.names)), (tau - known).ravel(), rcond=None)
    error = np.abs(split.theta(phi) - split.theta_known - carried)
    print(f"{shape:9} {len(phi):2} unknowns: mass {phi[0]:.4f} kg (1.2), largest error {error.max():.4f}")

# Without the wrench the mass comes out wrong.
Y, known = armdyn.unknown_payload(arm).regressor(q, qd, qdd)
phi, *_ = np.linalg.lstsq(Y.reshape(-1, 10), (tau - known).ravel(), rcond=None)
print(f"wrench ignored: mass {phi[0]:.3f} kg")

# The same for a log and `identify`.
log = armdyn.Log(np.arange(500) * 0.01, q, tau, name="touching")
print(armdyn.subtract_wrench(log, arm, wrench).notes[-1])
