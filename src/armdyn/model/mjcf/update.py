"""A changed arm written back onto the MJCF model it came from: only the numbers that differ are touched in its text."""

from __future__ import annotations

import os
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

import numpy as np

from armdyn.errors import ArmdynWarning, ModelError
from armdyn.files import write_whole
from armdyn.model.arm import Arm, Link
from armdyn.model.joint import Joint
from armdyn.model.mjcf.read import Bodies, arm_between
from armdyn.model.mjcf.source import Source, compile_texts, included_files
from armdyn.model.mjcf.write import inertial_attributes, joint_attributes, servo_attributes, text
from armdyn.spatial.inertia import Inertia

# Frames and inertias written with all digits lose 1e-15; MuJoCo's own principal axes some 1e-12.
SAME_NUMBER_TOLERANCE = 1e-10
ACTUATORS = ("position", "motor", "velocity", "intvelocity", "damper", "general", "cylinder", "muscle", "adhesion")
ORIENTATIONS = ("quat", "axisangle", "xyaxes", "zaxis", "euler", "diaginertia")


class Tag(NamedTuple):
    """A start tag in the bytes of a file: from `start` up to and with its `>` at `end`."""

    file: Path
    name: str
    attributes: dict[str, str]
    start: int
    end: int
    parent: int  # index of the element that holds it, or -1


@dataclass(frozen=True)
class Edit:
    """Bytes of a file to replace."""

    file: Path
    start: int
    end: int
    new: bytes


def update_mjcf(arm: Arm, path: str | os.PathLike[str], onto: str | os.PathLike[str]) -> None:
    """Write `onto` with inertia, friction, armature and springs of `arm` to `path`; see `write_mjcf`.

    Included files whose numbers change are written beside `path` as `<stem>_<name>`.
    """
    main = Path(onto).resolve()
    files = included_files(onto)
    source = compile_texts(main, files)
    bodies = Bodies(source)
    old = _same_arm(arm, bodies)
    tags = [tag for file, data in files.items() for tag in start_tags(file, data)]
    edits = [edit for index in range(arm.n) for edit in _joint_edits(arm, old, index, tags, bodies, files)]
    changed = _apply(files, edits)
    after = compile_texts(main, {**files, **changed})
    _check(arm, Bodies(after))
    _warn_of_servos(arm, source, after)
    _write(Path(path), main, changed, files)


def start_tags(file: Path, data: bytes) -> list[Tag]:
    """Every start tag of a file, in the order of the text, with the place where it stands."""
    tags: list[Tag] = []
    open_tags: list[int] = []
    parser = expat.ParserCreate()

    def start(name: str, attributes: dict[str, str]) -> None:
        begin = parser.CurrentByteIndex
        match = re.compile(rb"<(?:[^>\"']|\"[^\"]*\"|'[^']*')*>").match(data, begin)
        assert match is not None  # expat has just read it
        tags.append(Tag(file, name, attributes, begin, match.end(), open_tags[-1] if open_tags else -1))
        open_tags.append(len(tags) - 1)

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: open_tags.pop() and None
    parser.Parse(data, True)
    return tags


def _same_arm(arm: Arm, bodies: Bodies) -> Arm:
    """The file's own arm between the same ends, or an error if its joints stand elsewhere."""
    old = arm_between(bodies, arm.base_name, arm.tip_name)
    if old.joint_names != arm.joint_names:
        raise ModelError(
            f"{bodies.where}: between '{arm.base_name}' and '{arm.tip_name}' it has the joints "
            f"{', '.join(old.joint_names)}, but arm '{arm.name}' has {', '.join(arm.joint_names)}"
        )
    for mine, theirs in zip(arm.joints, old.joints, strict=True):
        for name in ("axis", "before", "after"):
            a, b = getattr(mine, name), getattr(theirs, name)
            if np.abs(a - b).max() > SAME_NUMBER_TOLERANCE * max(1.0, np.abs(a).max()):
                raise ModelError(
                    f"{bodies.where}: joint '{mine.name}' is not where arm '{arm.name}' has it; write a file of its own"
                )
    return old


def _joint_edits(
    arm: Arm, old: Arm, index: int, tags: list[Tag], bodies: Bodies, files: dict[Path, bytes]
) -> list[Edit]:
    """What changes for one joint and its link."""
    edits = []
    joint = arm.joints[index]
    new, before = joint_attributes(joint), joint_attributes(old.joints[index])
    differ = {k: text([v]) for k, v in new.items() if abs(v - before[k]) > SAME_NUMBER_TOLERANCE * max(1.0, abs(v))}
    if differ:
        tag = _find_named(tags, "joint", joint.name, bodies.where)
        edits.append(Edit(tag.file, tag.start, tag.end, _with(files[tag.file][tag.start : tag.end], differ)))
    edits += _servo_edits(joint, old.joints[index], tags, bodies, files)
    link = arm.links[index]
    if not _close(link.inertia, old.links[index].inertia):
        edits.append(_inertial_edit(link, set(arm.joint_names), tags, bodies, files))
    return edits


def _servo_edits(joint: Joint, old: Joint, tags: list[Tag], bodies: Bodies, files: dict[Path, bytes]) -> list[Edit]:
    """Gains of a joint's position servo, where the arm has some that differ."""
    gains = [(j.drive.servo_stiffness, j.drive.servo_damping) for j in (joint, old)]
    if not gains[0][0] or max(abs(a - b) for a, b in zip(*gains, strict=True)) <= SAME_NUMBER_TOLERANCE * max(
        1.0, *gains[0]
    ):
        return []
    found = [tag for tag in tags if tag.attributes.get("joint") == joint.name and tag.name in ACTUATORS]
    if len(found) != 1 or found[0].name != "position":
        raise ModelError(
            f'{bodies.where}: expected one <position joint="{joint.name}"> to hold its servo, found '
            f"{', '.join(f'<{tag.name}>' for tag in found) or 'none'}; add it, or write a file of its own"
        )
    tag = found[0]
    new = _with(files[tag.file][tag.start : tag.end], servo_attributes(joint), ("dampratio",))  # which excludes kv
    return [Edit(tag.file, tag.start, tag.end, new)]


def _inertial_edit(link: Link, chain: set[str], tags: list[Tag], bodies: Bodies, files: dict[Path, bytes]) -> Edit:
    """The `<inertial>` of a link's own body: the link's inertia less that of all that rides on it."""
    own = link.inertia
    for body, T, _ in list(bodies.riders(link.name, chain))[1:]:
        own = own - bodies.inertia(body).moved(T)
    if why := own.problems():
        raise ModelError(
            f"{bodies.where}: body '{link.name}' is not physically consistent without the bodies that ride on it: "
            f"{why[0]}"
        )
    attributes = inertial_attributes(own)
    tag = _find_named(tags, "body", link.name, bodies.where)
    here = tags.index(tag)
    children = [t for t in tags if t.file == tag.file and t.name == "inertial" and _parent(tags, t) is tags[here]]
    if children:
        child = children[0]
        old = files[child.file][child.start : child.end]
        return Edit(child.file, child.start, child.end, _with(old, attributes, ORIENTATIONS))
    line = b"<inertial " + b" ".join(f'{k}="{v}"'.encode() for k, v in attributes.items()) + b"/>"
    return Edit(tag.file, tag.end, tag.end, _indentation(files[tag.file], tag.start) + line)


def _parent(tags: list[Tag], tag: Tag) -> Tag | None:
    if tag.parent < 0:
        return None
    return [t for t in tags if t.file == tag.file][tag.parent]


def _indentation(data: bytes, start: int) -> bytes:
    """A line break and two blanks more than the line has on which an element begins."""
    line = data[data.rfind(b"\n", 0, start) + 1 : start]
    return b"\n" + (line if not line.strip() else b"") + b"  "


def _find_named(tags: list[Tag], kind: str, name: str, where: str) -> Tag:
    found = [tag for tag in tags if tag.name == kind and tag.attributes.get("name") == name]
    if len(found) != 1:
        raise ModelError(
            f'{where}: expected one <{kind} name="{name}"> in the text, found {len(found)}; '
            f"give the {kind} a name of its own, then write onto the file"
        )
    return found[0]


def _with(tag: bytes, attributes: dict[str, str], without: tuple[str, ...] = ()) -> bytes:
    """A start tag with other attributes."""
    for name in without:
        tag = re.sub(rf"\s+{name}\s*=\s*(\"[^\"]*\"|'[^']*')".encode(), b"", tag)
    for name, value in attributes.items():
        pattern = rf"(?<=\s){name}\s*=\s*(\"[^\"]*\"|'[^']*')".encode()
        new = f'{name}="{value}"'.encode()
        tag, count = re.subn(pattern, new, tag, count=1)
        if not count:
            tag = re.sub(rb"\s*(/?>)$", b" " + new + rb"\1", tag)
    return tag


def _apply(files: dict[Path, bytes], edits: list[Edit]) -> dict[Path, bytes]:
    changed = {}
    for file in {edit.file for edit in edits}:
        data = files[file]
        for edit in sorted((e for e in edits if e.file == file), key=lambda e: -e.start):
            data = data[: edit.start] + edit.new + data[edit.end :]
        changed[file] = data
    return changed


def _close(a: Inertia, b: Inertia) -> bool:
    return bool(np.abs(a.theta - b.theta).max() <= SAME_NUMBER_TOLERANCE * max(1e-3, np.abs(a.theta).max()))


def _check(arm: Arm, bodies: Bodies) -> None:
    """Raise if MuJoCo makes something else of the changed text (`inertiafromgeom`, `settotalmass`, ...)."""
    got = arm_between(bodies, arm.base_name, arm.tip_name)
    for mine, theirs in zip(arm.links, got.links, strict=True):
        if not _close(mine.inertia, theirs.inertia):
            raise ModelError(
                f"{bodies.where}: MuJoCo changes the inertia of body '{mine.name}' when it compiles; remove "
                "inertiafromgeom, settotalmass, boundmass, boundinertia and balanceinertia from <compiler>"
            )


def _warn_of_servos(arm: Arm, before: Source, after: Source) -> None:
    """Say where MuJoCo makes another damping of a servo than the arm has."""
    wanted = {joint.name: joint.drive.servo_damping for joint in arm.joints if joint.drive.servo_stiffness}
    for a in range(before.model.nu):
        old, new = (-float(s.model.actuator_biasprm[a, 2]) for s in (before, after))
        joint = before.model.joint(int(before.model.actuator_trnid[a, 0])).name
        if abs(new - wanted.get(joint, old)) <= 1e-9 * max(1.0, abs(new)):
            continue
        if abs(new - old) > 1e-9 * max(1.0, abs(old)):
            name = before.model.actuator(a).name or f"actuator {a}"
            warnings.warn(
                f"{before.where}: the servo of '{name}' has a damping ratio, so its damping goes from {old:.4g} to "
                f"{new:.4g} with the new inertia; give kv= instead of dampratio= to keep it",
                ArmdynWarning,
                stacklevel=5,
            )


def _write(path: Path, main: Path, changed: dict[Path, bytes], files: dict[Path, bytes]) -> None:
    """Included files that changed first, under names of their own, then the model."""
    data = changed.get(main, files[main])
    for file in changed:
        if file != main:
            name = f"{path.stem}_{file.name}"
            write_whole(path.parent / name, changed[file])
            include = file.relative_to(main.parent).as_posix()
            data = re.sub(
                rf"(<include\b[^>]*\bfile\s*=\s*[\"'])(?:\./)?{re.escape(include)}([\"'])".encode(),
                rb"\g<1>" + name.encode() + rb"\g<2>",
                data,
            )
    if path.resolve().parent != main.parent and (b"<include" in data or b"file=" in data):
        warnings.warn(
            f"{path.name}: files that it names (meshes, includes) are looked for beside it, not beside {main.name}",
            ArmdynWarning,
            stacklevel=5,
        )
    write_whole(path, data)
