"""Adaptive steps: the judge of fixed ones."""

import dataclasses
import re

import numpy as np
import pytest
from tests.raising import raises

from armdyn import Drive, Elasticity, Friction, PickUp, Plant, simulate
from armdyn.control.laws.pd import PD
from armdyn.errors import ShapeError, SimulationError


def test_smooth_motion_agrees_with_fixed_steps(planar, swing):
    """Fixed steps of 0.25 ms are accurate to 1e-9 here; lag, wrench, saturation and payload take part."""
    wrench, changes = lambda t: [np.sin(9 * t), 0, 0, 0, 0, 0.2], [PickUp(0.1, 0.5)]
    plant = Plant(planar, motor_lag=0.01, saturation=15.0, wrench=wrench, changes=changes)
    law = PD(planar, 100.0, 10.0)
    fixed, adaptive = (
        simulate(plant, law, swing, 0.3, 500.0, substeps=m, tolerance=tol) for m, tol in ((8, None), (1, 1e-11))
    )
    assert np.abs(fixed.q - adaptive.q).max() < 1e-9
    assert np.abs(fixed.tau - adaptive.tau).max() < 1e-7


def test_reversing_friction_is_exact(block):
    """A block pushed to and fro against Coulomb friction 3: between events the acceleration is constant.

    Force +-8 for 0.3 s each, m = 2: rises to v = 0.75, brakes at 5.5, stops after 0.75/5.5 s, and goes back at 2.5.
    """
    slide = block(2.0, Friction(coulomb=3.0))
    force = lambda t, q, qd, ref: [8.0 if t < 0.2995 else -8.0]  # noqa: E731
    run = simulate(slide, force, [0.0], 0.6, 1000.0, tolerance=1e-10)
    v = 2.5 * 0.3
    stop = v / 5.5
    assert run.qd[-1, 0] == pytest.approx(-2.5 * (0.3 - stop), rel=1e-8)
    assert run.q[-1, 0] == pytest.approx(v * 0.3 / 2 + v * stop / 2 - 2.5 * (0.3 - stop) ** 2 / 2, rel=1e-8)
    fixed = simulate(slide, force, [0.0], 0.6, 1000.0)
    # Fixed steps rest until the step's end at the turn: at most one step of motion is lost.
    assert abs(fixed.qd[-1, 0] - run.qd[-1, 0]) <= 2.5 * 1e-3
    fine = simulate(slide, force, [0.0], 0.6, 1000.0, substeps=16)
    assert abs(fine.qd[-1, 0] - run.qd[-1, 0]) <= 2.5 * 1e-3 / 16


def test_two_joints_stick_and_slip(planar):
    """Coupled joints with dry friction: fixed steps come closer to the judge as they get finer."""
    joints = [
        dataclasses.replace(j, friction=Friction(coulomb=c, viscous=0.1))
        for j, c in zip(planar.joints, (6, 2), strict=True)
    ]
    arm = planar.with_joints(joints).with_gravity([0, 0, 0])
    force = lambda t, q, qd, ref: [25 * np.sin(15 * t), 8 * np.cos(22 * t)]  # noqa: E731
    judge = simulate(arm, force, np.zeros(2), 0.4, 200.0, tolerance=1e-9)
    errors = [np.abs(simulate(arm, force, np.zeros(2), 0.4, 200.0, substeps=m).q - judge.q).max() for m in (5, 20, 80)]
    assert np.ptp(judge.q, axis=0).min() > 0.01
    assert errors[2] < errors[0] / 4
    assert errors[2] < 1e-3


@pytest.mark.parametrize("friction", ["motor", "link"])
def test_elastic_joints_agree_with_fixed_steps(planar, swing, friction):
    """Springs, play, lag and a grip; friction's events are resolved to a fixed step, which bounds what differs."""
    drive, rubbing = Drive(rotor_inertia=0.2, damping=0.1), Friction(coulomb=0.5, viscous=0.1)
    arm = planar.with_joints(dataclasses.replace(j, drive=drive, friction=rubbing) for j in planar.joints)
    springs = Elasticity([500.0, 300.0], 1.0, [0.0, 2e-3], friction=friction)
    plant = Plant(arm, elasticity=springs, motor_lag=0.003, saturation=60.0, changes=[PickUp(0.05, 0.4)])
    law, options = PD(arm, [400.0, 100.0], [40.0, 10.0]), {"q0": [0.05, 0.0], "check": False}
    judge = simulate(plant, law, swing, 0.15, tolerance=1e-9, **options)
    coarse, fine = (simulate(plant, law, swing, 0.15, substeps=m, **options) for m in (1, 32))
    for name in ("rotor_q", "rotor_qd", "motor", "direction"):
        assert judge.states[name].shape == fine.states[name].shape
    errors = [np.abs(run.states["rotor_q"] - judge.states["rotor_q"]).max() for run in (coarse, fine)]
    assert errors[1] < 1e-5
    assert errors[1] < errors[0] / 4


def test_a_bouncing_rotor_is_exact(block):
    """Play without damping: free flight of the rotor, then half a swing on the teeth, at known instants.

    A push F for one sample gives the rotor v; the teeth meet after b / (2 v), and let go half a period of
    sqrt(K (1/J + 1/B)) later, when both have changed velocities as by an elastic collision.
    """
    B, J, K, width = 0.5, 2.0, 4e4, 0.01
    arm = block(J, drive=Drive(rotor_inertia=B))
    plant = Plant(arm, elasticity=Elasticity(K, 0.0, width, encoders="link"))
    run = simulate(plant, lambda t, q, qd, ref: [50.0 * (t < 1e-4)], [0.0], 0.1, 1000.0, tolerance=1e-10)
    v, w = 50.0 * 1e-3 / B, np.sqrt(K * (1 / J + 1 / B))
    meet = 1e-3 + (width / 2 - v * 1e-3 / 2) / v
    after = run.t > meet + np.pi / w
    assert after.sum() > 20
    assert run.qd[after, 0] == pytest.approx(2 * B * v / (J + B), rel=1e-7)
    assert run.states["rotor_qd"][after, 0] == pytest.approx((B - J) * v / (J + B), rel=1e-7)
    assert run.q[after, 0] == pytest.approx(
        B * v / (J + B) * np.pi / w + 2 * B * v / (J + B) * (run.t[after] - meet - np.pi / w), rel=1e-6
    )


def test_stiff_solvers_take_stiff_springs(planar, swing):
    """Two solvers of different families agree on springs that fixed steps would need a hundred sub-steps for."""
    arm = planar.with_joints(dataclasses.replace(j, drive=Drive(rotor_inertia=0.2)) for j in planar.joints)
    plant, law = Plant(arm, friction=False, elasticity=Elasticity(1e8, 1e3)), PD(arm, 400.0, 40.0)
    ends = [
        simulate(plant, law, swing, 0.01, q0=[0.05, 0.0], tolerance=1e-7, solver=solver, check=False).q[-1]
        for solver in ("LSODA", "DOP853")
    ]
    assert ends[0] == pytest.approx(ends[1], abs=1e-7)


def test_a_solver_that_gives_up_is_told(planar, monkeypatch):
    import scipy.integrate

    solve = scipy.integrate.solve_ivp

    def weary(rates, span, *rest, **options):
        found = solve(rates, span, *rest, **options)
        if span[0] == 0 and calls.append(span) is None and len(calls) == 6:
            found.status, found.message = -1, "Required step size is too small."
        return found

    calls = []
    monkeypatch.setattr(scipy.integrate, "solve_ivp", weary)
    with raises(
        SimulationError, cause=re.compile(r"RK45 gave up at t = .*: Required step size is too small$")
    ) as caught:
        simulate(planar, PD(planar, 1.0, 1.0), [0.0, 0.0], 0.1, tolerance=1e-6, solver="RK45")
    assert len(caught.value.result.t) == 5


def test_bad_tolerances_are_rejected(planar):
    with raises(ShapeError, names=("Euler",), expected="one of DOP853, RK45, RK23, Radau, BDF, LSODA"):
        simulate(planar, PD(planar, 1.0, 1.0), [0.0, 0.0], 0.1, tolerance=1e-6, solver="Euler")
    with raises(ShapeError, expected="a tolerance between 0 and 1", got="-1"):
        simulate(planar, PD(planar, 1.0, 1.0), [0.0, 0.0], 0.1, tolerance=-1)


def test_a_pull_that_reaches_breakaway_to_the_last_bit_holds(block):
    """Static friction 5 against a force of exactly 5: the block stays; a hair more, and it goes."""
    slide = block(2.0, Friction(coulomb=3.0, static=5.0, stribeck=0.05))
    held, pulled = (simulate(slide, lambda t, q, qd, ref, f=f: [f], [0.0], 0.05, tolerance=1e-9) for f in (5.0, 5.001))
    assert not held.q.any()
    assert pulled.qd[-1, 0] > 0
