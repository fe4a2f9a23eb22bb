"""A changed arm written back onto the MJCF model it came from: only the numbers that differ are touched in its text."""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import ArrayLike

from armdyn.errors import ArmdynWarning, ModelError
from armdyn.files import write_whole
from armdyn.model.arm import Arm, Link
from armdyn.model.joint import Joint
from armdyn.model.mjcf.bodies import MjcfBodies
from armdyn.model.mjcf.read import actuator_share, arm_like
from armdyn.model.mjcf.source import MjcfSource, compile_texts, included_files
from armdyn.model.mjcf.write import inertial_attributes, joint_attributes, servo_attributes
from armdyn.model.urdf.inertia import held_positions
from armdyn.model.urdf.update import reject_other_joints
from armdyn.model.urdf.xml import text
from armdyn.precision import NEGLIGIBLE
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.rotation import to_quaternion
from armdyn.spatial.transform import inverse

ACTUATORS = ("position", "motor", "velocity", "intvelocity", "damper", "general", "cylinder", "muscle", "adhesion")
ORIENTATIONS = ("quat", "axisangle", "xyaxes", "zaxis", "euler", "diaginertia")


class Tag(NamedTuple):
    """A start tag in the bytes of a file: from `start` up to and with its `>` at `end`."""

    file: Path
    name: str
    attributes: dict[str, str]
    start: int
    end: int
    parent: tuple[Path, int] | None  # file and start of the element that holds it


class Edit(NamedTuple):
    """Bytes of a file to replace."""

    file: Path
    start: int
    end: int
    new: bytes


def update_mjcf(arm: Arm, path: str | os.PathLike[str], onto: str | os.PathLike[str], frames: bool = False) -> None:
    """Write `onto` with inertia, friction, armature, springs (and frames) of `arm` to `path`; see `write_mjcf`.

    Included files whose numbers change, and those that include them, are written beside `path` as `<stem>_<name>`.
    """
    main = Path(onto).resolve()
    files = included_files(onto)
    source = compile_texts(main, files)
    bodies = MjcfBodies(source)
    old = _same_arm(arm, bodies, frames)
    tags = [tag for file, data in files.items() for tag in start_tags(file, data)]
    edits = [edit for index in range(arm.n_joints) for edit in _joint_edits(arm, old, index, tags, bodies, files)]
    edits += _frame_edits(arm, old, tags, bodies, files) if frames else []
    if arm.springs != old.springs:
        cause = f"has other springs between links than arm '{arm.name}'"
        raise ModelError(cause, where=bodies.where, remedy="write a file of its own")
    names = _names(Path(path).stem, main, {edit.file for edit in edits}, tags)
    edits += [_edit(tag, files, {"file": names[file]}) for tag, file in _includes(main, tags) if file in names]
    changed = _apply(files, edits)
    beside = {main.parent / name: changed[file] for file, name in names.items()}
    after = compile_texts(main, {**files, **beside, main: changed.get(main, files[main])})
    _check(arm, MjcfBodies(after))
    _same_arm(arm, MjcfBodies(after))
    _warn_of_servos(arm, source, after)
    _write(Path(path), main, changed.get(main, files[main]), {file.name: data for file, data in beside.items()})


def _includes(main: Path, tags: list[Tag]) -> list[tuple[Tag, Path]]:
    """Every `<include>` and the file that it leads to, however that is spelled; all are relative to the main file."""
    includes = [tag for tag in tags if tag.name == "include"]
    return [(tag, (main.parent / tag.attributes.get("file", "")).resolve()) for tag in includes]


def _names(stem: str, main: Path, changed: set[Path], tags: list[Tag]) -> dict[Path, str]:
    """Names for the included files that change, and for those through which they are included."""
    includes = _includes(main, tags)
    renamed = set(changed)
    while more := {tag.file for tag, file in includes if file in renamed} - renamed:
        renamed |= more
    return {file: f"{stem}_{file.name}" for file in sorted(renamed - {main})}


def start_tags(file: Path, data: bytes) -> list[Tag]:
    """Every start tag of a file, in the order of the text, with the place where it stands."""
    tags: list[Tag] = []
    inside: list[tuple[Path, int] | None] = [None]
    parser = expat.ParserCreate()

    def start(name: str, attributes: dict[str, str]) -> None:
        begin = parser.CurrentByteIndex
        match = re.compile(rb"<(?:[^>\"']|\"[^\"]*\"|'[^']*')*>").match(data, begin)
        assert match is not None  # expat has just read it
        tags.append(Tag(file, name, attributes, begin, match.end(), inside[-1]))
        inside.append((file, begin))

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: inside.pop() and None
    parser.Parse(data, True)
    return tags


def _same_arm(arm: Arm, bodies: MjcfBodies, frames: bool = False) -> Arm:
    """The file's own arm between the same ends, or an error if its joints stand elsewhere (unless `frames` move)."""
    old = arm_like(bodies, arm)
    reject_other_joints(arm, old.joint_names, bodies.where)
    for mine, theirs in zip(arm.joints, old.joints, strict=True):
        for name in ("axis", "after") if frames else ("axis", "before", "after"):
            if _differ(getattr(mine, name), getattr(theirs, name)):
                cause = f"joint '{mine.name}' is not where arm '{arm.name}' has it"
                raise ModelError(cause, where=bodies.where, remedy="write a file of its own", names=(mine.name,))
    return old


def _differ(a: ArrayLike, b: ArrayLike) -> bool:
    """Whether numbers differ by more than round-off of the larger of 1 and the first."""
    a = np.asarray(a)
    # Frames written with all digits lose 1e-15, MuJoCo's own principal axes some 1e-12.
    return bool(np.abs(a - b).max() > NEGLIGIBLE * max(1.0, np.abs(a).max()))


def _joint_edits(
    arm: Arm, old: Arm, index: int, tags: list[Tag], bodies: MjcfBodies, files: dict[Path, bytes]
) -> list[Edit]:
    """Return the edits for one joint and its link."""
    edits = []
    joint = arm.joints[index]
    new, before = joint_attributes(joint), joint_attributes(old.joints[index])
    share = actuator_share(bodies.model, bodies.joint_names.index(joint.name))
    if differ := {name: value - share.get(name, 0.0) for name, value in new.items() if _differ(value, before[name])}:
        for name in share:
            if differ.get(name, 0.0) < 0:
                cause = (
                    f"the actuators of joint '{joint.name}' have a {name} of {share[name]:.4g}, more than the "
                    f"{new[name]:.4g} of the arm"
                )
                remedy = "move it from the actuators to the joint"
                raise ModelError(cause, where=bodies.where, remedy=remedy, names=(joint.name,))
        attributes = {name: text([value]) for name, value in differ.items()}
        edits.append(_edit(_find_named(tags, "joint", joint.name, bodies.where), files, attributes))
    edits += _servo_edits(joint, old.joints[index], tags, bodies, files)
    link = arm.links[index]
    if not _close(link.inertia, old.links[index].inertia):
        edits.append(_inertial_edit(arm, link, tags, bodies, files))
    return edits


def _frame_edits(arm: Arm, old: Arm, tags: list[Tag], bodies: MjcfBodies, files: dict[Path, bytes]) -> list[Edit]:
    """Places of the bodies whose joints stand elsewhere in `arm`."""
    edits = []
    for joint, before, link in zip(arm.joints, old.joints, arm.links, strict=True):
        if not _differ(joint.before, before.before):
            continue
        if link.name not in bodies.names or len(bodies.joints(bodies.names.index(link.name))) != 1:
            cause = f"joint '{joint.name}' shares its body with others and cannot be moved alone"
            raise ModelError(cause, where=bodies.where, remedy="write a file of its own", names=(joint.name,))
        # before = F P X with fixed bodies F, the body's own pose P and X = after^-1: P X (before^-1 moved) X^-1
        pose = bodies.pose(bodies.names.index(link.name))
        T = pose @ inverse(before.after) @ inverse(before.before) @ joint.before @ before.after
        attributes = {"pos": text(T[:3, 3]), "quat": text(to_quaternion(T[:3, :3]))}
        edits.append(_edit(_find_named(tags, "body", link.name, bodies.where), files, attributes, ORIENTATIONS))
    return edits


def _servo_edits(joint: Joint, old: Joint, tags: list[Tag], bodies: MjcfBodies, files: dict[Path, bytes]) -> list[Edit]:
    """Gains of a joint's position servo, where the arm has some that differ."""
    gains, before = ((j.drive.servo_stiffness, j.drive.servo_damping) for j in (joint, old))
    if not gains[0] or not _differ(gains, before):
        return []
    actuators = [tag for tag in tags if tag.attributes.get("joint") == joint.name and tag.name in ACTUATORS]
    if len(actuators) != 1 or actuators[0].name != "position":
        expected = (
            f'one <position joint="{joint.name}"> to hold its servo, found '
            f"{', '.join(f'<{tag.name}>' for tag in actuators) or 'none'}"
        )
        raise ModelError(where=bodies.where, expected=expected, remedy="add it, or write a file of its own")
    return [_edit(actuators[0], files, servo_attributes(joint), ("dampratio",))]  # which excludes kv


def _inertial_edit(arm: Arm, link: Link, tags: list[Tag], bodies: MjcfBodies, files: dict[Path, bytes]) -> Edit:
    """The `<inertial>` of a link's own body: the link's inertia less that of all that rides on it."""
    inertia, chain, held = link.inertia, set(arm.joint_names), held_positions(arm)
    for body in bodies.riders(link.name, chain, held)[1:]:
        inertia = inertia - bodies.inertia(body.link).moved(body.T)
    if why := inertia.problems():
        cause = f"body '{link.name}' is not physically consistent without the bodies that ride on it: {why[0]}"
        raise ModelError(cause, where=bodies.where, names=(link.name,))
    attributes = inertial_attributes(inertia)
    tag = _find_named(tags, "body", link.name, bodies.where)
    for child in tags:
        if child.name == "inertial" and child.parent == (tag.file, tag.start):
            return _edit(child, files, attributes, ORIENTATIONS)
    line = b"<inertial " + b" ".join(f'{k}="{v}"'.encode() for k, v in attributes.items()) + b"/>"
    return Edit(tag.file, tag.end, tag.end, _indentation(files[tag.file], tag.start) + line)


def _indentation(data: bytes, start: int) -> bytes:
    """A line break and two blanks more than the line has on which an element begins."""
    line = data[data.rfind(b"\n", 0, start) + 1 : start]
    return b"\n" + (line if not line.strip() else b"") + b"  "


def _find_named(tags: list[Tag], kind: str, name: str, where: str) -> Tag:
    matches = [tag for tag in tags if tag.name == kind and tag.attributes.get("name") == name]
    if len(matches) != 1:
        expected = f'one <{kind} name="{name}"> in the text, found {len(matches)}'
        remedy = f"give the {kind} a name of its own, then write onto the file"
        raise ModelError(where=where, expected=expected, remedy=remedy)
    return matches[0]


def _edit(tag: Tag, files: dict[Path, bytes], attributes: dict[str, str], without: tuple[str, ...] = ()) -> Edit:
    """A start tag with other attributes."""
    data = files[tag.file][tag.start : tag.end]
    for name in without:
        data = re.sub(rf"\s+{name}\s*=\s*(\"[^\"]*\"|'[^']*')".encode(), b"", data)
    for name, value in attributes.items():
        pattern = rf"(?<=\s){name}\s*=\s*(\"[^\"]*\"|'[^']*')".encode()
        new = f'{name}="{value}"'.encode()
        data, count = re.subn(pattern, new, data, count=1)
        if not count:
            data = re.sub(rb"\s*(/?>)$", b" " + new + rb"\1", data)
    return Edit(tag.file, tag.start, tag.end, data)


def _apply(files: dict[Path, bytes], edits: list[Edit]) -> dict[Path, bytes]:
    changed: dict[Path, bytes] = {}
    for file, start, end, new in sorted(edits, key=lambda edit: -edit.start):
        data = changed.get(file, files[file])
        changed[file] = data[:start] + new + data[end:]
    return changed


def _close(a: Inertia, b: Inertia) -> bool:
    return bool(np.abs(a.theta - b.theta).max() <= NEGLIGIBLE * max(1e-3, np.abs(a.theta).max()))


def _check(arm: Arm, bodies: MjcfBodies) -> None:
    """Raise if MuJoCo makes something else of the changed text (`inertiafromgeom`, `settotalmass`, flags, ...)."""
    got = arm_like(bodies, arm)
    for mine, theirs in zip(arm.links, got.links, strict=True):
        if not _close(mine.inertia, theirs.inertia):
            cause = f"MuJoCo changes the inertia of body '{mine.name}' when it compiles"
            remedy = "remove inertiafromgeom, settotalmass, boundmass, boundinertia and balanceinertia from <compiler>"
            raise ModelError(cause, where=bodies.where, remedy=remedy, names=(mine.name,))
    for joint, compiled in zip(arm.joints, got.joints, strict=True):
        wanted, held = joint_attributes(joint), joint_attributes(compiled)
        if not joint.drive.stiffness:
            del wanted["springref"]  # of no spring
        if wrong := [name for name in wanted if _differ(wanted[name], held[name])]:
            raise ModelError(
                f"MuJoCo makes {held[wrong[0]]:.4g} of the {wrong[0]} {wanted[wrong[0]]:.4g} of joint '{joint.name}'",
                where=bodies.where,
                remedy="remove the <flag> in <option> that disables it",
                names=(joint.name,),
            )


def _warn_of_servos(arm: Arm, before: MjcfSource, after: MjcfSource) -> None:
    """Say where MuJoCo makes another damping of a servo than the arm has."""
    wanted = {joint.name: joint.drive.servo_damping for joint in arm.joints if joint.drive.servo_stiffness}
    for a in range(before.model.nu):
        old, new = (-float(s.model.actuator_biasprm[a, 2]) for s in (before, after))
        joint = before.model.joint(int(before.model.actuator_trnid[a, 0])).name
        if abs(new - wanted.get(joint, old)) <= NEGLIGIBLE * max(1.0, abs(new)):
            continue
        if abs(new - old) > NEGLIGIBLE * max(1.0, abs(old)):
            name = before.model.actuator(a).name or f"actuator {a}"
            warnings.warn(
                f"{before.where}: the servo of '{name}' has a damping ratio, so its damping goes from {old:.4g} to "
                f"{new:.4g} with the new inertia; give kv= instead of dampratio= to keep it",
                ArmdynWarning,
                stacklevel=5,
            )


def _write(path: Path, main: Path, data: bytes, beside: dict[str, bytes]) -> None:
    """Included files that changed first, under names of their own, then the model."""
    for name, included in beside.items():
        write_whole(path.parent / name, included)
    if path.resolve().parent != main.parent:
        data = _relocated(path, main, data)
    write_whole(path, data)


def _relocated(path: Path, main: Path, data: bytes) -> bytes:
    """Return the text of `main` for the folder of `path`: its asset folders lead back to the assets."""
    tags = start_tags(main, data)
    users = {tag.name for tag in tags if "file" in tag.attributes}
    if not users:
        return data
    if users - {"mesh", "hfield", "texture"}:  # included models lead to further files
        warnings.warn(
            f"{path.name} refers to files by relative paths; copy them beside it, or save it beside {main.name}",
            ArmdynWarning,
            stacklevel=6,
        )
        return data
    folders = {"meshdir": "", "texturedir": ""}
    compilers = [tag for tag in tags if tag.name == "compiler"]
    for tag in compilers:  # later ones win, and the folder of one kind wins over that of all assets
        for name in folders:
            folders[name] = tag.attributes.get(name, tag.attributes.get("assetdir", folders[name]))
    lead = {name: _leading_back(main.parent / folder, path.resolve().parent) for name, folder in folders.items()}
    if compilers:
        edit = _edit(compilers[-1], {main: data}, lead)
    else:
        line = "<compiler " + " ".join(f'{name}="{folder}"' for name, folder in lead.items()) + "/>"
        edit = Edit(main, tags[0].end, tags[0].end, b"\n  " + line.encode())
    return _apply({main: data}, [edit])[main]


def _leading_back(target: Path, folder: Path) -> str:
    """Return the way to a folder from another, as an attribute holds it."""
    try:
        way = Path(os.path.relpath(target, folder))
    except ValueError:  # another drive
        way = target
    return escape(way.as_posix(), {'"': "&quot;"})
