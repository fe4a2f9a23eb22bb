"""From a pose to joint positions, by closed form and by iteration, and along a circle in space."""

import numpy as np

import armdyn

# A PUMA has eight ways to reach a pose; all of them come in one call.
puma = armdyn.arms.puma560()
pose = armdyn.forward_kinematics(puma, [0.3, -0.7, 0.4, 0.5, 0.6, -0.2])
found = armdyn.inverse_kinematics(puma, pose)
print(found)
for name, q, within in zip(found.branches, found.all_solutions, found.within_limits, strict=True):
    print(f"  {name:22}", np.rad2deg(q).round(1), "" if within else "beyond joint limits")

# A pose that cannot be reached is not an error: the result tells why.
pose[:3, 3] *= 3
print(armdyn.inverse_kinematics(puma, pose))

# The Panda has seven joints and no closed form: a thousand poses at once, each near a comfortable posture.
panda = armdyn.arms.panda()
ready = np.array([0.0, -0.3, 0.0, -2.2, 0.0, 2.0, 0.8])
poses = armdyn.forward_kinematics(panda, ready + np.random.default_rng(0).uniform(-0.5, 0.5, (1000, 7)))
found = armdyn.inverse_kinematics(panda, poses, ready, objective=ready)
print(found, f"after {found.iterations.mean():.0f} steps on average")

# A cup: the position and the direction of the tip's z-axis matter, a turn about it does not.
upright = armdyn.forward_kinematics(puma, [0.3, -0.7, 0.4, 0.5, 0.6, -0.2])
cup = armdyn.inverse_kinematics(puma, upright, task="position+z")
print(cup, "and an arm of five joints would do")

# Once around a circle of 10 cm, at most 0.3 m/s and 1 m/s².
start = armdyn.forward_kinematics(panda, ready)
circle = armdyn.Circle(start, center=start[:3, 3] - [0.1, 0, 0], axis=[0, 0, 1])
motion = armdyn.TipMotion(circle, armdyn.Trapezoid(circle.length, velocity=0.3, acceleration=1.0))
trajectory = armdyn.joint_trajectory(panda, motion, ready)
q, qd, qdd = trajectory(np.arange(0, trajectory.duration, 0.001))
print(
    f"circle in {trajectory.duration:.2f} s; largest joint velocities [deg/s]:", np.rad2deg(np.abs(qd).max(0)).round()
)
