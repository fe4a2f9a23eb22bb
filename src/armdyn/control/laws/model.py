"""The torques of a law's model: links and drives together, friction apart."""

from __future__ import annotations

from typing import Any

from armdyn.dynamics.drive import drive_torque
from armdyn.dynamics.newton_euler import inverse_dynamics
from armdyn.model.arm import Arm
from armdyn.model.quantities import DriveData, Gravity, Q, Qd, Qdd, Theta
from armdyn.trace.shapes import Array
from armdyn.trace.traced import traced

# Data of the model that laws take as parameters, so that a wrong model is a matter of numbers.
MODEL = ("theta", "gravity", "drive")
MODEL_SHAPES: dict[str, Any] = {"theta": "10*n", "gravity": "3", "drive": "n, 4"}


@traced(returns={"tau": "n"})
def model_torque(
    arm: Arm, q: Q, qd: Qd, qdd: Qdd, *, theta: Theta = None, gravity: Gravity = None, drive: DriveData = None
) -> Array:
    """Torques of links and drives (rotors, motor damping, springs) in a motion; friction of the joints left out."""
    rigid = inverse_dynamics(arm, q, qd, qdd, theta=theta, gravity=gravity)
    return rigid + drive_torque(arm, q, qd, qdd, drive=drive)
