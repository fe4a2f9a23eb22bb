"""Which column of a log is what: by its name, with its unit where the name carries one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ReadError
from armdyn.model.arm import Arm

# Names, lower case and without separators, of each role. The first that a file has is taken.
ROLES = {
    "time": ("t", "time", "times", "timestamp", "timestamps", "stamp", "sec", "secs", "seconds"),
    "q": ("q", "position", "positions", "pos", "angle", "angles", "jointposition", "jointpositions", "jointpos",
          "qmeas", "qm", "qactual", "actualq", "measuredposition", "qmot", "qlink"),
    "qd": ("qd", "dq", "qdot", "velocity", "velocities", "vel", "speed", "jointvelocity", "jointvelocities",
           "jointvel", "qdmeas", "dqmeas", "actualqd", "dqmot"),
    "tau": ("tau", "torque", "torques", "effort", "efforts", "trq", "jointtorque", "jointtorques", "jointeffort",
            "taumeas", "taujmeas", "measuredtorque", "force", "forces"),
    "temperature": ("temperature", "temperatures", "temp", "temps", "jointtemperature", "motortemperature"),
    "current": ("i", "current", "currents", "cur", "motorcurrent", "motorcurrents", "actualcurrent"),
}  # fmt: skip
ROLE_OF = {name: role for role, names in ROLES.items() for name in names}
RANK = {name: rank for names in ROLES.values() for rank, name in enumerate(names)}
UNITS = {
    "deg": np.pi / 180, "degree": np.pi / 180, "degrees": np.pi / 180, "degs": np.pi / 180, "rad": 1.0, "rads": 1.0,
    "m": 1.0, "mm": 1e-3, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "nm": 1.0, "mnm": 1e-3, "n": 1.0,
    "a": 1.0, "ma": 1e-3, "v": 1.0, "mps": 1.0,
}  # fmt: skip


# Words about where a value comes from, in names such as /joint_states/elbow/position or field.effort0.
ORIGINS = ("states", "state", "jointstates", "field", "msg", "data", "robot", "sensor", "feedback")


DEGREES = ("c", "k", "degc", "celsius", "kelvin")  # units of temperatures; elsewhere c is "commanded"


class Column(NamedTuple):
    """What the name of a column says."""

    role: str
    joint: str  # number or name of the joint, "" for time and for matrices
    unit: str  # "" where the name carries none
    rank: int  # lower is the better of several names for one role


class Assigned(NamedTuple):
    """The columns of a log by role, in SI units and the arm's order of joints."""

    t: NDArray
    q: NDArray
    qd: NDArray | None
    tau: NDArray
    temperature: NDArray | None
    notes: list[str]


def understand(name: str, joints: tuple[str, ...]) -> Column | None:
    """The role, joint and unit of a column, or None if its name says nothing known."""
    text = name.strip().lower()
    unit = ""
    if found := re.search(r"[\[(]\s*([a-z]+)(?:/s)?\s*[\])]\s*$", text):
        unit, text = found.group(1), text[: found.start()]
    joint = ""
    for candidate in sorted(joints, key=len, reverse=True):
        own = re.escape(candidate.lower())
        if len(candidate) > 1 and (found := re.search(rf"(?:^|[^a-z0-9]){own}(?:$|[^a-z0-9])", text)):
            joint = candidate
            text = text[: found.start()] + " " + text[found.end() :]
            break
    words = [word for word in re.split(r"[^a-z0-9]+", text) if word]
    if not unit and len(words) > 1 and words[-1] in UNITS:
        unit = words.pop()
    if len(words) > 1 and words[-1] in DEGREES and "temp" in text:
        words.pop()
    return _role(words, joint, unit)


def _role(words: list[str], joint: str, unit: str) -> Column | None:
    letters, number = "", joint
    several = [word for word in words if word not in ORIGINS]
    for word in several or words:
        found = re.fullmatch(r"([a-z]*)(\d*)", word)
        if found is None:
            return None
        head = found.group(1)
        letters += "" if head in ("joint", "j", "axis", "a") and len(words) > 1 else head
        if found.group(2):
            if number:
                return None
            number = str(int(found.group(2)))
    role = ROLE_OF.get(letters)
    return None if role is None else Column(role, number, unit, RANK[letters])


def assign(
    table: Mapping[str, NDArray],
    arm: Arm,
    where: str,
    names: Mapping[str, list[str]] | None = None,
    angle: str | None = None,
) -> Assigned:
    """Columns of a table by role; `names` overrules what the names seem to say."""
    known = {name: understand(name, arm.joint_names) for name in table}
    notes: list[str] = []
    t = _time(table, known, where, (names or {}).get("t"))
    found = {}
    for role in ("q", "qd", "tau", "current", "temperature"):
        chosen = (names or {}).get(role) or _of_role(role, known, table, arm, where)
        if chosen is None:
            continue
        if len(chosen) != arm.n or any(name not in table for name in chosen):
            raise ReadError(f"{where}: expected {arm.n} columns for {role}, got {chosen}")
        units = [known[name].unit if known[name] else "" for name in chosen]  # type: ignore[union-attr]
        found[role] = _scaled(_together([table[name] for name in chosen]), units, role, arm, angle, notes)
        notes.append(f"{role}: columns {chosen[0]} .. {chosen[-1]}")
    if "tau" not in found and "current" in found:
        found["tau"] = found["current"]
        notes.append("torques: motor currents, to be multiplied by drive gains")
    for role in ("q", "tau"):
        if role not in found:
            seen = ", ".join(list(table)[:12])
            raise ReadError(
                f"{where}: no columns of joint {'positions' if role == 'q' else 'torques'} for the {arm.n} joints; "
                f"expected names like {role}1 .. {role}{arm.n}, got {seen}"
            )
    return Assigned(t, found["q"], found.get("qd"), found["tau"], found.get("temperature"), notes)


def _together(columns: list[NDArray]) -> NDArray:
    """Columns as one matrix (N, n), without copying those that are neighbours in memory, perhaps mapped from a file."""
    first = columns[0]
    places = np.diff([column.__array_interface__["data"][0] for column in columns])
    one = first.base is not None and all(
        c.base is first.base and c.dtype == float and c.strides == first.strides for c in columns
    )
    if not one or len(columns) < 2 or (places != places[0]).any() or places[0] <= 0:
        return np.column_stack(columns)
    shape, strides = (len(first), len(columns)), (*first.strides, int(places[0]))
    return np.lib.stride_tricks.as_strided(first, shape, strides, writeable=first.flags.writeable)


def _time(
    table: Mapping[str, NDArray], known: Mapping[str, Column | None], where: str, given: list[str] | None
) -> NDArray:
    stamps = given or sorted(
        (name for name, column in known.items() if column and column.role == "time" and not column.joint),
        key=lambda name: known[name].rank,  # type: ignore[union-attr]
    )
    if not stamps:
        raise ReadError(
            f"{where}: no column of times; expected one named t or time [s], got {', '.join(list(table)[:8])}"
        )
    column = known[stamps[0]]
    t = np.asarray(table[stamps[0]], float)
    if column and column.unit in UNITS:
        return t * UNITS[column.unit]
    return t * 1e-9 if np.nanmedian(np.abs(t)) > 1e15 else t


def _of_role(
    role: str, known: Mapping[str, Column | None], table: Mapping[str, NDArray], arm: Arm, where: str
) -> list[str] | None:
    """The n columns of a role in the arm's order, or None where there are none."""
    offered: dict[int, dict[str, str]] = {}
    for name, column in known.items():
        if column and column.role == role:
            group = offered.setdefault(column.rank, {})
            if column.joint in group:
                raise ReadError(
                    f"{where}: columns '{group[column.joint]}' and '{name}' both claim to be {role}{column.joint}"
                )
            group[column.joint] = name
    for rank in sorted(offered):
        group = offered[rank]
        if set(arm.joint_names) <= set(group):
            return [group[joint] for joint in arm.joint_names]
        numbers = sorted(int(joint) for joint in group if joint.isdigit())
        if (
            len(numbers) >= arm.n
            and numbers[0] in (0, 1)
            and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        ):
            if len(numbers) > arm.n:
                raise ReadError(f"{where}: {len(numbers)} columns of {role} for the {arm.n} joints of arm '{arm.name}'")
            return [group[str(k)] for k in numbers]
        if arm.n == 1 and len(group) == 1:
            return list(group.values())
        if role in ("q", "tau"):
            missing = [str(k) for k in range(1, arm.n + 1) if str(k) not in group]
            raise ReadError(
                f"{where}: {role} has columns {', '.join(group.values())} but not all of joints 1 to {arm.n} "
                f"of arm '{arm.name}' (missing: {', '.join(missing)})"
            )
    return None


def _scaled(x: NDArray, units: list[str], role: str, arm: Arm, angle: str | None, notes: list[str]) -> NDArray:
    """In SI units: by the names' units, by `angle`, or as radians unless no radian could be that large."""
    if any(unit in UNITS for unit in units):
        notes.append(f"{role}: unit {units[0]} by its name")
        return x * np.array([UNITS.get(unit, 1.0) for unit in units])
    turns = np.array([joint.kind == "revolute" for joint in arm.joints])
    if role not in ("q", "qd") or not turns.any():
        return x
    if angle is None and role == "q":
        # Extremes of both signs: a copy of all absolute values would be as large as the log.
        largest = np.max(np.abs([np.nanmin(x, axis=0), np.nanmax(x, axis=0)])[:, turns]) if len(x) else 0.0
        if largest > 4 * np.pi:
            raise ReadError(
                f"positions reach {largest:.0f}: degrees? Say angle='deg' or 'rad' (or name the columns q1_deg ...)"
            )
    if angle == "deg":
        notes.append(f"{role}: degrees, as said")
        return np.where(turns, np.radians(x), x)
    return x
