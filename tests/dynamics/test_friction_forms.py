"""Every term of friction and drives that identification may find: one torque in Python, C, JAX, simulation, files."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess

import numpy as np
import pytest

import armdyn
from armdyn import Drive, Friction

PLAIN = dict(viscous=0.8, coulomb=0.6)
SIDE, Q, V = np.sign, np.array([0.4, -0.7]), np.array([0.35, -0.6])
LEVEL = (0.3, 0.5)


def curve(v):
    """By hand: a level less the line nearest to it up to 2 rad/s, of which the plain pair has it."""
    u = np.linspace(0, 2.0, 20_001)[1:]
    slope, dry = np.polyfit(u, np.tanh(u / LEVEL[0]), 1)
    return LEVEL[1] * (np.tanh(v / LEVEL[0]) - dry * np.sign(v) - slope * v)


# What a term adds to plain friction: fields of the friction, fields of the drive, and the torque by hand of q, v, qdd,
# and of the torque without it, by which loads count.
TERMS = {
    "levels": (dict(levels=(LEVEL,), top_speed=2.0), {}, lambda q, v, a, tau: curve(v)),
    "asymmetry": (dict(asymmetry=0.2), {}, lambda q, v, a, tau: 0.2 + 0 * v),
    "viscous asymmetry": (dict(viscous_asymmetry=0.3), {}, lambda q, v, a, tau: 0.3 * np.abs(v)),
    # At the torque sought, x = tau + load |x| sign v.
    "load": (dict(load=0.1), {}, lambda q, v, a, tau: tau / (1 - 0.1 * SIDE(v) * SIDE(tau)) - tau),
    "position": (
        dict(harmonics=((2.0, 0.1, 0.05),)), {},
        lambda q, v, a, tau: (0.1 * np.cos(2 * q) + 0.05 * np.sin(2 * q)) * SIDE(v),
    ),
    "balancer": (
        {}, dict(balance=((1.0, 0.7, -0.4),)), lambda q, v, a, tau: 0.7 * np.cos(q) - 0.4 * np.sin(q)
    ),
    "spring": ({}, dict(stiffness=3.0), lambda q, v, a, tau: 3.0 * q),
    "rotor": ({}, dict(rotor_inertia=0.2), lambda q, v, a, tau: 0.2 * a),
    "offset": (dict(offset=0.3), {}, lambda q, v, a, tau: 0.3 + 0 * v),
}  # fmt: skip


def arm_with(friction, drive):
    arm = armdyn.arms.planar2()
    own, plain = Friction(**(PLAIN | friction)), Friction(**PLAIN)
    first, second = arm.joints
    return arm.with_joints([
        dataclasses.replace(first, friction=own, drive=Drive(**drive)),
        dataclasses.replace(second, friction=plain, drive=Drive()),
    ])  # fmt: skip


@pytest.fixture(params=TERMS)
def term(request):
    """The arm with a term in its first joint, and what the term adds there to the torque without it."""
    friction, drive, by_hand = TERMS[request.param]
    return arm_with(friction, drive), by_hand


@pytest.fixture
def states():
    rng = np.random.default_rng(3)
    return rng.uniform(-1, 1, (3, 50, 2)) * np.array([1.0, 1.8, 2.0])[:, None, None]


def test_the_torque_is_that_of_the_equation(term, states):
    arm, by_hand = term
    q, v, a = states
    before = armdyn.joint_torque(arm_with({}, {}), *states)
    added = armdyn.joint_torque(arm, *states) - before
    np.testing.assert_allclose(added[:, 0], by_hand(q[:, 0], v[:, 0], a[:, 0], before[:, 0]), atol=2e-4)
    np.testing.assert_allclose(added[:, 1], 0.0, atol=1e-12)


def test_c_agrees(term, tmp_path):
    """The self-test compares C with Python's values, which are written into it."""
    compiler = shutil.which("gcc") or shutil.which("clang") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    code = armdyn.c_code(armdyn.joint_torque, term[0], tmp_path)
    program = tmp_path / "selftest"
    sources = [str(path) for path in sorted(tmp_path.glob("*.c"))]
    subprocess.run([compiler, "-O1", "-o", str(program), *sources, "-lm"], check=True, cwd=tmp_path)
    done = subprocess.run([str(program)], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, f"{code}: {done.stdout}"


def test_kernels_in_jax_agree(term, states):
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        torque = armdyn.to_jax(armdyn.joint_torque, term[0])(*states)
    np.testing.assert_allclose(torque, armdyn.joint_torque(term[0], *states), rtol=1e-10, atol=1e-12)


def test_files_agree(term, states, tmp_path):
    term[0].save(tmp_path / "arm.toml")
    back = armdyn.load(tmp_path / "arm.toml")
    np.testing.assert_allclose(armdyn.joint_torque(back, *states), armdyn.joint_torque(term[0], *states), rtol=1e-12)


def test_simulation_agrees(term):
    """Driven by the torques of a motion that never turns back, the plant makes that motion."""
    arm = term[0]

    def motion(t):
        t = np.asarray(t)[..., None]
        return Q + V * t + 0.1 * np.sin(2 * t), V + 0.2 * np.cos(2 * t), -0.4 * np.sin(2 * t) + 0 * V

    class Feedforward:
        duration = 0.5

        def __call__(self, t):
            return motion(t)

    def drive(t, q, qd, ref):
        return armdyn.joint_torque(arm, *motion(t))

    result = armdyn.simulate(
        armdyn.Plant(arm), drive, Feedforward(), 0.5, rate=2000.0, q0=motion(0.0)[0], qd0=motion(0.0)[1], check=False,
        quiet=True,
    )  # fmt: skip
    q, qd, _ = motion(result.t)
    # Torques are held over a sample of 0.5 ms, by which the motion lags a little.
    np.testing.assert_allclose(result.q, q, atol=2e-3)
    np.testing.assert_allclose(result.qd, qd, atol=1e-2)


def test_bristles_agree_with_a_fine_integration(tmp_path, states):
    """Presliding along a measured motion: Dahl's model in closed form, and in files; a simulation says it has none."""
    travel, torque = 0.02, 0.5
    arm = arm_with(dict(coulomb=0.6, bristles=((travel, torque),)), {})
    t = np.linspace(0, 6, 60_001)
    q = np.stack([0.3 * np.sin(2 * t), 0 * t], axis=1)
    qd = np.stack([0.6 * np.cos(2 * t), 0 * t], axis=1)
    from armdyn.identification.fit.terms import presliding_torque

    z = np.empty_like(t)
    z[0] = 1.0  # slides already
    for k in range(1, len(t)):  # Dahl 1968: dz/dq = (1 - z sign v) / travel
        dq = q[k, 0] - q[k - 1, 0]
        z[k] = z[k - 1] + dq / travel * (1 - z[k - 1] * np.sign(dq))
    missing = presliding_torque(arm, q, qd)
    np.testing.assert_allclose(missing[:, 0], torque * (z - np.sign(qd[:, 0])), atol=5e-3)
    arm.save(tmp_path / "arm.toml")
    assert armdyn.load(tmp_path / "arm.toml").joints[0].friction.bristles == ((travel, torque),)
    assert any("presliding" in note for note in armdyn.Plant(arm).left_out)
