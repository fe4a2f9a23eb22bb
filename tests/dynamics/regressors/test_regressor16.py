"""Lu and Meng's sixteen-parameter regressor: two derivations, golden numbers, the two-link example."""

from __future__ import annotations

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import Arm, Inertia
from armdyn.dynamics.regressors.regressor16 import (
    parameter_names16,
    ten_from_sixteen,
)
from armdyn.errors import ArmdynError, ModelError

# Both derivations and the ten-parameter form agree to round-off; the entries are of order 10.
CLOSE = {"rtol": 1e-12, "atol": 1e-12}


@pytest.mark.parametrize("kinds", ["R", "P", "RPR", "PRP", "RRPR"])
def test_iteration_closed_form_and_ten_parameters_agree(random_arm, kinds):
    arm = random_arm(kinds, seed=3)
    state = np.random.default_rng(0).normal(size=(3, 4, arm.n))
    by_iteration = armdyn.regressor16(arm, *state)
    assert by_iteration.shape == (4, arm.n, 16 * arm.n)
    np.testing.assert_allclose(by_iteration, armdyn.regressor16(arm, *state, form="closed"), **CLOSE)
    ten = np.kron(np.eye(arm.n), ten_from_sixteen())
    np.testing.assert_allclose(by_iteration, armdyn.regressor(arm, *state) @ ten, **CLOSE)
    np.testing.assert_allclose(ten @ armdyn.theta16(arm), arm.theta, **CLOSE)


@pytest.mark.parametrize("form", ["iteration", "closed"])
def test_load_is_link_n_plus_1_in_the_tip_frame(random_arm, form):
    arm = random_arm("RPR", seed=8)
    state = np.random.default_rng(1).normal(size=(3, 4, arm.n))
    body = (0.7, [0.1, -0.2, 0.05], np.diag([0.02, 0.03, 0.04]))
    Y = armdyn.regressor16(arm, *state, load=True, form=form)
    assert Y.shape == (4, arm.n, 16 * (arm.n + 1))
    tau = armdyn.inverse_dynamics(arm.with_payload(*body), *state)
    theta = armdyn.theta16(arm, load=Inertia.from_com(*body))
    np.testing.assert_allclose(Y @ theta, tau, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("name", ["regressor_planar2R", "regressor_general_RPR_sdh"])
@pytest.mark.parametrize("form", ["iteration", "closed"])
def test_golden(golden, golden_arm, name, form):
    data = golden(name)
    arm = golden_arm(data["robot"])
    np.testing.assert_allclose(armdyn.theta16(arm), data["theta16"], rtol=1e-12, atol=1e-14)
    for case in data["cases"]:
        Y = armdyn.regressor16(arm, case["q"], case["qd"], case["qdd"], form=form)
        np.testing.assert_allclose(Y, case["Y16"], rtol=1e-11, atol=1e-12)


def two_links_with_load(l1: float, l2: float, g: float) -> Arm:
    """Section III-C: point masses at the origins of modified DH frames, load frame at the end of link 2."""
    rows = [{"kind": "R", "a": a, "mass": 1.0, "com": [0, 0, 0]} for a in (0.0, l1)]
    tool = np.eye(4)
    tool[0, 3] = l2
    return Arm.from_dh(rows, convention="modified", gravity=[0, -g, 0], tool_pose=tool)


@pytest.mark.parametrize("form", ["iteration", "closed"])
def test_two_link_load_example(golden, form):
    """(65) corrected (erratum 2), with the shapes of section III-B."""
    names = parameter_names16(2, load=True)
    # Masses at the origins of links 1 and 2; the load a bar along x: m, m px, m px², Ixx, Iyy, Izz.
    kept = [0, 16, *(32 + k for k in (0, 1, 4, 10, 11, 12))]
    wanted = ["m2", "m3", "mpx3", "mpxx3", "Izz3"]
    for case in golden("two_links_with_a_bar")["cases"]:
        arm = two_links_with_load(case["l1"], case["l2"], case["g"])
        Y = armdyn.regressor16(arm, case["q"], case["qd"], case["qdd"], load=True, form=form)
        columns = {names[k]: Y[:, k] for k in kept}
        dropped = set(columns) - set(wanted)
        assert dropped == {"m1", "Ixx3", "Iyy3"}
        assert all(not columns[name].any() for name in dropped)
        np.testing.assert_allclose(np.stack([columns[name] for name in wanted], 1), case["Y"], rtol=1e-12, atol=1e-12)


def test_unknown_quantities_and_the_entries_that_contain_them(random_arm):
    """(15)-(18): changing a quantity changes exactly the entries named, and known and unknown parts add up."""
    arm = random_arm("RR", seed=0)
    names = parameter_names16(2, load=True)
    unknown = [names.index(name) for name in ("mpx3", "mpxx3", "mpxy3", "mpxz3")]
    loads = [Inertia.from_com(0.5, [x, 0.2, 0.3], np.eye(3)) for x in (0.1, 0.4)]
    before, after = (armdyn.theta16(arm, load) for load in loads)
    assert sorted(np.flatnonzero(np.abs(after - before) > 1e-12)) == unknown
    Y = armdyn.regressor16(arm, *np.ones((3, 2)), load=True)
    known = np.delete(np.arange(48), unknown)
    tau = Y[:, unknown] @ after[unknown] + Y[:, known] @ before[known]
    np.testing.assert_allclose(tau, Y @ after, **CLOSE)


@pytest.mark.parametrize("form", ["iteration", "closed"])
def test_golden_puma560(golden, golden_arm, form):
    data = golden("regressor_puma560_mdh_akb")
    arm = golden_arm(data["robot"])
    for case in data["cases"]:
        Y = armdyn.regressor16(arm, case["q"], case["qd"], case["qdd"], form=form)
        np.testing.assert_allclose(Y, case["Y16"], rtol=1e-11, atol=1e-12)


def test_mistakes_are_named(random_arm):
    arm = random_arm("RR", seed=0)
    with raises(ArmdynError, names=("fast",), expected="one of iteration, closed"):
        armdyn.regressor16(arm, [0, 0], [0, 0], [0, 0], form="fast")
    theta = arm.theta.copy()
    theta[10] = 0.0
    with raises(ModelError, cause="link 'link2' has first moments but no mass, so no centre of mass"):
        armdyn.theta16(arm.with_theta(theta))
