"""What the names of columns of measured poses say: joints as in logs, coordinates of markers, rotations, units."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ReadError
from armdyn.identification.logs.column_names import DEGREE, UNITS, Origin, understand

LENGTHS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "in": 0.0254}
ANGLES = {"rad": 1.0, "deg": DEGREE}
UNIT = re.compile(r"^(.*?)(?:\s*[\[(]\s*([A-Za-z°º]+)\s*[\])]|_([A-Za-z]+))$")
# Words before coordinates that say nothing but whose they are, as in pose.position.x or marker2_x.
OWNERS = {"p", "m", "t", "pos", "position", "point", "marker", "pose", "translation", "tcp", "tool", "tip", "smr"}
TURNS = {"q", "quat", "quaternion", "orientation"}
BEST = (Origin.MEASURED, False, 0)


class PoseColumn(NamedTuple):
    """A column of a file."""

    name: str  # as the file has it
    values: NDArray
    factor: float | None  # of the unit that stands in the name
    rank: tuple[int, ...]  # lower is the better of several for one quantity


def pose_columns(columns: Mapping[str, NDArray], joints: tuple[str, ...], where: str) -> dict[str, PoseColumn]:
    """Columns by plain name: a joint's own, q1, x or x2, qw, roll; others in lower case."""
    table: dict[str, PoseColumn] = {}
    for name, values in columns.items():
        text, factor = _split_unit(name.strip(), where)
        plain, rank = _plain_name(text, joints)
        column = PoseColumn(name, np.asarray(values, float), factor, rank)
        if plain not in table or rank < table[plain].rank:
            table[plain] = column
        elif rank == table[plain].rank:
            cause = f"columns '{table[plain].name}' and '{name}' both claim to be {plain}"
            raise ReadError(cause, where=where, names=(table[plain].name, name))
    return table


def _plain_name(text: str, joints: tuple[str, ...]) -> tuple[str, tuple[int, ...]]:
    if text in joints:
        return text, BEST
    if (meaning := understand(text, joints)) and meaning.role == "q" and meaning.joint:
        return (f"q{meaning.joint}" if meaning.joint.isdigit() else meaning.joint), meaning.rank
    words = re.findall(r"[a-z]+|\d+", text.lower())
    number = "".join(word for word in words if word.isdigit())
    letters = [word for word in words if not word.isdigit()]
    if letters in (["j"], ["joint"], ["axis"]) and number:
        return f"q{int(number)}", (Origin.COMMANDED, False, 0)  # any name that says more is better
    owner, axis = letters[:-1], letters[-1] if letters else ""
    if axis in ("px", "py", "pz") or (axis in tuple("xyz") and OWNERS.issuperset(owner)):
        return f"{axis[-1]}{number}", BEST
    if axis in tuple("xyzw") and TURNS.intersection(owner) and not number:
        return f"q{axis}", BEST
    return text.lower(), BEST


def _split_unit(name: str, where: str) -> tuple[str, float | None]:
    """A column's name without its unit, and the unit's factor, None where it has none."""
    match = UNIT.match(name)
    if match is None:
        return name, None
    unit = (match[2] or match[3]).lower().replace("°", "deg").replace("º", "deg")
    factor = (UNITS | LENGTHS).get(unit)
    if factor is not None and (match[2] or unit in LENGTHS or unit in ANGLES):
        return match[1].strip(), factor
    if match[2] and name.endswith("]"):
        cause = f"the unit '{match[2]}' is not known"
        raise ReadError(cause, where=f"{where}: column '{name}'", expected="rad, deg, m, mm or in", names=(match[2],))
    return name, None
