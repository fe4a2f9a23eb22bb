"""Golden numbers of 80-digit computations that share no recursion with armdyn."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn

# The fixtures are rounded to doubles; 1e-11 leaves room for a thousand roundings of entries up to 100.
CLOSE = {"rtol": 1e-11, "atol": 1e-12}
ARMS = ["planar2R", "planar_RP", "general_RPR_sdh", "general_RPR_mdh", "puma560_sdh", "puma560_mdh_akb"]
MOVING = [f"moving_base_wrench_{name}" for name in ("planar2R", "planar_RP", "general_RPR_sdh")]


def close(got, want, scale=1.0):
    np.testing.assert_allclose(got, want, rtol=CLOSE["rtol"], atol=CLOSE["atol"] * max(1.0, scale))


@pytest.mark.parametrize("name", ARMS)
def test_terms(golden, golden_arm, name):
    data = golden(name)
    arm = golden_arm(data["robot"])
    cases = {k: np.array([case[k] for case in data["cases"]]) for k in data["cases"][0] if k not in ("lin",)}
    q, qd, qdd, tau = (cases[k] for k in ("q", "qd", "qdd", "tau"))
    scale = np.abs(tau).max()
    close(armdyn.inverse_dynamics(arm, q, qd, qdd), tau, scale)
    close(armdyn.inverse_dynamics_base(arm, q, qd, qdd), tau, scale)
    close(armdyn.mass_matrix(arm, q), cases["H"])
    close(armdyn.mass_matrix_jacobians(arm, q), cases["H"])
    close(armdyn.coriolis_matrix(arm, q, qd), cases["C_christoffel"])
    close(np.einsum("kij,kj->ki", armdyn.coriolis_matrix(arm, q, qd), qd), cases["coriolis"])
    close(armdyn.mass_matrix_rate(arm, q, qd), cases["Hdot"])
    close(armdyn.gravity_torque(arm, q), cases["G"], scale)
    close(armdyn.gravity_torque_jacobians(arm, q), cases["G"], scale)
    W, V, Wd, _, Y = armdyn.lagrange(arm, q, qd)
    close(W, cases["H"])
    close(Wd, cases["Hdot"])
    close(-Y, cases["G"], scale)
    close(np.einsum("kij,kj->ki", W, qdd) - V, tau, scale)


@pytest.mark.parametrize("name", ARMS)
def test_forward_dynamics(golden, golden_arm, name):
    data = golden(name)
    arm = golden_arm(data["robot"])
    q, qd, qdd, tau = (np.array([case[k] for case in data["cases"]]) for k in ("q", "qd", "qdd", "tau"))
    # M of a PUMA has condition 1e4: as many digits go
    tolerance = {"rtol": 1e-10, "atol": 1e-10}
    for method in ("composite", "articulated"):
        np.testing.assert_allclose(armdyn.forward_dynamics(arm, q, qd, tau, method=method), qdd, **tolerance)
    np.testing.assert_allclose(armdyn.forward_dynamics_regressor(arm, q, qd, tau).qdd, qdd, **tolerance)


@pytest.mark.parametrize("name", MOVING)
def test_moving_base_and_wrench(golden, golden_arm, name):
    data = golden(name)
    arm = golden_arm(data["robot"])
    for case in data["cases"]:
        state = [case[k] for k in ("q", "qd", "qdd")]
        wrench = -np.concatenate([case["tip_force"], case["tip_moment"]])  # theirs acts on the environment
        base = tuple(case[k] for k in ("base_omega", "base_omegadot", "base_acc"))
        got = armdyn.inverse_dynamics(arm, *state, wrench=wrench, base_motion=base)
        close(got, case["tau_total"], np.abs(case["tau_total"]).max())


def test_members_that_turn_and_slide(golden):
    """Vukobratovic's chain: every quantity of the recursion."""
    data = golden("turning_and_sliding_members")
    for case in data["cases"]:
        arm = armdyn.Arm.from_vectors(data["members"][: case["n"]], gravity=data["gravity"])
        got = armdyn.lagrange(arm, case["q"], case["qd"])
        for field, key in zip(got._fields, ("W", "V", "Wdot", "dTdq", "Y"), strict=True):
            np.testing.assert_allclose(getattr(got, field), case[key], rtol=1e-11, atol=1e-12, err_msg=key)
        P = armdyn.inverse_dynamics(arm, case["q"], case["qd"], case["qdd"])
        np.testing.assert_allclose(P, case["P"], rtol=1e-11, atol=1e-12)
