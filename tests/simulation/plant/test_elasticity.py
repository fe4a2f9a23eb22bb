"""Joints that give: two masses on a spring, play, and the limit of a stiff gear."""

import dataclasses
import re

import casadi as ca
import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import Drive, Elasticity, Friction, Plant, simulate
from armdyn.control.laws.computed_torque import ComputedTorque
from armdyn.control.laws.pd import PD
from armdyn.errors import ModelError
from armdyn.simulation.plant.elasticity import resonances, spring_torque
from armdyn.simulation.plant.payload import PickUp

MASS, ROTOR = 2.0, 0.5


def nothing(t, q, qd, ref):
    return np.zeros(len(q))


@pytest.fixture
def geared(block):
    """A block of 2 kg behind a rotor that weighs as much as 0.5 kg."""
    return block(MASS, drive=Drive(rotor_inertia=ROTOR))


@pytest.fixture
def elastic_arm(planar):
    return planar.with_joints(
        dataclasses.replace(joint, drive=Drive(rotor_inertia=0.2, damping=0.1)) for joint in planar.joints
    )


def test_two_masses_swing_as_they_must(geared):
    """Free: the relative motion is a cosine at sqrt(K (1/J + 1/B)), the centre of mass stays.

    Runge-Kutta shifts the phase by (w h)^5 / 120 per step, 1e-9 in all.
    """
    K = 400.0
    w = np.sqrt(K * (1 / MASS + 1 / ROTOR))
    elastic = Elasticity(K)
    assert resonances(geared, elastic, [0.0]).free * 2 * np.pi == pytest.approx(w, rel=1e-12)
    assert resonances(geared, elastic, [0.0]).locked * 2 * np.pi == pytest.approx(np.sqrt(K / MASS), rel=1e-12)
    v = 0.3
    result = simulate(Plant(geared, elasticity=elastic), nothing, [0.0], 2.0, qd0=[v])
    assert np.abs(result.q[:, 0] - v * result.t).max() < 1e-12  # both move on together: nothing swings
    # A blow on the rotor alone: a force for one sample, then free.
    kick = simulate(Plant(geared, elasticity=elastic), lambda t, q, qd, ref: [50.0 * (t < 1e-4)], [0.0], 2.0, 10_000.0)
    stretch = kick.states["rotor_q"][:, 0] - kick.q[:, 0]
    after = kick.t >= 1e-4
    p = MASS * kick.qd[after, 0] + ROTOR * kick.states["rotor_qd"][after, 0]
    assert p == pytest.approx(50.0 * 1e-4, rel=1e-11)
    start, slope = stretch[1], (kick.states["rotor_qd"] - kick.qd)[1, 0]
    s = kick.t[after] - 1e-4
    expected = start * np.cos(w * s) + slope / w * np.sin(w * s)
    assert np.abs(stretch[after] - expected).max() < 1e-8 * np.abs(stretch).max()


def test_springs_keep_energy_and_dampers_take_it(elastic_arm):
    """Energy of links, rotors, gravity and springs together stays; D (rotor_qd - qd)² is what dampers take."""
    arm = elastic_arm.with_joints(
        dataclasses.replace(joint, drive=Drive(rotor_inertia=0.2)) for joint in elastic_arm.joints
    )
    K = np.array([300.0, 200.0])

    def run(damping):
        plant = Plant(arm, friction=False, elasticity=Elasticity(K, damping))
        result = simulate(plant, nothing, np.zeros(2), 1.0, 2000.0, q0=[0.4, -0.6], qd0=[1.0, 0.5])
        stretch = result.states["rotor_q"] - result.q
        E = armdyn.kinetic_energy(arm, result.q, result.qd) + armdyn.potential_energy(arm, result.q)
        E = E + (0.5 * 0.2 * result.states["rotor_qd"] ** 2 + 0.5 * K * stretch**2).sum(-1)
        return result, E, armdyn.kinetic_energy(arm, result.q, result.qd).max()

    _, E, peak = run(0.0)
    assert np.abs(E - E[0]).max() < 1e-8 * peak  # the integrator's error at 0.5 ms
    result, E, peak = run(2.0)
    loss = np.trapezoid(2.0 * ((result.states["rotor_qd"] - result.qd) ** 2).sum(-1), result.t)
    assert loss > 0.01 * peak
    assert E[0] - E[-1] == pytest.approx(loss, rel=1e-3)  # trapezoids at 0.5 ms


def test_stiff_springs_are_the_rigid_arm(elastic_arm, swing):
    """The difference falls in proportion to 1/K; infinite stiffness is the rigid arm to the last bit."""
    law = ComputedTorque.from_bandwidth(elastic_arm, 2.0)
    rigid = simulate(Plant(elastic_arm, friction=False), law, swing, 0.5)

    def gap(K):
        plant = Plant(elastic_arm, friction=False, elasticity=Elasticity(K, 2e-3 * K))
        run = simulate(plant, law, swing, 0.5, substeps=8, check=False)
        return np.abs(run.q - rigid.q).max()

    gaps = [gap(K) for K in (1e4, 4e4)]
    assert gaps[1] < 2e-3
    assert gaps[0] / gaps[1] == pytest.approx(4.0, rel=0.1)
    same = simulate(Plant(elastic_arm, friction=False, elasticity=Elasticity(np.inf)), law, swing, 0.5)
    assert np.array_equal(same.q, rigid.q)


@pytest.mark.parametrize("encoders", ["motor", "link"])
def test_python_loop_kernel_and_batch_agree(elastic_arm, swing, encoders):
    """One joint elastic with play, the other rigid; friction, lag, saturation and a grip on top."""
    arm = elastic_arm.with_joints(
        dataclasses.replace(joint, friction=Friction(coulomb=0.5, viscous=0.1)) for joint in elastic_arm.joints
    )
    springs = Elasticity([np.inf, 500.0], 1.0, [0.0, 2e-3], encoders, friction=encoders)
    plant = Plant(arm, elasticity=springs, motor_lag=0.003, saturation=60.0, changes=[PickUp(0.1, 0.4)])
    law = PD(arm, [400.0, 100.0], [40.0, 10.0])
    options = {"q0": [0.05, 0.0], "substeps": 2, "check": False}
    kernel, plain = (simulate(plant, law, swing, 0.3, native=native, **options) for native in (True, False))
    assert np.abs(kernel.q - plain.q).max() < 1e-11
    assert np.abs(kernel.states["rotor_q"] - plain.states["rotor_q"]).max() < 1e-11
    assert kernel.states["rotor_q"].shape == (301, 1)
    theta = np.stack([arm.theta, arm.with_payload(0.5).theta])
    batch = simulate(dataclasses.replace(plant, theta=theta), law, swing, 0.3, **options)
    assert np.abs(batch.run(0).q - kernel.q).max() < 1e-11
    assert np.abs(batch.run(1).q - kernel.q).max() > 1e-5


def test_links_start_where_springs_carry_them(elastic_arm):
    """Held by its rotors (torques that balance gravity), nothing moves; with play, teeth are in contact."""
    for backlash in (0.0, 0.01):
        plant = Plant(elastic_arm, friction=False, elasticity=Elasticity(500.0, 1.0, backlash))
        q0 = np.array([0.3, 0.4])
        gravity = armdyn.gravity_torque(elastic_arm, q0)
        result = simulate(plant, lambda t, q, qd, ref, tau=gravity: tau, q0, 0.2)
        assert np.abs(result.q - q0).max() < 1e-12
        stretch = result.states["rotor_q"][0] - q0
        assert stretch == pytest.approx(gravity / 500.0 + np.sign(gravity) * backlash / 2, rel=1e-12)


def test_play_makes_the_link_lag_by_its_width(block):
    """A rotor led slowly to and fro: the link, held by friction, follows half the play behind, on either side.

    Hysteresis of the play operator; friction F stretches the teeth by F / K besides.
    """
    width, K, F = 0.02, 1e5, 10.0
    arm = block(MASS, Friction(coulomb=F), Drive(rotor_inertia=ROTOR))
    plant = Plant(arm, elasticity=Elasticity(K, 300.0, width, friction="link"))

    class Sway:
        duration = 4.0

        def __call__(self, t):
            t = np.asarray(t, float)[..., None]
            w = np.pi / 2
            return 0.1 * np.sin(w * t), 0.1 * w * np.cos(w * t), -0.1 * w * w * np.sin(w * t)

    result = simulate(plant, PD(arm, 2e4, 200.0), Sway(), rate=4000.0, qd0=[0.0], check=False)
    gap = result.states["rotor_q"][:, 0] - result.q[:, 0]
    up, down = ((result.t > a) & (result.t < b) for a, b in ((0.4, 0.8), (1.8, 2.8)))
    # Accelerations up to 0.25 m/s² change the force of 10 N by 0.5 N, 5e-6 m of the teeth.
    assert gap[up] == pytest.approx(width / 2 + F / K, abs=1e-5)
    assert gap[down] == pytest.approx(-width / 2 - F / K, abs=1e-5)
    free = np.abs(gap) < 0.99 * width / 2
    assert (result.qd[free, 0] == 0).mean() > 0.5  # in the play the link mostly sticks


def test_inside_the_play_nothing_is_transmitted(geared):
    """A rotor pushed across its play: free flight of B alone, contact after sqrt(b B / F); teeth never pull."""
    width, F = 0.01, 2.0
    plant = Plant(geared, elasticity=Elasticity(1e4, 20.0, width, encoders="link"))
    result = simulate(plant, lambda t, q, qd, ref: [F], [0.0], 0.2, 10_000.0)
    contact = np.sqrt(width / 2 * 2 * ROTOR / F)
    before = result.t < contact
    assert (result.q[before, 0] == 0).all()
    assert result.states["rotor_q"][before, 0] == pytest.approx(F / ROTOR * result.t[before] ** 2 / 2, rel=1e-12)
    assert result.q[-1, 0] > 0
    # Afterwards links are pushed forward only, and the centre of mass moves as a whole.
    assert (np.diff(result.qd[:, 0]) >= -1e-12).all()
    p = MASS * result.qd[:, 0] + ROTOR * result.states["rotor_qd"][:, 0]
    assert p == pytest.approx(F * result.t, rel=1e-11)


def test_teeth_push_and_never_pull():
    """Either side of the play, with a damper that would hold back what springs apart."""
    stretch, rate = ca.SX([0.02, 0.02, -0.02, -0.02, 0.004]), ca.SX([1.0, -100.0, -1.0, 100.0, 100.0])
    spring = ca.SX([[1e3, 5.0, 0.01]])
    found = [float(ca.evalf(spring_torque(stretch[k], rate[k], spring, plays=True))) for k in range(5)]
    assert found == pytest.approx([1e3 * 0.015 + 5.0, 0.0, -1e3 * 0.015 - 5.0, 0.0, 0.0], abs=1e-12)


def test_stuck_rotors_let_their_links_swing(block):
    """Friction in motor and gear holds the rotor to the last bit, and the link swings at sqrt(K / J) on its spring.

    Pushed by F + 1 the rotor slides, and both together gain momentum at 1 N.
    """
    K, F = 400.0, 5.0
    arm = block(MASS, Friction(coulomb=F), Drive(rotor_inertia=ROTOR))
    plant = Plant(arm, elasticity=Elasticity(K))
    w = np.sqrt(K / MASS)
    v = 0.5 * F / K * w  # stretches the spring by half of what friction holds
    result = simulate(plant, nothing, [0.0], 1.0, 2000.0, qd0=[v], check=False)
    # The rotor moves along at v for an instant, until friction has stopped it.
    rest = result.states["rotor_q"][-1, 0]
    held = result.states["rotor_qd"][:, 0] == 0
    assert held[50:].all()
    assert (result.states["rotor_q"][held, 0] == rest).all()
    x = result.q[held, 0] - rest
    t = result.t[held] - result.t[held][0]
    expected = x[0] * np.cos(w * t) + result.qd[held, 0][0] / w * np.sin(w * t)
    assert np.abs(x - expected).max() < 1e-8 * np.abs(x).max()
    pushed = simulate(plant, lambda t, q, qd, ref: [F + 1.0], [0.0], 2.0, 2000.0, qd0=[0.0], check=False)
    p = MASS * pushed.qd[:, 0] + ROTOR * pushed.states["rotor_qd"][:, 0]
    # The rotor moves at t / (J + B) plus or minus 0.05 m/s of swing, never back, and friction takes F throughout.
    assert (pushed.states["rotor_qd"][1:] > 0).all()
    assert p == pytest.approx(pushed.t, abs=1e-9)


def test_grip_leaves_rotors_behind_springs_alone(geared):
    """The link's momentum is shared with the body; the rotor's velocity does not jump."""
    plant = Plant(geared, elasticity=Elasticity(100.0), changes=[PickUp(0.1, 1.0)])
    result = simulate(plant, nothing, [0.0], 0.2, qd0=[0.6])
    k = 100
    assert result.qd[k - 1, 0] == pytest.approx(0.6)
    assert result.qd[k, 0] == pytest.approx(0.6 * MASS / (MASS + 1.0))
    assert result.states["rotor_qd"][k, 0] == pytest.approx(0.6)


def test_springs_too_fast_for_the_steps_are_named(elastic_arm, swing):
    law = ComputedTorque.from_bandwidth(elastic_arm, 2.0)
    plant = Plant(elastic_arm, friction=False, elasticity=Elasticity([1e3, 1e7]))
    with raises(
        ModelError, remedy=re.compile("make them shorter, .* times or more, with substeps="), names=("joint2",)
    ):
        simulate(plant, law, swing, 0.01, substeps=1)
    assert simulate(plant, law, swing, 0.01).complete


def test_springs_for_a_frequency(elastic_arm):
    """10 Hz with the rotor held, of one joint alone; together the arm's modes lie around it."""
    elastic = Elasticity.from_frequency(elastic_arm, 10.0)
    M = np.diagonal(armdyn.mass_matrix(elastic_arm, np.zeros(2)))
    assert np.sqrt(elastic.stiffness / M) / (2 * np.pi) == pytest.approx(10.0)
    assert (
        resonances(elastic_arm, elastic, np.zeros(2)).locked.min()
        < 10
        < resonances(elastic_arm, elastic, [0, 0])[0].max()
    )


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (
            {"stiffness": 0.0},
            {"where": "Elasticity: stiffness", "expected": "numbers > 0 (infinite for a rigid joint)"},
        ),
        (
            {"stiffness": 1.0, "damping": -1.0},
            {"where": "Elasticity: damping", "expected": "numbers >= 0, one or one per joint", "got": "-1.0"},
        ),
        (
            {"stiffness": "soft"},
            {"where": "Elasticity: stiffness", "expected": "numbers >= 0, one or one per joint", "got": "'soft'"},
        ),
        ({"stiffness": 1.0, "encoders": "both"}, {"names": ("both",), "expected": "one of motor, link"}),
    ],
)
def test_impossible_springs_are_rejected(options, parts):
    with raises(ModelError, **parts):
        Elasticity(**options)


def test_plants_that_cannot_be_elastic_are_rejected(planar, elastic_arm):
    with raises(ModelError, names=("joint1",)):
        Plant(planar, elasticity=Elasticity(100.0))
    with raises(ModelError, expected="one number or 2 per parameter", got="shapes [(3,), (), ()]"):
        Plant(elastic_arm, elasticity=Elasticity([1.0, 2.0, 3.0]))
    with raises(ModelError, names=("joint1",), remedy="give the stiffness of the teeth in contact"):
        Plant(elastic_arm, elasticity=Elasticity(np.inf, 0.0, 0.01))
    with raises(ModelError, remedy="leave drive=True"):
        Plant(elastic_arm, drive=False, elasticity=Elasticity(100.0))


def test_balancers_act_without_rotors(planar):
    """Gas springs that carry what gravity asks of both joints: nothing moves."""
    q0 = np.array([0.4, 0.3])
    carried = armdyn.gravity_torque(planar, q0)
    joints = [
        dataclasses.replace(joint, drive=Drive(balance=((0.0, -tau, 0.0),)))
        for joint, tau in zip(planar.joints, carried, strict=True)
    ]
    run = simulate(planar.with_joints(joints), nothing, np.zeros(2), 0.1, q0=q0)
    assert np.abs(run.q - q0).max() < 1e-12
