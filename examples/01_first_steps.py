"""An arm from the library, its torques for many states at once, and the same arm with a payload."""

import numpy as np

import armdyn

arm = armdyn.arms.panda()
print(arm)

rng = np.random.default_rng(0)
lower, upper = ([getattr(joint.limits, end) for joint in arm.joints] for end in ("lower", "upper"))
q = rng.uniform(lower, upper, (10_000, arm.n))
qd, qdd = rng.uniform(-1, 1, (2, 10_000, arm.n))

tau = armdyn.inverse_dynamics(arm, q, qd, qdd)
print("largest torques without load [N m]:", np.abs(tau).max(axis=0).round(1))

loaded = arm.with_payload(3.0, com=(0, 0, 0.05))
tau = armdyn.inverse_dynamics(loaded, q, qd, qdd)
print("largest torques with 3 kg    [N m]:", np.abs(tau).max(axis=0).round(1))
print("what the maker allows        [N m]:", np.array([joint.limits.effort for joint in arm.joints]))
