"""State matrices against golden numbers, the forward dynamics they linearise, and bad input."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.errors import ShapeError


@pytest.mark.parametrize(
    "name", ["planar2R", "planar_RP", "general_RPR_sdh", "general_RPR_mdh", "puma560_sdh", "puma560_mdh_akb"]
)
def test_golden_state_matrices(golden, golden_arm, name):
    data = golden(name)
    arm = golden_arm(data["robot"])
    for case in data["cases"]:
        got = armdyn.linearize(arm, case["q"], case["qd"], case["qdd"])
        for key in "MCKAB":
            # A and B divide by M, whose condition number is up to 1e4 here.
            np.testing.assert_allclose(getattr(got, key), case["lin"][key], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kinds", ["RRP", "PRRR"])
def test_state_matrices_are_derivatives_of_forward_dynamics(random_arm, kinds):
    arm, rng = random_arm(kinds, seed=2), np.random.default_rng(1)
    n = arm.n
    q, qd, qdd = rng.normal(size=(3, n))
    tau = armdyn.inverse_dynamics(arm, q, qd, qdd)
    _, _, _, A, B = armdyn.linearize(arm, q, qd, qdd)
    h = 1e-5 * np.eye(n)  # central differences: error h² times third derivatives, 1e-7 of the entries

    def slope(f):
        return ((f(h) - f(-h)) / 2e-5).T

    close = {"rtol": 1e-6, "atol": 1e-6 * np.abs(A).max()}
    np.testing.assert_allclose(
        A[n:, :n], slope(lambda d: armdyn.forward_dynamics(arm, q + d, qd, tau)), **close
    )
    np.testing.assert_allclose(
        A[n:, n:], slope(lambda d: armdyn.forward_dynamics(arm, q, qd + d, tau)), **close
    )
    np.testing.assert_allclose(B[n:], slope(lambda d: armdyn.forward_dynamics(arm, q, qd, tau + d)), **close)
    np.testing.assert_array_equal(A[:n], np.hstack([np.zeros((n, n)), np.eye(n)]))
    np.testing.assert_array_equal(B[:n], 0)


def test_batches_and_preallocated_results(random_arm):
    arm = random_arm("RPR", seed=0)
    n, state = arm.n, np.random.default_rng(0).normal(size=(3, 4, 5, 3))
    out = tuple(np.empty((4, 5, *shape)) for shape in [(n, n)] * 3 + [(2 * n, 2 * n), (2 * n, n)])
    result = armdyn.linearize(arm, *state, out=out)
    alone = armdyn.linearize(arm, *state[:, 2, 3])
    for given, whole, one in zip(out, result, alone, strict=True):
        assert whole is given
        np.testing.assert_allclose(whole[2, 3], one, rtol=1e-12, atol=1e-12)


def test_wrong_shape_is_named(random_arm):
    arm = random_arm("RR", seed=0)
    with pytest.raises(ShapeError, match=r"linearize: expected qd of shape \(\.\.\., 2\)"):
        armdyn.linearize(arm, [0, 0], [0, 0, 0], [0, 0])
