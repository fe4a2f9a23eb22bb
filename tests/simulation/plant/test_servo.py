"""Plants with position servos, and the numbers of drives as lanes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import Drive, Friction, Plant, PositionCommands, PositionServo, simulate
from armdyn.errors import ModelError, ShapeError

T = np.arange(0, 1, 0.02)


def wave(n: int) -> np.ndarray:
    """Commands of n joints at the times T."""
    return 0.3 * np.sin(2 * np.pi * T[:, None] + np.arange(n))


def run(plant: Plant, law: PositionCommands, **more: object) -> armdyn.SimulationResult:
    """A second of it, at rest at first."""
    return simulate(plant, law, np.zeros(law.arm.n), duration=1.0, rate=500, substeps=1, check=False, **more)


def test_a_servo_is_a_spring_to_its_command() -> None:
    """With a constant command it is the drive's own spring and damper, to the last digits."""
    arm = armdyn.arms.planar2()
    joints = [replace(j, drive=Drive(0.02, damping=0.5, stiffness=30.0, rest=0.2)) for j in arm.joints]
    spring = simulate(
        Plant(arm.with_joints(joints)), armdyn.PD(arm, 0, 0), np.zeros(2), duration=1.0, rate=500, substeps=1
    )
    rotors = arm.with_joints([replace(j, drive=Drive(0.02)) for j in arm.joints])
    law = PositionCommands(arm, [0.0, 1.0], np.full((2, 2), 0.2))
    servo = run(Plant(rotors, servo=PositionServo(30.0, 0.5)), law)
    assert servo.q == pytest.approx(spring.q, abs=1e-12)
    assert servo.tau[0] == pytest.approx(30 * 0.2)


def test_dead_band_and_limit() -> None:
    """Within the dead band a joint without gravity stays where it is; beyond the limit nothing is exerted more."""
    arm = armdyn.arms.planar2().with_gravity((0, 0, 0))
    law = PositionCommands(arm, [0.0, 1.0], np.full((2, 2), 0.01))
    assert not run(Plant(arm, servo=PositionServo(30.0, 0.5, 0.02)), law).q.any()
    far = PositionCommands(arm, [0.0, 1.0], np.full((2, 2), 1.0))
    held = run(Plant(arm, servo=PositionServo(30.0, 0.5, 0.02), saturation=2.0), far)
    assert np.abs(held.tau).max() == 2.0


@pytest.mark.parametrize("delay", [0.0, 0.013, 0.02, 0.051])
def test_a_delay_shifts_commands(delay: float) -> None:
    """Commands that are sent earlier and arrive later are the same: to the step of the integrator."""
    arm = armdyn.arms.planar2()
    plant = Plant(arm, servo=PositionServo(200.0, 20.0))
    sent = run(plant, PositionCommands(arm, T - delay, wave(2), delay, 0.06))
    there = run(plant, PositionCommands(arm, T, wave(2), 0.0, 0.06))
    assert sent.q == pytest.approx(there.q, abs=1e-9)


def test_motion_depends_smoothly_on_the_delay() -> None:
    """Differences over a tenth of a step are as those over five steps: else no search would find it."""
    arm = armdyn.arms.planar2()
    plant = Plant(arm, servo=PositionServo(200.0, 20.0))
    delays = 0.0131 + np.array([0.0, 2e-4, 1e-2])[:, None] * np.ones(2)
    q = run(plant, PositionCommands(arm, T, wave(2), delays, 0.06)).q
    fine, coarse = (q[1] - q[0]) / 2e-4, (q[2] - q[0]) / 1e-2
    assert np.linalg.norm(fine - coarse) < 0.15 * np.linalg.norm(coarse)


def test_every_number_can_be_a_lane() -> None:
    """Rotors, friction, servos and delays of a batch are those of single runs."""
    arm = armdyn.arms.planar2()
    rng = np.random.default_rng(0)
    drive = np.zeros((4, 2, 4))
    drive[..., 0] = rng.uniform(0.01, 0.1, (4, 2))
    friction = np.zeros((4, *arm.trace_data("friction").shape))
    friction[..., 1] = friction[..., 3] = rng.uniform(0.1, 1.0, (4, 2))
    friction[..., 4] = 0.1
    kp, kd, slack, delay = (rng.uniform(a, b, (4, 2)) for a, b in ((80, 200), (5, 10), (0, 0.01), (0, 0.05)))
    law = PositionCommands(arm, T, wave(2), delay, 0.06)
    whole = run(Plant(arm, servo=PositionServo(kp, kd, slack), drive_data=drive, friction_data=friction), law)
    for k in range(4):
        servo = PositionServo(kp[k], kd[k], slack[k])
        one = Plant(arm, servo=servo, drive_data=drive[k], friction_data=friction[k])
        alone = run(one, PositionCommands(arm, T, wave(2), delay[k], 0.06))
        assert whole.q[k] == pytest.approx(alone.q, abs=1e-10)  # lanes and single code round differently
    rows = [(Drive(float(d[0])), Friction(coulomb=float(f[1]))) for d, f in zip(drive[2], friction[2], strict=True)]
    rotor = arm.with_joints([replace(j, drive=d, friction=f) for j, (d, f) in zip(arm.joints, rows, strict=True)])
    described = run(
        Plant(rotor, servo=PositionServo(kp[2], kd[2], slack[2])), PositionCommands(arm, T, wave(2), delay[2], 0.06)
    )
    assert whole.q[2] == pytest.approx(described.q, abs=1e-10)


def test_python_and_native_agree() -> None:
    """The law called sample by sample is the same."""
    arm = armdyn.arms.planar2()
    plant, law = Plant(arm, servo=PositionServo(200.0, 20.0)), PositionCommands(arm, T, wave(2), 0.013, 0.06)
    assert run(plant, law, native=False).q == pytest.approx(run(plant, law).q, abs=1e-9)


def test_steps_suit_stiff_servos() -> None:
    """Without substeps they are chosen short enough for the servo."""
    arm = armdyn.arms.planar2()
    law = PositionCommands(arm, T, wave(2))
    result = simulate(Plant(arm, servo=PositionServo(1e5, 300.0)), law, np.zeros(2), duration=1.0, rate=50)
    assert np.isnan(result.diverged).all()
    assert np.abs(result.q).max() < 1.0


def test_what_cannot_be_is_rejected() -> None:
    """One sentence each."""
    arm = armdyn.arms.planar2()
    with raises(ModelError, where="PositionServo: stiffness", expected="finite numbers >= 0", got="-1.0"):
        PositionServo(-1.0)
    with raises(ModelError, expected="one number or 2, one per joint", got="shapes (3,), (), ()"):
        Plant(arm, servo=PositionServo(np.ones(3)))
    with raises(ModelError, cause="position servos go with rigid joints, no motor_lag and armdyn's own engine"):
        Plant(arm, servo=PositionServo(1.0), motor_lag=0.01)
    with raises(ModelError, where="Plant: drive_data", expected="shape (..., 2, 4)", got="(3, 4)"):
        Plant(arm, drive_data=np.zeros((3, 4)))
    with raises(ModelError, expected="inertia, damping and stiffness >= 0"):
        Plant(arm, drive_data=-np.ones((2, 4)))
    with raises(ShapeError, expected="rising times (K,) and finite positions (K, 2)", got="shapes (2,) and (2, 2)"):
        PositionCommands(arm, [0.0, 0.0], np.zeros((2, 2)))
    with raises(ShapeError, remedy="leave some out"):
        PositionCommands(arm, np.arange(100) * 1e-4, np.zeros((100, 2)), 0.1)


def test_commands_between_steps_are_no_later_than_they_are() -> None:
    """Stamps a little off the grid of steps move by that little, and delays act from zero on."""
    arm = armdyn.arms.planar2()
    plant = Plant(arm, servo=PositionServo(200.0, 20.0))
    on_grid = run(plant, PositionCommands(arm, T, wave(2), 0.0, 0.06)).q
    beside = run(plant, PositionCommands(arm, T + 1e-7, wave(2), 0.0, 0.06)).q
    assert beside == pytest.approx(on_grid, abs=1e-6)
    later = run(plant, PositionCommands(arm, T + 1e-7, wave(2), 1e-3, 0.06)).q
    assert np.abs(later - beside).max() > 1e-4
