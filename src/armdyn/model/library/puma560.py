"""The Unimation PUMA 560 with the two parameter sets that the literature uses."""

from __future__ import annotations

from armdyn.errors import ModelError, check_choice
from armdyn.model.arm import Arm
from armdyn.model.joint import Drive, Friction
from armdyn.model.library.tables import library_arm

# Motor side, from the toolbox's table: gear ratio, rotor inertia [kg m²], viscous friction [N m s/rad],
# Coulomb friction for positive and negative joint velocity [N m].
GEAR = (-62.6111, 107.815, -53.7063, 76.0364, 71.923, 76.686)
ROTOR = (200e-6, 200e-6, 200e-6, 33e-6, 33e-6, 33e-6)
VISCOUS = (1.48e-3, 0.817e-3, 1.38e-3, 71.2e-6, 82.6e-6, 36.7e-6)
COULOMB_PLUS = (0.395, 0.126, 0.132, 0.0112, 0.00926, 0.00396)
COULOMB_MINUS = (-0.435, -0.071, -0.105, -0.0169, -0.0145, -0.0105)
# Armstrong's motor and drive inertia as it acts at the joint [kg m²].
ARMSTRONG_MOTOR = (1.14, 4.71, 0.83, 0.2, 0.179, 0.193)

SHOULDER_HEIGHT = 0.67183  # above the floor [m], in the toolbox's table
VELOCITY = (82.0, 54.0, 122.0, 228.0, 241.0, 228.0)  # deg/s


def puma560(convention: str = "modified") -> Arm:
    """The PUMA 560 with Armstrong's inertial parameters.

    Parameters
    ----------
    convention : "modified" or "standard"
        "modified": Armstrong's own frames, numbers and motor inertias; base frame at shoulder height.
        "standard": Corke's set in standard DH, base frame on the floor. Another set, not the same arm
        in other frames: lengths and some centres differ by millimetres, and the motor inertias by more.

    Notes
    -----
    The zero positions differ: `q_standard = q_modified + (pi, -pi, pi, 0, 0, pi)`. The limits of joints 1 and 6
    are taken symmetric in both, which only says where the x axes of base and flange point.

    References
    ----------
    B. Armstrong, O. Khatib and J. Burdick, The explicit dynamic model and inertial parameters of the PUMA
    560 arm, Proc. IEEE ICRA, 1986; P. I. Corke and B. Armstrong-Helouvry, A search for consensus among model
    parameters reported for the PUMA 560 robot, Proc. IEEE ICRA, 1994.
    """
    check_choice("puma560", "convention", convention, ("modified", "standard"), ModelError)
    if convention == "modified":
        return library_arm("puma560", friction=friction(), drive=armstrong_drives())
    drives = [Drive(rotor_inertia=J, gear_ratio=g) for J, g in zip(ROTOR, GEAR, strict=True)]
    return library_arm("puma560_standard", friction=friction(), drive=drives)


def armstrong_drives() -> list[Drive]:
    """Rotors and gears that act at the joints with Armstrong's inertias."""
    return [Drive(rotor_inertia=I / g**2, gear_ratio=g) for I, g in zip(ARMSTRONG_MOTOR, GEAR, strict=True)]


def friction() -> list[Friction]:
    """Viscous and Coulomb friction of the six joints on the link side."""
    # Torque grows with the ratio; velocity shrinks with it. The signs of Coulomb friction follow the joint.
    return [
        Friction(viscous=b * g**2, coulomb=abs(g) * (plus - minus) / 2, asymmetry=abs(g) * (plus + minus) / 2)
        for b, g, plus, minus in zip(VISCOUS, GEAR, COULOMB_PLUS, COULOMB_MINUS, strict=True)
    ]
