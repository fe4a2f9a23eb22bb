"""Measurements that fail: hold, flag, stop."""

import numpy as np

from armdyn.control.guarded import Guarded
from armdyn.control.pd import PD
from armdyn.control.protocol import Reference
from armdyn.simulation.simulate import simulate

REF = Reference(np.ones(2), np.zeros(2), np.zeros(2))


def steps(law, measurements):
    state, found = law.init(), []
    for q in measurements:
        tau, state = law.step(law.arm, law.params, state, np.asarray(q, float), np.zeros(2), REF, 0.001)
        found.append((tau, float(state["lost"][0])))
    return found


def test_lost_samples_are_bridged_then_the_torques_stop(planar):
    law = Guarded(PD(planar, 10.0, 1.0), patience=2, limit=100.0)
    nan = [np.nan, 0.5]
    found = steps(law, [[0.2, 0.5], nan, [np.inf, 0], nan, nan, [0.3, 0.5]])
    good = np.array([8.0, 5.0])
    for (tau, lost), (expected, count) in zip(
        found, [(good, 0), (good, 1), (good, 2), (0 * good, 3), (0 * good, 4), ([7.0, 5.0], 0)], strict=True
    ):
        assert np.allclose(tau, expected)
        assert lost == count


def test_nothing_moves_before_the_first_good_sample(planar):
    found = steps(Guarded(PD(planar, 10.0, 1.0)), [[np.nan, 0], [0.5, 0.5]])
    assert not found[0][0].any()
    assert np.allclose(found[1][0], 5.0)


def test_torques_are_limited(planar):
    assert np.allclose(steps(Guarded(PD(planar, 1e3, 1.0), limit=[50.0, 20.0]), [[0, 2.0]])[0][0], [50.0, -20.0])


def test_a_reference_that_jumps_meets_the_limits_and_settles(planar):
    lifted = planar.with_gravity([0, 0, 0])
    law = Guarded(PD(lifted, [400.0, 100.0], [80.0, 15.0]), limit=[60.0, 15.0])
    result = simulate(lifted, law, [1.0, -0.5], 3.0, 500, q0=[0, 0], qd0=[0, 0])
    assert np.abs(result.tau).max(0).tolist() == [60.0, 15.0]
    assert np.abs(result.error[-1]).max() < 1e-3


def test_a_jump_of_the_reference_is_refused_until_it_comes_back(planar):
    """Hold last, flag: the law is asked to rest where the reference was before, however long."""
    law = Guarded(PD(planar, 10.0, 1.0), limit=100.0, jump=0.1)
    state, found = law.init(), []
    moving, zero = np.array([1.0, -1.0]), np.zeros(2)
    wanted = [[0.5, 0.5], [0.51, 0.49], [0.7, 0.48], [np.nan, 0.5], [0.52, 0.48], [0.8, 0.9], [0.53, 0.47]]
    for q_ref in wanted:
        ref = Reference(np.array(q_ref), moving, zero)
        tau, state = law.step(planar, law.params, state, zero, zero, ref, 0.01)
        found.append((tau, state["jumped"][0]))
    held, back = 10 * np.array(wanted[1]), 10 * np.array(wanted[4])
    for (tau, count), (expected, refused) in zip(
        found,
        [
            (10 * np.array(wanted[0]) + moving, 0), (held + moving, 0), (held, 1), (held, 2),
            (back + moving, 0), (back, 1), (10 * np.array(wanted[6]) + moving, 0),
        ],
        strict=True,
    ):  # fmt: skip
        assert np.allclose(tau, expected)
        assert count == refused


def test_nothing_moves_before_the_first_good_reference(planar):
    law = Guarded(PD(planar, 10.0, 1.0))
    state, zero = law.init(), np.zeros(2)
    tau, state = law.step(planar, law.params, state, zero, zero, Reference(np.full(2, np.nan), zero, zero), 0.01)
    assert not tau.any()
    assert state["jumped"][0] == -1
    tau, state = law.step(planar, law.params, state, zero, zero, Reference(np.ones(2), zero, zero), 0.01)
    assert np.allclose(tau, 10.0)


class Jump:
    """A position to hold that jumps in mid-run."""

    duration, n = 2.0, 2

    def __call__(self, t):
        t = np.asarray(t, float)[..., None]
        return np.where(t < 1.0, 0.2, 1.2) * np.array([1.0, -1.0]), np.zeros((*t.shape[:-1], 2)), 0 * t * np.ones(2)


def test_a_run_through_a_jump(planar):
    """Unguarded, the arm follows the step; guarded, it stays where it was and says so."""
    lifted = planar.with_gravity([0, 0, 0])
    pd = PD(lifted, [400.0, 100.0], [80.0, 15.0])
    free = simulate(lifted, pd, Jump(), rate=500)
    guarded = simulate(lifted, Guarded(pd, jump=0.05), Jump(), rate=500)
    assert np.abs(free.q[-1] - [1.2, -1.2]).max() < 0.01
    assert np.abs(guarded.q[-1] - [0.2, -0.2]).max() < 0.01
    assert guarded.states["jumped"][-1, 0] == 500
    assert not guarded.states["jumped"][1:500].any()


def test_bad_guards_are_refused(planar):
    import pytest

    from armdyn.errors import ShapeError

    with pytest.raises(ShapeError, match="jump: expected distances > 0"):
        Guarded(PD(planar, 1.0, 1.0), jump=-1.0)
