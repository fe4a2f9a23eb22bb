"""armdyn's own file format: a complete, readable TOML description of an arm that is read back bit by bit.

The schema is described in `docs/formats.md`.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.arrays import as_floats, finite_vector
from armdyn.errors import ModelError, ReadError, quote
from armdyn.files import MAX_NESTED
from armdyn.model.arm import Arm, Link
from armdyn.model.dh import arm_from_dh, inertia_from, joint_data, reject_unknown
from armdyn.model.dh_table import table_from_toml
from armdyn.model.joint import Joint
from armdyn.model.mechanism import Frame, Spring
from armdyn.model.preprocessing import Preprocessing
from armdyn.model.vectors import arm_from_vectors
from armdyn.spatial.inertia import NAMES
from armdyn.spatial.rotation import from_rpy
from armdyn.spatial.transform import transform

PLAIN_KEYS = ("name", "kind", "axis", "parent", "follows", "offset")  # of a joint, taken as they are
FORMAT = "armdyn arm"
VERSION = 1
POSES = ("base_pose", "tool_pose")
OPTIONS = ("name", "gravity", *POSES, "notes")
TOP_KEYS = (
    "format",
    "version",
    "base",
    "tip",
    "physical",
    "mounting_plane",
    "tip_link",
    "frame",
    "preprocessing",
    "spring",
)  # of the complete format, besides
JOINT_KEYS = (
    "name", "kind", "axis", "before", "after", "limits", "friction", "drive",
    "link", "theta", "mass", "com", "inertia", "parent", "follows", "offset",
)  # fmt: skip


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """The document in a TOML text, or a `ReadError`."""
    deep = ReadError("the TOML is nested too deeply", where=where)
    # The parser takes time that grows with the square of the dots in a key.
    if any(word.group().count(".") > MAX_NESTED for word in re.finditer(r"[^,=\[\]{}\n#]+", text)):
        raise deep
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise deep from None
    except ValueError as error:
        raise ReadError(f"not a TOML file, or truncated ({error})", where=where) from None


def arm_from_toml(text: str, where: str = "TOML text") -> Arm:
    """An arm from TOML text: the complete format, a DH table (`[[row]]`) or members (`[[member]]`)."""
    document = parse_toml(text, where)
    kinds = [key for key in ("joint", "row", "member") if key in document]
    if len(kinds) != 1:
        expected = "one of [[joint]] (complete arm), [[row]] (DH table) or [[member]] (links given by vectors)"
        raise ReadError(where=where, expected=expected, got=" and ".join(kinds) or "none")
    try:
        if kinds == ["row"]:
            table = table_from_toml(document, where)
            return arm_from_dh(table.rows, **table.options)
        if kinds == ["member"]:
            return arm_from_vectors(document["member"], **arm_options(document, "member", (), where))
        return arm_from_document(document, where)
    except ModelError as error:
        raise error.at(where) from None


def arm_from_document(document: Mapping[str, Any], where: str) -> Arm:
    """The arm that a document of the complete format describes."""
    options = arm_options(document, "joint", TOP_KEYS, where)
    if document.get("format", FORMAT) != FORMAT or document.get("version", VERSION) != VERSION:
        raise ReadError(
            where=where,
            expected=f"format '{FORMAT}' version {VERSION}",
            got=f"{quote(document.get('format'))} version {quote(document.get('version'))}",
        )
    tables = document["joint"]
    if not isinstance(tables, list):
        raise ReadError(where=where, expected="one [[joint]] table per joint", got=type(tables).__name__)
    physical = document.get("physical", True)
    if not isinstance(physical, bool):
        raise ReadError(where=f"{where}: physical", expected="true or false", got=quote(physical))
    built = [_joint_and_link(table, f"{where}: joint {i}", physical) for i, table in enumerate(tables, start=1)]
    for key in ("format", "version", "physical", "frame", "spring"):
        options.pop(key, None)
    options["frames"] = _frames(document.get("frame", []), where)
    options["preprocessing"] = _preprocessing(document.get("preprocessing", {}), where)
    options["springs"] = _springs(document.get("spring", []), where)
    options |= {f"{key}_name": options.pop(key) for key in ("base", "tip") if key in options}
    return Arm(tuple(joint for joint, _ in built), tuple(link for _, link in built), **options)


def arm_options(document: Mapping[str, Any], body: str, further: tuple[str, ...], where: str) -> dict[str, Any]:
    """Return what a document says of the arm besides its `body`, the tables of joints, rows or members; poses as
    matrices.
    """
    reject_unknown(document, (*OPTIONS, *further, body), where, ReadError)
    options = {key: value for key, value in document.items() if key != body}
    return options | {key: pose_from(options[key], f"{where}: {key}") for key in POSES if key in options}


def _joint_and_link(table: Any, where: str, physical: bool) -> tuple[Joint, Link]:
    if not isinstance(table, Mapping):
        raise ReadError(where=where, expected="a table", got=quote(table))
    reject_unknown(table, JOINT_KEYS, where, ReadError)
    for key in ("name", "kind", "link"):
        if key not in table:
            raise ReadError(f"lacks '{key}'", where=where, remedy="truncated?", names=(key,))
    data = joint_data(table, where) | {key: table[key] for key in PLAIN_KEYS if key in table}
    data |= {key: pose_from(table[key], f"{where}: {key}") for key in ("before", "after") if key in table}
    values = {key: table.get(key) for key in ("mass", "com", "inertia")}
    body = inertia_from({"inertial": table.get("theta"), **values}, where)
    if physical:
        body.reject_impossible(where)
    return Joint(**data), Link(table["link"], body)


def _frames(tables: Any, where: str) -> tuple[Frame, ...]:
    """The named frames of a document."""
    frames = []
    for i, table in enumerate(_tables(tables, "frame", ("name", "link", "pose"), where), start=1):
        pose = pose_from(table.get("pose", {}), f"{where}: frame {i}: pose")
        frames.append(Frame(table.get("name"), table.get("link"), pose))  # type: ignore[arg-type]
    return tuple(frames)


def _preprocessing(table: Any, where: str) -> Preprocessing:
    """The treatment of logs in a document."""
    if not isinstance(table, Mapping):
        raise ReadError(where=f"{where}: preprocessing", expected="a table", got=quote(table))
    reject_unknown(table, [field.name for field in fields(Preprocessing)], f"{where}: preprocessing", ReadError)
    return Preprocessing(**table)


def _springs(tables: Any, where: str) -> tuple[Spring, ...]:
    """The springs between links of a document."""
    names = tuple(field.name for field in fields(Spring))
    springs = []
    for i, table in enumerate(_tables(tables, "spring", names, where), start=1):
        if lacking := [name for name in names[:-1] if name not in table]:
            cause = f"lacks '{lacking[0]}'"
            raise ReadError(cause, where=f"{where}: spring {i}", remedy="truncated?", names=(lacking[0],))
        springs.append(Spring(**table))
    return tuple(springs)


def _tables(tables: Any, kind: str, keys: tuple[str, ...], where: str) -> list[Mapping[str, Any]]:
    """Check a list of tables, and their keys."""
    if not isinstance(tables, list):
        raise ReadError(where=where, expected=f"one [[{kind}]] table per {kind}", got=type(tables).__name__)
    for i, table in enumerate(tables, start=1):
        if not isinstance(table, Mapping):
            raise ReadError(where=f"{where}: {kind} {i}", expected="a table", got=quote(table))
        reject_unknown(table, keys, f"{where}: {kind} {i}", ReadError)
    return tables


def pose_from(value: Any, where: str) -> NDArray:
    """A 4x4 matrix from three or four rows of four numbers, or from a table of `xyz` [m] and `rpy` [rad]."""
    if isinstance(value, Mapping):
        reject_unknown(value, ("xyz", "rpy"), where, ReadError)
        xyz, rpy = (finite_vector(value.get(key, (0, 0, 0)), 3, f"{where}: {key}") for key in ("xyz", "rpy"))
        return transform(from_rpy(rpy), xyz)
    rows = as_floats(value)
    if rows.ndim != 2:
        raise ModelError(where=where, expected="rows of four numbers, or xyz and rpy", got=quote(value))
    return np.vstack([rows, (0.0, 0.0, 0.0, 1.0)]) if rows.shape == (3, 4) else rows


def toml_text(arm: Arm) -> str:
    """The arm as TOML text; `arm_from_toml` gives back the same arm, bit by bit."""
    joints = (line for pair in zip(arm.joints, arm.links, strict=True) for line in _joint(*pair))
    frames = (line for frame in arm.frames for line in _frame(frame))
    springs = (line for spring in arm.springs for line in ("", "[[spring]]", *_pairs(asdict(spring))))
    return "\n".join([*_head(arm), *joints, *frames, *springs, ""])


def _head(arm: Arm) -> Iterator[str]:
    yield "# A robot arm in armdyn's format. SI units: m, rad, kg, s, N."
    yield from _pairs({"format": FORMAT, "version": VERSION, "name": arm.name})
    yield from _pairs({"base": arm.base_name, "tip": arm.tip_name, "gravity": arm.gravity})
    yield from _pose("base_pose", arm.base_pose)
    yield from _pose("tool_pose", arm.tool_pose)
    if arm.tip_link is not None:
        yield from _pairs({"tip_link": arm.tip_link})
    if arm.mounting_plane is not None:
        yield from _pairs({"mounting_plane": arm.mounting_plane})
    if changes := arm.preprocessing.changes:
        yield from _pairs({"preprocessing": changes})
    if any(link.inertia.impossible() for link in arm.links):
        yield "# Some links are not physically consistent (measured, estimated, regrouped): take them as they are."
        yield from _pairs({"physical": False})
    if arm.notes:
        yield from ["notes = [", *(f"  {_value(note)}," for note in arm.notes), "]"]


def _joint(joint: Joint, link: Link) -> Iterator[str]:
    yield from ["", "[[joint]]"]
    yield from _pairs({"name": joint.name, "kind": joint.kind, "axis": joint.axis})
    yield from _pose("before", joint.before)
    yield from _pose("after", joint.after)
    if joint.parent is not None:
        yield from _pairs({"parent": joint.parent})
    if joint.follows:
        yield from _pairs({"follows": joint.follows, "offset": joint.offset})
    for key, data in (("limits", joint.limits), ("friction", joint.friction), ("drive", joint.drive)):
        plain = asdict(type(data)())
        if changed := {name: value for name, value in asdict(data).items() if value != plain[name]}:
            yield from _pairs({key: changed})
    yield from _pairs({"link": link.name})
    if not np.isnan(link.inertia.theta).all():
        com = ", ".join(f"{x:.4g}" for x in link.inertia.com)
        yield f"# {', '.join(NAMES)} about the frame's origin; centre of mass {com} m"
        yield from _pairs({"theta": link.inertia.theta})


def _frame(frame: Frame) -> Iterator[str]:
    yield from ["", "[[frame]]"]
    yield from _pairs({"name": frame.name, "link": frame.link})
    yield from _pose("pose", frame.pose)


def _pairs(table: Mapping[str, Any]) -> Iterator[str]:
    for key, value in table.items():
        yield f"{key} = {_value(value)}"


def _pose(key: str, T: NDArray) -> Iterator[str]:
    """The three upper rows of a transform; nothing for the identity."""
    if not np.array_equal(T, np.eye(4)):
        yield from [f"{key} = [", *(f"  {_value(row)}," for row in T[:3]), "]"]


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_value(item)}" for key, item in value.items()) + " }"
    if np.ndim(value) > 0 or isinstance(value, tuple):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    # The shortest text that reads back as the same double; inf and nan are TOML too.
    return repr(float(value))


def _string(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        cause = f"the text {quote(text)} holds characters that cannot be written as UTF-8"
        raise ModelError(cause, where="save", names=(text,)) from None
    # JSON's escapes are TOML's, but for the delete character, which TOML wants escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
