"""An exciting motion shown: its page, and curves for notebooks."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.full import joint_torque
from armdyn.errors import MissingInertiaError
from armdyn.html import document, fold, fragment, heading, listing, paragraph, picture, svg, table
from armdyn.kinematics.forward import forward_kinematics
from armdyn.trajectory.excitation.excite import GOOD_CONDITION, Excitation
from armdyn.trajectory.excitation.guarantees import SURROUNDINGS, Guarantee, name_pairs
from armdyn.trajectory.excitation.motion_constraints import TorqueLimits
from armdyn.trajectory.excitation.quality import predict_quality
from armdyn.trajectory.protocol import JointMotion

NEXT = (
    "Next: rehearse it slowly on the robot, then run it and log times, positions and torques of all joints, at 100 Hz "
    "or more; armdyn identify takes the log."
)
SHARES = (
    "Range, speed and torque as shares of the arm's own limits, of which a margin stays free (speed: of the limit that "
    "was given, where the arm has none); acceleration as a share of what was allowed for this motion."
)
REMEDIES = {  # by kind of guarantee that falls short
    "floor": "Give --floor HEIGHT if the floor is elsewhere, or --no-floor if there is none",
    "obstacle": "Move the obstacle, or correct the shapes of the links",
    "self": "If their shapes are too thick, correct them or give --radius; move there with care",
}
MOST_NOTES = 2  # sentences on shapes that could not be read
CURVE_POINTS = 1000


def page(found: Excitation) -> str:
    """Plots of joints, torques against limits, singular values and the tip's path, and what the motion will show."""
    title = f"Exciting motion of {found.base.name}"
    safe = not any(one.falls_short for one in found.guarantees)
    told = " ".join([summary(found), *shortfalls(found)])
    parts = [heading(title, 1), paragraph(told, f"big {'good' if found.is_good and safe else 'warn'}")]
    parts += [paragraph("At all times:"), listing(found.always)]
    parts += [paragraph("Not checked:"), listing(found.unchecked)]
    parts.append(paragraph(f"{found.lowest.capitalize()}, by the shapes below."))
    parts += [paragraph(NEXT, "next"), heading("How much of its limits each joint uses"), _uses(found)]
    parts += [heading("The bodies that were checked"), paragraph(_describe_bodies(found)), svg(_bodies(found))]
    for name, figure in _figures(found):
        parts += [heading(name), svg(figure)]
    quality = predict_quality(found, 1.0)
    rows = [(name, f"{std:.3g}") for name, std in zip(quality.names, quality.std, strict=True)]
    said = "Standard deviations by least squares, for torque noise of 1 N m (or 1 N) a sample at 1 kHz."
    heads = ("parameter", "standard deviation (SI)")
    parts += [
        heading("How well it tells each parameter"),
        fold(f"{len(rows)} parameters", paragraph(said), table(heads, rows)),
    ]
    return document(f"armdyn: {title}", *parts)


def _sample(found: Excitation) -> tuple[NDArray, JointMotion]:
    """The motion at the points of a curve."""
    t = np.linspace(0.0, found.trajectory.duration, CURVE_POINTS)
    return t, found.trajectory(t)


def _uses(found: Excitation) -> str:
    """The largest part of the arm's limits that every joint takes."""
    limits, velocity = found.limits, _velocity_limits(found)
    _, (q, qd, qdd) = _sample(found)
    parts = [np.ptp(q, axis=0) / (2 * limits.half_range)]
    parts += [np.abs(x).max(0) / limit for x, limit in ((qd, velocity), (qdd, limits.acceleration))]
    heads = ["joint", "range", "speed", "acceleration"]
    with suppress(MissingInertiaError):
        parts.append(np.abs(joint_torque(found.base.source, q, qd, qdd)).max(0) / limits.effort)
        heads.append("torque")
    rows = [
        (f"{i + 1} {name}", *(f"{part[i]:.0%}" if part[i] else "-" for part in parts))
        for i, name in enumerate(limits.joint_names)
    ]
    return table(heads, rows) + paragraph(SHARES, "small")


def _velocity_limits(found: Excitation) -> Any:
    """The arm's own, of which the motion leaves a margin; those it was designed for where the arm has none."""
    own = np.array([joint.limits.velocity for joint in found.base.source.joints])
    return np.where(np.isfinite(own), own, found.limits.velocity)


def _figures(found: Excitation) -> list[tuple[str, Any]]:
    figures = [("Joints", draw(found))]
    with suppress(MissingInertiaError):  # the arm's inertia may be what the motion is to find out
        figures.append(("Torques", _torques(found)))
    return [*figures, ("Singular values, and the path of the tip", _values_and_tip(found))]


def _torques(found: Excitation) -> Any:
    """Torques by the present model, against their limits."""
    from matplotlib.figure import Figure

    arm = found.base.source
    t, motion = _sample(found)
    tau = joint_torque(arm, *motion)
    figure = Figure(figsize=(9, 1.3 * arm.n), layout="constrained")
    kept = [constraint.limit for constraint in found.problem.constraints if isinstance(constraint, TorqueLimits)]
    limits = kept[0] if kept else found.limits.effort
    for i, axes in enumerate(figure.subplots(arm.n, 1, sharex=True, squeeze=False)[:, 0]):
        limit = limits[i]
        axes.plot(t, tau[:, i])
        axes.set_ylabel(f"{i + 1} [{'N' if arm.joints[i].kind == 'prismatic' else 'N m'}]")
        if np.isfinite(limit):
            axes.axhline(limit, color="C3", linewidth=0.8)
            axes.axhline(-limit, color="C3", linewidth=0.8)
    figure.axes[-1].set_xlabel("t [s]")
    return figure


def _nearest_words(found: Excitation) -> str:
    """The pose in which links come nearest to what the arm is mounted on."""
    plane = found.protection.plane
    return "lowest" if plane is None or plane.name == "floor" else f"nearest to the {plane.name}"


def _describe_bodies(found: Excitation) -> str:
    bodies = found.protection.clearance.bodies
    said = f"Capsules from {bodies.origin}, at the start of the motion and where they come {_nearest_words(found)}."
    return " ".join(
        [said, *(f"{note}." for note in bodies.notes[:MOST_NOTES]), *["..."] * (len(bodies.notes) > MOST_NOTES)]
    )


def _bodies(found: Excitation) -> Any:
    """The capsules from the side and from above, with the mounting plane and obstacles seen edge on."""
    from matplotlib.collections import PatchCollection
    from matplotlib.figure import Figure
    from matplotlib.patches import Circle, Polygon

    bodies, plane, q = found.protection.clearance.bodies, found.protection.plane, _sample(found)[1].q
    posed = bodies.at(q)
    up = np.array([0.0, 0.0, 1.0]) if plane is None else plane.normal
    moving = bodies.link >= 2
    heights = np.minimum(posed.a @ up, posed.b @ up)[:, moving]
    moments = {"start": 0, _nearest_words(found): int(heights.min(1).argmin()) if moving.any() else 0}
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
        tip = forward_kinematics(found.base.source, q)[:, :3, 3]
        axes.plot(tip[:, x], tip[:, y], linewidth=0.6, color="0.5", label="tip")
        axes.set(xlabel=f"{'xyz'[x]} [m]", ylabel=f"{'xyz'[y]} [m]", aspect="equal")
        axes.autoscale_view()
    figure.axes[0].legend(fontsize="x-small")
    return figure


def _values_and_tip(found: Excitation) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    left = figure.add_subplot(1, 2, 1)
    left.semilogy(np.arange(1, len(found.singular_values) + 1), found.singular_values, "o-", markersize=3)
    left.set(xlabel="number", ylabel="singular value of W (SI)")
    tip = forward_kinematics(found.base.source, _sample(found)[1].q)[:, :3, 3]
    right = figure.add_subplot(1, 2, 2, projection="3d")
    right.plot(*tip.T, linewidth=1)
    right.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    right.set_aspect("equal")
    right.locator_params(nbins=4)
    return figure


def summary(found: Excitation) -> str:
    """What it shows, and how well."""
    shown = f"{found.base.count} inertial and {2 * found.base.source.n} friction parameters"
    weak = "" if found.is_good else ", some of them weakly"
    return (
        f"{found.trajectory.duration:g} s of motion that show {shown}{weak}; condition number {found.condition:.1f} in "
        f"SI units, {found.condition_unit:.1f} with unit columns (up to {GOOD_CONDITION:g} is good)."
        f"{found.advice and f' To show them better: {found.advice}.'}"
    )


def shortfalls(found: Excitation) -> list[str]:
    """What the motion should keep and does not, a sentence each with what helps."""
    return [shortfall(one) for one in found.guarantees if one.falls_short]


def shortfall(one: Guarantee) -> str:
    """What a guarantee that falls short does not cover, and what helps."""
    if one.checked and not one.holds:
        return f"{str(one).capitalize()}."
    remedy = REMEDIES[one.kind]
    if not one.dropped:
        return f"Nothing says where the floor is, and nothing keeps the links off it. {remedy}."
    pairs = name_pairs(one.dropped, "the " if one.kind in SURROUNDINGS else "")
    return f"Collisions of {pairs} were not checked: their shapes touch in nearly all poses. {remedy}."


def notebook(found: Excitation) -> str:
    """What a notebook shows."""
    return fragment(
        paragraph(f"Exciting motion of {found.base.name}: {summary(found)}"),
        *(paragraph(line) for line in (*found.guarantee_summary, *shortfalls(found))),
        picture(draw(found), 60),
    )


def draw(found: Excitation) -> Any:
    """Positions, velocities and accelerations as parts of their limits."""
    from matplotlib.figure import Figure

    t, (q, qd, qdd) = _sample(found)
    limits = found.limits
    room = np.where(np.isfinite(limits.half_range), limits.half_range, np.pi)
    figure = Figure(figsize=(9, 6), layout="constrained")
    for axes, values, label in zip(
        figure.subplots(3, 1, sharex=True),
        ((q - limits.center) / room, qd / _velocity_limits(found), qdd / limits.acceleration),
        ("position", "velocity", "acceleration"),
        strict=True,
    ):
        axes.plot(t, values, label=limits.joint_names)
        axes.set(ylabel=f"{label} / limit", ylim=(-1.05, 1.05))
        axes.axhline(1, color="0.6", linewidth=0.8)
        axes.axhline(-1, color="0.6", linewidth=0.8)
    figure.axes[-1].set_xlabel("t [s]")
    figure.axes[0].legend(fontsize="x-small", ncols=4)
    return figure
