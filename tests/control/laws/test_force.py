"""Force control: each law against its textbook formula, a force step on a stiff wall, the wrist sensor."""

import shutil

import numpy as np
import pytest
from scipy.linalg import expm, solve_continuous_lyapunov
from tests.raising import raises

import armdyn
from armdyn import Plant, Reference, law_code, simulate
from armdyn.control.compiled import self_test
from armdyn.control.laws.force import Admittance, HybridForce, ParallelForce, ShapedImpedance
from armdyn.control.wrist import Tool, identify_tool
from armdyn.errors import ArmdynError, ShapeError
from armdyn.shapes.obstacles import HalfSpace
from armdyn.simulation.plant.contact import Contact
from armdyn.simulation.plant.wrist_sensor import WristSensor

HOME = np.array([0.2, -0.6, 0.9, 0.3, 0.7, -0.2])
PUSH = np.array([10.0, 3.0, -2.0, 0.1, 0.2, 0.3])
TOOL = Tool(0.8, (0.01, -0.02, 0.06), (1.0, -2.0, 0.5, 0.1, 0.05, -0.02))
DT = 1e-3


@pytest.fixture(scope="module")
def puma():
    return armdyn.arms.puma560()


def laws(arm):
    how = {"tool": TOOL, "task": "position", "posture": 0.0, "singular": 0.0, "model": "rigid"}
    return {
        "hybrid": HybridForce(
            arm, 300.0, 30.0, [[1.0, 1.0, 0.0]], PUSH, ki=7.0, force_damping=25.0, force_gain=0.4, **how
        ),
        "parallel": ParallelForce(arm, 300.0, 30.0, PUSH, force_gain=0.6, ki=9.0, **how),
        "impedance": ShapedImpedance(arm, 900.0, 80.0, 4.0, PUSH, **how),
        "admittance": Admittance(arm, 300.0, 30.0, 5.0, 60.0, 200.0, PUSH, **how),
    }


@pytest.fixture(scope="module")
def sample(puma):
    """A state, a reading, and what formulas make of them with armdyn's plain functions."""
    rng = np.random.default_rng(3)
    q, qd = HOME, 0.3 * rng.normal(size=6)
    ref = HOME + 0.05 * rng.normal(size=6), 0.3 * rng.normal(size=6), rng.normal(size=6)
    f = rng.normal(size=6) * [5, 5, 5, 0.5, 0.5, 0.5]
    R = armdyn.forward_kinematics(puma, q)[:3, :3]
    g = R.T @ puma.gravity
    reading = np.r_[R.T @ f[:3], R.T @ f[3:]] + np.r_[TOOL.mass * g, np.cross(TOOL.mass * np.array(TOOL.com), g)]
    J, Jr = (armdyn.jacobian(puma, x)[:3] for x in (q, ref[0]))
    a = Jr @ ref[2] + armdyn.jacobian_rate(puma, *ref[:2])[:3] @ ref[1] - armdyn.jacobian_rate(puma, q, qd)[:3] @ qd
    x = (armdyn.forward_kinematics(puma, ref[0]) - armdyn.forward_kinematics(puma, q))[:3, 3]
    M = armdyn.augmented_mass_matrix(puma, q)
    heavy = np.linalg.inv(J @ np.linalg.solve(M, J.T))
    rest = armdyn.inverse_dynamics(puma, q, qd, 0 * q) + armdyn.drive_torque(puma, q, qd, 0 * q)
    ref = Reference(*ref, {"wrench": reading + np.array(TOOL.bias)})
    return q, qd, ref, f[:3], {"J": J, "a": a, "x": x, "v": Jr @ ref.qd - J @ qd, "heavy": heavy, "rest": rest}


@pytest.mark.parametrize("name", ["hybrid", "parallel", "impedance", "admittance"])
def test_one_step_is_the_textbooks(puma, sample, name):
    """Rigid model, no posture, position of the tip: torques and states to 1e-10."""
    (q, qd, ref, f, tip), law = sample, laws(puma)[name]
    state = {key: 0.01 * np.arange(1.0, 7.0) * (np.arange(6) < 3) for key in law.init()}
    tau, after = law.step(puma, law.params, state, q, qd, ref, DT)
    push, motion = PUSH[:3], tip["a"] + 30 * tip["v"] + 300 * tip["x"]
    if name == "hybrid":
        S = np.array([[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 0]])
        total = state["force_integral"][:3] + DT * (push + f)
        moved = (np.eye(3) - S) @ motion - 25 * S @ tip["J"] @ qd
        pressed = push + 0.4 * (push + f) + 7 * total
        force, expected = tip["heavy"] @ moved + S @ pressed, {"force_integral": total}
    elif name == "parallel":
        total = state["force_integral"][:3] + DT * (push + f)
        force, expected = tip["heavy"] @ motion + 0.6 * (push + f) + 9 * total, {"force_integral": total}
    elif name == "impedance":
        asked = tip["a"] + (80 * tip["v"] + 900 * tip["x"] + f + push) / 4
        force, expected = tip["heavy"] @ asked - f, {}
    else:
        give, rate = state["give"][:3], state["give_rate"][:3]
        held = expm(DT * np.array([[0, 1, 0], [-200 / 5, -60 / 5, 1], [0, 0, 0]]))
        yielded, later, _ = held @ [give, rate, (f + push) / 5]
        asked = motion + 300 * give + 30 * rate + (later - rate) / DT
        force, expected = tip["heavy"] @ asked, {"give": yielded, "give_rate": later}
    assert np.allclose(tau, tip["J"].T @ force + tip["rest"], rtol=1e-10, atol=1e-9)
    for key, value in expected.items():
        assert np.allclose(after[key][:3], value, rtol=1e-10)


def test_a_heavy_impedance_takes_off_what_is_felt(puma, sample):
    """An infinite mass follows the reference's acceleration whatever pushes: the torques bear the force."""
    q, qd, ref, *_ = sample
    shaped = ShapedImpedance(puma, 900.0, 80.0, 1e9, PUSH, task="position", model="rigid")
    felt, other = (ref._replace(channels={"wrench": w}) for w in (np.zeros(6), np.ones(6)))
    J, R = armdyn.jacobian(puma, q)[:3], armdyn.forward_kinematics(puma, q)[:3, :3]
    assert np.allclose(shaped(0.0, q, qd, felt) - shaped(0.0, q, qd, other), J.T @ R @ np.ones(3), atol=1e-5)


def test_a_force_step_on_a_stiff_wall(puma):
    """From 5 N to 10 N on 1e4 N/m at 1 kHz: within 5 % in 0.3 s, contact never lost, a tool on the sensor."""
    tip = armdyn.forward_kinematics(puma, HOME)[:3, 3]
    wall = HalfSpace(np.array([-1.0, 0.0, 0.0]), -(tip[0] - 5e-4))
    sensor = WristSensor(TOOL, noise=[0.05] * 3 + [0.005] * 3)
    plant = Plant(puma, friction=False, contact=Contact([wall], 1e4, 1.0, 0.1), wrist=sensor)
    push = np.array([10.0, 0, 0, 0, 0, 0])
    for law in (
        HybridForce(puma, 400.0, 40.0, [1.0, 0, 0], push, tool=TOOL, task="position", model="rigid"),
        ShapedImpedance(puma, [0.0, 2e3, 2e3, 0, 0, 0], 250.0, 4.0, push, TOOL, task="position", model="rigid"),
    ):
        run = simulate(plant, law, HOME, 0.5, 1000, q0=HOME, qd0=np.zeros(6), check=False)
        force = -run.states["contact"][:, 0, 0]
        assert force.min() > 0
        assert np.abs(force[300:] - 10.0).max() < 0.5


PANDA_HOME = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
WALL = 1e4  # N/m


def wall_laws(arm, push, n, **how):
    """All four for a wall with the normal n, an axis of the base."""
    free = np.r_[n == 0, 1, 1, 1].astype(float)
    return {
        "hybrid": HybridForce(arm, 400.0, 40.0, -n, push, **how),
        "parallel": ParallelForce(arm, 100.0 + 300.0 * free, 40.0, push, **how),
        "impedance": ShapedImpedance(arm, 2e3 * free, 250.0, 4.0, push, **how),
        "admittance": Admittance(arm, 4900.0, 210.0, 5.0, 300.0, 5e3 * free, push, **how),
    }


@pytest.mark.parametrize("name", ["hybrid", "parallel", "impedance", "admittance"])
@pytest.mark.parametrize("normal", [(-1.0, 0.0, 0.0), pytest.param((0.0, 0.0, 1.0), marks=pytest.mark.slow)])
@pytest.mark.by_day(1)
def test_a_panda_steps_by_10_newtons_on_a_wall(name, normal):
    """From 5 N to 15 N on 1e4 N/m at 1 kHz: within 5 % of the step in 0.3 s, contact never lost."""
    panda, n = armdyn.arms.panda(), np.array(normal)
    tip = armdyn.forward_kinematics(panda, PANDA_HOME)[:3, 3]
    wall = HalfSpace(n, float(n @ tip) + 5.0 / WALL)
    plant = Plant(panda, friction=False, contact=Contact([wall], WALL, 1.0, 0.1))
    law = wall_laws(panda, np.r_[-15.0 * n, 0, 0, 0], n, task="position", model="rigid")[name]
    run = simulate(plant, law, PANDA_HOME, 0.5, 1000, q0=PANDA_HOME, qd0=np.zeros(7), check=False)
    force = run.states["contact"][:, 0] @ n
    assert force[0] == pytest.approx(5.0)
    assert force.min() > 4.9
    assert np.abs(force[300:] - 15.0).max() < 0.5


def closed_loop(name, heavy, n):
    """The tip at a wall by each law's own equation: x' = A x + b about the reference, tip displacement first."""
    one, none = np.eye(3), np.zeros((3, 3))
    N, mobility, free = np.outer(n, n), np.linalg.inv(heavy), np.diag((n == 0).astype(float))
    f, push = -WALL * N, -15.0 * n  # the force felt is f x + 5 n
    if name == "impedance":
        A = [[none, one], [(f - 2e3 * free) / 4, -250 / 4 * one]]
        return np.block(A), np.r_[0 * n, (5 * n + push) / 4]
    if name == "admittance":
        give = [f / 5, none, -1e3 * free, -60 * one]
        follow = [mobility @ f - 4900 * one, -210 * one, 4900 * one, 210 * one]
        A = [[none, one, none, none], [x + y for x, y in zip(follow, give, strict=True)], [none, none, none, one], give]
        a = (5 * n + push) / 5
        return np.block(A), np.r_[0 * n, a + mobility @ (5 * n), 0 * n, a]
    gain, ki, S = (2.0, 5.0, N) if name == "hybrid" else (1.0, 20.0, one)
    if name == "hybrid":
        kp, kd = 400 * (one - N), 40 * (one - N) + 80 * N
        pressed = push
    else:
        kp, kd, pressed = 100 * one + 300 * free, 40 * one, 0 * n
    A = [[none, one, none], [mobility @ (one + gain * S) @ f - kp, -kd, ki * mobility @ S], [f, none, none]]
    lacking = 5 * n + push
    return np.block(A), np.r_[0 * n, mobility @ (5 * n + S @ (pressed + gain * lacking)), lacking]


@pytest.mark.parametrize("name", ["hybrid", "parallel", "impedance", "admittance"])
def test_the_force_obeys_the_designed_equation(puma, name):
    """At 8 kHz the wall's force is that of the linear closed loop, which is stable: a Lyapunov function falls."""
    n = np.array([-1.0, 0.0, 0.0])
    tip = armdyn.forward_kinematics(puma, HOME)[:3, 3]
    plant = Plant(puma, friction=False, contact=Contact([HalfSpace(n, float(n @ tip) + 5.0 / WALL)], WALL, 0.0))
    law = wall_laws(puma, np.r_[-15.0 * n, 0, 0, 0], n, task="position", model="rigid", singular=0.0)[name]
    run = simulate(plant, law, HOME, 0.4, 8000, q0=HOME, qd0=np.zeros(6), check=False)
    J, M = armdyn.jacobian(puma, HOME)[:3], armdyn.augmented_mass_matrix(puma, HOME)
    A, b = closed_loop(name, np.linalg.inv(J @ np.linalg.solve(M, J.T)), n)
    moves = np.abs(A).sum(1) > 0  # integrals along directions without contact stay where they are
    A, b = A[np.ix_(moves, moves)], b[moves]
    expected, x = np.empty(len(run.t)), 0 * b
    step = expm(np.block([[A, b[:, None]], [np.zeros((1, len(b) + 1))]]) / 8000)
    P = solve_continuous_lyapunov(A.T, -np.eye(len(b)))
    assert np.linalg.eigvalsh(P).min() > 0
    rest, V = -np.linalg.solve(A, b), np.empty(len(run.t))
    for k in range(len(run.t)):
        expected[k], V[k] = 5.0 - WALL * n @ x[:3], (x - rest) @ P @ (x - rest)
        x = step[:-1, :-1] @ x + step[:-1, -1]
    assert (np.diff(V) < 0).all()
    force = run.states["contact"][:, 0] @ n
    # 10 N of step; what is left is a sample of delay and the change of the tip's inertia along a millimetre.
    assert np.abs(force - expected).max() < 0.15


MASS, DAMPING, STIFFNESS = np.array([[3.0, 4.0, 5.0], [10.0, 20.0, 15.0], [200.0, 300.0, 250.0]])


def yielding(arm, name):
    """Laws of a tip that a hand can move, with the same springs and dampers."""
    springs, dampers, masses = (np.r_[x, np.ones(3)] for x in (STIFFNESS, DAMPING, MASS))
    how = {"task": "position", "model": "rigid", "singular": 0.0}
    if name == "shaped":
        return ShapedImpedance(arm, springs, dampers, masses, **how)
    if name == "admittance":
        return Admittance(arm, 1e4, 200.0, masses, dampers, springs, **how)
    return armdyn.control.Impedance(arm, springs, dampers, **how)


@pytest.mark.parametrize("name", ["shaped", "admittance", "impedance"])
@pytest.mark.by_day(1)
def test_a_tip_that_yields_stores_what_it_is_given(puma, name):
    """Passivity: the energy of mass and spring is the work of the hand less what the dampers took.

    The mass of an unshaped impedance is the arm's own, which changes on the way; that change is the only other source.
    """

    def hand(t):
        return np.array([5 * np.sin(5 * t), -3 * np.cos(3 * t), 4 * np.sin(2 * t), 0, 0, 0])

    plant = Plant(puma, friction=False, wrench=hand)
    run = simulate(plant, yielding(puma, name), HOME, 1.0, 4000, q0=HOME, qd0=np.zeros(6), check=False)
    x = (armdyn.forward_kinematics(puma, run.q) - armdyn.forward_kinematics(puma, HOME))[:, :3, 3]
    J = armdyn.jacobian(puma, run.q)[:, :3]
    v = np.einsum("tij,tj->ti", J, run.qd)
    mass = np.tile(np.diag(MASS), (len(v), 1, 1))
    if name == "impedance":
        mass = np.linalg.inv(J @ np.linalg.solve(armdyn.augmented_mass_matrix(puma, run.q), J.swapaxes(1, 2)))
    stored = (np.einsum("ti,tij,tj->t", v, mass, v) + (STIFFNESS * x**2).sum(1)) / 2
    R = armdyn.forward_kinematics(puma, run.q)[:, :3, :3]  # the hand's force is given in tip axes
    power = np.einsum("tij,tj,ti->t", R, [hand(t)[:3] for t in run.t], v)
    changing = np.einsum("ti,tij,tj->t", v, np.gradient(mass, run.t, axis=0), v) / 2

    def total(rate):
        return np.r_[0, np.cumsum((rate[1:] + rate[:-1]) / 2)] / 4000

    given, taken, other = total(power), total((DAMPING * v**2).sum(1)), total(changing)
    allowed = 0.02 * stored.max()  # a sample of delay; an admittance's arm follows its mass with some lag
    assert np.abs(stored + taken - given - other).max() < allowed
    assert (stored <= given + other + allowed).all()


def test_a_tool_is_found_from_poses(puma):
    rng = np.random.default_rng(5)
    q = rng.uniform(-2, 2, (8, 6))
    g = np.einsum("pji,j->pi", armdyn.forward_kinematics(puma, q)[:, :3, :3], puma.gravity)
    moment = np.cross(TOOL.mass * np.array(TOOL.com), g)
    readings = np.hstack([TOOL.mass * g, moment]) + np.array(TOOL.bias)
    assert np.allclose(identify_tool(puma, q, readings).numbers, TOOL.numbers, atol=1e-12)
    noisy = identify_tool(puma, q, readings + 0.02 * rng.normal(size=readings.shape))
    assert noisy.mass == pytest.approx(TOOL.mass, abs=0.01)
    with raises(ArmdynError, remedy="turn the wrist so that gravity points along three axes of the tip"):
        identify_tool(puma, q[:1].repeat(6, 0), readings[:1].repeat(6, 0))


def test_what_makes_no_sense_is_rejected(puma):
    with raises(ShapeError, got="dependent ones"):
        HybridForce(puma, 1.0, 1.0, [[1.0, 0, 0], [2.0, 0, 0]], PUSH)
    with raises(ShapeError, where="ShapedImpedance: mass", expected="numbers > 0", got="[0. 0. 0. 0. 0. 0.]"):
        ShapedImpedance(puma, 1.0, 1.0, 0.0)
    law = ParallelForce(puma, 300.0, 30.0, PUSH, task="position")
    with raises(ShapeError, cause="ParallelForce measures forces, but nothing exerts any"):
        simulate(puma, law, HOME, 0.1)
    with raises(
        ShapeError, cause="ParallelForce measures forces, which needs compiled fixed steps of armdyn's own engine"
    ):
        simulate(Plant(puma, wrench=[1.0, 0, 0, 0, 0, 0]), law, HOME, 0.1, native=False)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("name", ["hybrid", "parallel", "impedance", "admittance"])
@pytest.mark.by_day(1)
def test_the_reading_is_an_argument_in_c(puma, tmp_path, name):
    code = law_code(laws(puma)[name], tmp_path, 1000.0, prefix=name)
    assert "wrench[6]" in code.header.read_text()
    self_test(code)
