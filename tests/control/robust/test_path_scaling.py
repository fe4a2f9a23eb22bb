"""Time scaling on line: one step against the formula, the path kept where torques do not suffice, C."""

import shutil

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import Plant, Reference, law_code, simulate
from armdyn.control.compiled import self_test
from armdyn.control.robust.path_scaling import PathScaling
from armdyn.errors import ShapeError

MOVE = (np.array([-0.8, 0.4]), np.array([0.9, -0.7]))
STILL = Reference(*np.zeros((3, 2)))


@pytest.fixture(scope="module")
def move():
    return armdyn.point_to_point(*MOVE, duration=0.8)


def scaled(planar, move, part=0.8, **options):
    """With a part of the torques that the motion needs."""
    peak = np.abs(armdyn.inverse_dynamics(planar, *move(np.linspace(0, 0.8, 400)))).max(0)
    return PathScaling.from_bandwidth(planar, move, 4.0, limit=part * peak, **options)


def test_the_motion_is_in_the_law(planar, move):
    law = scaled(planar, move)
    for t in (0.0, 0.137, 0.4, 0.7999):
        expected = move(t)
        state = {"place": np.array([t]), "pace": np.ones(1)}
        tau, _ = law.step(planar, {**law.params, "limit": np.full(2, 1e9)}, state, expected.q, expected.qd, STILL, 1e-3)
        assert np.allclose(tau, armdyn.inverse_dynamics(planar, *expected), atol=0.2)  # of 150; 40 cubic pieces


def test_one_step_is_dahl_and_nielsens(planar, move):
    """The pace's acceleration by an independent search for the interval that all joints allow."""
    law, rng = scaled(planar, move, 0.9), np.random.default_rng(2)
    M = armdyn.mass_matrix
    for _ in range(20):
        t, pace = rng.uniform(0.05, 0.75), rng.uniform(0.6, 1.1)
        q_ref, slope, bend = (x for x in self_motion(law, t))
        q, qd = q_ref + 0.01 * rng.normal(size=2), slope * pace + 0.05 * rng.normal(size=2)
        state = {"place": np.array([t]), "pace": np.array([pace])}
        tau, after = law.step(planar, law.params, state, q, qd, STILL, 1e-3)
        asked = bend * pace**2 + law.kp * (q_ref - q) + law.kd * (slope * pace - qd)
        rest, a = armdyn.inverse_dynamics(planar, q, qd, asked), M(planar, q) @ slope
        ends = np.sort(np.stack([(-law.limit - rest) / a, (law.limit - rest) / a]), axis=0)
        u = max(min(20.0 * (1 - pace), ends[1].min()), ends[0].max())
        assert np.allclose(tau, np.clip(rest + a * u, -law.limit, law.limit), rtol=1e-10, atol=1e-10)
        assert after["pace"][0] == pytest.approx(pace + 1e-3 * u, rel=1e-10)


def self_motion(law, t):
    """The law's own cubic pieces, by NumPy."""
    k = np.searchsorted(law.begins, t, side="right") - 1
    c, x = law.polynomials[k].reshape(4, -1), t - law.begins[k]
    powers = np.array([[1, x, x * x, x**3], [0, 1, 2 * x, 3 * x * x], [0, 0, 2, 6 * x]])
    return powers @ c


def off_path(run):
    """Distance of joint positions from the straight line of the move [rad]."""
    way = MOVE[1] - MOVE[0]
    x = run.q - MOVE[0]
    return np.linalg.norm(x - np.outer(x @ way, way) / (way @ way), axis=1).max()


def test_the_path_is_kept_where_torques_do_not_suffice(planar, move):
    """80 % of the torques: computed torque leaves the path by a degree and more, scaling by a thousandth of that."""
    law = scaled(planar, move)
    plain = armdyn.ComputedTorque(planar, law.kp, law.kd)
    weak = Plant(planar, saturation=law.limit)
    how = {"rate": 1000, "hold": True, "check": False}
    kept, left = (simulate(weak, x, move, 1.5, **how) for x in (law, plain))
    assert (np.abs(kept.tau) <= law.limit * (1 + 1e-9)).all()
    assert off_path(left) > 0.02
    assert off_path(kept) < 1e-3
    assert np.allclose(kept.q[-1], MOVE[1], atol=1e-3)
    assert kept.states["pace"].min() < 0.95  # it fell behind
    arrival = kept.t[np.argmax(kept.states["place"][:, 0] >= 0.8)]
    assert 0.8 < arrival < 1.2


def test_the_motion_never_goes_backwards(planar, move):
    """Almost at rest and asked to brake hard: the pace ends at zero, within one sample."""
    law = scaled(planar, move, 0.2)
    q_ref, slope, _ = self_motion(law, 0.2)
    state = {"place": np.array([0.2]), "pace": np.array([1e-3])}
    asked = []
    for error in np.random.default_rng(3).normal(size=(20, 2)):
        _, after = law.step(planar, law.params, state, q_ref + error, slope * 1e-3, STILL, 1e-3)
        asked.append(after["pace"][0])
    assert min(asked) == 0.0
    assert max(asked) > 1e-3


def test_torques_stay_within_limits_wherever_the_arm_is(planar, move):
    """Far off the path no pace suffices; drives still get no more than they can give."""
    law = scaled(planar, move, 0.5)
    clipped = 0
    for error in np.random.default_rng(4).normal(size=(20, 2)):
        state = {"place": np.array([0.3]), "pace": np.ones(1)}
        tau, _ = law.step(planar, law.params, state, self_motion(law, 0.3)[0] + error, np.zeros(2), STILL, 1e-3)
        assert (np.abs(tau) <= law.limit).all()
        clipped += int((np.abs(tau) == law.limit).sum())
    assert clipped > 10


def test_enough_torque_changes_nothing(planar, move):
    law = scaled(planar, move, 3.0)
    run = simulate(planar, law, move, 0.8, 1000, check=False)
    assert np.allclose(run.states["pace"], 1.0, atol=1e-9)
    assert np.abs(run.error).max() < 2e-3


def test_bad_input(planar, move):
    with raises(ShapeError, expected="a trajectory of 2 joints", got="[1.0, 2.0]"):
        PathScaling(planar, [1.0, 2.0], 10.0, 1.0, [1.0, 1.0])
    with raises(ShapeError, expected="finite torques > 0, one number or 2", got="[inf, 1.0]"):
        PathScaling(planar, move, 10.0, 1.0, [np.inf, 1.0])


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_it_exports(planar, move, tmp_path):
    self_test(law_code(scaled(planar, move, pieces=8), tmp_path, 1000.0, prefix="path"))
