"""Motors and gears: what they add to the joints, and how motors and joints correspond.

ECE470 (2019), the augmented model of section 2.3: (M + rotors) qdd + C qd + B qd + g = u. The rotors' gyroscopic
torques are left out, as there: they fall with the gear ratio.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.mass_matrix import mass_matrix
from armdyn.dynamics.shafts import at_shafts, joint_torques
from armdyn.dynamics.springs import link_spring_torque
from armdyn.kinematics.dependents import coordinate_torques, joint_positions
from armdyn.model.arm import Arm
from armdyn.model.joint import DRIVE_NAMES
from armdyn.model.quantities import DriveData, Q, Qd, Qdd, Theta
from armdyn.trace.formula import Array, Symbol, ca, traced


def transmission_matrix(arm: Arm) -> NDArray:
    """The matrix G (n, n) from joints to motors.

    Motor positions and velocities are `G @ q` and `G @ qd`; joint torques are `G.T @ tau_motor`. Rows are
    gear ratios times the drives' coupling rows.
    """
    ratios = np.array([joint.drive.gear_ratio for joint in arm.coordinate_joints])
    return ratios[:, None] * (np.eye(arm.n) if arm.coupling is None else arm.coupling)


def drive_column(drive: Symbol, name: str) -> Symbol:
    """One parameter of all drives."""
    return drive[:, DRIVE_NAMES.index(name)]


def reflect(arm: Arm, values: Symbol, x: Symbol) -> Symbol:
    """S' diag(values) S x: what acts at the shafts, seen at the coordinates."""
    return joint_torques(arm, values * at_shafts(arm, x))


def drive_inertia(arm: Arm, drive: Symbol) -> Symbol:
    """The matrix that rotors add to M; diagonal unless drives are coupled."""
    inertia = ca.diag(drive_column(drive, "inertia"))
    return inertia if arm.shafts is None else joint_torques(arm, ca.mtimes(inertia, arm.shafts))


def _balance(arm: Arm, q: Symbol) -> Symbol:
    """Torques (N,) against balancers: of each joint, at position q, sum of a cos kq + b sin kq."""
    torques = [
        sum((a * ca.cos(k * q[i]) + b * ca.sin(k * q[i]) for k, a, b in joint.drive.balance), 0.0)
        for i, joint in enumerate(arm.joints)
    ]
    return ca.vertcat(*torques)


@traced(returns={"tau": "n"})
def drive_torque(arm: Arm, q: Q, qd: Qd, qdd: Qdd, *, drive: DriveData = None) -> Array:
    """Joint torques that rotors, motor damping, springs and balancers need.

    Returns
    -------
    tau
        G' (Im G qdd + Bm G qd) + k (q - rest) + balance(q), with G the `transmission_matrix`, and the torques of
        springs between links (`arm.springs`) [N m or N].

    References
    ----------
    ECE470 (2019), section 2.3.
    """
    rotor = reflect(arm, drive_column(drive, "inertia"), qdd)
    damping = reflect(arm, drive_column(drive, "damping"), qd)
    at = joint_positions(arm, q)
    spring = drive_column(drive, "stiffness") * (at - drive_column(drive, "rest"))
    torque = rotor + damping + coordinate_torques(arm, spring) + coordinate_torques(arm, _balance(arm, at))
    return torque + link_spring_torque(arm, q) if arm.springs else torque


@traced(returns={"M": "n, n"}, redescribable=True)
def augmented_mass_matrix(arm: Arm, q: Q, *, theta: Theta = None, drive: DriveData = None) -> Array:
    """Mass matrix of links and rotors.

    Returns
    -------
    M
        `mass_matrix` plus rotor inertias, which do not depend on q, so that `coriolis_matrix` stays as it is.
    """
    return mass_matrix(arm, q, theta=theta) + drive_inertia(arm, drive)
