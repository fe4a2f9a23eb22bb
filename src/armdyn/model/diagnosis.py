"""What will hurt later: missing, impossible, invented-looking and wrongly scaled data of an arm."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from armdyn.model.arm import Arm, Link
from armdyn.model.joint import Friction, Joint

# Arms on the market stay far inside these: a value beyond is more likely in other units.
HEAVIEST_LINK = 1000.0  # kg
MAX_REACH = 50.0  # m
MAX_ANGLE = 10 * np.pi  # rad: a joint that turns five times; degrees begin at about 90
FASTEST_TURN = 50.0  # rad/s
STRONGEST_GRAVITY = 30.0  # m/s²


class ArmFinding(NamedTuple):
    """One thing worth knowing: its topic, the joints or links it concerns, and what it is."""

    topic: str  # "missing", "impossible", "invented", "units" or "limits"
    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.where}: {self.text}"


def diagnose(arm: Arm) -> list[ArmFinding]:
    """Problems of an arm's description, the worst first; empty for an arm that is described in full.

    Nothing here is an error: a teaching arm has no rotors, and a sphere may be a sphere.

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> len(armdyn.diagnose(arm))
    5
    """
    checks = (_missing_inertia, _impossible, _body_units, _motion_units, _find_invented, _limits, _missing_drives)
    rows = [row for check in checks for row in check(arm)]
    return [ArmFinding(topic, _where(suspects, arm.n), text) for topic, suspects, text in rows if suspects]


# A topic, the links or joints it concerns (or what else, in words), and what it is; nothing where there are none.
Row = tuple[str, Sequence[Link] | Sequence[Joint] | str, str]


def _where(suspects: Sequence[Link] | Sequence[Joint] | str, n: int) -> str:
    """The links or joints of an arm with n of them, by name."""
    if isinstance(suspects, str):
        return suspects
    what, count = type(suspects[0]).__name__.lower(), len(suspects)
    names = ", ".join(f"'{one.name}'" for one in suspects)
    return f"{what} {names}" if count == 1 else f"all {what}s" if count == n else f"{what}s {names}"


def _known_links(arm: Arm) -> list[Link]:
    return [link for link in arm.links if link.inertia.is_known]


def _missing_inertia(arm: Arm) -> Iterator[Row]:
    unknown = [link for link in arm.links if not link.inertia.is_known]
    yield "missing", unknown, "no inertia; dynamics needs one: identify it, or write it into the description"


def _impossible(arm: Arm) -> Iterator[Row]:
    for link in _known_links(arm):
        if why := link.inertia.problems():
            yield "impossible", [link], why[0]


def _reach(arm: Arm) -> float:
    """Upper bound of the distance from the first joint to the tip, without the travel of prismatic joints."""
    frames = [*(joint.before for joint in arm.joints[1:]), *(joint.after for joint in arm.joints), arm.tool_pose]
    return float(sum(np.linalg.norm(T[:3, 3]) for T in frames))


def _body_units(arm: Arm) -> Iterator[Row]:
    known, reach = _known_links(arm), _reach(arm)
    if reach > MAX_REACH:
        yield "units", "frames", f"the arm would reach {reach:.4g} m; lengths in millimetres?"
    heavy = [link for link in known if link.inertia.mass > HEAVIEST_LINK]
    yield "units", heavy, f"heavier than {HEAVIEST_LINK:g} kg; mass in grams?"
    size = 2 * (max(reach, 1.0) + _travel(arm))
    far = [link for link in known if np.linalg.norm(link.inertia.com) > size]
    yield "units", far, f"centre of mass more than {size:.3g} m off; in millimetres?"
    wide = [link for link in known if _gyration(link) > size]
    yield "units", wide, f"inertia out of proportion with the mass (radius of gyration above {size:.3g} m); in kg mm²?"


def _motion_units(arm: Arm) -> Iterator[Row]:
    turning = [joint for joint in arm.joints if joint.kind == "revolute"]
    wide = [joint for joint in turning if _largest(joint.limits.lower, joint.limits.upper) > MAX_ANGLE]
    yield "units", wide, "position limits beyond five turns; in degrees?"
    fast = [joint for joint in turning if _largest(joint.limits.velocity) > FASTEST_TURN]
    yield "units", fast, f"velocity limit above {FASTEST_TURN:g} rad/s; in degrees?"
    if (strength := float(np.linalg.norm(arm.gravity))) > STRONGEST_GRAVITY:
        yield "units", "gravity", f"{strength:.4g} m/s² is more than any planet's; in mm/s²?"


def _travel(arm: Arm) -> float:
    """Return how far the prismatic joints may go, where that is known."""
    sliding = [joint for joint in arm.joints if joint.kind == "prismatic"]
    return sum(_largest(joint.limits.lower, joint.limits.upper) for joint in sliding)


def _largest(*bounds: float) -> float:
    """The largest finite magnitude; zero if there is none."""
    return max((abs(bound) for bound in bounds if np.isfinite(bound)), default=0.0)


def _gyration(link: Link) -> float:
    """Radius of gyration about the centre of mass [m]."""
    inertia = link.inertia
    if inertia.mass <= 0:
        return 0.0
    return float(np.sqrt(np.abs(np.diag(inertia.tensor_com)).max() / inertia.mass))


def _find_invented(arm: Arm) -> Iterator[Row]:
    heavy = [link for link in _known_links(arm) if link.inertia.mass > 0]
    yield "invented", [link for link in heavy if _is_sphere(link)], "the tensor of a sphere or cube; a placeholder?"
    points = [link for link in heavy if not _rounded_tensor(link).any()]
    yield "invented", points, "mass without a tensor; a point mass?"
    for twins in _twins(heavy):
        yield "invented", twins, "the same tensor; copied?"
    centred = [link for link in heavy if not link.inertia.first.any()]
    yield "invented", centred, "centre of mass exactly at the frame's origin; a placeholder?"
    empty = [link for link in _known_links(arm) if link.inertia.mass == 0 and link.inertia.tensor.any()]
    yield "invented", empty, "inertia without mass; regrouped, or a placeholder?"
    frictions = {(joint.friction.viscous, joint.friction.coulomb) for joint in arm.joints}
    if arm.n > 2 and len(frictions) == 1 and frictions != {(0.0, 0.0)}:
        yield "invented", "friction", "the same in every joint; a placeholder?"


def _rounded_tensor(link: Link) -> np.ndarray:
    """Tensor about the centre of mass without the digits that shifting it may have changed."""
    inertia = link.inertia
    scale = np.abs(inertia.tensor).max()
    return np.round(inertia.tensor_com / (scale or 1.0), 9) * (scale or 1.0)


def _is_sphere(link: Link) -> bool:
    tensor = _rounded_tensor(link)
    return bool(tensor[0, 0] > 0 and np.allclose(tensor, tensor[0, 0] * np.eye(3), rtol=0, atol=1e-8 * tensor[0, 0]))


def _twins(links: list[Link]) -> list[list[Link]]:
    """Groups of links whose tensors about their centres of mass are the same, spheres and points apart."""
    groups: list[list[Link]] = []
    for link in links:
        tensor = _rounded_tensor(link)
        if not tensor.any() or _is_sphere(link):
            continue
        for group in groups:
            first = _rounded_tensor(group[0])
            if np.allclose(tensor, first, rtol=0, atol=1e-8 * np.abs(first).max()):
                group.append(link)
                break
        else:
            groups.append([link])
    return [group for group in groups if len(group) > 1]


def _limits(arm: Arm) -> Iterator[Row]:
    for field in ("effort", "velocity"):
        silent = [joint for joint in arm.joints if np.isinf(getattr(joint.limits, field))]
        yield "limits", silent, f"no {field} limit"
        zero = [joint for joint in arm.joints if getattr(joint.limits, field) == 0]
        yield "limits", zero, f"{field} limit 0, which allows no motion; leave it out if it is unknown"
    stuck = [joint for joint in arm.joints if joint.limits.lower == joint.limits.upper]
    yield "limits", stuck, "lower and upper position limits are equal: no range"
    endless = [joint for joint in arm.joints if np.isinf([joint.limits.lower, joint.limits.upper]).any()]
    yield "limits", endless, "no position limit (continuous joint, or missing?)"


def _missing_drives(arm: Arm) -> Iterator[Row]:
    rotors = [joint for joint in arm.joints if joint.drive.rotor_inertia == 0]
    yield (
        "missing",
        rotors,
        "no rotor inertia (times the gear ratio squared it often exceeds the link inertia)",
    )
    yield "missing", [joint for joint in arm.joints if joint.friction == Friction()], "no friction"
