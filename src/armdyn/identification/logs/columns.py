"""The columns of a log by role: in SI units, and in the arm's order of joints."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynError, ReadError
from armdyn.identification.logs.column_names import DEGREE, UNITS, Column, understand
from armdyn.identification.logs.guess_columns import guess_columns, numbered
from armdyn.identification.logs.log import DYNAMICS_SECONDS, GAP_SECONDS, PIECE_SAMPLES
from armdyn.model.arm import Arm
from armdyn.numerals import pluralize

MEASURED = ("q", "qd", "tau", "current", "temperature")
CALLED = {"q": "positions", "tau": "torques"}
# Units of arms whose joints turn, slide, or do both.
SI = {
    "q": ("rad", "m", "rad or m"), "qd": ("rad/s", "m/s", "rad/s or m/s"), "tau": ("N m", "N", "N m or N"),
    "current": ("A", "A", "A"), "temperature": ("°C or K", "°C or K", "°C or K"),
}  # fmt: skip
CLOCKS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
# Joints that move by more than this [rad or m] tell samples of a motion from single poses: between two poses they go,
# on average, by more than this share of their range.
MOVING_RANGE, POSE_STEP_SHARE = 0.05, 0.1


class RoleColumns(NamedTuple):
    """The columns of a log by role, in SI units and the arm's order of joints."""

    t: NDArray
    q: NDArray
    qd: NDArray | None
    tau: NDArray
    temperature: NDArray | None
    notes: list[str]
    named: bool  # whether the names of positions carry a unit
    still: bool  # whether rows are poses held still, not samples of a motion
    currents: tuple[str, ...]  # columns in the place of torques whose names say that they are currents
    motors: frozenset[str]  # roles whose columns are named after motors
    guess: str  # roles of columns without names, in words


def assign(
    table: Mapping[str, NDArray],
    arm: Arm,
    where: str,
    names: Mapping[str, list[str]] | None = None,
    angle: str | None = None,
    rate: float | None = None,
) -> RoleColumns:
    """Columns of a table by role; `names` overrules what the names seem to say, `rate` [Hz] what times do."""
    names = _check(names or {}, table, arm, where)
    known = {name: understand(name, arm.coordinate_names) for name in table}
    notes: list[str] = []
    guess = ""
    if not names and list(table) == numbered(len(table)):
        names, guess = guess_columns(table, arm, rate, where)
        notes.append(guess)
    roles: dict[str, NDArray] = {}
    unit_of_q: list[str] = []
    columns = {role: names.get(role) or _of_role(role, known, arm, where) for role in MEASURED}
    notes += _rivals({role: some for role, some in columns.items() if role not in names}, known, arm)
    _reject_surplus({role: some for role, some in columns.items() if some and len(some) > arm.n}, arm, where)
    for role, chosen in columns.items():
        if chosen is None:
            continue
        units = [column.unit if name and (column := known[name]) else "" for name in chosen]
        if role == "qd" and "q" in roles and not any(units):
            units = unit_of_q  # rates count what positions count
        scale, unit_note = _scale(units, role, arm, angle, f"{where}: column '{next(filter(None, chosen))}'")
        there = [name for name in chosen if name]
        x = _together([table[name] for name in there])
        x = x if len(there) == len(chosen) else _with_missing(x, chosen)
        roles[role] = x if np.all(scale == 1) else x * scale
        notes.append(f"{role}: columns {there[0]} .. {there[-1]}{unit_note}")
        unit_of_q = units if role == "q" else unit_of_q
    if "tau" not in roles and "current" in roles:
        roles["tau"] = roles["current"]
        notes.append("torques: motor currents, to be multiplied by drive gains")
        columns["tau"] = columns["current"]
    driven = tuple(
        name for name in columns["tau"] or () if name and (column := known[name]) and column.role == "current"
    )
    stamped = "t" in names or any(column and column.role in ("time", "whole seconds") for column in known.values())
    taken = {name for some in columns.values() for name in some or ()}
    offered = sorted(table, key=lambda name: name in taken)  # what is missing is among those that no role took
    _require(roles, stamped, offered, arm, where)
    steps = _steps(roles["q"])
    poses = bool((steps > POSE_STEP_SHARE).any())
    t = np.arange(len(roles["q"])) / rate if rate else _time(table, known, names.get("t"), steps, notes)
    if rate:
        notes.insert(0, f"times: {rate:g} rows a second")
    if t is None:
        if not poses:
            choices = "a column named t or time [s], columns={'t': [...]}, or rate=ROWS_PER_SECOND"
            raise ReadError("no column of times", where=where, expected=choices, got=some_names(offered))
        t = np.arange(len(roles["q"]), dtype=float)
        notes.insert(0, "no column of times: each row is taken as a pose held still")
    still, named = poses and _step(t) > DYNAMICS_SECONDS, any(unit_of_q)
    q, qd, tau, warm = (roles.get(role) for role in ("q", "qd", "tau", "temperature"))
    motors = {r for r, some in columns.items() if some and any(n and known[n] and known[n].motor for n in some)}  # type: ignore[union-attr]
    return RoleColumns(t, q, qd, tau, warm, notes, named, still, driven, frozenset(motors), guess)  # type: ignore[arg-type]


def _steps(q: NDArray) -> NDArray:
    """Return the average way of joints that move from row to row, in parts of their range."""
    total, count, low, high = np.zeros(q.shape[1]), 0, np.inf, -np.inf
    for k in range(0, len(q), PIECE_SAMPLES):
        part = q[k : k + PIECE_SAMPLES + 1]
        part = part[np.isfinite(part).all(axis=1)]
        if len(part) > 1:
            total, count = total + np.abs(np.diff(part, axis=0)).sum(axis=0), count + len(part) - 1
            low, high = np.minimum(low, part.min(axis=0)), np.maximum(high, part.max(axis=0))
    if not count:
        return np.empty(0)
    spans = np.asarray(high - low)
    return np.asarray((total / count / np.maximum(spans, 1e-300))[spans > MOVING_RANGE])


def _check(
    names: Mapping[str, list[str]], table: Mapping[str, NDArray], arm: Arm, where: str
) -> Mapping[str, list[str]]:
    """The names of columns that were given."""
    wanted = {role: [some] if isinstance(some, str) else list(some) for role, some in names.items()}
    for role, some in wanted.items():
        if role not in ("t", *MEASURED):
            raise ArmdynError(where="read_log", expected=f"columns of t, {', '.join(MEASURED)}", got=f"{role!r}")
        count = 1 if role == "t" else arm.n
        if len(some) == 1 < count and some[0] not in table:
            some = wanted[role] = _of_stem(some[0], table, arm) or some
        missing = [name for name in some if name not in table]
        if missing:
            cause = f"no column '{missing[0]}' for {role}; there are {some_names(table)}"
            raise ReadError(cause, where=where, names=(missing[0],))
        if len(some) != count:
            raise ReadError(where=where, expected=f"{pluralize(count, 'column')} for {role}", got=", ".join(some))
    return wanted


def _of_stem(stem: str, table: Mapping[str, NDArray], arm: Arm) -> list[str] | None:
    """The columns that a name begins, with the number or the name of each joint behind it."""
    group = {}
    for name in table:
        if name.lower().startswith(stem.lower()):
            rest = re.sub(r"^[^a-z0-9]+|[^a-z0-9]+$", "", name[len(stem) :].lower())
            group[str(int(rest)) if rest.isdigit() else rest] = name
    named = [joint.lower() for joint in arm.coordinate_names]
    for joints in (named, [str(k) for k in range(1, arm.n + 1)], [str(k) for k in range(arm.n)]):
        if set(joints) <= set(group):
            return [group[joint] for joint in joints]
    return None


def _rivals(columns: Mapping[str, list[str] | None], known: Mapping[str, Column | None], arm: Arm) -> list[str]:
    """Notes on columns of a role that others were preferred to, and on torques that were asked for."""
    notes = []
    for role, chosen in columns.items():
        if not chosen or role not in CALLED:
            continue
        first = known[next(filter(None, chosen))]
        others = [name for name, column in known.items() if column and column.role == role and name not in chosen]
        if others:
            notes.append(f"{CALLED[role]} are those of {next(filter(None, chosen))} .., not of {some_names(others)}")
        if first and first.commanded:
            notes.append(f"{CALLED[role]} are commanded ones: the file has no measured ones")
    return notes


class Times(NamedTuple):
    """Stamps of a table [s], None where it has none; the names of all its columns of times; notes on their unit."""

    t: NDArray | None
    names: set[str]
    notes: list[str]


def times_of(table: Mapping[str, NDArray], joints: tuple[str, ...]) -> Times:
    """Find the times of a table by their names."""
    known = {name: understand(name, joints) for name in table}
    roles = ("time", "whole seconds", "rest of seconds")
    used = {name for name, column in known.items() if column and column.role in roles and not column.joint}
    notes: list[str] = []
    return Times(_time(table, known, None, np.empty(0), notes), used, notes)


def some_names(names: Collection[str]) -> str:
    """The first names of many, in words."""
    return f"{', '.join(list(names)[:12])}{' ...' if len(names) > 12 else ''}"


def _require(roles: Mapping[str, NDArray], stamped: bool, names: Collection[str], arm: Arm, where: str) -> None:
    """Raise where positions or torques are missing; all that is missing is said at once."""
    missing = [role for role in CALLED if role not in roles]
    if missing:
        kinds = " and ".join(CALLED[role] for role in missing)
        like = ", ".join(f"{role}1{f' .. {role}{arm.n}' if arm.n > 1 else ''}" for role in missing)
        wanted = ", ".join(f"'{role}': [...]" for role in (*missing, *(() if stamped else ("t",))))
        cause = f"no columns of joint {kinds} for the {pluralize(arm.n, 'joint')}"
        expected = f"names like {like}, or columns={{{wanted}}}"
        raise ReadError(cause, where=where, expected=expected, got=some_names(names))
    for role, called in CALLED.items():
        empty = np.flatnonzero(~np.isfinite(roles[role]).any(axis=0))
        if len(empty) and (role == "q" or len(empty) == arm.n):  # joints may have no torque sensor
            cause = f"{called} of joint {empty[0] + 1} '{arm.coordinate_names[empty[0]]}' hold no numbers"
            raise ReadError(cause, where=where, names=(arm.coordinate_names[empty[0]],))


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
    table: Mapping[str, NDArray],
    known: Mapping[str, Column | None],
    names: list[str] | None,
    moves: NDArray,
    notes: list[str],
) -> NDArray | None:
    """Stamps [s], or None where there are none; `moves` (see `_steps`) tell units of time that cannot be."""
    stamps = names or _named_times("time", known)
    halves = _named_times("whole seconds", known) + _named_times("rest of seconds", known)
    if not stamps and len(halves) == 2:
        notes.insert(0, f"times: {halves[0]} and {halves[1]}")
        return np.asarray(table[halves[0]], float) + 1e-9 * np.asarray(table[halves[1]], float)
    if not stamps:
        return None
    column = known[stamps[0]]
    t = np.asarray(table[stamps[0]], float)
    if column and column.unit in UNITS:
        return t * UNITS[column.unit]
    step = _step(t)
    row = np.ptp(t[np.isfinite(t)]) / max(len(t) - 1, 1) if np.isfinite(t).any() else 0.0
    guess = next((clock for clock in CLOCKS if step * clock[0] <= DYNAMICS_SECONDS), None)
    # Going there and back is twice the range; no arm does so within what would be a gap.
    if guess in (None, CLOCKS[0]) or (len(moves) and np.median(moves) / 2 * GAP_SECONDS > row * guess[0]):
        return t
    notes.insert(0, f"times: {stamps[0]} has steps of {step:.3g}, taken as {guess[1]}; a name such as t_s would tell")
    return t * guess[0]


def _named_times(role: str, known: Mapping[str, Column | None]) -> list[str]:
    """Columns of times, the best name first."""
    ranked = [(column.rank, name) for name, column in known.items() if column and column.role == role]
    return [name for _, name in sorted(ranked) if not known[name].joint]  # type: ignore[union-attr]


def _step(t: NDArray) -> float:
    """The usual step of stamps that rise."""
    steps = np.diff(t)
    steps = steps[steps > 0]
    return float(np.median(steps)) if len(steps) else 0.0


def _of_role(role: str, known: Mapping[str, Column | None], arm: Arm, where: str) -> list[str] | None:
    """The n columns of a role in the arm's order, or None where there are none."""
    offered: dict[tuple[int, ...], dict[str, str]] = {}
    for name, column in known.items():
        if column and column.role == role:
            group = offered.setdefault(column.rank, {})
            if column.joint in group:
                cause = f"columns '{group[column.joint]}' and '{name}' both claim to be {role}{column.joint}"
                raise ReadError(cause, where=where, names=(group[column.joint], name))
            group[column.joint] = name
    for rank in sorted(offered):
        chosen = _in_order(offered[rank], arm)
        if chosen is not None:
            return chosen
        if role in CALLED:
            group = offered[rank]
            by_name = [name for name in arm.coordinate_names if name not in group]
            by_number = [str(k) for k in range(1, arm.n + 1) if str(k) not in group]
            missing = by_name if len(by_name) < len(by_number) else by_number
            if len(missing) == arm.n:  # the names mean something else
                continue
            if role == "tau" and (some := _some_joints(group, known, arm)):
                return some
            other = f" (a log of an arm with {len(group)} joints?)" if 1 < len(group) < arm.n else ""
            cause = (
                f"no column of {CALLED[role]} for joint{'s' if len(missing) > 1 else ''} {', '.join(missing):.200} of "
                f"arm '{arm.name}'; the file has {', '.join(group.values()):.200}{other}"
            )
            raise ReadError(cause, where=where, remedy=f"name them with columns={{'{role}': [...]}}", names=missing)
    return None


def _reject_surplus(columns: Mapping[str, list[str]], arm: Arm, where: str) -> None:
    """Raise where there are more columns than joints, for all roles at once."""
    if columns:
        many = "; ".join(f"{role}: {', '.join(some):.100}" for role, some in columns.items())
        first = ", ".join(f"'{role}': {some[: arm.n]}" for role, some in columns.items())
        cause = f"more columns than the {pluralize(arm.n, 'joint')} of arm '{arm.name}' ({many})"
        raise ReadError(cause, where=where, remedy=f"say which are those of the arm, such as columns={{{first}}}")


def _in_order(group: Mapping[str, str], arm: Arm) -> list[str] | None:
    """The columns, by joint, of one kind of name, or None where some are missing; too many where they are numbered."""
    if set(arm.coordinate_names) <= set(group):
        return [group[joint] for joint in arm.coordinate_names]
    numbers = sorted(int(joint) for joint in group if joint.isdigit())
    if len(numbers) >= arm.n and numbers[0] in (0, 1) and numbers == list(range(numbers[0], numbers[0] + len(numbers))):
        return [group[str(k)] for k in numbers]
    return list(group.values()) if arm.n == 1 and len(group) == 1 else None


def _some_joints(group: Mapping[str, str], known: Mapping[str, Column | None], arm: Arm) -> list[str] | None:
    """Columns of torques that some joints have, "" for the others; None where positions are not of all joints."""
    positions = {column.joint for column in known.values() if column and column.role == "q"}
    first = 0 if "0" in positions or "0" in group else 1
    for joints in (arm.coordinate_names, [str(first + k) for k in range(arm.n)]):
        if set(joints) <= positions and set(group) <= set(joints):
            return [group.get(joint, "") for joint in joints]
    return None


def _with_missing(x: NDArray, names: list[str]) -> NDArray:
    """Columns (N, k) at their places among n, with NaN for those that are not there."""
    whole = np.full((len(x), len(names)), np.nan)
    whole[:, [k for k, name in enumerate(names) if name]] = x
    return whole


def _scale(units: list[str], role: str, arm: Arm, angle: str | None, where: str) -> tuple[NDArray, str]:
    """Factors (n,) to SI units, by the names' units or by `angle`, and words on it."""
    unknown = next((unit for unit in units if unit and unit not in UNITS), None)
    if unknown is not None:
        expected = "one such as rad, deg, mm, N m, A, ms"
        raise ReadError(f"the unit '{unknown}' is not known", where=where, expected=expected, names=(unknown,))
    turns = np.array([joint.kind == "revolute" for joint in arm.coordinate_joints])
    angles = role in ("q", "qd") and turns.any()
    if any(units):
        factors = {UNITS[unit] for unit, turning in zip(units, turns, strict=True) if unit and turning}
        if angles and angle is not None and factors != {DEGREE if angle == "deg" else 1.0}:
            raise ReadError(f"the name says {units[0]}, angle= says {angle}", where=where)
        kinds = ", ".join(dict.fromkeys(unit for unit in units if unit))
        return np.array([UNITS.get(unit, 1.0) for unit in units]), f", unit {kinds} by its name"
    if angles and angle == "deg":
        return np.where(turns, DEGREE, 1.0), ", degrees, as requested"
    usual = SI[role][0 if turns.all() else 1 if not turns.any() else 2]
    requested = angles and angle is not None
    return np.ones(arm.n), ", radians, as requested" if requested else f", no unit in the header; assuming {usual}"
