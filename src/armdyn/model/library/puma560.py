"""The Unimation PUMA 560 with the two parameter sets that the literature uses."""

from __future__ import annotations

from armdyn.errors import ModelError, check_choice
from armdyn.model.arm import Arm
from armdyn.model.joint import Drive, Friction
from armdyn.model.library.tables import library_arm, library_table, rows


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
    drives = [Drive(rotor_inertia=motor["rotor"], gear_ratio=motor["gear"]) for motor in motors()]
    return library_arm("puma560_standard", friction=friction(), drive=drives)


def motors() -> list[dict[str, float]]:
    """Numbers of the six motors as their sources have them."""
    return rows(**library_table("puma560")["source"])


def armstrong_drives() -> list[Drive]:
    """Rotors and gears that act at the joints with Armstrong's inertias."""
    return [Drive(rotor_inertia=m["armstrong"] / m["gear"] ** 2, gear_ratio=m["gear"]) for m in motors()]


def friction() -> list[Friction]:
    """Viscous and Coulomb friction of the six joints on the link side."""
    # Torque grows with the ratio; velocity shrinks with it. The signs of Coulomb friction follow the joint.
    frictions = []
    for motor in motors():
        g, plus, minus = motor["gear"], motor["coulomb_plus"], motor["coulomb_minus"]
        viscous, coulomb, asymmetry = motor["viscous"] * g**2, abs(g) * (plus - minus) / 2, abs(g) * (plus + minus) / 2
        frictions.append(Friction(viscous=viscous, coulomb=coulomb, asymmetry=asymmetry))
    return frictions
