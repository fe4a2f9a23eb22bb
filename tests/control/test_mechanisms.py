"""Laws and simulation of a two-arm robot and of a parallelogram: what theory promises of chains holds there too."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import Arm, Drive, Friction, Joint, Link, Spring
from armdyn.control.laws.computed_torque import ComputedTorque
from armdyn.control.laws.lqr import TrajectoryLQR
from armdyn.control.protocol import Reference
from armdyn.errors import LimitError
from armdyn.simulation.simulate import simulate
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.transform import transform

BODY = Inertia.from_com(1.5, (0.12, 0.01, 0.02), np.diag([0.01, 0.02, 0.02]))
Y = (0.0, 1.0, 0.0)


def at(x: float, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    return transform(None, [x, y, z])


def two_arms() -> Arm:
    """Two arms of two joints on a torso that turns."""
    joints = [Joint("torso", axis=(0.0, 0.0, 1.0))]
    for side, y in (("left", 0.2), ("right", -0.2)):
        joints += [
            Joint(f"{side} shoulder", axis=Y, before=at(0.1, y, 0.4), parent="body"),
            Joint(f"{side} elbow", axis=Y, before=at(0.3)),
        ]
    links = [Link("body", BODY), *(Link(f"{s} {p}", BODY) for s in ("left", "right") for p in ("upper", "fore"))]
    return Arm(tuple(joints), tuple(links), name="two arms", tool_pose=at(0.25))


def parallelogram(rubs: bool = False) -> Arm:
    """A shoulder and an elbow behind a crank and a coupler, rotors at the shoulder and the crank, and a balancer."""
    rotor = Drive(rotor_inertia=0.02)
    rough = Friction(viscous=0.3, coulomb=0.2) if rubs else Friction()
    joints = (
        Joint("shoulder", axis=Y, drive=rotor, friction=rough),
        Joint("elbow", axis=Y, before=at(0.3), friction=rough),
        Joint("crank", axis=Y, parent="base", follows=(("shoulder", 1.0), ("elbow", 1.0)), drive=rotor, friction=rough),
        Joint("coupler", axis=Y, before=at(-0.1), follows=(("elbow", -1.0),), friction=rough),
    )
    links = tuple(Link(name, BODY) for name in ("upper", "fore", "crank link", "coupler link"))
    spring = Spring("balancer", ("base", "upper"), ((0.0, 0.0, 0.4), (0.15, 0.0, 0.0)), 80.0, 0.2)
    return Arm(joints, links, name="parallelogram", tip_link="fore", tool_pose=at(0.25), springs=(spring,))


ARMS = {"two arms": two_arms, "parallelogram": parallelogram}


@pytest.fixture(params=ARMS, scope="module")
def arm(request):
    return ARMS[request.param]()


@pytest.fixture(scope="module")
def swing(arm):
    """Sines of the coordinates, about a pose."""
    w, phase = np.linspace(2.0, 4.0, arm.n), np.arange(arm.n)

    def reference(t):
        angle = np.multiply.outer(np.asarray(t), w) + phase
        return 0.3 * np.sin(angle), 0.3 * w * np.cos(angle), -0.3 * w**2 * np.sin(angle)

    return reference


def test_energy_is_kept(arm):
    """Without drives and friction: kinetic, potential and spring energy together, to the order of the steps."""
    zero = np.zeros(arm.n)
    still = lambda t: tuple(np.zeros((len(np.atleast_1d(t)), arm.n)) for _ in range(3))  # noqa: E731
    plain = arm.with_joints([dataclasses.replace(j, drive=Drive(), friction=Friction()) for j in arm.joints])
    start = np.linspace(0.2, -0.4, arm.n)
    run = simulate(plain, armdyn.PD(plain, zero, zero), still, duration=1.0, rate=1000, q0=start)
    assert np.abs(run.qd).max() > 1  # it does move
    T = armdyn.kinetic_energy(plain, run.q, run.qd)
    U = armdyn.potential_energy(plain, run.q) + armdyn.spring_energy(plain, run.q)
    np.testing.assert_allclose(T + U, (T + U)[0], atol=1e-6 * T.max())


def test_computed_torque_gives_the_error_dynamics_it_promises(arm, swing):
    rng = np.random.default_rng(0)
    q, qd = rng.normal(size=(2, 5, arm.n))
    motion = swing(np.linspace(0, 1, 5))
    law = ComputedTorque(arm, 60.0, 15.0)
    tau = law(0.0, q, qd, Reference(*motion))
    want = motion[2] + 60 * (motion[0] - q) + 15 * (motion[1] - qd)
    np.testing.assert_allclose(armdyn.joint_acceleration(arm, q, qd, tau), want, rtol=1e-10, atol=1e-9)


def test_errors_under_computed_torque_decay_at_the_designed_rate(arm, swing):
    kp, kd = 100.0, 20.0  # both poles at -10/s
    start = swing(0.0)[0] + 0.1
    run = simulate(arm, ComputedTorque(arm, kp, kd), swing, duration=1.0, rate=2000, q0=start)
    e0, t = 0.1, run.t
    # e = (a + b t) exp(-10 t) with e(0) = 0.1 and the starting velocity at rest against the reference's.
    rate0 = (run.qd - run.qd_ref)[0]
    want = (e0 + np.multiply.outer(t, rate0 + 10 * e0)) * np.exp(-10 * t)[:, None]
    np.testing.assert_allclose(run.q - run.q_ref, want, atol=2e-3)  # of commands held for half a millisecond


def test_energy_of_slotine_and_li_falls(arm, swing):
    from armdyn.control.adaptive.slotine_li import SlotineLi

    load = 0.8
    law = SlotineLi(armdyn.adapt(armdyn.unknown_mass(arm, (0.05, 0, 0))), 10.0, 8.0, 2.0)
    loaded = arm.with_payload(load, (0.05, 0, 0))
    run = simulate(loaded, law, swing, duration=2.0, rate=2000)
    V, rate, margin = law.lyapunov(loaded, [load], run)
    assert V[-1] < 0.2 * V[0]
    assert (rate <= 1e-9 * V[0]).all()
    assert np.isfinite(margin).all()


def test_gains_of_lqr_solve_riccatis_equation(arm, swing):
    from scipy.linalg import solve_continuous_are

    error, torque = np.repeat([0.02, 0.5], arm.n), np.full(arm.n, 20.0)
    law = TrajectoryLQR(arm, error, torque, rate=250, design="continuous")
    motion = [np.asarray(x) for x in swing(np.arange(20) / 250)]
    K = law.gains(*motion)
    Q, R = np.diag(1 / error**2), np.diag(1 / torque**2)
    for k in (0, 19):
        linear = armdyn.linearize(arm, *(x[k] for x in motion), model="full")
        P = solve_continuous_are(linear.A, linear.B, Q, R)
        np.testing.assert_allclose(K[k], np.linalg.solve(R, linear.B.T @ P), rtol=1e-6, atol=1e-8)
    law = TrajectoryLQR(arm, error, torque, rate=1000, design="discrete")
    run = simulate(arm, law, swing, duration=1.0, rate=1000, q0=swing(0.0)[0] + 1e-3)
    clean = simulate(arm, law, swing, duration=1.0, rate=1000)
    assert np.abs((run.q - clean.q)[-1]).max() < 0.05 * 1e-3


def test_friction_of_joints_that_follow_costs_power(swing_of_parallelogram):
    """What friction takes is the sum over all joints of torque times their own speeds."""
    arm = parallelogram(rubs=True)
    plain = dataclasses.replace(arm, springs=())
    law = ComputedTorque(plain, 400.0, 40.0)
    run = simulate(plain, law, swing_of_parallelogram, duration=2.0, rate=1000)
    speed = run.qd @ plain.G.T
    lost = (0.3 * speed**2 + 0.2 * np.abs(speed)).sum(1)
    T = armdyn.kinetic_energy(plain, run.q, run.qd) + 0.02 * (speed[:, [0, 2]] ** 2).sum(1) / 2
    gain = np.diff(T + armdyn.potential_energy(plain, run.q))
    given = (run.tau[:-1] * (run.q[1:] - run.q[:-1])).sum(1)  # torques are held between samples
    spent = (lost[1:] + lost[:-1]) / 2 * np.diff(run.t)
    np.testing.assert_allclose((given - spent - gain).sum(), 0.0, atol=2e-3 * spent.sum())


@pytest.fixture(scope="module")
def swing_of_parallelogram():
    def reference(t):
        angle = np.multiply.outer(np.asarray(t), [2.0, 4.0])
        return 0.3 * np.sin(angle), 0.3 * np.cos(angle) * [2.0, 4.0], -0.3 * np.sin(angle) * [4.0, 16.0]

    return reference


def test_every_design_follows_a_motion(arm, swing):
    t = np.linspace(0, 2, 200)
    designs = armdyn.designs(arm, swing(t), bandwidth=3.0, rate=1000)
    assert len(designs) > 10
    for name in ("computed torque", "PD + gravity", "Slotine-Li"):
        run = simulate(arm, designs[name], swing, duration=1.0, rate=1000)
        assert np.abs(run.q - run.q_ref).max() < 0.1, name


def test_time_optimal_motion_keeps_limits_of_all_joints():
    limits = {"shoulder": 3.0, "elbow": 3.0, "crank": 2.5}
    arm = parallelogram()
    joints = []
    for j in arm.joints:
        effort = np.inf if j.follows else 60.0
        of_joint = armdyn.Limits(-1.5, 1.5, velocity=limits.get(j.name, np.inf), effort=effort)
        joints.append(dataclasses.replace(j, limits=of_joint))
    arm = arm.with_joints(joints)
    motion = armdyn.time_optimal(arm, [[0.0, 0.0], [0.4, 0.5], [0.6, 0.8]])
    q, qd, qdd = motion(np.linspace(0, motion.duration, 400))
    assert np.abs(qd @ arm.G.T)[:, 2].max() <= 2.5 * 1.001
    assert np.abs(qd @ arm.G.T)[:, 2].max() > 2.4  # which bounds the motion
    assert np.abs(armdyn.joint_torque(arm, q, qd, qdd)).max() <= 60 * 1.02
    with raises(
        LimitError, cause=re.compile(r"joint 'crank', which follows others, goes from 0 to 1\.6"), names=("crank",)
    ):
        armdyn.time_optimal(arm, [[0.0, 0.0], [0.6, 1.0]])
