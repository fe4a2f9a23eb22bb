"""An exciting motion shown: its page, and curves for notebooks."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.full import joint_torque
from armdyn.errors import MissingInertiaError
from armdyn.html import MAX_POINTS, document, fold, fragment, heading, listing, paragraph, picture, svg, table
from armdyn.kinematics.forward import forward_kinematics
from armdyn.report.texts import texts
from armdyn.report.units import joint_units, shared_unit
from armdyn.trajectory.excitation.confinement import advice_on
from armdyn.trajectory.excitation.excite import GOOD_CONDITION, Excitation
from armdyn.trajectory.excitation.guarantees import SURROUNDINGS, Guarantee, name_pairs
from armdyn.trajectory.excitation.motion_constraints import TorqueLimits
from armdyn.trajectory.excitation.quality import predict_quality
from armdyn.trajectory.protocol import JointMotion

TEXTS = texts("excitation")


def page(excitation: Excitation) -> str:
    """Plots of joints, torques against limits, singular values and the tip's path, and what the motion will show."""
    title = f"Exciting motion of {excitation.base.name}"
    safe = not any(one.falls_short for one in excitation.guarantees)
    lead = " ".join([summary(excitation), *shortfalls(excitation)])
    parts = [heading(title, 1), paragraph(lead, f"big {'good' if excitation.is_good and safe else 'warn'}")]
    parts += [heading("Checked at all times"), listing(excitation.always)]
    parts += [heading("Not checked"), listing(excitation.unchecked)]
    parts.append(paragraph(f"{excitation.lowest.capitalize()}, by the shapes below."))
    parts += [paragraph(TEXTS["next"], "next"), heading("Share of the limits that each joint uses"), _uses(excitation)]
    parts += [
        heading("Collision shapes"),
        paragraph(_describe_bodies(excitation)),
        svg(_bodies(excitation)),
    ]
    for name, figure in _figures(excitation):
        parts += [heading(name), svg(figure)]
    quality = predict_quality(excitation, 1.0)
    rows = [(name, f"{std:.3g}") for name, std in zip(quality.names, quality.std, strict=True)]
    unit = shared_unit(excitation.base.source, "torque") or "N m (prismatic joints: 1 N)"
    caption = f"Standard deviations by least squares, for torque noise of 1 {unit} per sample at 1 kHz."
    heads = ("parameter", "standard deviation (SI)")
    parts += [
        heading("Details"),
        fold(f"Expected precision of {len(rows)} parameters", paragraph(caption), table(heads, rows)),
    ]
    source = excitation.base.source.source
    return document(f"armdyn: {title}", *parts, files=[source.path if source else None])


def advice(excitation: Excitation) -> str:
    """Say on the command line's terms what may determine the parameters better; empty where they are."""
    if excitation.is_good:
        return ""
    if excitation.confined:
        return advice_on(excitation.confined, TEXTS["options"])
    return "allow a longer --duration or wider limits, or search longer (--time-budget)"


def _sample(excitation: Excitation) -> tuple[NDArray, JointMotion]:
    """The motion at the points of a curve."""
    t = np.linspace(0.0, excitation.trajectory.duration, MAX_POINTS)
    return t, excitation.trajectory(t)


def _uses(excitation: Excitation) -> str:
    """The largest part of the arm's limits that every joint takes."""
    limits, velocity = excitation.limits, _velocity_limits(excitation)
    _, (q, qd, qdd) = _sample(excitation)
    parts = [np.ptp(q, axis=0) / (2 * limits.half_range)]
    parts += [np.abs(x).max(0) / limit for x, limit in ((qd, velocity), (qdd, limits.acceleration))]
    heads = ["joint", "range", "speed", "acceleration"]
    with suppress(MissingInertiaError):
        parts.append(np.abs(joint_torque(excitation.base.source, q, qd, qdd)).max(0) / limits.effort)
        heads.append("torque")
    rows = [
        (f"{i + 1} {name}", *(f"{part[i]:.0%}" if part[i] else "-" for part in parts))
        for i, name in enumerate(limits.joint_names)
    ]
    return table(heads, rows) + paragraph(TEXTS["shares"], "small")


def _velocity_limits(excitation: Excitation) -> Any:
    """The arm's own, of which the motion leaves a margin; those it was designed for where the arm has none."""
    limits = np.array([joint.limits.velocity for joint in excitation.base.source.joints])
    return np.where(np.isfinite(limits), limits, excitation.limits.velocity)


def _figures(excitation: Excitation) -> list[tuple[str, Any]]:
    figures = [("Joints", draw(excitation))]
    with suppress(MissingInertiaError):  # the arm's inertia may be what the motion is to find out
        figures.append(("Torques", _torques(excitation)))
    return [*figures, ("Singular values, and the path of the tip", _values_and_tip(excitation))]


def _torques(excitation: Excitation) -> Any:
    """Torques by the present model, against their limits."""
    from matplotlib.figure import Figure

    arm = excitation.base.source
    t, motion = _sample(excitation)
    tau = joint_torque(arm, *motion)
    figure = Figure(figsize=(9, 1.3 * arm.n), layout="constrained")
    bounds = [constraint.limit for constraint in excitation.problem.constraints if isinstance(constraint, TorqueLimits)]
    limits = bounds[0] if bounds else excitation.limits.effort
    for i, axes in enumerate(figure.subplots(arm.n, 1, sharex=True, squeeze=False)[:, 0]):
        limit = limits[i]
        axes.plot(t, tau[:, i])
        axes.set_ylabel(f"{arm.coordinate_names[i]}\n[{joint_units(arm)[i].torque}]", fontsize=8)
        if np.isfinite(limit):
            axes.axhline(limit, color="C3", linewidth=0.8)
            axes.axhline(-limit, color="C3", linewidth=0.8)
    figure.axes[-1].set_xlabel("time [s]")
    return figure


def _nearest_words(excitation: Excitation) -> str:
    """The pose in which links come nearest to what the arm is mounted on."""
    plane = excitation.protection.plane
    return "lowest" if plane is None or plane.name == "floor" else f"nearest to the {plane.name}"


def _describe_bodies(excitation: Excitation) -> str:
    bodies = excitation.protection.clearance.bodies
    origin = (
        f"Capsules from {bodies.origin}, at the start of the motion and where they come {_nearest_words(excitation)}."
    )
    return " ".join([origin, *(f"{note}." for note in bodies.notes)])


def _bodies(excitation: Excitation) -> Any:
    """The capsules from the side and from above, with the mounting plane and obstacles seen edge on."""
    from matplotlib.collections import PatchCollection
    from matplotlib.figure import Figure
    from matplotlib.patches import Circle, Polygon

    bodies, plane, q = excitation.protection.clearance.bodies, excitation.protection.plane, _sample(excitation)[1].q
    posed = bodies.at(q)
    up = np.array([0.0, 0.0, 1.0]) if plane is None else plane.normal
    moving = bodies.link >= 2
    heights = np.minimum(posed.a @ up, posed.b @ up)[:, moving]
    moments = {"start": 0, _nearest_words(excitation): int(heights.min(1).argmin()) if moving.any() else 0}
    figure = Figure(figsize=(9, 4), layout="constrained")
    for axes, (x, y) in zip(figure.subplots(1, 2), ((0, 2), (0, 1)), strict=True):
        for color, (label, k) in zip(("C0", "C1"), moments.items(), strict=True):
            patches: list[Any] = []
            for a, b, r in zip(posed.a[k][:, [x, y]], posed.b[k][:, [x, y]], bodies.radius, strict=True):
                side = np.array([a[1] - b[1], b[0] - a[0]])
                side *= r / max(float(np.linalg.norm(side)), 1e-9)
                patches += [Circle(a, r), Circle(b, r), Polygon([a + side, b + side, b - side, a - side])]
            axes.add_collection(PatchCollection(patches, color=color, alpha=0.35, linewidth=0, label=label))
        if plane is not None and y == 2 and abs(plane.normal[2]) > 0.99:
            axes.axhline(plane.offset * np.sign(plane.normal[2]), color="0.4", label=plane.name)
        tip = forward_kinematics(excitation.base.source, q)[:, :3, 3]
        axes.plot(tip[:, x], tip[:, y], linewidth=0.6, color="0.5", label="tip")
        axes.set(xlabel=f"{'xyz'[x]} [m]", ylabel=f"{'xyz'[y]} [m]", aspect="equal")
        axes.autoscale_view()
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize="small")
    return figure


def _values_and_tip(excitation: Excitation) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    left = figure.add_subplot(1, 2, 1)
    left.semilogy(np.arange(1, len(excitation.singular_values) + 1), excitation.singular_values, "o-", markersize=3)
    left.set(xlabel="number", ylabel="singular value of W (SI)")
    tip = forward_kinematics(excitation.base.source, _sample(excitation)[1].q)[:, :3, 3]
    right = figure.add_subplot(1, 2, 2, projection="3d")
    right.plot(*tip.T, linewidth=1)
    right.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    right.set_aspect("equal")
    right.locator_params(nbins=4)
    return figure


def summary(excitation: Excitation) -> str:
    """Return a sentence about what the motion determines, and how well."""
    parameters = f"{excitation.base.count} inertial and {2 * excitation.base.source.n} friction parameters"
    weak = "" if excitation.is_good else ", some of them weakly"
    return (
        f"Condition number {excitation.condition:.1f} in SI units, {excitation.condition_unit:.1f} with unit columns "
        f"(up to {GOOD_CONDITION:g} is good): {excitation.trajectory.duration:g} s of motion excite {parameters}{weak}."
        f"{(better := advice(excitation)) and f' To excite them better: {better}.'}"
    )


def shortfalls(excitation: Excitation) -> list[str]:
    """Return what the motion should keep and does not, a sentence each with what helps."""
    return [shortfall(one) for one in excitation.guarantees if one.falls_short]


def shortfall(one: Guarantee) -> str:
    """Return what a guarantee that falls short does not cover, and what helps."""
    if one.checked and not one.holds:
        return f"{str(one).capitalize()}."
    remedy = TEXTS["remedies"][one.kind]
    if not one.dropped:
        return f"The height of the floor is unknown, and nothing keeps the links off the floor. {remedy}."
    pairs = name_pairs(one.dropped, "the " if one.kind in SURROUNDINGS else "")
    return f"Collisions of {pairs} were not checked: their shapes touch in nearly all poses. {remedy}."


def notebook(excitation: Excitation) -> str:
    """Return the view of a motion in a notebook."""
    return fragment(
        paragraph(f"Exciting motion of {excitation.base.name}: {summary(excitation)}"),
        *(paragraph(line) for line in (*excitation.guarantee_summary, *shortfalls(excitation))),
        picture(draw(excitation), 60),
    )


def draw(excitation: Excitation) -> Any:
    """Positions, velocities and accelerations as parts of their limits."""
    from matplotlib.figure import Figure

    t, (q, qd, qdd) = _sample(excitation)
    limits = excitation.limits
    room = np.where(np.isfinite(limits.half_range), limits.half_range, np.pi)
    figure = Figure(figsize=(9, 6), layout="constrained")
    for axes, values, label in zip(
        figure.subplots(3, 1, sharex=True),
        ((q - limits.center) / room, qd / _velocity_limits(excitation), qdd / limits.acceleration),
        ("position", "velocity", "acceleration"),
        strict=True,
    ):
        axes.plot(t, values, label=limits.joint_names)
        axes.set(ylabel=f"{label} / limit", ylim=(-1.05, 1.05))
        axes.axhline(1, color="0.6", linewidth=0.8)
        axes.axhline(-1, color="0.6", linewidth=0.8)
    figure.axes[-1].set_xlabel("time [s]")
    figure.axes[0].legend(fontsize="x-small", ncols=4)
    return figure
