"""The Unimation PUMA 560 with the two parameter sets that the literature uses."""

from __future__ import annotations

import numpy as np

from armdyn.errors import ModelError, check_choice
from armdyn.model.arm import Arm
from armdyn.model.joint import Drive, Friction, Limits
from armdyn.model.library.tables import bodies, limits_in_degrees, rows

# Motor side, from the toolbox's table: gear ratio, rotor inertia [kg m²], viscous friction [N m s/rad],
# Coulomb friction for positive and negative joint velocity [N m].
GEAR = (-62.6111, 107.815, -53.7063, 76.0364, 71.923, 76.686)
ROTOR = (200e-6, 200e-6, 200e-6, 33e-6, 33e-6, 33e-6)
VISCOUS = (1.48e-3, 0.817e-3, 1.38e-3, 71.2e-6, 82.6e-6, 36.7e-6)
COULOMB_PLUS = (0.395, 0.126, 0.132, 0.0112, 0.00926, 0.00396)
COULOMB_MINUS = (-0.435, -0.071, -0.105, -0.0169, -0.0145, -0.0105)
# Armstrong's motor and drive inertia as it acts at the joint [kg m²].
ARMSTRONG_MOTOR = (1.14, 4.71, 0.83, 0.2, 0.179, 0.193)

# The measured moments of link 3 break the triangle inequality: 0.066 + 0.0125 < 0.086. Axes 2 and 3 are
# parallel, so moments across them can be moved from link 2 to link 3 without changing any torque.
MOVED_INERTIA = 0.004  # kg m²

SHOULDER_HEIGHT = 0.67183  # above the floor [m], in the toolbox's table
VELOCITY = (82.0, 54.0, 122.0, 228.0, 241.0, 228.0)  # deg/s
EFFORT = (97.6, 186.4, 89.4, 24.2, 20.1, 21.3)  # N m

AKB = "Armstrong, Khatib and Burdick (1986), Proc. IEEE ICRA"
TOOLBOX = "Corke's Robotics Toolbox (model Puma560)"
COMMON_NOTES = (
    f"Gear ratios and friction: {TOOLBOX}, motor side, converted to the link side; Coulomb friction depends "
    "on the direction of motion (its joint 1 is large against the 6 N m break-away of AKB).",
    "Effort limits: AKB's maximum torques, checked against programs that quote them, not against the paper.",
    "Assumed: velocity limits 82, 54, 122, 228, 241, 228 deg/s, quoted as the maker's without a source at hand.",
    "The measured moments of link 3 are impossible by 9 %; 0.004 kg m² of the two moments across axis 3 "
    "were moved there from link 2, which makes the body possible and changes no torque.",
    "Assumed: link 1 is massless with Ixx = Iyy = Izz / 2 about the vertical axis; only the moment about "
    "that axis, 0.35 kg m², was measured, and nothing else of link 1 can be felt on a resting base.",
)


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
    builders = {"modified": _modified_dh, "standard": _standard}
    check_choice("puma560", "convention", convention, builders, ModelError)
    return builders[convention]()


def _modified_dh() -> Arm:
    table = rows(
        kind="RRRRRR",
        a=(0.0, 0.0, 0.4318, -0.0203, 0.0, 0.0),
        alpha=np.array([0, -1, 0, 1, -1, 1]) * np.pi / 2,
        d=(0.0, 0.2435, -0.0934, 0.4331, 0.0, 0.0),
        **bodies(
            (0.0, (0, 0, 0), (0.175, 0.175, 0.35)),
            (17.4, (0.068, 0.006, -0.016), (0.130 - MOVED_INERTIA, 0.524 - MOVED_INERTIA, 0.539)),
            (4.8, (0, -0.070, 0.014), (0.066 + MOVED_INERTIA, 0.0125 + MOVED_INERTIA, 0.086)),
            (0.82, (0, 0, -0.019), (0.0018, 0.0018, 0.0013)),
            (0.34, (0, 0, 0), (0.0003, 0.0003, 0.0004)),
            (0.09, (0, 0, 0.032), (0.00015, 0.00015, 0.00004)),
        ),
        # Corke's limits moved to these zero positions (see Notes of `puma560`).
        limits=_limits((-160, -225, -45, -110, -100, -266), (160, 45, 225, 170, 100, 266)),
        friction=friction(),
        drive=armstrong_drives(),
    )
    notes = (
        f"Source: {AKB}.",
        "Frames and numbers as printed there (AKB); link 3's Izz is 0.086 (some copies have 0.066).",
        "Rotor inertia: AKB's motor and drive inertia at the joint, divided by the gear ratio squared.",
        *COMMON_NOTES,
    )
    return Arm.from_dh(table, convention="modified", name="puma560", notes=notes).with_floor(-SHOULDER_HEIGHT)


def _standard() -> Arm:
    table = rows(
        kind="RRRRRR",
        a=(0.0, 0.4318, 0.0203, 0.0, 0.0, 0.0),
        alpha=np.array([1, 0, -1, 1, -1, 0]) * np.pi / 2,
        d=(SHOULDER_HEIGHT, 0.0, 0.15005, 0.4318, 0.0, 0.0),
        **bodies(
            (0.0, (0, 0, 0), (0.175, 0.35, 0.175)),
            (17.4, (-0.3638, 0.006, 0.2275), (0.130 - MOVED_INERTIA, 0.524 - MOVED_INERTIA, 0.539)),
            (4.8, (-0.0203, -0.0141, 0.070), (0.066 + MOVED_INERTIA, 0.086, 0.0125 + MOVED_INERTIA)),
            (0.82, (0, 0.019, 0), (0.0018, 0.0013, 0.0018)),
            (0.34, (0, 0, 0), (0.0003, 0.0004, 0.0003)),
            (0.09, (0, 0, 0.032), (0.00015, 0.00015, 0.00004)),
        ),
        limits=_limits((-160, -45, -225, -110, -100, -266), (160, 225, 45, 170, 100, 266)),
        friction=friction(),
        drive=[Drive(rotor_inertia=J, gear_ratio=g) for J, g in zip(ROTOR, GEAR, strict=True)],
    )
    notes = (
        f"Source: {TOOLBOX}.",
        "That table follows Armstrong et al. (1986, AKB) and Corke and Armstrong-Helouvry (1994).",
        "Rotor inertia: the same table.",
        *COMMON_NOTES,
    )
    return Arm.from_dh(table, convention="standard", name="puma560_standard", notes=notes).with_floor(0.0)


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


def _limits(lower: tuple[float, ...], upper: tuple[float, ...]) -> list[Limits]:
    return limits_in_degrees(lower, upper, VELOCITY, EFFORT)
