"""The numbers that a fit is made for: bodies of the links, friction and rotors of the joints, with 95 % intervals."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from armdyn import numerals
from armdyn.html import faint, fold, paragraph, table
from armdyn.identification.fit.result import Fit
from armdyn.numerals import STD_OF_95_PERCENT
from armdyn.report.texts import texts
from armdyn.report.units import cell, shared_unit, with_unit

MOMENTS = ("mx", "my", "mz")
LINK_HEADS = ("link", "mass [kg]", "centre x [m]", "y", "z")
BODY_HEADS = ("link", "principal moments of inertia [kg m²]")
DESCRIBED_HEADS = ("described: mass [kg]", "centre [m]")
JOINT_HEADS = ("viscous", "Coulomb", "offset", "rotor inertia")
JOINT_QUANTITIES = ("viscous", "torque", "torque", "inertia")


def known_alone(fit: Fit) -> dict[str, float]:
    """Half-widths of the 95 % intervals of parameters that the logs determine by themselves, by name such as mx3."""
    base = fit.base
    triples = zip(base.names, base.labels, base.std, strict=True)
    return {label: STD_OF_95_PERCENT * float(std) for name, label, std in triples if name == label and np.isfinite(std)}


def links(fit: Fit) -> list[str]:
    """Bodies of the links, and what the intervals mean."""
    sure, rows, more = known_alone(fit), [], []
    for j, (before, after) in enumerate(zip(fit.source.links, fit.arm.links, strict=True), start=1):
        body, mass = after.inertia, after.inertia.mass
        half = [sure.get(f"{name}{j}", np.nan) / mass if mass > 0 else np.nan for name in MOMENTS]
        known = not np.isnan(before.inertia.theta).any() and before.inertia.mass > 0
        was = (f"{before.inertia.mass:.3g}", vector(before.inertia.com)) if known else ("-", "-")
        known_terms = fit.determined[j - 1] if len(fit.determined) else np.ones(10, bool)
        whole = before.inertia if known else body
        size = np.sqrt(np.trace(whole.tensor_com) / max(2 * whole.mass, 1e-300))  # radius of gyration
        centre = (
            marked(with_interval(c, h), tells if np.isnan(h) else h < size)
            for c, h, tells in zip(body.com, half, known_terms[0] & known_terms[1:4], strict=True)
        )
        rows.append((after.name, marked(with_interval(mass, sure.get(f"m{j}", np.nan)), bool(known_terms[0])), *centre))
        moments = marked(vector(np.linalg.eigvalsh(body.tensor_com)), bool(known_terms.all()))
        more.append((after.name, moments, *was))
    caption = texts("fit")["links"].format(centre=fit.centre or "the description")
    described = any(row[2] != "-" for row in more)
    heads = (*BODY_HEADS, *(DESCRIBED_HEADS if described else ()))
    title = "Moments of inertia" + (", masses and centres of the description" if described else "")
    body_rows = [row[: len(heads)] for row in more]
    return [table(LINK_HEADS, rows), paragraph(caption, "small"), fold(title, table(heads, body_rows))]


def joints(fit: Fit) -> list[str]:
    """Friction as it is compared with data sheets, and rotors."""
    plain, sure, rows = fit.friction, known_alone(fit), []
    for j, joint in enumerate(fit.arm.coordinate_joints):
        values = zip(
            (plain.viscous[j], plain.coulomb[j], plain.offset[j]), STD_OF_95_PERCENT * plain.std[:, j], strict=True
        )
        rotor = joint.drive.reflected_inertia
        rotor_text = with_interval(rotor, sure.get(f"Ia{j + 1}", np.nan)) if rotor else "-"
        plain_texts = (
            marked(cell(fit.arm, j, quantity, with_interval(x, half)), bool(np.isfinite(half)))
            for quantity, (x, half) in zip(JOINT_QUANTITIES, values, strict=False)
        )
        rows.append((joint.name, *plain_texts, cell(fit.arm, j, "inertia", rotor_text)))
    caption = texts("fit")["joints"]
    return [table(joint_heads(fit), rows), paragraph(caption, "small")]


def as_written(fit: Fit) -> list[str]:
    """Friction as the model has it, where further terms share the work."""
    rows = []
    for j, (joint, terms) in enumerate(zip(fit.arm.coordinate_joints, fit.structure, strict=True)):
        f = joint.friction
        numbers = zip(JOINT_QUANTITIES, (f.viscous, f.coulomb, f.offset, joint.drive.reflected_inertia), strict=True)
        cells = (cell(fit.arm, j, quantity, f"{x:.3g}") for quantity, x in numbers)
        rows.append((joint.name, *cells, ", ".join(terms)))
    caption = texts("fit")["friction"]
    return [paragraph(caption), table((*joint_heads(fit), "terms that lower the held-out error"), rows)]


def marked(text: str, determined: bool) -> str:
    """A number, in grey where the logs do not determine it."""
    return text if determined or text == "-" else faint(text)


def joint_heads(fit: Fit) -> tuple[str, ...]:
    """Headings of friction and rotors, with units where all joints have the same."""
    heads = zip(JOINT_HEADS, JOINT_QUANTITIES, strict=True)
    return ("joint", *(with_unit(name, shared_unit(fit.arm, quantity)) for name, quantity in heads))


def with_interval(value: float, half: float) -> str:
    """A number, and behind it how far it may be off, where that is known, with as many decimals."""
    if not np.isfinite([value, half]).all():
        return numerals.vector([value], 3)
    decimals = max(0, 1 - int(f"{half:.1e}".rpartition("e")[2]))  # two digits of the interval
    return f"{round(value, decimals) + 0.0:.{decimals}f} ± {half:.{decimals}f}"


def vector(values: Iterable[float]) -> str:
    """Numbers in a row."""
    return ", ".join(with_interval(x, np.nan) for x in values)
