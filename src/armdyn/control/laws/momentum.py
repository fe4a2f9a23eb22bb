"""The generalized momentum of an arm, and what changes it: dp/dt = tau + momentum_rate - friction + outside torques.

No accelerations and no inverse of the mass matrix are needed (De Luca and Mattone 2005).
"""

from __future__ import annotations

from armdyn.dynamics.coriolis import coriolis_matrix
from armdyn.dynamics.drive import drive_inertia, drive_torque
from armdyn.dynamics.gravity import gravity_torque
from armdyn.dynamics.mass_matrix import mass_matrix
from armdyn.model.arm import Arm
from armdyn.model.quantities import DriveData, Gravity, Q, Qd, Theta
from armdyn.trace.shapes import Array
from armdyn.trace.symbols import ca
from armdyn.trace.traced import traced


@traced(returns={"p": "n"})
def momentum(arm: Arm, q: Q, qd: Qd, *, theta: Theta = None, drive: DriveData = None) -> Array:
    """The generalized momentum p = M qd, rotors included."""
    return ca.mtimes(mass_matrix(arm, q, theta=theta) + drive_inertia(arm, drive), qd)


@traced(returns={"rate": "n"})
def momentum_rate(
    arm: Arm, q: Q, qd: Qd, *, theta: Theta = None, gravity: Gravity = None, drive: DriveData = None
) -> Array:
    """Rate of the momentum without torques and friction: C' qd - g - springs and motor damping.

    References
    ----------
    De Luca and Mattone (2005), Sensorless robot collision detection and hybrid force/motion control.
    """
    rest = drive_torque(arm, q, qd, ca.SX.zeros(arm.n), drive=drive) + gravity_torque(
        arm, q, theta=theta, gravity=gravity
    )
    return ca.mtimes(coriolis_matrix(arm, q, qd, theta=theta).T, qd) - rest
