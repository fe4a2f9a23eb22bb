"""DH tables in CSV and TOML files."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.raising import raises

from armdyn import Arm, load
from armdyn.errors import ArmdynError, ReadError
from armdyn.model.dh_table import COLUMNS, parse_csv

PAPER = """\
# The first three joints of a PUMA 560, after Craig
# convention: modified
# gravity: 0 0 -9.8
name,  kind, a,      alpha, d,       theta
waist, R,    0,      0,     0,       0
arm,   R,    0,      -pi/2, 0.2435,  0
elbow, R,    0.4318, 0,     -0.0934, pi/2
"""


def test_a_table_as_papers_print_it(tmp_path, chain_poses):
    path = tmp_path / "puma.csv"
    path.write_text(PAPER)
    rows = [
        {"kind": "R", "name": "waist"},
        {"kind": "R", "name": "arm", "alpha": -np.pi / 2, "d": 0.2435},
        {"kind": "R", "name": "elbow", "a": 0.4318, "d": -0.0934, "theta": np.pi / 2},
    ]
    expected = Arm.from_dh(rows, "modified", gravity=(0, 0, -9.8), name="puma")
    for arm in (load(path), Arm.from_dh(path), Arm.from_dh(str(path))):
        assert arm.fingerprint == expected.fingerprint
    # what is given in the call has the last word
    assert Arm.from_dh(path, "standard").geometry_fingerprint != expected.geometry_fingerprint
    assert Arm.from_dh(path, name="x").name == "x"


def test_every_column():
    header = ",".join(COLUMNS).replace(",alpha_deg", "").replace(",theta_deg", "")
    cells = "slide,carriage,P,0.1,0.2,0.3,0.4,2,0.01,0.02,0.03,0.2,0.01,0.2,0.02,0.03,0.2,-1,1,2,50,3,4,5,1e-4,100,0.05"
    (row,), options = parse_csv(f"{header}\n{cells}\n", "axis.csv")
    joint = Arm.from_dh([row], **options).joints[0]
    assert (joint.name, joint.kind) == ("slide", "prismatic")
    assert (joint.limits.lower, joint.limits.upper, joint.limits.velocity, joint.limits.effort) == (-1, 1, 2, 50)
    assert (joint.friction.viscous, joint.friction.coulomb, joint.friction.offset) == (3, 4, 5)
    assert (joint.drive.rotor_inertia, joint.drive.gear_ratio, joint.drive.torque_constant) == (1e-4, 100, 0.05)
    np.testing.assert_array_equal(row["inertia"], [[0.2, 0.01, 0.02], [0.01, 0.2, 0.03], [0.02, 0.03, 0.2]])
    assert row["com"] == [0.01, 0.02, 0.03]


def test_degrees_are_labelled():
    (row,), _ = parse_csv("kind,alpha_deg,theta_deg\nR,90,-45\n")
    same = Arm.from_dh([{"kind": "R", "alpha": np.pi / 2, "theta": -np.pi / 4}])
    assert Arm.from_dh([row]).geometry_fingerprint == same.geometry_fingerprint


def test_empty_cells_are_unknown():
    rows, _ = parse_csv("kind,mass,cx,cy,cz\nR,,,,\nR,2,0,0,0\n")
    assert rows[0] == {"kind": "R"}
    assert rows[1] == {"kind": "R", "mass": 2.0, "com": [0.0, 0.0, 0.0]}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", {"expected": "a header line and one line per joint", "got": "0 lines"}),
        ("kind,a\n", {"got": "1 lines"}),
        (
            "kind,alfa\nR,1\n",
            {
                "cause": "unknown column 'alfa'",
                "expected": (
                    "some of name, link, kind, a, alpha, d, theta, alpha_deg, theta_deg, mass, cx, "
                    "cy, cz, ixx, ixy, iyy, ixz, iyz, izz, lower, upper, velocity, effort, "
                    "viscous, coulomb, offset, rotor_inertia, gear_ratio, torque_constant"
                ),
                "names": ("'alfa'",),
            },
        ),
        ("kind,a,a\nR,1,1\n", {"cause": "column a appears more than once", "names": ("a",)}),
        ("kind,a,d\nR,1\n", {"cause": "row 1 has 2 cells, but the header has 3", "remedy": re.compile("truncated")}),
        ("kind,a\nR,one\n", {"where": "DH table: row 1, column a", "expected": "a number", "got": "'one'"}),
        ("kind,a\nR,inf\n", {"where": "DH table: row 1, column a", "expected": "a finite number"}),
        ("kind,cx\nR,1\n", {"expected": "all of the columns cx, cy, cz or none", "got": "cx"}),
        (
            "kind,mass,cx,cy,cz\nR,1,0,,0\n",
            {"where": "DH table: row 1", "expected": "numbers in all of the columns cx, cy, cz or in none"},
        ),
        ('kind,a\nR,"1\n', {"cause": re.compile("not a CSV table")}),
        ("# gravity: down\nkind,a\nR,1\n", {"where": "DH table: gravity", "expected": "a number", "got": "'down'"}),
    ],
)
def test_bad_tables_are_rejected(text, parts):
    with raises(ArmdynError, **parts):
        parse_csv(text)


def test_errors_name_the_file(tmp_path):
    path = tmp_path / "arm.csv"
    path.write_text("kind,a\nX,1\n")
    with raises(
        ArmdynError,
        file="arm.csv",
        cause="DH row 1: unknown kind of joint 'X'; expected one of R, P, revolute, prismatic",
    ):
        load(path)


def test_other_files_are_no_tables(tmp_path):
    with raises(ReadError, names=(".xls",), expected=".csv or .toml"):
        Arm.from_dh(tmp_path / "arm.xls")
