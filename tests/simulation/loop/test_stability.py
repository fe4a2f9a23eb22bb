"""Sampled loops: what the linearisation predicts, and what happens."""

import dataclasses

import numpy as np
import pytest

import armdyn
from armdyn import Drive, Friction
from armdyn.control.design.designs import adaptive_designs
from armdyn.control.laws.pd import PD
from armdyn.errors import ArmdynWarning
from armdyn.simulation.compare import Sway
from armdyn.simulation.loop import stability
from armdyn.simulation.loop.schedule import Schedule, make_clock
from armdyn.simulation.loop.stability import expected_instability, period_map
from armdyn.simulation.plant.plant import Plant
from armdyn.simulation.simulate import simulate
from armdyn.trajectory.protocol import JointMotion


def schedule_of(plant, rate, duration=0.1, **options):
    clock = make_clock(rate, duration, options.get("substeps", 1), options.get("delay", 0.0))
    zeros = np.zeros((clock.steps, plant.arm.n))
    return Schedule(plant, clock, JointMotion(zeros, zeros, zeros))


def exact_map(m, kp, kd, T, delayed):
    """A mass under a held force -kp x - kd v, of this sample or of the last one."""
    A, B = np.array([[1, T], [0, 1]]), np.array([[T**2 / 2], [T]]) / m
    K = np.array([[kp, kd]])
    return np.block([[A, B], [-K, np.zeros((1, 1))]]) if delayed else A - B @ K


@pytest.mark.parametrize("delayed", [False, True])
def test_the_map_of_a_mass_is_the_exact_one(block, delayed):
    """Held force, one period of delay: eigenvalues as by hand, to the accuracy of differences."""
    m, kp, kd, rate = 2.0, 300.0, 40.0, 100.0
    arm = block(m)
    delay = 1 / rate if delayed else 0.0
    found = period_map(schedule_of(Plant(arm), rate, delay=delay), PD(arm, kp, kd))
    expected = np.abs(np.linalg.eigvals(exact_map(m, kp, kd, 1 / rate, delayed))).max()
    assert found.radius == pytest.approx(expected, rel=1e-7)


def test_a_delay_destabilises_where_the_linearisation_says(block):
    """kd between the limits with and without delay: one loop settles, the other grows as predicted."""
    m, kp, rate = 2.0, 50.0, 100.0
    arm = block(m)
    kd = 0.75 * 2 * m * rate  # stable below 2 m / dt without a delay, below m / dt with one period of it
    prompt = simulate(arm, PD(arm, kp, kd), [0.0], 2.0, rate, q0=[0.1])
    assert abs(prompt.q[-1, 0]) < 0.1
    with pytest.warns(ArmdynWarning, match="unstable at 100 Hz"):
        late = simulate(arm, PD(arm, kp, kd), [0.0], 0.3, rate, q0=[0.1], delay=1 / rate)
    radius = np.abs(np.linalg.eigvals(exact_map(m, kp, kd, 1 / rate, True))).max()
    peaks = np.abs(late.qd[5:, 0])
    growth = np.log(peaks[-8:].max() / peaks[:8].max()) / (len(peaks) - 8)
    assert radius > 1
    assert growth == pytest.approx(np.log(radius), rel=0.1)


def test_rotor_inertia_rescues_a_light_joint(block):
    """kd dt > 2 m is unstable; with the rotor's inertia it is not."""
    law = PD(block(0.01), 10.0, 30.0)
    assert "grows" in expected_instability(schedule_of(Plant(block(0.01)), 1000.0), law)
    geared = block(0.01, drive=Drive(rotor_inertia=1e-4, gear_ratio=100.0))
    assert expected_instability(schedule_of(Plant(geared), 1000.0), law) is None


def test_gravity_on_a_soft_joint_is_no_matter_of_sampling(planar):
    law = PD(planar, 0.0, 0.0)
    assert expected_instability(schedule_of(Plant(planar, friction=False), 1000.0), law) is None


def test_a_light_wrist_without_rotors_is_named():
    """PUMA 560 under a PD at 1 kHz: fine with its rotors, hopeless in the wrist without them."""
    arm = armdyn.arms.puma560()
    law = PD(arm, [2000, 2000, 800, 100, 100, 100], [200, 200, 80, 8, 8, 8])
    text = expected_instability(schedule_of(Plant(arm, friction=False, drive=False), 1000.0), law)
    assert any(f"joint{k}" in text for k in (4, 5, 6))
    assert expected_instability(schedule_of(Plant(arm, friction=False), 1000.0), law) is None


def test_adaptation_is_no_instability():
    """A law that learns load and friction at 250 Hz tracks well: the check must stay silent along its motion."""
    arm = armdyn.arms.puma3()
    motion = Sway.within(arm, 6.0)
    law = adaptive_designs(arm, motion(np.linspace(0, 6, 300)), 3.0)["Slotine-Li"]
    clock = make_clock(250.0, 6.0, 1, 0.0)
    schedule = Schedule(Plant(arm.with_payload(2.0)), clock, JointMotion(*motion(np.arange(clock.steps) * clock.h)))
    assert expected_instability(schedule, law) is None


def test_joints_are_looked_at_while_they_move(block):
    """A periodic motion that rests at evenly spaced instants, and dry friction: the loop is seen to be unstable."""
    arm = block(0.01, Friction(coulomb=0.05))
    clock = make_clock(1000.0, 4.0, 1, 0.0)
    t = np.arange(clock.steps)[:, None] * clock.h
    w, a = 8 * np.pi, 0.05
    motion = JointMotion(a * np.cos(w * t), -a * w * np.sin(w * t), -a * w**2 * np.cos(w * t))
    assert "grows" in expected_instability(Schedule(Plant(arm), clock, motion), PD(arm, 10.0, 30.0))


def concurrent(rate, duration=1.0, faster=1.0):
    """A law with records, of hundreds of entries, and its run on a planar arm."""
    arm = armdyn.arms.planar2()
    motion = Sway.within(arm, 2.0)
    law = adaptive_designs(arm, motion(np.linspace(0, 2, 100)), 3.0)["concurrent Slotine-Li"]
    law = dataclasses.replace(law, k=faster * law.k)
    clock = make_clock(rate, duration, 1, 0.0)
    motion = JointMotion(*motion(np.arange(clock.steps) * clock.h))
    return Schedule(Plant(arm), clock, motion).for_law(law), law


def test_records_take_no_part_in_the_loop(monkeypatch):
    """The loop's eigenvalues are those of the whole state, which adds only what stays or fades by itself."""
    schedule, law = concurrent(500.0)
    part = period_map(schedule, law)
    monkeypatch.setattr(stability, "MAX_STATE", 10**6)
    whole = period_map(schedule, law)
    same = np.isin(whole.samples, part.samples).nonzero()[0]
    assert part.jacobian.shape[-1] < 20 < 200 < whole.jacobian.shape[-1]
    for jacobian, every in zip(part.jacobian, whole.jacobian[same], strict=False):
        inside, all_of_them = np.linalg.eigvals(jacobian), np.linalg.eigvals(every)
        # differences are good to 1e-9; eigenvalues that nearly coincide, as of estimates, to its root
        assert np.abs(inside[:, None] - all_of_them).min(1).max() < 1e-4
        assert np.abs(all_of_them).max() < max(np.abs(inside).max(), 1) + 1e-4


def test_a_law_with_records_that_is_too_stiff_for_its_rate_is_told():
    assert expected_instability(*concurrent(500.0)) is None
    assert "grows" in expected_instability(*concurrent(500.0, faster=100.0))


@pytest.mark.parametrize("duration", [0.01, 0.1, 1.0])
def test_the_check_takes_no_more_steps_than_the_run(duration):
    schedule, law = concurrent(1000.0, duration)
    found = period_map(schedule, law)
    assert len(found.samples) == 1 or 2 * found.jacobian.shape[-1] * len(found.samples) <= schedule.clock.samples


@pytest.mark.parametrize(("name", "kind"), [("xarm7", "Slotine-Li"), ("vukobratovic3", "modified Slotine-Li")])
def test_a_mode_that_does_not_grow_along_the_motion_is_not_foretold(name, kind):
    """A fast mode of one pose that is passed soon, or of a joint that friction holds, is no instability of the run."""
    arm = getattr(armdyn.arms, name)()
    motion = Sway.within(arm, 4.0)
    law = adaptive_designs(arm, motion(np.linspace(0.0, 4.0, 500)), 2.0)[kind]
    start = motion(np.zeros(1))[0][0]
    run = simulate(arm, law, motion, 1.0, 1000.0, q0=start + 1e-3, quiet=True)  # warnings are errors
    assert np.isnan(run.diverged)


@pytest.mark.parametrize("coulomb", [0.0, 0.01])
def test_friction_at_rest_hides_no_instability(block, coulomb):
    arm = block(0.01)
    arm = arm.with_joints([dataclasses.replace(arm.joints[0], friction=Friction(0.0, coulomb))])
    assert "grows tenfold within" in expected_instability(schedule_of(Plant(arm), 1000.0), PD(arm, 10.0, 30.0))


def test_friction_that_the_plant_lacks_is_named(block):
    """Viscous friction that is compensated and does not act is a negative damping, here of 500 against 4 N s/m."""
    arm = block(2.0)
    arm = arm.with_joints([dataclasses.replace(j, friction=Friction(viscous=500.0)) for j in arm.joints])
    law = armdyn.ComputedTorque(arm, 1.0, 2.0)
    with pytest.warns(ArmdynWarning, match="compensates friction that the plant lacks"):
        simulate(Plant(arm, friction=False), law, [0.0], 0.1, 1000.0, q0=[0.001])
    simulate(arm, law, [0.0], 0.1, 1000.0, q0=[0.001])
    simulate(Plant(arm, friction=False), law.without_friction(), [0.0], 0.1, 1000.0, q0=[0.001])


def test_a_joint_that_friction_of_the_model_pushes_away_is_named(block):
    """5 N against dry friction that does not act, held by 20 N/m, are 0.25 m: the motion goes 0.1 m."""
    arm = block(2.0)
    arm = arm.with_joints([dataclasses.replace(j, friction=Friction(coulomb=5.0)) for j in arm.joints])
    clock = make_clock(1000.0, 1.0, 1, 0.0)
    t = np.arange(clock.steps)[:, None] * clock.h
    motion = JointMotion(0.1 * np.sin(6 * t), 0.6 * np.cos(6 * t), -3.6 * np.sin(6 * t))
    plant = Plant(arm, friction=False)
    for kp, told in ((20.0, True), (200.0, False)):
        law = armdyn.FeedforwardPD(arm, kp, 10.0)
        text = expected_instability(Schedule(plant, clock, motion), law)
        assert (text is not None) is told
        assert not told or "will settle 0.25 m off the reference" in text
        assert expected_instability(Schedule(Plant(arm), clock, motion), law) is None
        assert expected_instability(Schedule(plant, clock, motion), law.without_friction()) is None
