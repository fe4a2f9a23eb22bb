"""Identify an arm from a noisy log, with the uncertainty of each parameter."""

import numpy as np

import armdyn

arm = armdyn.arms.planar2()
t = np.arange(0, 20, 0.005)
q = np.stack([np.sin(2 * t) + 0.3 * np.sin(5 * t), np.cos(3 * t)], axis=1)
qd, qdd = (np.gradient(x, t, axis=0) for x in (q, np.gradient(q, t, axis=0)))
rng = np.random.default_rng(0)
tau = armdyn.inverse_dynamics(arm, q, qd, qdd) + 0.4 * np.sign(qd) + 0.2 * qd + 0.2 * rng.normal(size=q.shape)
log = armdyn.Log(t, q + 1e-5 * rng.normal(size=q.shape), tau)

# The arm's inertia is forgotten: only its geometry is used.
fit = armdyn.identify(arm.with_theta(np.full(20, np.nan)), log.part(0, 12))
print(fit)
for name, value, std in zip(fit.base.names, fit.base.theta, fit.base.std, strict=True):
    print(f"{name:>40}  {value:8.4f} ± {1.96 * std:.4f}")
print(f"on the rest of the log: {fit.validate(log.part(12, 20)).rel_error:.2%}")
