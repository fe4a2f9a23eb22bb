"""Gravity, feedforward, friction, integral action and the disturbance observer, each by what it promises."""

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.control.laws.computed_torque import ComputedTorque
from armdyn.control.laws.integral import Integral, pid
from armdyn.control.laws.momentum import DisturbanceObserver
from armdyn.control.laws.pd import PD, FeedforwardPD, GravityPD
from armdyn.control.laws.wrapped import FrictionFeedforward
from armdyn.control.protocol import Law, Reference
from armdyn.errors import ShapeError
from armdyn.identification.logs.log import Log
from armdyn.model.joint import Friction
from armdyn.simulation.simulate import simulate

KP, KD = [400.0, 100.0], [80.0, 15.0]


def with_friction(arm, viscous, coulomb):
    import dataclasses

    friction = Friction(viscous=viscous, coulomb=coulomb)
    return arm.with_joints([dataclasses.replace(joint, friction=friction) for joint in arm.joints])


def final(result):
    return np.abs(result.error[-1]).max()


def test_gravity_compensation_removes_the_steady_error(planar):
    target, start = [0.4, 0.3], [0.2, 0.1]
    sag = final(simulate(planar, PD(planar, KP, KD), target, 4.0, 500, q0=start, qd0=[0, 0]))
    none = final(simulate(planar, GravityPD(planar, KP, KD), target, 4.0, 500, q0=start, qd0=[0, 0]))
    assert sag > 0.02
    assert none < 1e-4 * sag


def test_feedforward_follows_exactly_in_a_perfect_world(planar, swing):
    """Sampling at 1 kHz is what is left: torques are held for a period."""
    reference = swing([0.4, -0.3], [1.0, 0.7], 1.0)
    pd = simulate(planar, PD(planar, KP, KD), reference, rate=1000)
    fed = simulate(planar, FeedforwardPD(planar, KP, KD), reference, rate=1000)
    assert np.abs(fed.error).max() < 2e-3 * np.abs(pd.error).max()


def test_friction_feedforward_helps_and_does_not_cycle(planar, swing):
    arm = with_friction(planar, 2.0, 4.0)
    reference = swing([0.4, -0.3], [1.0, 1.0], 1.0)
    plain = FeedforwardPD(arm, KP, KD, model="rigid")
    without = simulate(arm, plain, reference, 2.0, 1000, hold=True)
    fed = simulate(arm, FrictionFeedforward(plain), reference, 2.0, 1000, hold=True)
    assert np.sqrt((fed.error**2).mean()) < 0.2 * np.sqrt((without.error**2).mean())
    at_rest = fed.qd[fed.t > 1.7]
    assert np.abs(at_rest).max() < 1e-3  # twice the friction would not change that: see the next test


def test_overcompensated_friction_comes_to_rest(planar, swing):
    """A model with twice the true friction: compensation by measured velocities would hunt."""
    true, believed = with_friction(planar, 1.0, 3.0), with_friction(planar, 2.0, 6.0)
    law = FrictionFeedforward(FeedforwardPD(believed, KP, KD))
    result = simulate(true, law, swing([0.4, -0.3], [1.0, 1.0], 1.0), 2.5, 1000, hold=True)
    speed = np.abs(result.qd[result.t > 2.2]).max(-1)
    assert speed[0] < 1e-4  # it creeps to rest; hunting would go on at some 1e-2
    assert (np.diff(speed) <= 0).all()


def test_pid_removes_what_gravity_leaves(planar):
    law = pid(planar, KP, [400.0, 100.0], KD)
    assert final(simulate(planar, law, [0.4, 0.3], 8.0, 500, q0=[0.4, 0.3], qd0=[0, 0])) < 1e-4


def test_an_integral_keeps_to_both_limits(planar):
    law, zero = pid(planar, KP, [400.0, 100.0], KD, limit=[15.0, 4.0]), np.zeros(2)
    for sign in (1.0, -1.0):
        ref = Reference(np.full(2, sign), zero, zero)
        tau, _ = law.step(planar, law.params, law.init(), zero, zero, ref, 1e-3)
        assert tau.tolist() == [15.0 * sign, 4.0 * sign]


def test_the_integral_does_not_wind_up(planar):
    """A step that saturates the drives: without unwinding the overshoot is far larger."""
    lifted = planar.with_gravity([0, 0, 0])
    overshoot = {}
    for unwind in (0.0, 20.0):
        law = pid(lifted, KP, [600.0, 150.0], KD, limit=[15.0, 4.0], unwind=unwind)
        result = simulate(lifted, law, [1.0, 0.5], 6.0, 500, q0=[0, 0], qd0=[0, 0], check=False)
        assert np.abs(result.tau).max() <= 15.0
        overshoot[unwind] = (result.q - result.q_ref).max()
    assert overshoot[20.0] < 0.5 * overshoot[0.0]


def test_observer_takes_off_an_unknown_load_and_friction(planar, swing):
    loaded = with_friction(planar.with_payload(2.0), 1.0, 3.0)
    law = ComputedTorque.from_bandwidth(planar, 2.0)
    reference = swing([0.4, -0.3], [0.5, 0.4], 2.0)
    without = simulate(loaded, law, reference, rate=1000)
    observed = simulate(loaded, DisturbanceObserver(law, 20.0), reference, rate=1000)
    assert np.sqrt((observed.error**2).mean()) < 0.1 * np.sqrt((without.error**2).mean())


def test_observer_is_silent_under_a_perfect_model_that_starts_moving(planar):
    class Ramp:
        duration, n = 0.3, 2

        def __call__(self, t):
            t = np.asarray(t, float)[..., None]
            one = np.ones_like(t) * np.array([1.0, -0.5])
            return t * one, one, 0 * one

    law = DisturbanceObserver(ComputedTorque.from_bandwidth(planar, 2.0), 10.0)
    result = simulate(planar, law, Ramp(), rate=2000)
    # The momentum is integrated by the trapezoidal rule: an error of the period's square remains, here of 45 N m.
    assert np.abs(result.states["disturbance"]).max() < 1e-5 * np.abs(result.tau).max()


def test_computed_torque_includes_rotors():
    arm = armdyn.arms.puma560()
    rng = np.random.default_rng(3)
    q, qd, qdd = rng.normal(size=(3, 6))
    law = ComputedTorque(arm, 0.0, 0.0, "rigid")
    tau = law(0.0, q, qd, armdyn.Reference(q, qd, qdd))
    expected = armdyn.inverse_dynamics(arm, q, qd, qdd) + armdyn.drive_torque(arm, q, qd, qdd)
    assert np.allclose(tau, expected, rtol=1e-13, atol=1e-12)


LAWS = {
    "GravityPD": lambda arm: GravityPD(arm, KP, KD),
    "FeedforwardPD": lambda arm: FeedforwardPD(arm, KP, KD),
    "FrictionFeedforward": lambda arm: FrictionFeedforward(PD(arm, KP, KD)),
    "pid": lambda arm: pid(arm, KP, 10.0, KD),
    "DisturbanceObserver": lambda arm: DisturbanceObserver(FeedforwardPD(arm, KP, KD), 5.0),
}


@pytest.mark.parametrize("name", LAWS)
def test_kernel_and_python_agree(name, planar, swing):
    """One text: the compiled loop is the law called sample by sample, up to round-off grown over 100 samples."""
    arm = with_friction(planar, 1.0, 0.0)
    law = LAWS[name](arm)
    runs = [simulate(arm, law, swing([0.4, -0.3], 1.0, 0.2), rate=500, native=native) for native in (True, False)]
    assert np.allclose(runs[0].q, runs[1].q, rtol=0, atol=1e-11)
    assert np.allclose(runs[0].tau, runs[1].tau, rtol=1e-9, atol=1e-9)


def test_wrappers_do_not_share_kernels(planar, swing):
    """The same wrapper about different laws, with parameters of equal shapes, is another program."""
    reference = swing([0.4, -0.3], 1.0, 0.1)
    gravity = simulate(planar, Integral(GravityPD(planar, KP, KD), 0.0), reference, rate=500)

    class Twice(Law):
        shapes = GravityPD.shapes
        arm = planar
        kp, kd = np.array(KP), np.array(KD)

        def step(self, arm, params, state, q, qd, ref, dt):
            tau, state = GravityPD.step(self, arm, params, state, q, qd, ref, dt)
            return 2 * tau, state

    twice = simulate(planar, Integral(Twice(), 0.0), reference, rate=500)
    assert np.allclose(twice.tau[0], 2 * gravity.tau[0])


@pytest.mark.parametrize(
    ("make", "parts"),
    [
        (lambda arm: Integral("PD", 1.0), {"where": "Integral", "expected": "a control law", "got": "'PD'"}),
        (lambda arm: pid(arm, 1.0, -1.0, 1.0), {"expected": "gains >= 0", "got": "-1 for joint 'joint1'"}),
        (
            lambda arm: pid(arm, 1.0, 1.0, 1.0, limit=0.0),
            {"where": "Integral: limit", "expected": "torques > 0, one number or 2", "got": "0.0"},
        ),
        (lambda arm: Integral(pid(arm, 1.0, 1.0, 1.0), 1.0), {"names": ("integral",), "remedy": "wrap it once"}),
        (
            lambda arm: FrictionFeedforward(PD(arm, 1.0, 1.0), 0.0),
            {"where": "FrictionFeedforward: width", "expected": "a velocity > 0", "got": "0.0"},
        ),
        (lambda arm: GravityPD(arm, [1.0] * 3, 1.0), {"expected": "shape (..., 2) for arm 'planar2'", "got": "(3,)"}),
    ],
)
def test_bad_settings_are_rejected(planar, make, parts):
    with raises(ShapeError, **parts):
        make(planar)


class Poses:
    """From pose to pose in a second each, then two seconds of rest."""

    def __init__(self, poses):
        self.poses, self.n, self.duration = poses, poses.shape[1], 3.0 * (len(poses) - 1)

    def __call__(self, t):
        t = np.asarray(t, float)
        k = np.clip((t / 3.0).astype(int), 0, len(self.poses) - 2)
        x = np.clip(t - 3.0 * k, 0.0, 1.0)[..., None]
        way = self.poses[k + 1] - self.poses[k]
        path = (10 * x**3 - 15 * x**4 + 6 * x**5, 30 * (x - x**2) ** 2, 60 * x - 180 * x**2 + 120 * x**3)
        return self.poses[k] + way * path[0], way * path[1], way * path[2]


@pytest.mark.slow
def test_an_identified_gravity_model_removes_the_sarcos_arms_steady_error():
    """As in figures 7.13 and 7.14 of Kapadia, with a model from `identify` and not the plant's own numbers.

    The log: the arm under plain PD goes through 30 poses and rests in each; 2 % of noise on torques, 1e-4 rad on
    positions. Identification knows the geometry alone. The plant has no friction, which would hold the arm off.
    """
    arm = armdyn.arms.sarcos()
    rng = np.random.default_rng(7)
    kp, kd, _ = armdyn.pd_gains(arm, np.zeros(arm.n), 2.0)
    tour = simulate(arm, PD(arm, kp, kd), Poses(rng.uniform(-1.0, 1.0, (31, arm.n))), rate=500, every=5, check=False)
    noise = 0.02 * np.abs(tour.tau).max(0) * rng.normal(size=tour.tau.shape)
    log = Log(tour.t, tour.q + 1e-4 * rng.normal(size=tour.q.shape), tour.tau + noise)
    fit = armdyn.identify(arm.with_theta(np.full(10 * arm.n, np.nan)), log, terms="gravity")
    target = np.array([0.3, 0.2, -0.2, 0.8, 0.1, 0.2, 0.1])
    options = {"duration": 6.0, "rate": 500, "q0": target - 0.2, "qd0": np.zeros(arm.n), "check": False}
    plain, compensated = (
        np.sqrt((simulate(arm, law, target, **options).error[-1] ** 2).mean())
        for law in (PD(arm, kp, kd), GravityPD(fit.arm, kp, kd))
    )
    assert compensated < plain / 20
