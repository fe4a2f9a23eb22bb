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
