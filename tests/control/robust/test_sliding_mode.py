"""Sliding modes: one step against the textbook, V along runs, what bounded disturbances leave."""

import shutil

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import Plant, Reference, law_code, simulate
from armdyn.control.compiled import self_test
from armdyn.control.robust.sliding_mode import SlidingMode, SuperTwisting, super_twisting
from armdyn.errors import ShapeError

LAM, K, REACH, BOUNDARY = np.array([8.0, 6.0]), np.array([5.0, 2.0]), np.array([12.0, 6.0]), np.array([0.05, 0.04])


def sliding(arm):
    return SlidingMode(arm, LAM, K, REACH, BOUNDARY)


def test_sliding_mode_is_the_textbooks(planar):
    """Slotine and Li's equation by the mass and Coriolis matrices, inside of the layer and outside."""
    rng = np.random.default_rng(0)
    for scale in (0.003, 0.5):
        q, qd, qdd_ref = rng.normal(size=(3, 2))
        e, ed = scale * rng.normal(size=(2, 2))
        tau = sliding(planar)(0.0, q, qd, Reference(q + e, qd + ed, qdd_ref))
        v, a, s = qd + ed + LAM * e, qdd_ref + LAM * ed, ed + LAM * e
        expected = armdyn.mass_matrix(planar, q) @ a + armdyn.coriolis_matrix(planar, q, qd) @ v
        expected += armdyn.gravity_torque(planar, q) + K * s + REACH * np.clip(s / BOUNDARY, -1, 1)
        assert np.allclose(tau, expected, rtol=1e-10, atol=1e-10)


def test_super_twisting_is_levants_outside_of_the_layer_and_linear_inside(planar):
    dt, k1, k2 = 1e-3, 3.0, 40.0
    layer, rng = (4 * dt) ** 2 * k2, np.random.default_rng(1)
    s, twist = rng.normal(size=(2, 50, 2))
    far = np.abs(s) > layer
    u, after = super_twisting(planar, s, twist, np.full(2, k1), np.full(2, k2), dt)
    assert far.mean() > 0.9
    assert np.allclose(u[far], (k1 * np.sqrt(np.abs(s)) * np.sign(s) + twist)[far], rtol=1e-12)
    assert np.allclose(after[far], (twist + dt * k2 * np.sign(s))[far], rtol=1e-12)
    near = 1e-3 * layer * s
    u, after = super_twisting(planar, near, twist, np.full(2, k1), np.full(2, k2), dt)
    slope = (u - twist) / near, (after - twist) / (dt * near)
    assert np.allclose(slope[0], 2 * (k1 / 2 / np.sqrt(k2)) / (4 * dt), rtol=1e-9)
    assert np.allclose(slope[1], 1 / (4 * dt) ** 2, rtol=1e-9)


def test_super_twisting_has_morenos_lyapunov_function():
    """V = z' P z, z = (sqrt|s| sign(s), d - twist), falls while |d'| <= 1; Moreno and Osorio (2012), k1 = 3, k2 = 4."""
    bound, dt, k1, k2 = 1.0, 1e-5, 3.0, 4.0
    planar, rng = armdyn.arms.planar2(), np.random.default_rng(4)
    P = np.array([[4 * k2 + k1**2, -k1], [-k1, 2.0]]) / 2
    s, lacking = rng.normal(size=(2, 200, 2)) * [[[1.0]], [[2.0]]]
    for push in (-bound, 0.0, bound):
        u, after = super_twisting(planar, s, 0 * s, np.full(2, k1), np.full(2, k2), dt)
        later, lacks = s + dt * (lacking - u), lacking + dt * (push - after / dt)
        z, z_later = (np.stack([np.sqrt(np.abs(x)) * np.sign(x), y], -1) for x, y in ((s, lacking), (later, lacks)))
        V, V_later = (np.einsum("...i,ij,...j", x, P, x) for x in (z, z_later))
        assert np.linalg.eigvalsh(P).min() > 0
        assert (V_later < V)[np.abs(s) > 0.01].all()


def test_v_falls_outside_of_the_layer_and_errors_end_inside(planar, swing):
    """A disturbance of 80 % of the bound on each joint: V = s' M s / 2 falls as promised while s is outside."""
    reference = swing([0.5, -0.4], [0.5, 0.7], 1.5)
    plant = Plant(planar, wrench=lambda t: [0, 0, 0, 0, 0, 4.8 * np.sign(np.sin(12 * t))])  # on both joints
    run = simulate(plant, sliding(planar), reference, 1.5, 4000, q0=[0.1, -0.1], qd0=[0.0, 0.0], check=False)
    s = run.qd_ref - run.qd + LAM * run.error
    V = np.einsum("ti,tij,tj->t", s, armdyn.mass_matrix(planar, run.q), s) / 2
    outside = (np.abs(s) > BOUNDARY).all(1)
    assert outside.sum() > 100
    assert (np.diff(V)[outside[:-1]] < 0).all()
    assert (np.abs(s[run.t > 1.0]) < 1.05 * BOUNDARY).all()
    assert (np.abs(run.error[run.t > 1.2]) < 1.05 * BOUNDARY / LAM).all()


def test_super_twisting_learns_what_changes_slowly_and_does_not_chatter(planar, swing):
    """An unknown 2 kg load: errors hundreds of times below computed torque's, torques as smooth."""
    reference, loaded = swing([0.5, -0.4], [0.5, 0.7], 2.0), planar.with_payload(2.0)
    twisting = SuperTwisting.from_bound(planar, 12.0, 500.0)
    plain = armdyn.ComputedTorque.from_bandwidth(planar, 12.0 / 2 / np.pi)
    runs = [simulate(loaded, law, reference, 2.0, 1000, check=False) for law in (twisting, plain)]
    late = runs[0].t > 1.0
    small, large = (np.sqrt((run.error[late] ** 2).mean()) for run in runs)
    assert small < large / 100
    jumps = [np.abs(np.diff(run.tau[late], axis=0)).max() for run in runs]
    assert jumps[0] < 3 * jumps[1]
    # On the surface the twist is what the model does not explain, as an acceleration.
    s = (runs[0].qd_ref - runs[0].qd + 12.0 * runs[0].error)[late]
    assert np.abs(s).max() < 0.005


def test_limits_rest_the_twist(planar, swing):
    law = armdyn.Guarded(SuperTwisting.from_bound(planar, 12.0, 500.0), limit=[5.0, 2.0])
    run = simulate(planar, law, swing([0.5, -0.4], [0.5, 0.7], 1.0), 0.3, 1000, check=False, quiet=True)
    limited = run.states["limited"][:, 0] > 0
    changes = np.diff(run.states["twist"], axis=0)
    assert limited.any()
    assert not changes[limited[1:]].any()


def test_what_makes_no_sense_is_rejected(planar):
    with raises(ShapeError, where="SlidingMode: boundary", expected="numbers > 0", got="[0. 0.]"):
        SlidingMode(planar, 8.0, 5.0, 10.0, 0.0)
    with raises(ShapeError, where="SuperTwisting: k2", expected="numbers > 0", got="[0. 0.]"):
        SuperTwisting(planar, 8.0, 5.0, 0.0)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("make", [sliding, lambda arm: SuperTwisting.from_bound(arm, 12.0, 500.0)])
def test_they_export(planar, tmp_path, make):
    self_test(law_code(make(planar), tmp_path, 1000.0, prefix="robust"))
