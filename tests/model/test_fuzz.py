"""Thousands of damaged descriptions: each gives an arm or an armdyn error, soon."""

from __future__ import annotations

import random
import time
import warnings

import numpy as np
import pytest

from armdyn import Arm
from armdyn.errors import ArmdynError
from armdyn.model.dh_table import parse_csv
from armdyn.model.toml_format import arm_from_toml, toml_text

ROWS = [
    {"kind": "R", "alpha": np.pi / 2, "a": 0.1, "mass": 2.0, "com": [0.1, 0, 0], "inertia": (0.1 * np.eye(3)).tolist()}
    | {"limits": [-1, 1], "friction": {"viscous": 1.0, "harmonics": [[1.0, 0.1, 0.2]]}, "name": "shoulder"},
    {"kind": "P", "d": 0.3, "theta": 0.4, "inertial": [1, 0, 0, 0, 1, 0, 1, 0, 0, 1], "drive": {"gear_ratio": 50}},
]
COMPLETE = toml_text(Arm.from_dh(ROWS, "modified", notes=["a note"], tool_pose=np.eye(4)[[1, 2, 0, 3]]))
DH_TOML = """
convention = "modified"
gravity = [0, 0, -9.81]
tool_pose = { xyz = [0, 0, 0.1], rpy = [0, 0.2, 0] }
[[row]]
kind = "R"
alpha = "pi/2"
limits = { lower = -1.0, upper = 1.0 }
mass = 2.0
com = [0.1, 0.0, 0.0]
inertia = [[0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.1]]
[[row]]
kind = "P"
d = 0.5
"""
MEMBERS = """
[[member]]
kind = "RP"
e_prev = [0.0, 0.0, 1.0]
e_own = [0.0, 0.0, 1.0]
r_prev = [-0.1, 0.02, -0.3]
r_own = [1.0, 0.0, 0.0]
mass = 4.0
inertia = [0.05, 0.12, 0.1]
turn = { limits = { lower = -3.0, upper = 3.0 } }
"""
CSV = """\
# convention: modified
# gravity: 0 0 -9.81
name,kind,a,alpha,d,theta,mass,cx,cy,cz,ixx,ixy,iyy,ixz,iyz,izz,lower,upper
waist,R,0,0,0,0,1,0,0,0,0.1,0,0.1,0,0,0.1,-1,1
arm,P,0.4,-pi/2,0.2,0,,,,,,,,,,,-2,2
"""


def from_csv(text):
    table = parse_csv(text)
    return Arm.from_dh(table.rows, **table.options)


TOKENS = [
    "nan", "-inf", "1e400", "1e-400", "-1", "0", "[]", "{}", "[[", "]]", '"', "'''", "=", ",", "\n", "\x00", "\x7f",
    "true", "1979-05-27", "0x7fffffffffffffff", "9" * 5000, "[" * 3000, "é", "pi/0", "\U0001f916", "[[joint]]",
    "[[row]]", "name", "kind", "theta = 3", "mass = -1", "physical = false", "#", "\r", "\\", "joint.x = 1",
]  # fmt: skip


def mutated(text: str, rng: random.Random) -> str:
    """The text with a few random wounds: pieces cut, doubled, swapped, bytes changed, tokens put in."""
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        i, j = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        j = min(j, i + rng.choice([1, 3, 30, 300]))
        piece = text[i:j]
        wound = rng.randrange(6)
        if wound == 0:
            piece = ""
        elif wound == 1:
            piece *= 2
        elif wound == 2:
            piece = rng.choice(TOKENS)
        elif wound == 3:
            piece = rng.choice(TOKENS) + piece
        elif wound == 4:
            piece = "".join(chr((ord(c) + rng.randrange(1, 90)) % 0x300) for c in piece[:3]) + piece[3:]
        else:
            return text[:i]  # a truncated file
        text = text[:i] + piece + text[j:]
    return text


def outcome(build):
    """What a description gives: an arm, or an armdyn error of one sentence. Anything else is let through."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nor may a damaged file make NumPy complain
        try:
            return build()
        except ArmdynError as error:
            return error


def check(result):
    if isinstance(result, Arm):
        assert len(result.segments) == result.n
        assert len(result.fingerprint) == 64
    else:
        assert 10 < len(str(result)) < 1000, str(result)
        assert "\n" not in str(result).strip(), str(result)


@pytest.mark.parametrize(
    ("text", "read"),
    [(COMPLETE, arm_from_toml), (DH_TOML, arm_from_toml), (MEMBERS, arm_from_toml), (CSV, from_csv)],
    ids=["toml", "dh-toml", "members-toml", "csv"],
)
def test_damaged_text_gives_an_arm_or_an_armdyn_error(text, read):
    rng = random.Random(2024)
    assert isinstance(read(text), Arm)
    arms = 0
    for _ in range(500):
        wounded = mutated(text, rng)
        start = time.perf_counter()
        result = outcome(lambda wounded=wounded: read(wounded))
        assert time.perf_counter() - start < 2.0, wounded  # a millisecond on an idle machine
        check(result)
        arms += isinstance(result, Arm)
    assert 5 < arms < 400  # the wounds are neither all deadly nor all harmless


ANYTHING = [None, True, -1, 0, 10**400, 1e308, np.nan, np.inf, "R", "pi", "", b"R", [], [1, 2], {}, {"x": 1}]
ANYTHING += [np.eye(3), object, "x" * 5000, ["a"] * 10, (1, "a"), {1, 2}]
KEYS = ["kind", "a", "alpha", "d", "theta", "alpha_deg", "mass", "com", "inertia", "inertial", "limits"]
KEYS += ["friction", "drive", "name", "link", "other", 3]


def test_rows_of_anything_give_an_arm_or_an_armdyn_error():
    rng = random.Random(7)
    for _ in range(1000):
        rows = [dict(row) for row in ROWS]
        for _ in range(rng.choice([1, 2, 3])):
            rng.choice(rows)[rng.choice(KEYS)] = rng.choice(ANYTHING)
        options = {"convention": rng.choice(["standard", "modified"])}
        if rng.random() < 0.2:
            options[rng.choice(["gravity", "name", "base_pose", "notes", "convention"])] = rng.choice(ANYTHING)
        check(outcome(lambda rows=rows, options=options: Arm.from_dh(rows, **options)))


MEMBER_KEYS = ["kind", "name", "e_prev", "e_own", "r_prev", "r_own", "a_prev", "mass", "inertia", "turn", "m", "x"]


def test_members_of_anything_give_an_arm_or_an_armdyn_error():
    rng = random.Random(8)
    for _ in range(500):
        member = {"e_prev": (0, 0, 1), "e_own": (0, 1, 0), "r_prev": (1, 0, 0), "r_own": (1, 0, 0), "mass": 1.0}
        for _ in range(rng.choice([1, 2, 3])):
            member[rng.choice(MEMBER_KEYS)] = rng.choice(ANYTHING)
        check(outcome(lambda member=member: Arm.from_vectors([member])))
