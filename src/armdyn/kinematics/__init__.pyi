# Written by tools/write_stubs.py from the tables in __init__.py: change these, not this file.

from armdyn.kinematics.closed.form import closed_form as closed_form
from armdyn.kinematics.closed.srs import swivel_angle as swivel_angle
from armdyn.kinematics.forward import forward_kinematics as forward_kinematics
from armdyn.kinematics.forward import link_poses as link_poses
from armdyn.kinematics.inverse import inverse_kinematics as inverse_kinematics
from armdyn.kinematics.jacobian import jacobian as jacobian
from armdyn.kinematics.jacobian import jacobian_rate as jacobian_rate
from armdyn.kinematics.manipulability import dexterity as dexterity
from armdyn.kinematics.manipulability import manipulability as manipulability
from armdyn.kinematics.velocity import add_angular_velocities as add_angular_velocities
from armdyn.kinematics.velocity import point_acceleration as point_acceleration
from armdyn.kinematics.velocity import point_velocity as point_velocity

__all__ = [
    "add_angular_velocities",
    "closed_form",
    "dexterity",
    "forward_kinematics",
    "inverse_kinematics",
    "jacobian",
    "jacobian_rate",
    "link_poses",
    "manipulability",
    "point_acceleration",
    "point_velocity",
    "swivel_angle",
]
