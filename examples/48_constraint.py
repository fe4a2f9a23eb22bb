"""A PUMA 560 opens a door and presses a pen onto a table: motion under constraints and the forces that keep them."""

import numpy as np

import armdyn

arm = armdyn.arms.puma560()
start = np.array([0.3, -0.6, 0.4, 0.2, 0.7, 0.1])
pose = armdyn.forward_kinematics(arm, start)

# A pen on a table: one condition, one multiplier, the force of the table on the pen.
table = armdyn.on_plane(pose[:3, 3], [0, 0, 1])
tau = armdyn.gravity_torque(arm, start)
motion = armdyn.constrained_dynamics(arm, start, np.zeros(6), tau, table)
print(f"with gravity compensated the table bears {motion.multipliers[0]:.3g} N")
press = armdyn.constrained_torque(arm, start, np.zeros(6), np.zeros(6), [10.0], table)
motion = armdyn.constrained_dynamics(arm, start, np.zeros(6), press, table)
print(f"pressed with 10 N: the table answers with {motion.multipliers[0]:.1f} N, qdd is {np.abs(motion.qdd).max():.1e}")

# A door: the hand turns about the hinge and nothing else. Joint 1 pushes, the door swings.
hinge = pose[:3, 3] + [0.0, 0.5, 0.0]
door = armdyn.on_hinge(pose, hinge, [0, 0, 1])
push = np.array([8.0, 0, 0, 0, 0, 0])


def law(t, q, qd, ref):
    """Gravity compensated, and a push."""
    return armdyn.gravity_torque(arm, q) + push


plant = armdyn.Plant(arm, friction=False, constraint=door)
run = armdyn.simulate(plant, law, start, 0.5, 1000, q0=start, qd0=np.zeros(6))
spoke = armdyn.forward_kinematics(arm, run.q[[0, -1]])[:, :2, 3] - hinge[:2]
angle = np.degrees(np.diff(np.arctan2(spoke[:, 1], spoke[:, 0]))[0])
off = np.abs(armdyn.constraint_residual(arm, run.q, door)).max()
print(f"the door turns by {angle:.1f} degrees in 0.5 s; the hand leaves it by at most {off:.1e} m")

# Two planes at different heights cannot both be kept.
try:
    armdyn.constrained_dynamics(
        arm, start, np.zeros(6), tau, table + armdyn.on_plane(pose[:3, 3] + [0, 0, 0.1], [0, 0, 1])
    )
except armdyn.ArmdynError as error:
    print(error)
