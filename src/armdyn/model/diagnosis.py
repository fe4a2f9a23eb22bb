"""What will hurt later: missing, impossible, invented-looking and wrongly scaled data of an arm."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from armdyn.model.arm import Arm, Link
from armdyn.model.joint import Joint

# Arms on the market stay far inside these: a value beyond is more likely in other units.
HEAVIEST_LINK = 1000.0  # kg
LONGEST_REACH = 50.0  # m
LARGEST_ANGLE = 10 * np.pi  # rad: a joint that turns five times; degrees begin at about 90
FASTEST_TURN = 50.0  # rad/s
STRONGEST_GRAVITY = 30.0  # m/s²


class Finding(NamedTuple):
    """One thing worth knowing: its topic, the joints or links it concerns, and what it is."""

    topic: str  # "missing", "impossible", "invented", "units" or "limits"
    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.where}: {self.text}"


def diagnose(arm: Arm) -> list[Finding]:
    """Problems of an arm's description, the worst first; empty for an arm that is described in full.

    Nothing here is an error: a teaching arm has no rotors, and a sphere may be a sphere.
    """
    checks = (_missing_inertia, _impossible, _body_units, _motion_units, _find_invented, _limits, _missing_drives)
    return [finding for check in checks for finding in check(arm)]


def _found(arm: Arm, topic: str, what: str, names: list[str], text: str) -> Iterator[Finding]:
    """One finding about all the named joints or links, if there are any."""
    if not names:
        return
    shown = ", ".join(f"'{name}'" for name in names)
    one, several = f"{what} {shown}", f"{what}s {shown}"
    where = one if len(names) == 1 else f"all {what}s" if len(names) == arm.n else several
    yield Finding(topic, where, text)


def _links(arm: Arm, suspect: Callable[[Link], bool]) -> list[str]:
    """Names of the known links that are suspect."""
    return [link.name for link in arm.links if link.inertia.is_known and suspect(link)]


def _joints(arm: Arm, suspect: Callable[[Joint], bool]) -> list[str]:
    return [joint.name for joint in arm.joints if suspect(joint)]


def _missing_inertia(arm: Arm) -> Iterator[Finding]:
    unknown = [link.name for link in arm.links if not link.inertia.is_known]
    yield from _found(arm, "missing", "link", unknown, "no inertia; dynamics needs one (identify, or give with_theta)")


def _impossible(arm: Arm) -> Iterator[Finding]:
    for link in arm.links:
        if link.inertia.is_known and (why := link.inertia.problems()):
            yield Finding("impossible", f"link '{link.name}'", why[0])


def _reach(arm: Arm) -> float:
    """Upper bound of the distance from the first joint to the tip, without the travel of prismatic joints."""
    frames = [
        *(joint.before for joint in arm.joints[1:]),
        *(joint.after for joint in arm.joints),
        arm.tool_pose,
    ]
    return float(sum(np.linalg.norm(T[:3, 3]) for T in frames))


def _body_units(arm: Arm) -> Iterator[Finding]:
    reach = _reach(arm)
    if reach > LONGEST_REACH:
        yield Finding("units", "frames", f"the arm would reach {reach:.4g} m; lengths in millimetres?")
    heavy = _links(arm, lambda link: link.inertia.mass > HEAVIEST_LINK)
    yield from _found(arm, "units", "link", heavy, f"heavier than {HEAVIEST_LINK:g} kg; mass in grams?")
    size = 2 * (max(reach, 1.0) + _travel(arm))
    far = _links(arm, lambda link: bool(np.linalg.norm(link.inertia.com) > size))
    text = f"centre of mass more than {size:.3g} m off; in millimetres?"
    yield from _found(arm, "units", "link", far, text)
    wide = _links(arm, lambda link: _gyration(link) > size)
    text = f"inertia out of proportion with the mass (radius of gyration above {size:.3g} m); in kg mm²?"
    yield from _found(arm, "units", "link", wide, text)


def _motion_units(arm: Arm) -> Iterator[Finding]:
    turning = [(joint.name, joint.limits) for joint in arm.joints if joint.kind == "revolute"]
    degrees = [name for name, limits in turning if _largest(limits.lower, limits.upper) > LARGEST_ANGLE]
    yield from _found(arm, "units", "joint", degrees, "position limits beyond five turns; in degrees?")
    fast = [name for name, limits in turning if _largest(limits.velocity) > FASTEST_TURN]
    text = f"velocity limit above {FASTEST_TURN:g} rad/s; in degrees?"
    yield from _found(arm, "units", "joint", fast, text)
    if (strength := float(np.linalg.norm(arm.gravity))) > STRONGEST_GRAVITY:
        yield Finding("units", "gravity", f"{strength:.4g} m/s² is more than any planet's; in mm/s²?")


def _travel(arm: Arm) -> float:
    """How far the prismatic joints may go, where that is known."""
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


def _find_invented(arm: Arm) -> Iterator[Finding]:
    heavy = [link for link in arm.links if link.inertia.is_known and link.inertia.mass > 0]
    spheres = [link.name for link in heavy if _is_sphere(link)]
    yield from _found(arm, "invented", "link", spheres, "the tensor of a sphere or cube; a placeholder?")
    points = [link.name for link in heavy if not _rounded_tensor(link).any()]
    yield from _found(arm, "invented", "link", points, "mass without a tensor; a point mass?")
    for twins in _twins(heavy):
        yield from _found(arm, "invented", "link", twins, "the same tensor; copied?")
    centred = [link.name for link in heavy if not link.inertia.first.any()]
    yield from _found(arm, "invented", "link", centred, "centre of mass exactly at the frame's origin; a placeholder?")
    empty = _links(arm, lambda link: link.inertia.mass == 0 and bool(link.inertia.tensor.any()))
    yield from _found(arm, "invented", "link", empty, "a tensor without mass; regrouped, or a placeholder?")
    frictions = {(joint.friction.viscous, joint.friction.coulomb) for joint in arm.joints}
    if arm.n > 2 and len(frictions) == 1 and frictions != {(0.0, 0.0)}:
        yield Finding("invented", "friction", "the same in every joint; a placeholder?")


def _rounded_tensor(link: Link) -> np.ndarray:
    """Tensor about the centre of mass without the digits that shifting it may have changed."""
    inertia = link.inertia
    scale = np.abs(inertia.tensor).max()
    return np.round(inertia.tensor_com / (scale or 1.0), 9) * (scale or 1.0)


def _is_sphere(link: Link) -> bool:
    tensor = _rounded_tensor(link)
    return bool(tensor[0, 0] > 0 and np.allclose(tensor, tensor[0, 0] * np.eye(3), rtol=0, atol=1e-8 * tensor[0, 0]))


def _twins(links: list[Link]) -> Iterator[list[str]]:
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
    yield from ([link.name for link in group] for group in groups if len(group) > 1)


def _limits(arm: Arm) -> Iterator[Finding]:
    for field in ("effort", "velocity"):
        bounds = {joint.name: getattr(joint.limits, field) for joint in arm.joints}
        silent = [name for name, bound in bounds.items() if np.isinf(bound)]
        yield from _found(arm, "limits", "joint", silent, f"no {field} limit that motions could be kept within")
        zero = [name for name, bound in bounds.items() if bound == 0]
        yield from _found(arm, "limits", "joint", zero, f"{field} limit of zero: nothing could move; unknown?")
    stuck = _joints(arm, lambda joint: joint.limits.lower == joint.limits.upper)
    yield from _found(arm, "limits", "joint", stuck, "lower and upper position limits are equal: no range")
    endless = _joints(arm, lambda joint: np.isinf(joint.limits.lower) or np.isinf(joint.limits.upper))
    yield from _found(arm, "limits", "joint", endless, "no position limit; endless, or unknown?")


def _missing_drives(arm: Arm) -> Iterator[Finding]:
    rotors = _joints(arm, lambda joint: joint.drive.rotor_inertia == 0)
    text = "no rotor inertia; behind a gear it acts with the ratio squared, often more than the links"
    yield from _found(arm, "missing", "joint", rotors, text)
    smooth = _joints(arm, lambda joint: joint.friction == type(joint.friction)())
    yield from _found(arm, "missing", "joint", smooth, "no friction")
