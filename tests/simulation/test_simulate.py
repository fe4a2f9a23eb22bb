"""The closed loop: laws of mechanics, order of the integrator, parity of the paths, bad input."""

import dataclasses
import re
import warnings
from typing import Any, ClassVar

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.control.laws.computed_torque import ComputedTorque
from armdyn.control.laws.pd import PD
from armdyn.control.protocol import Law
from armdyn.dynamics.drive import augmented_mass_matrix
from armdyn.errors import ArmdynError, ArmdynWarning, ModelError, ShapeError, SimulationError
from armdyn.model.joint import Friction
from armdyn.simulation import SimulationSettings, SimulationTiming
from armdyn.simulation.plant.payload import Drop
from armdyn.simulation.plant.plant import Plant
from armdyn.simulation.simulate import simulate
from armdyn.trace import backend
from armdyn.trace.symbols import ca


def nothing(t, q, qd, ref):
    return np.zeros(len(q))


def rigid(arm, **options):
    return Plant(arm, friction=False, drive=False, **options)


def energy(arm, result, mass_matrix):
    kinetic = np.einsum("...i,...ij,...j", result.qd, mass_matrix(arm, result.q), result.qd) / 2
    return kinetic + armdyn.potential_energy(arm, result.q), kinetic.max()


@pytest.mark.parametrize("drive", [False, True])
def test_free_swing_keeps_its_energy(drive):
    """10 s of PUMA 560 at 1 ms: drift below 1e-8 of the peak kinetic energy (a requirement; measured 2e-9, 1e-12)."""
    arm = armdyn.arms.puma560()
    q0 = [0.3, -0.8, 0.5, 0.2, 0.6, 0.1]
    result = simulate(Plant(arm, friction=False, drive=drive), nothing, np.zeros(6), 10.0, q0=q0, qd0=np.zeros(6))
    E, peak = energy(arm, result, augmented_mass_matrix if drive else armdyn.mass_matrix)
    assert peak > 10
    assert np.abs(E - E[0]).max() < 1e-8 * peak


def test_work_of_drives_and_viscous_friction_balance_the_energy(planar):
    """dE = work of the drives - viscous loss, each integrated by trapezoids (error of order dt²)."""
    joints = [dataclasses.replace(joint, friction=armdyn.Friction(viscous=0.3)) for joint in planar.joints]
    arm = planar.with_joints(joints)
    result = simulate(arm, PD(arm, 20.0, 1.0), [1.0, -0.5], 1.0, q0=[0, 0], qd0=[0, 0])
    E, peak = energy(arm, result, armdyn.mass_matrix)
    loss = np.trapezoid(0.3 * (result.qd**2).sum(-1), result.t)
    # Torques are held over a sample: their work is that on the way of the sample, not a trapezoid.
    work = (result.tau[:-1] * np.diff(result.q, axis=0)).sum()
    assert abs(E[-1] - E[0] - work + loss) < 1e-5 * peak


def test_a_free_joint_keeps_its_momentum(planar):
    """Without gravity nothing depends on q1: whatever joint 2 does, p1 = (M qd)_1 stays (error of the integrator)."""
    arm = planar.with_gravity([0, 0, 0])
    kick = lambda t, q, qd, ref: [0.0, 3 * np.sin(20 * t)]  # noqa: E731
    result = simulate(rigid(arm), kick, [0.0, 0.0], 2.0, qd0=[0.5, -1.0])
    p = armdyn.generalized_momentum(arm, result.q, result.qd)[:, 0]
    assert np.ptp(result.qd[:, 0]) > 0.1
    assert np.abs(p - p[0]).max() < 1e-9 * abs(p[0])


def test_runge_kutta_has_order_four(planar):
    """Halving the step under held torques divides the error by 16."""
    torques = PD(planar, 5.0, 0.5)

    def end(substeps):
        result = simulate(rigid(planar), torques, [1.0, 0.4], 1.0, 20.0, q0=[0, 0], substeps=substeps, check=False)
        return np.concatenate([result.q[-1], result.qd[-1]])

    exact = end(64)
    errors = [np.abs(end(m) - exact).max() for m in (2, 4, 8)]
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert ((orders > 3.6) & (orders < 4.6)).all()


def test_computed_torque_follows_the_designed_poles(planar):
    """Under a perfect model e = (1 + w t) exp(-w t) e0; sampling at 4 kHz costs below 1 % of e0."""
    law = ComputedTorque.from_bandwidth(planar, 1.0)
    result = simulate(rigid(planar), law, [0.5, -0.3], 1.0, 4000.0, q0=[0, 0])
    w = 2 * np.pi
    expected = (1 + w * result.t) * np.exp(-w * result.t)
    assert np.abs(result.error / [0.5, -0.3] - expected[:, None]).max() < 0.01


@pytest.mark.parametrize(
    "options", [{}, {"substeps": 3}, {"substeps": 2, "delay": 0.5e-3}, {"substeps": 2, "delay": 1e-3}]
)
def test_python_loop_and_kernel_agree(planar, swing, options):
    """Both paths run the same graphs, compiled apart: round-off only."""
    plant = Plant(planar, motor_lag=[0.0, 0.003], saturation=[8.0, 4.0], wrench=lambda t: [3 * t, 0, 0, 0, 0, 0.1])
    law = ComputedTorque.from_bandwidth(planar, 3.0)
    runs = [simulate(plant, law, swing, native=native, **options) for native in (True, False)]
    plain = simulate(plant, lambda t, q, qd, ref: law(t, q, qd, ref), swing, **options)
    for other in (runs[1], plain):
        assert np.abs(runs[0].q - other.q).max() < 1e-11
        assert np.abs(runs[0].tau - other.tau).max() < 1e-9
    assert np.abs(runs[0].tau).max(0) == pytest.approx([8.0, 4.0], abs=4)


def test_virtual_machine_agrees(planar, swing):
    law = PD(planar, 40.0, 4.0)
    native = simulate(rigid(planar), law, swing, 0.05)
    with backend.using("virtual"):
        virtual = simulate(rigid(planar), law, swing, 0.05)
    assert np.abs(native.q - virtual.q).max() < 1e-12


def test_batches_are_runs(planar, swing):
    """Starts, gains and payloads in the lanes of one kernel give what single runs give; threads change nothing."""
    q0 = np.linspace(-0.2, 0.2, 14).reshape(7, 2)
    kp = np.linspace(50, 100, 14).reshape(7, 2)
    theta = np.stack([planar.with_payload(0.1 * k).theta for k in range(7)])
    law = ComputedTorque(planar, kp, 15.0)
    batch = simulate(rigid(planar, theta=theta), law, swing, 0.2, q0=q0)
    threaded = simulate(rigid(planar, theta=theta), law, swing, 0.2, q0=q0, threads=2)
    assert np.array_equal(batch.q, threaded.q)
    assert batch.q.shape == (7, 201, 2)
    for k in (0, 3, 6):
        single = simulate(rigid(planar, theta=theta[k]), ComputedTorque(planar, kp[k], 15.0), swing, 0.2, q0=q0[k])
        assert np.abs(batch.run(k).q - single.q).max() < 1e-12
    thin = simulate(rigid(planar, theta=theta), law, swing, 0.2, q0=q0, every=10)
    assert np.array_equal(thin.q, batch.q[:, ::10])


def test_moving_base_is_gravity_in_disguise(planar):
    """A base that accelerates upwards at 2 m/s² is the same as 2 m/s² more gravity, to round-off."""
    lifted = rigid(planar, base_motion=lambda t: (np.zeros(3), np.zeros(3), -0.2 * planar.gravity))
    heavier = rigid(planar.with_gravity(1.2 * planar.gravity))
    runs = [simulate(plant, nothing, [0.0, 0.0], 0.3) for plant in (lifted, heavier)]
    assert np.abs(runs[0].q).max() > 0.05
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-12


def test_motor_lag_is_solved_exactly(block):
    """A mass behind a lag T under a constant force F: v = F/m (t - T (1 - exp(-t/T)))."""
    lag, force, mass = 0.05, 4.0, 2.0
    plant = Plant(block(mass), motor_lag=lag)
    result = simulate(plant, lambda t, q, qd, ref: [force], [0.0], 0.4, 100.0, substeps=4)
    t = result.t
    assert np.allclose(result.qd[:, 0], force / mass * (t - lag * (1 - np.exp(-t / lag))), rtol=0, atol=1e-7)
    assert np.allclose(result.tau[:-1, 0], force * (1 - np.exp(-t[:-1] / lag)), atol=1e-13)


def test_currents_saturate_before_the_motor_lags(block):
    """3 A through 0.2 N m/A and a gear of 10 rad/m are 6 N, which the lag approaches: F (1 - exp(-t/T)).

    Once the command is within the limit again, the torque falls at once: nothing winds up in the motor.
    """
    lag, mass, limit = 0.02, 2.0, 6.0
    arm = block(mass, drive=armdyn.Drive(gear_ratio=10.0, torque_constant=0.2))
    plant = Plant(arm, motor_lag=lag, current_limit=3.0)
    result = simulate(plant, lambda t, q, qd, ref: [50.0 if t < 0.0995 else -1.0], [0.0], 0.2)
    t, tau = result.t[:-1], result.tau[:-1, 0]
    rise = t <= 0.1
    assert np.allclose(tau[rise], limit * (1 - np.exp(-t[rise] / lag)), atol=1e-12)
    fall = -1.0 + (tau[100] + 1.0) * np.exp(-(t[~rise] - 0.1) / lag)
    assert np.allclose(tau[~rise], fall, atol=1e-12)
    assert result.currents[:-1, 0] == pytest.approx(tau / 2.0)
    # The lower of both limits counts; infinite currents limit nothing.
    both = simulate(
        Plant(arm, motor_lag=lag, current_limit=3.0, saturation=4.0), lambda t, q, qd, ref: [50.0], [0.0], 0.2
    )
    assert both.tau.max() == pytest.approx(4.0, rel=1e-3)
    assert not Plant(arm, current_limit=np.inf).kind.saturation


def test_divergence_is_named_and_what_was_computed_is_kept(planar):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = simulate(rigid(planar), PD(planar, 100.0, 10.0), [0.5, -0.3], 1.0, 50.0, q0=[0, 0])
    text = " ".join(str(w.message) for w in caught)
    assert "unstable at 50 Hz" in text
    assert "of joint 'joint2' grows" in text
    assert "the run diverged, first at t = " in text
    assert not result.complete
    assert 0 < len(result.t) < 51
    assert np.isfinite(result.q).all()
    assert result.diverged == pytest.approx(result.t[-1], abs=0.021)


def test_runs_of_a_batch_diverge_alone(planar):
    kd = np.array([[1.0, 0.1], [100.0, 100.0]])
    with pytest.warns(ArmdynWarning, match="1 of 2 runs diverged"):
        result = simulate(rigid(planar), PD(planar, 10.0, kd), [0.5, -0.3], 1.0, 200.0, q0=[0, 0])
    assert np.isnan(result.diverged[0])
    assert result.diverged[1] < 1
    assert np.isfinite(result.q[0]).all()
    assert len(result.t) == 201
    # What follows is NaN, in metrics, too; the run by itself ends there, as if it had been alone.
    assert np.isnan(result.metrics.rms_error[1]).all()
    assert np.isnan(result.metrics.settling_time[1]).all()
    assert np.isfinite(result.metrics.rms_error[0]).all()
    with pytest.warns(ArmdynWarning, match="the run diverged"):
        alone = simulate(rigid(planar), PD(planar, 10.0, kd[1]), [0.5, -0.3], 1.0, 200.0, q0=[0, 0], check=False)
    cut = result.run(1)
    assert (len(cut.t), cut.complete) == (len(alone.t), False)
    assert cut.q == pytest.approx(alone.q, rel=1e-6)
    assert result.run(0).complete


@pytest.mark.parametrize("native", [True, False])
def test_interruption_keeps_what_was_computed(planar, monkeypatch, native):
    def interrupt(part):
        if part < 1:
            raise KeyboardInterrupt

    monkeypatch.setattr("armdyn.simulation.loop.batch.STEPS_PER_BLOCK", 100)
    law = PD(planar, 10.0, 1.0)
    with pytest.warns(ArmdynWarning, match="interrupted at t = "):
        result = simulate(rigid(planar), law, [0.5, -0.3], 1.0, native=native, progress=interrupt)
    assert not result.complete
    assert 0 < len(result.t) < 1000


def test_a_controller_that_gives_nan_is_named(planar):
    def broken(t, q, qd, ref):
        return [0.0, np.nan if t > 0.0995 else 1.0]

    with raises(SimulationError, names=("joint2",)) as caught:
        simulate(rigid(planar), broken, [0.0, 0.0], 1.0)
    assert len(caught.value.result.t) == 100
    assert not caught.value.result.complete


@dataclasses.dataclass(frozen=True, eq=False)
class Rooted(Law):
    """A user's law that has no torque for joint 2 once joint 1 is beyond 0.1 rad."""

    shapes: ClassVar = {"k": "n"}
    arm: Any
    k: Any

    def step(self, arm, params, state, q, qd, ref, dt):
        u = params["k"] * (ref.q - q) - 2 * qd
        pieces, sqrt = (np.array, np.sqrt) if isinstance(u, np.ndarray) else (lambda x: ca.vertcat(*x), ca.sqrt)
        with np.errstate(invalid="ignore"):
            return pieces([u[0], u[1] + sqrt(0.1 - q[0])]), {}


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("saturation", [None, 50.0])
def test_a_law_that_gives_nan_is_named(planar, native, saturation):
    """In a kernel, too, and though the drive could not exert more than its limit."""
    plant = rigid(planar.with_gravity([0, 0, 0]), saturation=saturation)
    with raises(SimulationError, cause=re.compile(r"for joint 'joint2' at t = 0\.237 s")) as caught:
        simulate(plant, Rooted(planar, np.array([20.0, 10.0])), [0.5, 0.0], 1.0, q0=[0, 0], native=native, check=False)
    kept = caught.value.result
    assert (len(kept.t), kept.complete) == (237, False)
    assert np.isfinite(kept.tau).all()


def test_a_law_that_gives_nan_ends_its_own_run_of_a_batch(planar):
    law = Rooted(planar, np.array([[20.0, 10.0], [0.0, 0.0]]))
    plant = rigid(planar.with_gravity([0, 0, 0]), saturation=50.0)
    with pytest.warns(
        ArmdynWarning, match="1 of 2 runs ended: the controller gave no finite torque for joint 'joint2'"
    ):
        result = simulate(plant, law, [0.5, 0.0], 1.0, q0=[0, 0], check=False)
    assert result.diverged == pytest.approx([0.237, np.nan], nan_ok=True)
    assert np.isfinite(result.q[0, :237]).all()
    assert np.isnan(result.q[0, 237:]).all()
    assert np.isfinite(result.q[1]).all()


@pytest.mark.parametrize("options", [{}, {"native": False}, {"tolerance": 1e-4}, {"engine": "mujoco"}])
def test_divergence_is_the_same_in_all_paths(planar, options, tmp_path, monkeypatch):
    """Under an adaptive solver the arm, then fast but not yet bursting, holds out some samples longer."""
    monkeypatch.chdir(tmp_path)
    options = dict(options)
    if (engine := options.pop("engine", "armdyn")) == "mujoco":
        pytest.importorskip("mujoco", reason="needs the extra 'mujoco'")
    plant, law = rigid(planar, engine=engine), PD(planar, 100.0, 10.0)
    for controller in (law,) if options else (law, lambda t, q, qd, ref: law(t, q, qd, ref)):
        with pytest.warns(
            ArmdynWarning, match=r"the run diverged, first at t = .* in joint 'joint2'; what was computed"
        ):
            result = simulate(plant, controller, [0.5, -0.3], 1.0, 50.0, q0=[0, 0], check=False, **options)
        assert not result.complete
        assert 0.06 < result.diverged < 0.4
        assert result.t[-1] == pytest.approx(result.diverged, abs=0.021)
        assert np.isfinite(result.q).all()
    assert not list(tmp_path.iterdir())


def test_divergence_at_the_very_end_is_seen(planar):
    """Fewer samples than between two looks at a Python loop, and velocities that are still numbers."""
    force = lambda t, q, qd, ref: [0.0, 0.0 if t < 0.0095 else 1e9]  # noqa: E731
    with pytest.warns(ArmdynWarning, match=r"the run diverged, first at t = 0\.01 s"):
        result = simulate(rigid(planar), force, [0.0, 0.0], 0.011)
    assert not result.complete
    assert len(result.t) == 11


def test_a_controller_that_raises_is_named_and_what_was_computed_is_kept(planar):
    def broken(t, q, qd, ref):
        return [0.0, 1 / (0.05 - t if t < 0.0495 else 0.0)]

    with raises(SimulationError, cause=re.compile(r"raised ZeroDivisionError at t = 0\.05 s")) as caught:
        simulate(rigid(planar), broken, [0.0, 0.0], 1.0)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert len(caught.value.result.t) == 50


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ({"sensors": 3}, {"where": "simulate: sensors", "expected": "Sensors(...)", "got": "3"}),
        ({"rate": -5.0}, {"expected": "a rate > 0 in Hz", "got": "-5.0"}),
        ({"duration": -1.0}, {"expected": "a duration > 0 in seconds", "got": "-1.0"}),
        ({"duration": None}, {"expected": "a duration, as the reference is a position, which has no duration"}),
        ({"substeps": 0}, {"expected": "substeps as a whole number >= 1", "got": "0"}),
        ({"delay": 0.5}, {"expected": "a delay from 0 to one period (0.001 s)", "got": "0.5"}),
        ({"delay": 0.4e-3, "substeps": 1}, {"remedy": "choose substeps to make it whole"}),
        ({"q0": [1.0]}, {"expected": "finite q0 of shape (..., 2)", "got": "[1.0]"}),
        (
            {"reference": [0.0, 1.0, 2.0]},
            {"expected": "a trajectory, or 2 finite positions to hold", "got": "[0.0, 1.0, 2.0]"},
        ),
        ({"reference": "swing"}, {"expected": "a trajectory, or 2 finite positions to hold", "got": "'swing'"}),
        ({"reference": lambda t: 3.0}, {"expected": "a reference with q, qd, qdd of shape (T, 2)", "got": "3.0"}),
        ({"duration": 1e12}, {"cause": "1e+12 s at 1000 Hz are more than 1e+08 steps"}),
        ({"q0": "left"}, {"expected": "finite q0 of shape (..., 2)", "got": "'left'"}),
        ({"q0": np.zeros((0, 2))}, {"cause": "the batch (0,) has no runs"}),
        ({"controller": PD}, {"cause": "PD is a kind of control law"}),
        (
            {"reference": lambda t: (np.zeros((3, 2)),) * 3},
            {"expected": "a reference with q, qd, qdd of shape (T, 2)", "got": "(3, 2), (3, 2), (3, 2)"},
        ),
        ({"controller": 3}, {"expected": "a control law or a function f(t, q, qd, ref)", "got": "3"}),
        ({"every": 0}, {"where": "simulate: every", "expected": "a whole number from 1 to 100 samples", "got": "0"}),
        (
            {"every": 200},
            {"where": "simulate: every", "expected": "a whole number from 1 to 100 samples", "got": "200"},
        ),
    ],
)
def test_bad_input_is_rejected(planar, arguments, parts):
    call = {"controller": nothing, "reference": [0.0, 0.0], "duration": 0.1, **arguments}
    with raises(ShapeError, **parts):
        simulate(planar, call.pop("controller"), call.pop("reference"), call.pop("duration"), **call)


def test_references_must_last(planar, swing):
    with raises(ShapeError, expected="a duration > 0 in seconds", got="'2'"):
        simulate(planar, nothing, swing, "2")
    with raises(ShapeError, cause="the reference ends at 1 s, before the run of 2 s"):
        simulate(planar, nothing, swing, 2.0)
    held = simulate(rigid(planar), ComputedTorque.from_bandwidth(planar, 3.0), swing, 1.2, hold=True)
    assert np.array_equal(held.qd_ref[-100:], np.zeros((100, 2)))


def test_arm_and_controller_must_fit(planar):
    other = armdyn.arms.puma3()
    with raises(ShapeError, cause="the controller is for 3 joints ('puma3'), the plant has 2"):
        simulate(planar, PD(other, 1.0, 1.0), [0.0, 0.0], 1.0)


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (
            {"saturation": [1.0, 0.0]},
            {"where": "Plant: saturation", "expected": "torques > 0, else nothing moves joint joint2"},
        ),
        ({"motor_lag": -1.0}, {"where": "Plant: motor_lag", "expected": "times >= 0 in seconds"}),
        ({"saturation": "full"}, {"expected": "numbers or 'limits'"}),
        ({"changes": [3]}, {"expected": "a list of PickUp(...) and Drop(...)"}),
        ({"changes": Drop(1.0)}, {"expected": "a list of PickUp(...) and Drop(...)"}),
        ({"base_motion": np.zeros((3, 3))}, {"where": "Plant: base_motion", "expected": "a function of time"}),
        (
            {"current_limit": [1.0, 0.0]},
            {"where": "Plant: current_limit", "expected": "currents > 0, else nothing moves joint joint2"},
        ),
        (
            {"current_limit": 1.0},
            {"cause": "the drive of joint 'joint1' has no torque_constant [N m/A]", "names": ("joint1",)},
        ),
        ({"theta": np.zeros(3)}, {"where": "Plant: theta", "expected": "shape (..., 20)"}),
    ],
)
def test_impossible_plants_are_rejected(planar, options, parts):
    with raises(ModelError, **parts):
        Plant(planar, **options)


def test_impossible_bodies_and_wrenches_are_rejected(planar):
    with raises(ShapeError, where="Plant: wrench", expected="finite numbers of shape (6,)", got="'push'"):
        Plant(planar, wrench="push")
    with raises(ModelError, cause="arm 'planar2' starts where its mass matrix is not positive definite"):
        simulate(Plant(planar, theta=-planar.theta), nothing, [0.0, 0.0], 0.1)


@pytest.mark.parametrize("native", [True, False])
def test_progress_is_told_or_shown(planar, native, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # stands for a terminal
    parts = []
    law = PD(planar, 10.0, 1.0)
    simulate(planar, law, [0.0, 0.0], 0.5, native=native, progress=parts.append)
    assert parts == sorted(parts)
    assert parts[-1] == 1.0
    simulate(planar, law, [0.0, 0.0], 0.5, native=native, progress=True, name="a long one")
    assert "a long one" in capsys.readouterr().err
    with raises(ShapeError, where="simulate: progress", expected="True or a function", got="3"):
        simulate(planar, law, [0.0, 0.0], 0.5, progress=3)


def test_payloads_that_come_too_late_are_told(planar):
    with pytest.warns(ArmdynWarning, match=r"the payload changes at t = 5 s, after the end of the run at 0\.1 s"):
        result = simulate(Plant(planar, changes=[armdyn.PickUp(5.0, 1.0)]), nothing, [0.0, 0.0], 0.1)
    assert "after the end" in result.notes[0]


def test_nothing_kept_can_still_be_shown(planar):
    with raises(SimulationError, cause="the controller gave shape () at t = 0 s", expected="(2,)") as caught:
        simulate(planar, lambda t, q, qd, ref: None, [0.0, 0.0], 0.1)
    kept = caught.value.result
    assert repr(kept) == "<SimulationResult 'simulation': 0 samples, stopped early>"
    assert "0 samples" in kept._repr_html_()
    with raises(ArmdynError, where="metrics", cause="'simulation' ended before its first sample"):
        assert kept.metrics


def test_friction_lag_and_torque_limits_of_a_batch_are_those_of_single_runs(planar, swing):
    # Lanes are computed alike wherever they stand; a shared number may be folded differently, hence the round-off.
    sticky = planar.with_joints(
        [dataclasses.replace(joint, friction=armdyn.Friction(viscous=0.3, coulomb=0.2)) for joint in planar.joints]
    )
    factors = np.array([0.5, 1.0, 2.0])
    data = sticky.trace_data("friction") * factors[:, None, None]
    lag, limit = np.outer([0.005, 0.01, 0.02], [1.0, 1.0]), np.outer([5.0, 10.0, 100.0], [1.0, 1.0])
    law = armdyn.ComputedTorque.from_bandwidth(sticky, 2.0)
    options = {"rate": 500.0, "check": False}
    together = simulate(
        armdyn.Plant(sticky, motor_lag=lag, saturation=limit, friction_data=data), law, swing, **options
    )
    assert together.batch == (3,)
    for k in range(3):
        plant = armdyn.Plant(sticky, motor_lag=lag[k], saturation=limit[k], friction_data=data[k])
        alone = simulate(plant, law, swing, **options)
        np.testing.assert_allclose(together.q[k], alone.q, atol=1e-12)
        np.testing.assert_allclose(together.tau[k], alone.tau, atol=1e-9)
    assert np.abs(together.q[0] - together.q[2]).max() > 1e-3


def test_friction_numbers_of_a_wrong_shape_are_rejected(planar):
    with raises(ModelError, where="Plant: friction_data", expected="shape (..., 2, 11)", got="(3, 11)"):
        armdyn.Plant(planar, friction_data=np.zeros((3, 11)))


@pytest.mark.parametrize("native", [True, False])
def test_a_wrench_pushes_as_it_must(block, native):
    """A force F sin(w t) on 2 kg along the slide: v = F / (m w) (1 - cos w t), to the order of Runge-Kutta."""
    m, F, w = 2.0, 5.0, 9.0
    arm = block(m)
    plant = Plant(arm, wrench=lambda t: [F * np.sin(w * t), 0, 0, 0, 0, 0])
    result = simulate(plant, PD(arm, 0.0, 0.0), [0.0], 1.0, native=native, check=False)
    assert result.qd[:, 0] == pytest.approx(F / (m * w) * (1 - np.cos(w * result.t)), abs=1e-11)


def test_a_wrench_turns_with_the_tip(planar):
    """Force and moment in the tip's axes do the work of all energy that the arm gains, though the tip turns."""
    arm, F = planar.with_gravity([0, 0, 0]), np.array([30.0, -20.0, 0.0])
    plant = rigid(arm, wrench=[*F, 0, 0, 4.0])
    result = simulate(plant, nothing, [0.3, 0.8], 0.5, 2000.0)
    pose = armdyn.forward_kinematics(arm, result.q)
    force = pose[:, :3, :3] @ F
    way = np.diff(pose[:, :3, 3], axis=0)
    turned = np.diff(result.q.sum(-1))
    work = ((force[1:] + force[:-1]) / 2 * way).sum() + 4.0 * turned.sum()  # trapezoids: error of order dt²
    gained = armdyn.kinetic_energy(arm, result.q[-1], result.qd[-1])
    assert gained > 0.5
    assert gained == pytest.approx(work, rel=1e-5)


def test_a_turning_base_leaves_a_free_arm_behind(planar):
    """The base turns about joint 1 with sin(5 t) rad/s: a stretched free arm stays where it is in space."""
    axis = planar.joints[0].before[:3, :3] @ planar.joints[0].axis
    base = lambda t: (np.sin(5 * t) * axis, 5 * np.cos(5 * t) * axis, np.zeros(3))  # noqa: E731
    result = simulate(rigid(planar.with_gravity([0, 0, 0]), base_motion=base), nothing, [0.4, 0.0], 0.6)
    turned = (1 - np.cos(5 * result.t)) / 5
    assert np.abs(result.q[:, 0] - (0.4 - turned)).max() < 1e-10
    assert np.abs(result.q[:, 1]).max() < 1e-10


def test_bristles_are_left_out_and_told(planar):
    """An identified arm may have them, and can be simulated: its friction sticks, and the run says so."""

    def run(**bristles):
        rough = Friction(coulomb=1.0, **bristles)
        arm = planar.with_joints([dataclasses.replace(joint, friction=rough) for joint in planar.joints])
        return simulate(arm, PD(arm, 10.0, 5.0), [0.1, 0.1], 0.1, 1000, q0=[0.0, 0.0], check=False)

    with pytest.warns(ArmdynWarning, match=r"presliding .* is not simulated: dry friction of joint1, joint2 sticks"):
        with_bristles = run(bristle_stiffness=1e4)
    assert with_bristles.notes
    assert np.array_equal(with_bristles.q, run().q)


def test_a_duration_of_no_whole_number_of_periods_is_told(planar):
    run = simulate(rigid(planar), PD(planar, 10.0, 5.0), [0.1, 0.1], 0.10037, 1000, q0=[0.1, 0.1], check=False)
    assert run.notes == ("0.10037 s are no whole number of periods; the run ends at 0.1 s",)


def test_settings_together_are_those_one_by_one():
    arm = armdyn.arms.planar2()
    law, pose = armdyn.ComputedTorque.from_bandwidth(arm, 3.0), [0.3, -0.2]
    timing = SimulationTiming(0.1, 500.0, substeps=2, every=5)
    settings = SimulationSettings(timing, q0=[0.2, 0.0], name="together")
    together = armdyn.simulate(arm, law, pose, settings=settings)
    single = armdyn.simulate(arm, law, pose, 0.1, 500.0, substeps=2, every=5, q0=[0.2, 0.0], name="together")
    np.testing.assert_array_equal(together.q, single.q)
    np.testing.assert_array_equal(together.t, single.t)
    assert together.name == single.name == "together"
    assert len(armdyn.simulate(arm, law, pose, settings=settings, every=1).t) == 51  # a keyword replaces one
    with pytest.raises(TypeError, match="unexpected keyword argument 'evry'"):
        armdyn.simulate(arm, law, pose, 0.1, evry=2)
