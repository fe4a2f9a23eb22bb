"""Measurements that fail, references that jump, drives that saturate: hold, flag, stop."""

from functools import cache

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.control.design.designs import designs
from armdyn.control.laws.guarded import Guarded
from armdyn.control.laws.integral import pid
from armdyn.control.laws.pd import PD
from armdyn.control.protocol import Reference
from armdyn.errors import ShapeError
from armdyn.simulation.compare import Sway
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


def test_torques_that_are_no_numbers_are_not_exerted(planar):
    """Infinity of one joint, and what is left where infinities cancel: zero there, the other joint goes on."""
    law = Guarded(PD(planar, [1e308, 10.0], [1e308, 1.0]), limit=50.0)
    zero = np.zeros(2)
    for velocity in (0.0, 100.0):
        ref = Reference(np.array([100.0, 1.0]), np.array([-velocity, 0.0]), zero)
        tau, _ = law.step(planar, law.params, law.init(), zero, zero, ref, 0.001)
        assert tau.tolist() == [0.0, 10.0]


def test_a_reference_that_jumps_meets_the_limits_and_settles(planar):
    lifted = planar.with_gravity([0, 0, 0])
    law = Guarded(PD(lifted, [400.0, 100.0], [80.0, 15.0]), limit=[60.0, 15.0])
    result = simulate(lifted, law, [1.0, -0.5], 3.0, 500, q0=[0, 0], qd0=[0, 0])
    assert np.abs(result.tau).max(0).tolist() == [60.0, 15.0]
    assert np.abs(result.error[-1]).max() < 1e-3


def test_a_jump_of_the_reference_is_rejected_until_it_comes_back(planar):
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
    for (tau, count), (expected, rejected) in zip(
        found,
        [
            (10 * np.array(wanted[0]) + moving, 0), (held + moving, 0), (held, 1), (held, 2),
            (back + moving, 0), (back, 1), (10 * np.array(wanted[6]) + moving, 0),
        ],
        strict=True,
    ):  # fmt: skip
        assert np.allclose(tau, expected)
        assert count == rejected


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


# -- what laws remember --------------------------------------------------------------------------------------

RATE = 500.0
LEARNING = (
    "Slotine-Li",
    "composite Slotine-Li",
    "concurrent Slotine-Li",
    "natural Slotine-Li",
    "projected Slotine-Li",
    "modified Slotine-Li",
    "Craig",
)
NAMES = (
    "PD",
    "PID",
    "PD + gravity",
    "cascade",
    "feedforward + PD",
    "computed torque",
    "computed torque + observer",
    "LQR(t)",
    "LQR(measured)",
    "operational space",
    "impedance",
    "sliding mode",
    "super-twisting",
    "Slotine-Li",
    "composite Slotine-Li",
    "concurrent Slotine-Li",
    "natural Slotine-Li",
    "projected Slotine-Li",
    "modified Slotine-Li",
    "Craig",
)


@cache
def motion():
    return Sway.within(armdyn.arms.planar2(), 2.0)


@cache
def every():
    """The laws by name, made when first asked for."""
    return designs(armdyn.arms.planar2(), motion()(np.linspace(0.0, 2.0, 50)), 2.0, RATE)


def test_no_law_is_left_out():
    assert tuple(every()) == NAMES
    assert tuple(name for name, law in every().items() if "phi" in law.init()) == LEARNING


def guarded_run(law, lost=(), limit=1e3, samples=70):
    """Torques and states of a guarded law along a motion that the arm lags behind; some measurements are lost."""
    guard = Guarded(law, patience=5, limit=limit)
    t = np.arange(samples) / RATE
    along = motion()(t)
    channels = law.channels(t, along)
    state, found = guard.init(), []
    for k in range(samples):
        ref = Reference(*(x[k] for x in along), {name: rows[k] for name, rows in channels.items()})
        q = np.full(2, np.nan) if k in lost else along.q[k] - 0.02
        tau, state = guard.step(guard.arm, guard.params, state, q, 0.9 * along.qd[k], ref, 1 / RATE)
        found.append((tau, state))
    return found


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.by_day(6)
def test_every_law_rests_while_measurements_are_lost(name):
    """Bridged, stopped, resumed: numbers all along, and the law goes on from where it was."""
    law = every()[name]
    found = guarded_run(law, lost=range(40, 60))
    before = found[39][1]
    for k in range(40, 60):
        tau, state = found[k]
        assert state["lost"][0] == k - 39
        assert np.isfinite(tau).all()
        assert tau.any() == (k < 45)
        for key in law.init():
            if key != "started":  # what was seen before a gap is not the sample before what is seen after it
                assert np.array_equal(state[key], before[key]), key
    whole = guarded_run(law)
    for key in law.init():
        assert np.isfinite(found[-1][1][key]).all()
    # Twenty samples less of learning and integrating, no jump: torques are near those of a run without the gap.
    assert np.abs(found[60][0] - whole[60][0]).max() < 0.25 * np.abs(whole[60][0]).max()


@pytest.mark.parametrize("name", LEARNING)
def test_estimates_rest_while_drives_saturate(name):
    """Errors that a saturated drive leaves would otherwise be taken for a heavier load."""
    law = every()[name]
    free, held = guarded_run(law), guarded_run(law, limit=1.0)
    assert np.abs(free[-1][1]["phi"] - law.start).max() > 0
    assert np.array_equal(held[-1][1]["phi"], law.start)
    assert [state["limited"][0] for _, state in held] == list(range(1, 71))
    assert max(np.abs(tau).max() for tau, _ in held) == 1.0
    assert not any(state["limited"].any() for _, state in free)


def test_predictions_and_observers_are_told_of_the_torques_exerted():
    (tau, state) = guarded_run(every()["composite Slotine-Li"], limit=1.0)[-1]
    assert np.array_equal(state["tau_last"], tau)
    (tau, state) = guarded_run(armdyn.DisturbanceObserver(every()["PD + gravity"], 5.0), limit=1.0)[-1]
    assert np.allclose(state["applied"], tau / RATE, rtol=1e-12, atol=0)


def test_an_observer_does_not_take_its_own_limits_for_a_disturbance(planar):
    """A load that saturates the drives for a while: told of it, the observer has no overshoot to work off."""
    law = armdyn.DisturbanceObserver(armdyn.ComputedTorque.from_bandwidth(planar, 2.0), 5.0)
    limit = np.array([70.0, 20.0])  # the arm's weight takes 55 N m
    start, goal = [-1.5, 0.0], [0.5, 0.3]
    told = simulate(planar, Guarded(law, limit=limit), goal, 3.0, 500, q0=start, qd0=[0, 0], check=False)
    plant = armdyn.Plant(planar, saturation=limit)
    untold = simulate(plant, law, goal, 3.0, 500, q0=start, qd0=[0, 0], check=False)
    assert (told.states["limited"] > 10).any()
    overshoot = [(run.q - run.q_ref).max() for run in (told, untold)]
    assert overshoot[0] < 0.3 * overshoot[1]


def test_an_integral_unwinds_by_the_guards_limit_too(planar):
    lifted = planar.with_gravity([0, 0, 0])
    own = pid(lifted, [400.0, 100.0], [600.0, 150.0], [80.0, 15.0], limit=[15.0, 4.0])
    outside = Guarded(pid(lifted, [400.0, 100.0], [600.0, 150.0], [80.0, 15.0]), limit=[15.0, 4.0])
    runs = [simulate(lifted, law, [1.0, 0.5], 4.0, 500, q0=[0, 0], qd0=[0, 0], check=False) for law in (own, outside)]
    assert np.allclose(runs[0].q, runs[1].q, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"jump": -1.0}, {"where": "Guarded: jump", "expected": "distances > 0, one number or 2", "got": "-1.0"}),
        ({"limit": [1.0, 2.0, 3.0]}, {"where": "Guarded: limit", "expected": "torques > 0, one number or 2"}),
        ({"limit": "strong"}, {"where": "Guarded: limit", "expected": "torques > 0, one number or 2"}),
        ({"patience": [1, 2]}, {"where": "Guarded: patience", "expected": "a number of samples >= 0"}),
        ({"patience": "some"}, {"where": "Guarded: patience", "expected": "a number of samples >= 0"}),
    ],
)
def test_bad_guards_are_rejected(planar, options, parts):
    with raises(ShapeError, **parts):
        Guarded(PD(planar, 1.0, 1.0), **options)


@pytest.mark.parametrize("ramp", [0.0, 0.01])
@pytest.mark.parametrize("fallback", ["zero", "gravity"])
def test_without_measurements_torques_fade_into_those_chosen(planar, fallback, ramp):
    """Linearly from the last torque, at once without a ramp; gravity is that of the last good position."""
    law = Guarded(armdyn.ComputedTorque(planar, 100.0, 20.0), patience=1, fallback=fallback, ramp=ramp)
    q, still = np.array([0.3, 0.2]), np.zeros(2)
    ref, state, torques = armdyn.Reference(q + 0.1, still, still), law.init(), []
    for k in range(16):
        seen = q if k < 2 else q * np.nan
        tau, state = law.step(law.arm, law.params, state, seen, still, ref, 1e-3)
        torques.append(tau)
    target = armdyn.gravity_torque(planar, q) if fallback == "gravity" else still
    left = np.clip(1 - np.arange(1, 14) * 1e-3 / ramp, 0, 1)[:, None] if ramp else np.zeros((13, 1))
    assert np.allclose(torques[:3], torques[0])
    assert np.allclose(torques[3:], target + left * (torques[0] - target), atol=1e-12)


def test_weight_is_not_borne_before_the_first_good_sample(planar):
    """Nobody knows where the arm is: torques of gravity at a position never measured would move it."""
    law = Guarded(PD(planar, 10.0, 1.0), fallback="gravity")
    assert armdyn.gravity_torque(planar, np.zeros(2)).all()
    for tau, lost in steps(law, [[np.nan, 0.0]] * 9):
        assert not tau.any()
        assert lost == -1


def test_weight_is_borne_within_the_limits(planar):
    law = Guarded(PD(planar, 10.0, 1.0), patience=0, limit=[5.0, 1e3], fallback="gravity")
    weight = armdyn.gravity_torque(planar, np.zeros(2))
    assert weight[0] > 5.0
    assert np.allclose(steps(law, [[0.0, 0.0], [np.nan, 0.0]])[-1][0], [5.0, weight[1]])


def test_a_watching_observer_is_told_of_the_torques_exerted():
    law = armdyn.MomentumObserver(every()["PD + gravity"], 1e6, 5.0, "none")
    (tau, state) = guarded_run(law, limit=1.0)[-1]
    assert np.abs(tau).max() == 1.0
    assert np.allclose(state["impulse"], tau / RATE, rtol=1e-12, atol=0)


def test_unknown_fallbacks_are_rejected(planar):
    with raises(ShapeError, names=("brake",), expected="one of zero, gravity"):
        Guarded(armdyn.ComputedTorque(planar, 1.0, 1.0), fallback="brake")
