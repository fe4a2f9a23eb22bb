"""The 3-joint PUMA of Kapadia's thesis: all 45 coefficients of appendix A, and its motors."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn import Arm

# The thesis writes J for the moments of inertia.
SYMBOLS = str.maketrans("J", "I")


@pytest.fixture(scope="module")
def appendix(golden):
    return golden("puma3_regressor")


def puma3(L: float, g: float) -> Arm:
    """Modified DH with alpha = (0, 90°, 0), a = (0, 0, L), d = 0 (erratum 1)."""
    rows = [{"kind": "R", "a": a, "alpha": alpha} for a, alpha in ((0, 0), (0, np.pi / 2), (L, 0))]
    return Arm.from_dh(rows, convention="modified", gravity=[0, 0, -g])


def test_all_45_coefficients(appendix):
    base = armdyn.base_parameters(puma3(appendix["L"], appendix["g"]))
    columns = [name.translate(SYMBOLS) for name in appendix["columns"]]
    assert sorted(columns) == sorted(base.labels)
    order = [base.labels.index(name) for name in columns]
    for case in appendix["cases"]:
        Y = base.regressor(case["q"], case["qd"], case["qdd"])
        np.testing.assert_allclose(Y[:, order], case["Y"], rtol=1e-11, atol=1e-12)


def test_a_third_motor_is_a_sixteenth_parameter():
    arm = armdyn.arms.puma3()
    with_rotors = armdyn.base_parameters(arm, joint_terms=("rotor",))
    assert with_rotors.count == 16
    rigid = armdyn.base_parameters(arm)
    motors = [joint.drive.reflected_inertia for joint in arm.joints]
    assert min(motors) > 0
    values = dict(zip(with_rotors.labels, with_rotors.theta, strict=True))
    for label, motor in (("Izz1", motors[0]), ("Izz2", motors[1])):
        assert values[label] == pytest.approx(dict(zip(rigid.labels, rigid.theta, strict=True))[label] + motor)
    assert values["Ia3"] == pytest.approx(motors[2])
