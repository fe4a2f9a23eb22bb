"""Lagrange's recursion: its columns against finite differences, and the printed quantities of its source."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import armdyn
from armdyn.dynamics.lagrange import Member, add_member
from armdyn.kinematics.motion import motions


def outermost(arm):
    """A function of q, qd that gives the outermost member: A, w, v and the columns of N and M."""
    q, qd = ca.SX.sym("q", arm.n), ca.SX.sym("qd", arm.n)
    member = Member(ca.SX.eye(3), ca.SX.zeros(3), ca.SX.zeros(3), ())
    for i, m in enumerate(motions(arm, q)):
        member = add_member(member, m, qd[i])
    N, M, Nd, Md, dw, dv = (
        ca.horzcat(*(getattr(c, name) for c in member.columns))
        for name in ("beta", "alpha", "betad", "alphad", "dw", "dv")
    )
    function = ca.Function("member", [q, qd], [member.A, member.w, member.v, N, M, Nd, Md, dw, dv])
    return lambda *state: [np.array(x) for x in function(*state)]


@pytest.mark.parametrize("kinds", ["RR", "RPRP", "PRR"])
def test_columns_and_their_derivatives(random_arm, kinds):
    """Velocities are N qd and M qd; Nd, Md are their rates; dw, dv their partial derivatives."""
    arm, rng = random_arm(kinds, seed=8), np.random.default_rng(0)
    q, qd = rng.normal(size=(2, arm.n))
    state, h = outermost(arm), 1e-6
    _, w, v, N, M, Nd, Md, dw, dv = state(q, qd)
    np.testing.assert_allclose(N @ qd, w[:, 0], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(M @ qd, v[:, 0], rtol=1e-12, atol=1e-13)
    ahead, behind = state(q + h * qd, qd), state(q - h * qd, qd)
    central = {"rtol": 1e-7, "atol": 1e-7}  # errors h² of the formula and 1e-16 / h of the difference
    np.testing.assert_allclose(Nd, (ahead[3] - behind[3]) / (2 * h), **central)
    np.testing.assert_allclose(Md, (ahead[4] - behind[4]) / (2 * h), **central)
    for s in range(arm.n):
        step = h * np.eye(arm.n)[s]
        plus, minus = state(q + step, qd), state(q - step, qd)
        np.testing.assert_allclose(dw[:, s], (plus[1] - minus[1])[:, 0] / (2 * h), **central)
        np.testing.assert_allclose(dv[:, s], (plus[2] - minus[2])[:, 0] / (2 * h), **central)


def test_gravity_of_a_translation_acts_along_it():
    """Erratum 1: gamma . m g, here a mass on a slide that leans by 30 degrees."""
    lean = np.deg2rad(30)
    member = {"kind": "P", "e_prev": [np.cos(lean), 0, np.sin(lean)], "e_own": [1, 0, 0], "r_prev": [0, 0.1, 0]}
    member |= {"r_own": [0, 0.2, 0], "mass": 3.0, "inertia": [0.1, 0.1, 0.1]}
    Y = armdyn.lagrange(armdyn.Arm.from_vectors([member], gravity=[0, 0, -10]), [0.4], [0.0]).Y
    np.testing.assert_allclose(Y, [-3.0 * 10 * np.sin(lean)], rtol=1e-14)


def test_members_of_the_source(golden):
    """A, e, gamma and the last member's M and N of chains of two and three members."""
    data = golden("turning_and_sliding_members")
    for case in data["cases"]:
        arm = armdyn.Arm.from_vectors(data["members"][: case["n"]], gravity=data["gravity"])
        A, _, _, N, M, *_ = outermost(arm)(case["q"], case["qd"])
        tight = {"rtol": 1e-12, "atol": 1e-13}
        np.testing.assert_allclose(A, case["A"][-1], **tight)
        np.testing.assert_allclose(N, case["N_last"], **tight)
        np.testing.assert_allclose(M, case["M_last"], **tight)
        np.testing.assert_allclose(N[:, 0::2].T, case["e"], **tight)
        np.testing.assert_allclose(M[:, 1::2].T, case["gamma"], **tight)
        origin = armdyn.link_poses(arm, case["q"])[1::2, :3, 3]
        np.testing.assert_allclose(origin, case["T"], **tight)
