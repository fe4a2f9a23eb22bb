"""Predictive control with weak drives and a stop in the way, linear and nonlinear. Writes predictive.png."""

import matplotlib

matplotlib.use("Agg")
import casadi as ca
import matplotlib.pyplot as plt
import numpy as np

import armdyn
from armdyn.control import PredictiveControl

arm, rate, horizon = armdyn.arms.planar2(), 200.0, 20
effort, stop = np.array([80.0, 16.0]), np.array([0.5, np.inf])
move = armdyn.point_to_point([-0.5, 0.3], [0.7, -0.4], duration=0.6)

# Linear and time-varying: the arm linearised along the motion, DAQP at every sample.
limits = (np.full(2, -np.inf), stop)
law = PredictiveControl(arm, move, rate, [0.02, 0.02, 0.5, 0.5], [20.0, 10.0], horizon, effort=effort, position=limits)
run = armdyn.simulate(arm, law, move, 0.9, rate, hold=True, check=False)
print(f"linear: joint 1 reaches {run.q[:, 0].max():.4f} of 0.5 rad, largest torques {np.abs(run.tau).max(0).round(1)}")

# Nonlinear: the traced formula over CasADi's symbols in an optimal control problem, IPOPT once for the whole motion.
samples, h = 60, 0.015
q, qd, tau = (ca.SX.sym(name, 2) for name in ("q", "qd", "tau"))
slope = ca.Function("slope", [q, qd, tau], [armdyn.forward_dynamics(arm, q, qd, tau)])
plan = ca.Opti()
x, v, u = (plan.variable(2, samples + count) for count in (1, 1, 0))
for k in range(samples):
    a = slope(x[:, k], v[:, k], u[:, k])
    plan.subject_to(v[:, k + 1] == v[:, k] + h * a)
    plan.subject_to(x[:, k + 1] == x[:, k] + h * v[:, k + 1])
    plan.subject_to(plan.bounded(-effort, u[:, k], effort))
desired = move(np.minimum(np.arange(samples + 1) * h, 0.6)).q.T
plan.subject_to(x[0, :] <= stop[0])
plan.subject_to(x[:, 0] == desired[:, 0])
plan.subject_to(v[:, 0] == 0)
plan.minimize(ca.sumsqr(x - desired) / 0.02**2 + ca.sumsqr(u[:, 1:] - u[:, :-1]) / 20.0**2)
plan.set_initial(x, np.minimum(desired, stop[:, None]))
plan.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes"})
found = plan.solve()
rounds = found.stats()["iter_count"]
print(f"nonlinear: joint 1 reaches {found.value(x)[0].max():.4f} of 0.5 rad, by IPOPT in {rounds} rounds")

figure, (above, below) = plt.subplots(2, 1, figsize=(7, 6))
above.plot(run.t, run.q, label=["joint 1, QP per sample", "joint 2"])
above.plot(np.arange(samples + 1) * h, found.value(x).T, "--", label=["joint 1, nonlinear plan", "joint 2"])
above.axhline(stop[0], color="black", lw=0.5)
above.set(xlabel="time [s]", ylabel="position [rad]")
above.legend()
below.plot(run.t, run.tau / effort)
below.set(xlabel="time [s]", ylabel="torque over limit")
figure.tight_layout()
figure.savefig("predictive.png", dpi=120)
