"""Observers and filters at any rate: exact over a period, finite, quiet, and no worse for a sample without numbers."""

import dataclasses
import shutil

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import armdyn
from armdyn import Plant, Reference, control, simulate
from armdyn.control.laws.filters import low_pass, spring_step
from armdyn.control.laws.momentum import detection_delay, external_torque, noise_threshold
from armdyn.model.joint import Friction

RATES = (1000.0, 200.0, 50.0, 30.0)


@pytest.fixture(scope="module")
def arm(planar):
    """Viscous friction whose time constant, 7 ms at the second joint, is below a period of the slowest rate."""
    return planar.with_joints([dataclasses.replace(j, friction=Friction(viscous=20.0)) for j in planar.joints])


@pytest.fixture(scope="module")
def still(planar):
    return armdyn.point_to_point([0.0, 0.0], [0.8, -0.6], duration=4.0)


def test_the_low_pass_is_its_differential_equation(planar):
    y, u, f, dt = np.array([0.3, -2.0]), np.array([1.0, 5.0]), np.array([7.0, 900.0]), 0.02
    over = [expm(2 * np.pi * f[j] * dt * np.array([[-1.0, u[j]], [0.0, 0.0]])) for j in range(2)]
    expected = [(E @ [y[j], 1.0])[0] for j, E in enumerate(over)]
    assert np.allclose(low_pass(planar, y, u, f, dt), expected, rtol=1e-12)
    halves = low_pass(planar, low_pass(planar, y, u, f, dt / 2), u, f, dt / 2)
    assert np.allclose(low_pass(planar, y, u, f, dt), halves, rtol=1e-12)
    assert np.array_equal(low_pass(planar, y, u, np.full(2, np.inf), dt), u)


@pytest.mark.parametrize("bandwidth", [5.0, 20.0, 400.0])
@pytest.mark.parametrize("rate", RATES)
def test_observers_are_quiet_at_any_rate(arm, still, rate, bandwidth):
    """Without contact residuals are the trapezoidal rule's error, however the bandwidth compares with the rate."""
    inner = control.ComputedTorque.from_bandwidth(arm, 0.3)
    laws = {
        "residual": control.MomentumObserver(inner, 1.0, bandwidth),
        "disturbance": control.DisturbanceObserver(inner, min(bandwidth, rate)),
    }
    for state, law in laws.items():
        run = simulate(Plant(arm), law, still, 2.0, rate, check=False)
        assert np.isnan(run.diverged), state
        # Viscous friction is compensated at samples and acts in between: a period's change of it is a disturbance.
        change = 20.0 * np.abs(run.qdd_ref).max() / rate
        assert np.abs(run.states[state]).max() < 1e-3 * np.abs(run.tau).max() + change, state
        assert not run.states.get("detected", np.zeros(1)).any()
    seen = external_torque(arm, run.t, run.q, run.qd, run.tau, bandwidth)
    assert (noise_threshold(seen) < 2e-3 * np.abs(run.tau).max() + 2 * change).all()


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("name", ["ObservedVelocity", "FilteredDerivative", "KalmanVelocity"])
def test_estimates_of_velocities_are_finite_at_any_rate(arm, still, rate, name):
    """In a loop, at cutoffs far above the rate, and a filter at other rates than that of its design."""
    inner, kind = control.ComputedTorque.from_bandwidth(arm, 0.3), getattr(control, name)
    law = kind(inner, 1000.0, 1e-4) if name == "KalmanVelocity" else kind(inner, 200.0)
    run = simulate(Plant(arm), law, still, 4.0, rate, check=False)
    assert np.isnan(run.diverged)
    assert np.abs(run.states["qd_hat"][1:] - run.qd[:-1]).max() < 0.1 * np.abs(run.qd).max()


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("bandwidth", [5.0, 20.0, 200.0])
def test_the_delay_of_detection_is_that_of_the_filter(planar, rate, bandwidth):
    threshold, torque = 3.0, np.array([3.5, 50.0])
    y, steps = np.zeros(2), np.zeros(2)
    for k in range(1, 500):
        y = low_pass(planar, y, torque, np.full(2, bandwidth), 1 / rate)
        steps = np.where((y > threshold) & (steps == 0), k, steps)
    assert np.allclose(detection_delay(threshold, torque, bandwidth, rate), (steps + 1) / rate)
    assert detection_delay(threshold, 2.0, bandwidth, rate) == np.inf


def laws_with_state(arm):
    """Every design with a state, and every wrapper with one."""
    motion = armdyn.Sway.within(arm, 4.0)
    every = control.designs(arm, motion(np.linspace(0.0, 4.0, 50)), 1.0, 500.0)
    computed = every["computed torque"]
    every |= {
        "observer": control.MomentumObserver(computed, 1e6),
        "observer of a guarded law": control.MomentumObserver(control.Guarded(computed), 1e6),
        "guarded observer": control.Guarded(control.MomentumObserver(computed, 1e6)),
        "disturbance of a guarded law": control.DisturbanceObserver(control.Guarded(every["PID"])),
        "differences": control.FilteredDerivative(computed),
        "Kalman": control.KalmanVelocity(computed, 500.0),
        "observed velocity": control.ObservedVelocity(computed),
    }
    return {name: law for name, law in every.items() if law.init()}


@pytest.fixture(scope="module")
def stateful(planar):
    return laws_with_state(planar)


def torques(law, step, bad):
    """Torques along a motion whose sample `bad` is no number, by a step of a law."""
    motion, rows = armdyn.Sway.within(law.arm, 4.0), []
    t = np.arange(200) / 500.0
    q, qd, qdd = (np.asarray(x) for x in motion(t))
    channels = law.channels(t, armdyn.trajectory.protocol.JointMotion(q, qd, qdd))
    for k in range(len(t)):
        seen = (q[k] + 1e-3) * (np.nan if k == bad else 1.0)
        rows.append(step(seen, qd[k], Reference(q[k], qd[k], qdd[k], {name: x[k] for name, x in channels.items()})))
    return np.array(rows)


NAMES = list(laws_with_state(armdyn.arms.planar2()))


def in_python(law):
    state = law.init()

    def step(q, qd, ref):
        nonlocal state
        tau, state = law.step(law.arm, law.params, state, q, qd, ref, 1 / 500.0)
        return tau

    return step


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.by_day(8)
def test_one_sample_without_numbers_does_no_lasting_harm(stateful, name):
    """Torques are numbers from the next sample on, and near those of a run without it."""
    law = stateful[name]
    clean, bad = (torques(law, in_python(law), k) for k in (None, 100))
    assert np.isfinite(clean).all()
    assert np.isfinite(np.delete(bad, 100, axis=0)).all()
    assert np.abs(bad - clean)[150:].max() < 0.05 * np.abs(clean).max()


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
@pytest.mark.parametrize("name", ["observer", "observer of a guarded law", "disturbance of a guarded law"])
def test_nor_in_c(stateful, name, tmp_path, in_c):
    law = stateful[name]
    controller = in_c(law, 500.0, tmp_path)
    got = torques(law, lambda q, qd, ref: controller(0.0, q, qd, ref), 100)
    expected = torques(law, in_python(law), 100)
    assert np.isfinite(np.delete(got, 100, axis=0)).all()
    assert np.allclose(got, expected, rtol=1e-9, atol=1e-9, equal_nan=True)


@pytest.mark.parametrize("unwind", [20.0, 5000.0])
def test_a_limited_integral_yields_at_any_rate(planar, unwind):
    """Under a constant error beyond its limit the integral rests where ki e = unwind (u - limit)."""
    law = control.Integral(control.PD(planar, 100.0, 0.0), 50.0, 20.0, unwind)
    state, zero = law.init(), np.zeros(2)
    for _ in range(2000):
        tau, state = law.step(planar, law.params, state, zero, zero, Reference(zero + 1.0, zero, zero), 0.02)
    part = min(unwind * 0.02, 1.0)
    assert np.allclose(tau, 20.0)
    assert np.allclose(state["integral"], 20.0 - 100.0 + 0.02 * 50.0 / part, rtol=1e-9)


def test_a_leak_is_exact_at_any_rate(planar):
    """Without errors the estimate decays to its start as exp(-leak t)."""
    law = control.SlotineLi(control.adapt(planar, ("viscous",)), 5.0, 5.0, 1.0, leak=150.0)
    state, zero = {"phi": np.array([1.0, -2.0])}, np.zeros(2)
    for _ in range(3):
        _, state = law.step(planar, law.params, state, zero, zero, Reference(zero, zero, zero), 0.02)
    assert np.allclose(state["phi"], np.array([1.0, -2.0]) * np.exp(-150.0 * 0.06), rtol=1e-9)


# Mass 1: damping and stiffness with poles at and about zero, alike, nearly alike, apart, complex, far above any rate.
SPRINGS = [
    (0.0, 0.0), (3.0, 0.0), (0.0, 7.0), (1e-9, 1e-9), (20.0, 100.0), (20.0, 100.0 + 1e-6), (20.0, 100.0 - 1e-6),
    (40.0, 1.0), (2e4, 30.0), (10.0, 1e6), (2e7, 1e9), (1e3, 1e12),
]  # fmt: skip


@pytest.mark.parametrize("rate", [2.0, 50.0, 1e3, 1e4, 1e6])
def test_a_spring_step_is_its_differential_equation(planar, rate):
    """Against the matrix exponential of SciPy, its entries in units of the period; all springs as a batch."""
    (d, k), h = np.array(SPRINGS).T, 1 / rate
    one, mass = np.ones(len(d)), 2.0
    x, v, force = 0.3 * one, -0.7 * one, 5.0 * one
    got = np.array(spring_step(planar, x, v, force, mass * one, mass * d, mass * k, h))
    for j in range(len(d)):
        E = expm(np.array([[0.0, 1.0, 0.0], [-k[j] * h**2, -d[j] * h, 1.0], [0.0, 0.0, 0.0]]))
        expected = E @ [x[j], v[j] * h, force[j] / mass * h**2]
        # round-off of SciPy grows with the norm of the exponent; waves turn by sqrt(k) h, of which 1e-16 is lost
        allowed = 1e-13 + 1e-15 * np.sqrt(k[j]) * h + 3e-16 * d[j] * h
        scale = np.abs([x[j], v[j] * h, force[j] / mass * h**2]).max()
        wrong = got[:, j] * [1, h] - expected[:2]
        assert np.all(np.abs(wrong) <= allowed * scale * np.array([1, max(1, np.sqrt(k[j]) * h)])), (d[j], k[j], wrong)


@pytest.mark.parametrize("rate", [50.0, 1e4])
def test_an_admittance_moves_as_its_equation_says(planar, rate):
    """Against a fine solution of the equation under a force that changes and is held; three different axes."""
    mass, damping, spring = np.array([2.0, 1.0, 5.0]), np.array([60.0, 5.0, 3.0]), np.array([200.0, 4e3, 0.0])
    law = control.Admittance(
        planar, 100.0, 20.0, [*mass, 1, 1, 1], [*damping, 1, 1, 1], [*spring, 1, 1, 1], task="position"
    )
    q, zero, state, held = np.array([0.3, 0.5]), np.zeros(2), law.init(), np.zeros(3)
    R = armdyn.forward_kinematics(planar, q)[:3, :3]
    truth = np.zeros(6)
    for k in range(25):
        held = np.array([5.0, -3.0, 2.0]) * np.sin(0.7 * k)
        ref = Reference(q, zero, zero, {"wrench": np.r_[R.T @ held, np.zeros(3)]})
        _, state = law.step(planar, law.params, state, q, zero, ref, 1 / rate)
        motion = solve_ivp(
            lambda t, y, f: np.r_[y[3:], (f - damping * y[3:] - spring * y[:3]) / mass],
            (0, 1 / rate), truth, args=(held,), method="DOP853", rtol=1e-12, atol=1e-15,
        )  # fmt: skip
        truth = motion.y[:, -1]
        assert np.allclose(state["give"][:3], truth[:3], rtol=1e-9, atol=1e-12)
        assert np.allclose(state["give_rate"][:3], truth[3:], rtol=1e-9, atol=1e-11)


def test_an_admittance_yields_to_its_rest_at_any_rate(planar):
    """A spring whose frequency is far above the rate: it rings no more than the equation does, and comes to rest."""
    law = control.Admittance(planar, 100.0, 20.0, 1.0, 10.0, 1e6, push=[5.0, 0, 0, 0, 0, 0], task="position")
    q, zero, state, give = np.array([0.3, 0.5]), np.zeros(2), law.init(), []
    for _ in range(200):
        ref = Reference(q, zero, zero, {"wrench": np.zeros(6)})
        _, state = law.step(planar, law.params, state, q, zero, ref, 0.02)
        give.append(state["give"][0])
    rest, t = 5e-6, 0.02 * np.arange(1, 201)
    assert (np.abs(np.array(give) / rest - 1) <= 1.001 * np.exp(-5 * t)).all()  # damping / (2 mass) = 5 1/s
    assert np.isclose(give[-1], rest, rtol=1e-7)
