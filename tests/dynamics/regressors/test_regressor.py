"""The torque regressor against Newton-Euler, golden numbers and Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ShapeError

# Round-off of a few hundred operations on torques of order 100.
CLOSE = {"rtol": 1e-12, "atol": 1e-11}

# The golden files list a link's tensor as xx, yy, zz, xy, xz, yz.
GOLDEN_ORDER = np.array([0, 1, 2, 3, 4, 7, 5, 8, 9, 6])


@pytest.mark.parametrize("kinds", ["R", "P", "RPR", "PRP", "RRPRRR"])
def test_regressor_times_theta_is_inverse_dynamics(random_arm, kinds):
    arm = random_arm(kinds, seed=3)
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 6, arm.n))
    Y = armdyn.regressor(arm, q, qd, qdd)
    assert Y.shape == (6, arm.n, 10 * arm.n)
    np.testing.assert_allclose(Y @ arm.theta, armdyn.inverse_dynamics(arm, q, qd, qdd), **CLOSE)


def test_columns_are_torques_of_unit_parameters(random_arm):
    """Every column, not only their sum with one theta."""
    arm = random_arm("RPR", seed=5)
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, arm.n))
    unit = armdyn.inverse_dynamics(arm, q, qd, qdd, theta=np.eye(10 * arm.n))
    np.testing.assert_allclose(armdyn.regressor(arm, q, qd, qdd), unit.T, **CLOSE)


def test_joints_do_not_feel_links_before_them(random_arm):
    arm = random_arm("RRP", seed=1)
    Y = armdyn.regressor(arm, *np.ones((3, arm.n)))
    for j in range(arm.n):
        assert not Y[j + 1 :, 10 * j : 10 * (j + 1)].any()


@pytest.mark.parametrize("name", ["regressor_planar2R", "regressor_general_RPR_sdh", "regressor_puma560_mdh_akb"])
def test_golden_regressors(golden, golden_arm, name):
    data = golden(name)
    arm = golden_arm(data["robot"])
    order = np.concatenate([10 * i + GOLDEN_ORDER for i in range(arm.n)])
    for case in data["cases"]:
        Y = armdyn.regressor(arm, case["q"], case["qd"], case["qdd"])
        np.testing.assert_allclose(Y, np.array(case["Y10"])[:, order], rtol=1e-11, atol=1e-12)


def test_wrong_shape_is_named(random_arm):
    arm = random_arm("RR", seed=0)
    with raises(ShapeError, where="regressor", expected="qdd of shape (..., 2) for arm 'RR'", got="(3,)"):
        armdyn.regressor(arm, [0, 0], [0, 0], [0, 0, 0])


def test_against_pinocchio():
    pin = pytest.importorskip("pinocchio")
    from armdyn.model.pinocchio_bridge import to_pinocchio

    arm = armdyn.arms.panda()
    model = to_pinocchio(arm)
    data = model.createData()
    q, qd, qdd = np.random.default_rng(3).uniform(-1, 1, (3, 20, arm.n))
    Y = armdyn.regressor(arm, q, qd, qdd)
    for k in range(20):
        expected = pin.computeJointTorqueRegressor(model, data, q[k], qd[k], qdd[k])
        np.testing.assert_allclose(Y[k], expected, **CLOSE)
