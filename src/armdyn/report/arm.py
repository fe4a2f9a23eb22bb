"""An arm in words: degrees and short numbers, for the terminal and for notebooks."""

from __future__ import annotations

import math

import numpy as np

from armdyn.html import fragment, paragraph, table
from armdyn.model.arm import Arm, Link
from armdyn.model.diagnosis import diagnose
from armdyn.model.joint import Joint
from armdyn.numerals import number, vector


def heading(arm: Arm) -> str:
    """Its name, joints, ends and mass in one line."""
    mass = arm.mass
    weight = f"{number(mass)} kg" if math.isfinite(mass) else "mass unknown"
    if not arm.is_chain:
        return f"{arm.name}: {arm.kind_of_mechanism}, {arm.n} coordinates, base {arm.base_name}, {weight}"
    return f"{arm.name}: {arm.n} joints, {arm.base_name} -> {arm.tip_name}, {weight}"


def limits(joint: Joint) -> tuple[str, str, str]:
    """Range, speed and effort with their units."""
    bounds = joint.limits
    factor, unit, force = (math.degrees(1), "deg", "N m") if joint.kind == "revolute" else (1.0, "m", "N")
    lower, upper = (number(end * factor) for end in (bounds.lower, bounds.upper))
    return (
        "-" if lower == upper == "-" else f"{lower} .. {upper} {unit}",
        "-" if math.isinf(bounds.velocity) else f"{number(bounds.velocity * factor)} {unit}/s",
        "-" if math.isinf(bounds.effort) else f"{number(bounds.effort)} {force}",
    )


def body(link: Link) -> tuple[str, str, str]:
    """Mass, centre of mass and principal moments about it."""
    if not link.inertia.is_known:
        return number(link.inertia.mass), "unknown", "unknown"
    moments = np.linalg.eigvalsh(link.inertia.tensor_com)
    return number(link.inertia.mass), vector(link.inertia.com, 3), vector(moments, 3)


def notebook(arm: Arm) -> str:
    """Joints and bodies in one table, and what `diagnose` finds."""
    joints = [(f"{i} {joint.name}", joint.kind, *limits(joint)) for i, joint in enumerate(arm.joints, start=1)]
    bodies = [(link.name, *body(link)) for link in arm.links]
    findings = diagnose(arm)
    last = [paragraph(f"{len(findings)} findings: see armdyn.diagnose(arm).", "small")] if findings else []
    gravity = f"gravity {vector(arm.gravity)} m/s² in base axes"
    return fragment(
        paragraph(f"{heading(arm)}; {gravity}"),
        table(("joint", "kind", "range", "speed", "effort"), joints),
        table(("link", "mass [kg]", "centre of mass [m]", "principal moments [kg m²]"), bodies),
        *last,
    )
