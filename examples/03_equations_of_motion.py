"""The equations of motion of two classic arms: derived, printed, and followed along a motion."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import armdyn

# 1. The planar arm of the Eindhoven report of 1987: two rods in a vertical plane, 10 and 5 kg, 0.5 and 0.25 m.
planar = armdyn.arms.planar2()
for formula in (armdyn.mass_matrix, armdyn.coriolis_matrix, armdyn.gravity_torque):
    print(armdyn.latex(formula, planar))

t = np.linspace(0, 2, 401)
phase = np.pi * t[:, None] * [1, 2]
q = np.sin(phase)
qd, qdd = np.pi * np.array([1, 2]) * np.cos(phase), -((np.pi * np.array([1, 2])) ** 2) * np.sin(phase)
parts = {
    "inertia": (armdyn.mass_matrix(planar, q) @ qdd[..., None])[..., 0],
    "Coriolis": (armdyn.coriolis_matrix(planar, q, qd) @ qd[..., None])[..., 0],
    "gravity": armdyn.gravity_torque(planar, q),
}
difference = sum(parts.values()) - armdyn.inverse_dynamics(planar, q, qd, qdd)
print(f"\nplanar arm: the parts add up to the Newton-Euler torque within {np.abs(difference).max():.0e} N m")

# 2. The three-member chain of Vukobratovic and Potkonjak (1979): the tip goes straight up at 2 m/s² for 1 s.
#    Their masses and starting angles; lengths and inertias are ours, as their drawing is lost (see arm.notes).
chain = armdyn.arms.vukobratovic3()
time = np.linspace(0, 1, 201)
angles = np.empty((time.size, 3))
angle = np.array([np.pi, -np.pi / 2, -np.pi / 2])
start = armdyn.forward_kinematics(chain, angle)[:3, 3]
for k, height in enumerate(time**2):
    target = np.array([start[0], start[1], start[2] + height])
    for _ in range(20):  # Newton's method from the sample before
        error = target - armdyn.forward_kinematics(chain, angle)[:3, 3]
        angle = angle + np.linalg.solve(armdyn.jacobian(chain, angle)[:3], error)
        if np.abs(error).max() < 1e-13:
            break
    angles[k] = angle
velocity = np.zeros((time.size, 3, 1))
velocity[:, 2, 0] = 2 * time
J = armdyn.jacobian(chain, angles)[:, :3]
rates = np.linalg.solve(J, velocity)[..., 0]
bias = armdyn.jacobian_rate(chain, angles, rates)[:, :3] @ rates[..., None]
accelerations = np.linalg.solve(J, np.array([[0.0], [0.0], [2.0]]) - bias)[..., 0]

# W qdd = P + V: the driving torques from Lagrange's equations, and again from Newton-Euler.
W, V, *_ = armdyn.lagrange(chain, angles, rates)
P = (W @ accelerations[..., None])[..., 0] - V
difference = P - armdyn.inverse_dynamics(chain, angles, rates, accelerations)
energy = armdyn.kinetic_energy(chain, angles, rates) + armdyn.potential_energy(chain, angles)
work = np.trapezoid((P * rates).sum(axis=1), time)
print(f"chain: Lagrange and Newton-Euler differ by at most {np.abs(difference).max():.0e} N m")
print(f"chain: the drives' work is {work:.3f} J, the energy gained {energy[-1] - energy[0]:.3f} J")
print(f"chain: torques from {P[0].round(2)} to {P[-1].round(2)} N m")

figure, ((ax1, ax2), (ax3, ax4)) = plt.subplots(2, 2, figsize=(9, 6), layout="constrained")
for i, ax in enumerate((ax1, ax2)):
    for name, part in parts.items():
        ax.plot(t, part[:, i], label=name)
    ax.plot(t, sum(parts.values())[:, i], "k", label="sum")
    ax.set(title=f"planar arm, joint {i + 1}", xlabel="time [s]", ylabel="torque [N m]")
ax1.legend()
ax3.plot(time, P, label=[f"P{i + 1}" for i in range(3)])
ax3.set(title="chain: driving torques", xlabel="time [s]", ylabel="torque [N m]")
ax4.plot(time, angles, label=[f"φ{i + 1}" for i in range(3)])
ax4.set(title="chain: joint motions", xlabel="time [s]", ylabel="angle [rad]")
ax3.legend()
ax4.legend()
path = sys.argv[1] if len(sys.argv) > 1 else "equations_of_motion.png"
figure.savefig(path)
print(f"figure: {path}")
