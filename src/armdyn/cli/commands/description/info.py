"""`armdyn info ARM`: what an arm is made of, what is missing, and what will hurt later."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from armdyn.cli.resolve import resolve
from armdyn.cli.show import attributes, number, print_json, print_line, print_list, print_table, vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armdyn.model.arm import Arm, Link
    from armdyn.model.joint import Joint


def info(arm: str, base: str | None = None, tip: str | None = None, json: bool = False) -> None:
    """Show an arm: joints, limits, frames, masses, drives, what is missing and what looks wrong."""
    subject = resolve(arm, base, tip)
    if json:
        print_json(summary(subject))
    else:
        show(subject)


def summary(arm: Arm) -> dict[str, Any]:
    """Everything that `info` knows about an arm, in SI units."""
    from armdyn.model.diagnosis import diagnose

    return {
        **attributes(arm, "name n"),
        "base": arm.base_name,
        "tip": arm.tip_name,
        "gravity": arm.gravity,
        "mass": arm.mass,
        "joints": [_joint_data(joint) for joint in arm.joints],
        "links": [_link_data(link) for link in arm.links],
        "tool_pose": arm.tool_pose,
        "findings": [finding._asdict() for finding in diagnose(arm)],
        **attributes(arm, "notes fingerprint"),
        "preprocessing": arm.preprocessing.changes,
    }


def show(arm: Arm) -> None:
    """Print the arm as tables and lists."""
    from armdyn.model.diagnosis import diagnose
    from armdyn.report.arm import body, heading, limits

    print_line(heading(arm), "bold")
    print_line(f"gravity {vector(arm.gravity)} m/s² in base axes\n")
    print_table(
        "Joints",
        ("# ", "joint", "kind", "range ", "speed ", "effort "),
        [(str(i), joint.name, joint.kind, *limits(joint)) for i, joint in enumerate(arm.joints, start=1)],
    )
    _show_frames(arm)
    print_table(
        "Bodies",
        ("link", "mass\n[kg] ", "centre of mass\n[m] ", "moments about it\n[kg m²] "),
        [(link.name, *body(link)) for link in arm.links],
    )
    if any(joint.friction != type(joint.friction)() or joint.drive != type(joint.drive)() for joint in arm.joints):
        print_table(
            "Friction and drives, at the joint in SI units",
            ("joint", "viscous ", "Coulomb + / - ", "gear ratio ", "reflected inertia "),
            [(joint.name, *_transmission(joint)) for joint in arm.joints],
        )
    servos = [joint for joint in arm.joints if joint.drive.servo_stiffness]
    if servos:
        rows = [
            (joint.name, number(joint.drive.servo_stiffness), number(joint.drive.servo_damping)) for joint in servos
        ]
        print_table("Position servos, at the joint in SI units", ("joint", "stiffness ", "damping "), rows)
    findings = diagnose(arm)
    gaps = [finding for finding in findings if finding.topic in ("missing", "limits")]
    print_list("Missing", [str(finding) for finding in gaps])
    print_list("Suspicious values", [str(finding) for finding in findings if finding not in gaps])
    treated = [f"logs treated in the identification: {arm.preprocessing}"] if arm.preprocessing.changes else []
    print_list("Notes", [*arm.notes, *treated])


def _show_frames(arm: Arm) -> None:
    """Print where links are; of trees also what carries them, and joints that follow others."""
    from armdyn.model.mechanism import Frame

    links = zip(arm.joints, arm.links, arm.parents, strict=True)
    rows = [(link.name, _name(arm, parent), vector(joint.axis), *_pose(_frame(joint))) for joint, link, parent in links]
    tool = "tool" if arm.tip_name in arm.link_names else arm.tip_name
    frames = [Frame(tool, _name(arm, arm.tip_index), arm.tool_pose), *arm.frames]
    rows += [(frame.name, frame.link, "", *_pose(frame.pose)) for frame in frames]
    columns = ("link", "on", "joint axis ", "position [m] ", "roll pitch yaw [deg] ")
    if arm.is_chain:
        title = "Frames at q = 0, relative to the previous frame; the last row is the tool"
        print_table(title, (columns[0], *columns[2:]), [(name, *pose) for name, _, *pose in rows])
        return
    print_table("Frames at q = 0, relative to the link that carries them", columns, rows)
    dependent = [joint for joint in arm.joints if joint.follows]
    print_list("Joints that follow others", [_dependence(joint) for joint in dependent])


def _name(arm: Arm, link: int) -> str:
    return arm.base_name if link < 0 else arm.link_names[link]


def _dependence(joint: Joint) -> str:
    terms = " + ".join(f"{number(ratio)} {name}" for name, ratio in joint.follows)
    return f"{joint.name} = {terms}" + (f" + {number(joint.offset)}" if joint.offset else "")


def _frame(joint: Joint) -> NDArray:
    """The link's frame at joint position zero, in the frame before."""
    return joint.before @ joint.after


def _pose(T: NDArray) -> tuple[str, str]:
    import numpy as np

    from armdyn.precision import SIX_DIGITS
    from armdyn.spatial.rotation import to_rpy

    angles = np.degrees(to_rpy(T[:3, :3]))
    return vector(T[:3, 3]), vector(np.where(np.abs(angles) < SIX_DIGITS, 0.0, angles))


def _transmission(joint: Joint) -> tuple[str, str, str, str]:
    friction, drive = joint.friction, joint.drive
    plus, minus = friction.coulomb + friction.asymmetry, friction.coulomb - friction.asymmetry
    coulomb = number(plus, 3) if plus == minus else f"{number(plus, 3)} / {number(minus, 3)}"
    return number(friction.viscous, 3), coulomb, number(drive.gear_ratio), number(drive.reflected_inertia, 3)


def _joint_data(joint: Joint) -> dict[str, Any]:
    return {
        **attributes(joint, "name kind axis"),
        "frame_at_zero": _frame(joint),
        "limits": asdict(joint.limits),
        "friction": asdict(joint.friction),
        "drive": asdict(joint.drive),
    }


def _link_data(link: Link) -> dict[str, Any]:
    return {"name": link.name, **attributes(link.inertia, "mass com"), "inertia": link.inertia.tensor_com}
