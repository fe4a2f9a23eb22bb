"""A hand: three fingers whose tips bend along, put onto a ball, and the torques with which they hold it."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import armdyn
from armdyn import Arm, Frame, Joint, Link
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.rotation import from_axis_angle
from armdyn.spatial.transform import transform

Y, Z = (0, 1, 0), (0, 0, 1)


def bone(mass, length):
    """A rod along z."""
    return Inertia.from_com(mass, (0, 0, length / 2), mass * length**2 / 12 * np.diag([1, 1, 0.1]))


# Three fingers around the palm. Each is spread and bent at its root and its knuckle, and its tip bends along.
joints, links, tips = [], [], []
for k in range(3):
    root = transform(from_axis_angle(Z, 2 * np.pi * k / 3)) @ transform(None, [0.04, 0, 0.08])
    joints += [
        Joint(f"spread {k}", axis=(1, 0, 0), before=root, parent="palm"),
        Joint(f"root {k}", axis=Y, before=transform(None, [0, 0, 0.01])),
        Joint(f"knuckle {k}", axis=Y, before=transform(None, [0, 0, 0.05])),
        Joint(f"tip {k}", axis=Y, before=transform(None, [0, 0, 0.03]), follows=((f"knuckle {k}", 0.8),)),
    ]
    sizes = {"swivel": (0.02, 0.01), "proximal": (0.05, 0.05), "middle": (0.03, 0.03), "distal": (0.02, 0.02)}
    links += [Link(f"{name} {k}", bone(mass, length)) for name, (mass, length) in sizes.items()]
    tips.append(Frame(f"fingertip {k}", f"distal {k}", transform(None, [0, 0, 0.02])))
hand = Arm(tuple(joints), tuple(links), name="hand", base_name="palm", frames=tuple(tips))
print(hand)

# Put all fingertips onto a ball of 6 cm above the palm, at once.
center, radius = np.array([0, 0, 0.15]), 0.03
places = {}
for k, tip in enumerate(tips):
    angle = 2 * np.pi * k / 3
    places[tip.name] = transform(None, center + radius * np.array([np.cos(angle), np.sin(angle), 0]))
start = np.array((0.0, 0.2, -0.5) * 3)
grasp = armdyn.inverse_kinematics(hand, places, start, task="position")
print("fingertips on the ball:", grasp.message, "joints of a finger [rad]:", grasp.q[:3].round(3))

# Each tip presses with 2 N towards the centre: the motors' torques, tips that follow included.
torque = armdyn.gravity_torque(hand, grasp.q)
for tip in tips:
    place = armdyn.forward_kinematics(hand, grasp.q, frame=tip.name)[:3, 3]
    push = 2.0 * (center - place) / np.linalg.norm(center - place)
    torque += armdyn.jacobian(hand, grasp.q, frame=tip.name)[:3].T @ push
for name, value in zip(hand.coordinate_names, torque, strict=True):
    print(f"  {name:8s} {1e3 * value:7.1f} mN m")

# The fingertip as C, for the controller of the hand.
with TemporaryDirectory() as folder:
    functions = [armdyn.forward_kinematics, armdyn.jacobian]
    armdyn.c_code(functions, hand, folder, prefix="fingertip", options={"frame": "fingertip 0"})
    print(*sorted(path.name for path in Path(folder).iterdir()))
