"""The torques of a law's model: links and drives together, friction apart."""

from __future__ import annotations

from typing import Any

from armdyn.dynamics.drive import drive_torque
from armdyn.dynamics.newton_euler import inverse_dynamics
from armdyn.model.arm import Arm
from armdyn.trace.traced import traced

# Data of the model that laws take as parameters, so that a wrong model is a matter of numbers.
MODEL = ("theta", "gravity", "drive")
MODEL_SHAPES: dict[str, Any] = {"theta": "10*n", "gravity": "3", "drive": "n, 4"}


@traced(q="n", qd="n", qdd="n", theta="10*n", gravity="3", drive="n, 4", returns={"tau": "n"})
def model_torque(arm: Arm, q: Any, qd: Any, qdd: Any, *, theta: Any, gravity: Any, drive: Any) -> Any:
    """Torques of links and drives (rotors, motor damping, springs) in a motion; friction of the joints left out.

    Parameters
    ----------
    arm : Arm
    q, qd, qdd : array_like, shape (..., n)
        Joint positions, velocities, accelerations [rad or m, /s, /s²].
    theta, gravity, drive : array_like, optional
        Instead of the arm's.

    Returns
    -------
    tau : ndarray, shape (..., n)
    """
    rigid = inverse_dynamics(arm, q, qd, qdd, theta=theta, gravity=gravity)
    return rigid + drive_torque(arm, q, qd, qdd, drive=drive)
