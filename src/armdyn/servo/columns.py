"""Which columns of a table are commanded and measured positions, by a word in their names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ReadError
from armdyn.identification.logs.column_names import UNITS, understand
from armdyn.identification.logs.columns import some_names
from armdyn.model.arm import Arm

# Words that loggers use, the likeliest first.
COMMANDED = (
    "action", "goal_position", "goal_pos", "command", "commanded", "q_cmd", "cmd", "target", "q_des", "desired", "goal",
    "q_ref", "reference",
)  # fmt: skip
MEASURED = (
    "observation.state", "present_position", "present_pos", "measured", "state", "actual", "q_meas", "position", "pos",
    "present", "q",
)  # fmt: skip
FILLER_WORDS = {"pos", "position", "joint", "j", "motor", "m", "id", "main", "servo", "arm", "follower", "rad", "deg"}
MAX_STEP_S = 0.9  # a usual step above it is no second: milliseconds or finer


def plain(name: str) -> str:
    """Lower case, words with one line between."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def find(
    table: Mapping[str, NDArray], arm: Arm, word: str | None, usual: Sequence[str], what: str, where: str
) -> tuple[list[str], str]:
    """Names of the n columns in the arm's order, and the word they share."""
    for candidate in [word] if word else usual:
        chosen = _of_word(table, arm, candidate)
        if chosen:
            return chosen, candidate
        offered = _columns_by_joint(table, arm, candidate)
        if word and offered:
            raise ReadError(
                f"'{candidate}' has columns {', '.join(offered.values()):.200}, but arm '{arm.name}' has the "
                f"{arm.n} joints {', '.join(arm.joint_names)}",
                where=where,
                remedy="name their motors, in this order, with motors=",
                names=(candidate,),
            )
    asked = f" '{word}'" if word else ""
    raise ReadError(
        f"no columns of {what} positions{asked} for {arm.n} joints",
        where=where,
        remedy=(
            f"give the word that their names share with {'command' if usual is COMMANDED else 'measured'}=; "
            f"there are {some_names(table)}"
        ),
    )


def _columns_by_joint(table: Mapping[str, NDArray], arm: Arm, word: str) -> dict[str, str]:
    """Columns of a word, by the name or number of their joint."""
    columns: dict[str, str] = {}
    names = {plain(joint): joint for joint in arm.joint_names}
    for column in table:
        match = re.search(rf"(?:^|_){re.escape(plain(word))}(?=_|\d|$)", plain(column))
        if not match:
            continue
        rest = f"{plain(column)[: match.start()]}_{plain(column)[match.end() :]}".strip("_")
        joint = next((n for n in sorted(names, key=len, reverse=True) if re.search(rf"(?:^|_){n}(?:_|$)", rest)), None)
        if joint is not None:
            columns.setdefault(names[joint], column)
            continue
        words = [w for w in rest.split("_") if w and w not in FILLER_WORDS]
        numbered = re.fullmatch(r"(?:[a-z]+)?(\d+)", words[0]) if len(words) == 1 else None
        if numbered and words[0].rstrip("0123456789") in ("", *FILLER_WORDS):
            columns.setdefault(str(int(numbered.group(1))), column)
        elif words and word != "q":
            columns.setdefault("_".join(words), column)
    return columns


def _of_word(table: Mapping[str, NDArray], arm: Arm, word: str) -> list[str] | None:
    offered = _columns_by_joint(table, arm, word)
    if set(arm.joint_names) <= set(offered):
        return [offered[name] for name in arm.joint_names]
    numbers = sorted(int(key) for key in offered if key.isdigit())
    if len(numbers) == arm.n == len(offered) and numbers[-1] - numbers[0] == arm.n - 1:
        return [offered[str(k)] for k in numbers]
    others = [key for key in offered if not re.search(r"\d", key)]
    # Motors of other names, one per joint: in the order of the file.
    return [offered[key] for key in others] if len(others) == arm.n == len(offered) else None


def unit_of(names: Sequence[str]) -> str | None:
    """The unit that all names carry, rad or deg."""
    units = {next((w for w in reversed(plain(n).split("_")) if w in ("rad", "deg")), None) for n in names}
    return units.pop() if len(units) == 1 else None


def times(table: Mapping[str, NDArray], arm: Arm, where: str) -> tuple[NDArray, list[str]]:
    """Stamps [s] of the rows, and a note where their unit was guessed."""
    known = {name: understand(name, arm.joint_names) for name in table}
    stamps = sorted((c.rank, name) for name, c in known.items() if c and c.role == "time" and not c.joint)
    if not stamps:
        names = some_names(table)
        raise ReadError(path=where, expected="a column of times", got=names, remedy="name it t, time or timestamp")
    name = stamps[0][1]
    t, column = np.asarray(table[name], float), known[name]
    if column and column.unit in UNITS:
        return t * UNITS[column.unit], []
    steps = np.diff(t)
    step = float(np.median(steps[steps > 0])) if (steps > 0).any() else 0.0
    for factor, unit in ((1e-3, "milliseconds"), (1e-6, "microseconds"), (1e-9, "nanoseconds")):
        if step > MAX_STEP_S and step * factor < MAX_STEP_S:
            return t * factor, [f"times: {name} has steps of {step:.3g}, taken as {unit}"]
    return t, []
