"""Mechanisms: two arms on one torso, a parallelogram with a balancer, and what is computed for them as for any arm."""

import numpy as np

import armdyn
from armdyn import Arm, Frame, Joint, Link, Spring
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.transform import transform

Y = (0, 1, 0)


def at(x, y=0.0, z=0.0):
    """A shift."""
    return transform(None, [x, y, z])


def body(mass, x):
    """A rod of some mass, its centre at x."""
    return Inertia.from_com(mass, (x, 0, 0), mass * np.diag([0.002, 0.01, 0.01]))


# Two arms: joints hang on the link that `parent` names, else on the link before.
joints = [Joint("torso", axis=(0, 0, 1))]
links = [Link("trunk", body(10, 0.0))]
for side, y in (("left", 0.2), ("right", -0.2)):
    joints += [
        Joint(f"{side} swing", axis=(0, 0, 1), before=at(0, y, 0.5), parent="trunk"),
        Joint(f"{side} lift", axis=Y, before=at(0.1)),
        Joint(f"{side} elbow", axis=Y, before=at(0.3)),
    ]
    links += [Link(f"{side} {part}", body(mass, 0.15)) for part, mass in (("shoulder", 2), ("upper", 2), ("fore", 1))]
hands = [Frame(f"{side} hand", f"{side} fore", at(0.3)) for side in ("left", "right")]
robot = Arm(tuple(joints), tuple(links), name="two arms", frames=tuple(hands))
print(robot)

# Gravity compensation of both arms, the left hand carrying 1 kg.
q = np.array([0.1, 0.3, 0.2, -0.8, -0.3, 0.2, -0.8])
heavy = robot.with_payload(1.0, frame="left hand")
print("gravity torques [N m]:", armdyn.gravity_torque(heavy, q).round(2))

# Relative motion: both hands are moved together by 5 cm, with all joints at once.
poses = {hand.name: armdyn.forward_kinematics(robot, q, frame=hand.name) for hand in hands}
for pose in poses.values():
    pose[2, 3] += 0.05
solution = armdyn.inverse_kinematics(robot, poses, q, task="position")
print("both hands:", solution.message)
J = armdyn.jacobian(robot, q, frame="left hand") - armdyn.jacobian(robot, q, frame="right hand")
print("height of the left hand over the right one, per joint [m/rad]:", J[2].round(2))

# A parallelogram: the crank turns the elbow past the shoulder, the rod follows, and a spring carries the weight.
past_shoulder = (("crank", 1), ("shoulder", -1))
palletizer = Arm(
    (
        Joint("waist", axis=(0, 0, 1)),
        Joint("shoulder", axis=Y, before=at(0.1, 0, 0.5)),
        Joint("crank", axis=Y, before=at(0.1, 0, 0.5), parent="column"),
        Joint("elbow", axis=Y, before=at(0.8), parent="beam", follows=past_shoulder),
        Joint("rod joint", axis=Y, before=at(-0.2), parent="crank link", follows=(("elbow", -1),)),
    ),
    (
        Link("column", body(30, 0.0)),
        Link("beam", body(20, 0.4)),
        Link("crank link", body(4, -0.1)),
        Link("forearm", body(12, 0.3)),
        Link("rod", body(3, 0.4)),
    ),
    name="palletizer",
    tip_link="forearm",
    tool_pose=at(0.6),
    springs=(Spring("balancer", ("column", "beam"), ((0.1, 0, 0.9), (0.3, 0, 0)), 1540.0),),
)
print(palletizer, palletizer.coordinate_names)
pose = np.array([0.0, 0.2, 0.9])
still = np.zeros(3)
print("without the balancer:", armdyn.gravity_torque(palletizer, pose).round(1), "N m")
print("with it:             ", armdyn.joint_torque(palletizer, pose, still, still).round(1), "N m")
