"""What the name of a column of a log says: its role, its joint, its unit."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import NamedTuple

import numpy as np

# Names, lower case and without separators, of each role. The first that a file has is taken.
ROLES = {
    "time": ("t", "time", "times", "timestamp", "timestamps", "stamp", "headerstamp", "sec", "secs", "seconds"),
    "q": ("q", "position", "positions", "pos", "posa", "angle", "angles", "theta", "thetas", "qpos", "jointposition",
          "jointpositions", "jointpos", "jointangle", "jointangles", "qm", "qmot", "qlink"),
    "qd": ("qd", "dq", "qdot", "velocity", "velocities", "vel", "speed", "thetadot", "qvel", "jointvelocity",
           "jointvelocities", "jointvel", "dqmot"),
    "tau": ("tau", "tauj", "torque", "torques", "effort", "efforts", "eff", "trq", "jointtorque", "jointtorques",
            "jointeffort", "force", "forces"),
    "temperature": ("temperature", "temperatures", "temp", "temps", "jointtemperature", "motortemperature"),
    "current": ("i", "current", "currents", "cur", "motorcurrent", "motorcurrents"),
    "whole seconds": ("headerstampsec", "stampsec"),
    "rest of seconds": ("headerstampnanosec", "stampnanosec"),
}  # fmt: skip
ROLE_OF = {name: role for role, names in ROLES.items() for name in names}
RANK = {name: rank for names in ROLES.values() for rank, name in enumerate(names)}

# Words that say how a value came about, the best first: what was measured is taken before what was asked for.
MEASURED_WORDS = ("measured", "meas", "actual", "act")
COMMANDED_WORDS = (
    "feedforward",
    "commanded",
    "command",
    "cmd",
    "desired",
    "des",
    "reference",
    "ref",
    "target",
    "setpoint",
    "goal",
    "ff",
)
MOTORS = ("motors", "motor", "actuators", "actuator")

DEGREE, TURN = np.pi / 180, 2 * np.pi  # rad
UNITS = {
    "deg": DEGREE, "degree": DEGREE, "degrees": DEGREE, "degs": DEGREE, "dps": DEGREE, "rad": 1.0, "rads": 1.0,
    "rev": TURN, "revs": TURN, "turn": TURN, "turns": TURN, "rpm": TURN / 60, "rps": TURN,
    "m": 1.0, "mm": 1e-3, "cm": 1e-2, "s": 1.0, "sec": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "nm": 1.0, "mnm": 1e-3,
    "ncm": 1e-2, "knm": 1e3, "n": 1.0, "kn": 1e3, "a": 1.0, "ma": 1e-3, "v": 1.0, "mv": 1e-3, "mps": 1.0,
}  # fmt: skip
RATES = ("deg", "degree", "degrees", "rad", "rev", "turns", "m", "mm", "cm")  # units that may go on "a second"

# Words about where a value comes from, in names such as /joint_states/elbow/position or field.effort0.
ORIGINS = ("states", "state", "jointstates", "field", "msg", "data", "robot", "sensor", "feedback")

DEGREES = ("c", "k", "degc", "celsius", "kelvin")  # units of temperatures; elsewhere c is "commanded"


class Origin(IntEnum):
    """Ways in which values come about, the best first."""

    MEASURED = 0
    UNSAID = 1
    FEEDBACK = 2
    COMMANDED = 3


class Column(NamedTuple):
    """Meaning of a column's name."""

    role: str
    joint: str  # number or name of the joint, "" for time and for matrices
    unit: str  # one of UNITS, an unknown one, or "" where the name carries none
    rank: tuple[Origin, bool, int]  # lower is the better of several names for one role
    motor: bool = False  # whether the name is a motor's, not a joint's

    @property
    def commanded(self) -> bool:
        """Whether values were asked for, not measured."""
        return self.rank[0] == Origin.COMMANDED


def understand(name: str, joints: tuple[str, ...]) -> Column | None:
    """The role, joint and unit of a column, or None if its name says nothing known."""
    joint, text = _without_joint(name.strip().lower().replace("°", "deg").replace("º", "deg"), joints)
    unit, text = _split_unit(text)
    words = [word for word in re.split(r"[^a-z0-9]+", text) if word]
    if len(words) > 2 and words[-1] in ("s", "sec") and words[-2] in RATES:
        words.pop()
    if len(words) > 2 and words[-2:] == ["n", "m"]:
        words[-2:] = ["nm"]
    if not unit and len(words) > 1 and words[-1] in UNITS and not _whole(words):
        unit = words.pop()
    if len(words) > 1 and words[-1] in DEGREES and "temp" in text:
        words.pop()
    return _role(words, joint, unit)


def _whole(words: list[str]) -> bool:
    """Whether the last word is part of a name and no unit, as in header.stamp.sec."""
    return words[-1] == "sec" and "stamp" in words


def _without_joint(text: str, joints: tuple[str, ...]) -> tuple[str, str]:
    """The joint that is named, and the rest; the longest name first, for one may be part of another."""
    for candidate in sorted(joints, key=len, reverse=True):
        pattern = re.escape(candidate.lower())
        if len(candidate) > 1 and (match := re.search(rf"(?:^|[^a-z0-9]){pattern}(?:$|[^a-z0-9])", text)):
            return candidate, f"{text[: match.start()]} {text[match.end() :]}"
    return "", text


def _split_unit(text: str) -> tuple[str, str]:
    """A unit in brackets at the end, as in q1 [deg/s] or tau1 (N m), and the rest.

    What stands in round brackets may be any remark; in square ones without digits it is a unit.
    """
    match = re.search(r"([\[(])([^\[\](\d)]+)[\])]\s*$", text)
    if not match:
        return "", text
    unit = plain_unit(match.group(2))
    unit = "" if unit in (*DEGREES, "-") else unit
    return (unit if unit in UNITS or match.group(1) == "[" else ""), text[: match.start()]


def plain_unit(text: str) -> str:
    """A unit as in UNITS: without dots and spaces, and without "a second"."""
    return re.sub(r"[\s·⋅*.]|/s(ec)?$", "", text.strip().lower().replace("°", "deg"))


def _role(words: list[str], joint: str, unit: str) -> Column | None:
    letters, number = "", joint
    several = [word for word in words if word not in ORIGINS]
    for word in several or words:
        match = re.fullmatch(r"([a-z]*)(\d*)", word)
        if match is None:
            return None
        head = match.group(1)
        letters += "" if head in ("joint", "j", "axis", "a") and len(words) > 1 else head
        if match.group(2):
            if number:
                return None
            number = str(int(match.group(2)))
    plain, origin = _without_origin(letters)
    motor = plain not in ROLE_OF and any(word in plain for word in MOTORS)
    if motor:
        plain, origin = _without_origin(re.sub("|".join(MOTORS), "", letters, count=1))
    role = ROLE_OF.get(plain)
    # Positions that were asked for are not those reached.
    if role is None or (origin == Origin.COMMANDED and role != "tau"):
        return None
    if origin == Origin.UNSAID and "feedback" in words:
        origin = Origin.FEEDBACK
    return Column(role, number, unit, (origin, motor, RANK[plain]), motor)


def _without_origin(letters: str) -> tuple[str, Origin]:
    """A name without the word that says how its value came about, and what that word says."""
    if letters in ROLE_OF:
        return letters, Origin.UNSAID
    for origin, some in ((Origin.MEASURED, MEASURED_WORDS), (Origin.COMMANDED, COMMANDED_WORDS)):
        for word in some:
            for rest in (letters.removesuffix(word), letters.removeprefix(word)):
                if rest != letters and rest in ROLE_OF:
                    return rest, origin
    return letters, Origin.UNSAID
