"""Words and numbers of Kapadia's generator as a description."""

from __future__ import annotations

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ReadError

TEXT = """number_link 3
SIGMA 0 1 0
AL 90 0 -90
TH 0 0 30
R 0.3 0 0.1
D 0 0.4 0.02
M 2 3 1
MX 0.1 -.3 0
MZ 0 0 - .02
XX 0.2 0.3 0.1
XY 0 .05 0
YY .25 .3 .1
ZZ .3 .4 .1
IA 0 0.7 0
FS .1 -.07 .09   ; estimated
FV .15 .2 .09
GZ 9.81
stop
anything after it is not read
"""


@pytest.fixture
def arm(tmp_path):
    (tmp_path / "three.dyn").write_text(TEXT)
    return armdyn.load(tmp_path / "three.dyn")


def test_rows_are_standard_dh_with_moments_about_the_frames(arm):
    rows = [
        {"kind": "R", "d": 0.3, "alpha": np.pi / 2, "inertial": [2, 0.1, 0, 0, 0.2, 0, 0.25, 0, 0, 0.3]},
        {"kind": "P", "a": 0.4, "inertial": [3, -0.3, 0, 0, 0.3, 0.05, 0.3, 0, 0, 0.4]},
        {
            "kind": "R", "d": 0.1, "a": 0.02, "alpha": -np.pi / 2, "theta": np.pi / 6,
            "inertial": [1, 0, 0, -0.02, 0.1, 0, 0.1, 0, 0, 0.1],
        },
    ]  # fmt: skip
    same = armdyn.Arm.from_dh(rows)
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 3))
    np.testing.assert_allclose(
        armdyn.inverse_dynamics(arm, q, qd, qdd), armdyn.inverse_dynamics(same, q, qd, qdd), atol=1e-12
    )
    assert arm.name == "three"
    np.testing.assert_array_equal(arm.gravity, [0, 0, -9.81])
    assert arm.joints[1].drive.reflected_inertia == 0.7
    assert arm.joints[2].friction.viscous == 0.09


def test_friction_below_zero_is_taken_as_zero_and_said(arm):
    assert arm.joints[1].friction.coulomb == 0.0
    assert any("FS of joint 2 is -0.07" in note for note in arm.notes)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("SIGMA 0", {"line": 1, "expected": "number_link first", "got": "'SIGMA'"}),
        ("", {"expected": "number_link first", "got": "''"}),
        ("number_link 0", {"expected": "1 to 1000 links", "got": "0"}),
        ("number_link 1e9", {"expected": "1 to 1000 links", "got": "1e+09"}),
        ("number_link 2\nAL 90", {"line": 2, "expected": "2 numbers after AL", "got": "'' as number 2"}),
        ("number_link 2\nAL 90 R 0 1", {"expected": "2 numbers after AL", "got": "'R' as number 2"}),
        ("number_link 1\nQQ 1", {"line": 2, "names": ("QQ",)}),
        ("number_link 1\nSIGMA 2", {"expected": "0 (revolute) or 1 (prismatic) after SIGMA", "got": "[2.0]"}),
        ("number_link 1\nM inf", {"expected": "finite numbers after M"}),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, text, parts):
    path = tmp_path / "bad.dyn"
    path.write_text(text)
    with raises(ReadError, **parts):
        armdyn.load(path)
