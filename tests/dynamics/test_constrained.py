"""Dynamics under holonomic constraints: against a KKT solve, Pinocchio, and the same systems in other coordinates."""

from __future__ import annotations

import re
import shutil
import subprocess

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import Arm, Constraint, Inertia, Joint, Link, PointAtDistance, PointOnPlane
from armdyn.errors import ConstraintError, ModelError

CONSTRAINTS = {
    "plane": lambda T: armdyn.on_plane(T[:3, 3], [0.2, -0.1, 1.0]),
    "flat": lambda T: armdyn.on_plane(T[:3, 3], T[:3, 2], flat=True),
    "line": lambda T: armdyn.on_line(T[:3, 3], [1.0, 2.0, 0.5]),
    "point": lambda T: armdyn.at_point(T[:3, 3]),
    "circle": lambda T: armdyn.on_circle(T[:3, 3] - [0.3, 0.0, 0.0], [0.0, 0.0, 1.0], 0.3),
    "hinge": lambda T: armdyn.on_hinge(T, T[:3, 3] + [0.4, -0.3, 0.0], [0.0, 0.1, 1.0]),
    "sphere": lambda T: Constraint((PointAtDistance(T[:3, 3] + [0.0, 0.3, 0.4], 0.5),)),
    "links": lambda T: Constraint((PointOnPlane([1.0, 0, 0], 0.1, [0, 0, 0.1], relative_to="link2"),)),
}


def kkt(arm, q, qd, tau, constraint):
    """The saddle-point system, solved densely; the drift by central differences of A along the motion."""
    A, M = armdyn.constraint_jacobian(arm, q, constraint), armdyn.mass_matrix(arm, q)
    m, h = len(A), armdyn.inverse_dynamics(arm, q, qd, np.zeros(arm.n))
    drift = armdyn.constraint_drift(arm, q, qd, constraint)
    x = np.linalg.solve(np.block([[M, -A.T], [A, np.zeros((m, m))]]), np.concatenate([tau - h, -drift]))
    return x[: arm.n], x[arm.n :]


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_slopes_and_drift_are_derivatives_of_the_residual(random_arm, name):
    arm, rng = random_arm("RRPRRR", seed=5), np.random.default_rng(1)
    q, qd = rng.normal(size=(2, 6))
    constraint = CONSTRAINTS[name](armdyn.forward_kinematics(arm, q))
    step = 1e-5
    A = armdyn.constraint_jacobian(arm, q, constraint)
    for k, e in enumerate(np.eye(6)):
        ahead, behind = (armdyn.constraint_residual(arm, q + s * step * e, constraint) for s in (1, -1))
        np.testing.assert_allclose(A[:, k], (ahead - behind) / (2 * step), atol=1e-8)  # step² times third derivatives
    ahead, behind = (armdyn.constraint_jacobian(arm, q + s * step * qd, constraint) @ qd for s in (1, -1))
    drift = armdyn.constraint_drift(arm, q, qd, constraint)
    np.testing.assert_allclose(drift, (ahead - behind) / (2 * step), atol=1e-7)


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_it_solves_the_saddle_point_system(random_arm, name):
    arm, rng = random_arm("RRPRRR", seed=6), np.random.default_rng(2)
    q, qd, tau = rng.normal(size=(3, 6))
    constraint = CONSTRAINTS[name](armdyn.forward_kinematics(arm, q))
    motion = armdyn.constrained_dynamics(arm, q, qd, tau, constraint)
    qdd, multipliers = kkt(arm, q, qd, tau, constraint)
    np.testing.assert_allclose(motion.qdd, qdd, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(motion.multipliers, multipliers, rtol=1e-9, atol=1e-9)
    # Torques of the constraint are torques like others, and the inverse problem returns what came in.
    free = armdyn.forward_dynamics(arm, q, qd, tau + motion.tau_constraint)
    np.testing.assert_allclose(free, motion.qdd, rtol=1e-9, atol=1e-9)
    back = armdyn.constrained_torque(arm, q, qd, motion.qdd, motion.multipliers, constraint)
    np.testing.assert_allclose(back, tau, rtol=1e-9, atol=1e-9)


def test_it_agrees_with_pinocchio():
    pinocchio = pytest.importorskip("pinocchio")
    arm, rng = armdyn.arms.puma560(), np.random.default_rng(3)
    model = armdyn.to_pinocchio(arm)
    model.armature[:] = 0.0
    data = model.createData()
    q, qd, tau = rng.normal(size=(3, 6))
    # A tip held at a point: Pinocchio's Jacobian and drift of its frame.
    frame = model.nframes - 1
    pinocchio.forwardKinematics(model, data, q, qd, np.zeros(6))
    pinocchio.updateFramePlacements(model, data)
    place = data.oMf[frame].translation
    ours = armdyn.forward_kinematics(arm, q)[:3, 3]
    np.testing.assert_allclose(place, ours, atol=1e-12)
    axes = pinocchio.LOCAL_WORLD_ALIGNED
    drift = pinocchio.getFrameClassicalAcceleration(model, data, frame, axes).linear
    J = pinocchio.computeFrameJacobian(model, data, q, frame, axes)[:3]
    M = np.triu(pinocchio.crba(model, data, q))
    M = M + np.triu(M, 1).T
    h = pinocchio.nonLinearEffects(model, data, q, qd)
    x = np.linalg.solve(np.block([[M, -J.T], [J, np.zeros((3, 3))]]), np.concatenate([tau - h, -drift]))
    motion = armdyn.constrained_dynamics(arm, q, qd, tau, armdyn.at_point(ours))
    np.testing.assert_allclose(motion.qdd, x[:6], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(motion.multipliers, x[6:], rtol=1e-9, atol=1e-9)


def point_mass(parent: str = "base", name: str = "", mass: float = 1.5) -> tuple[list[Joint], list[Link]]:
    """A mass that slides along x, y and z."""
    joints = [Joint(f"{name}{a}", "prismatic", e) for a, e in zip("xyz", np.eye(3), strict=True)]
    joints[0] = Joint(f"{name}x", "prismatic", (1, 0, 0), parent=parent)
    masses = (0.0, 0.0, mass)
    return joints, [
        Link(f"{name}{k}", Inertia.from_com(m, np.zeros(3), np.zeros((3, 3)))) for k, m in enumerate(masses)
    ]


def test_a_point_mass_on_a_rod_is_a_pendulum():
    mass = Arm(*map(tuple, point_mass()), name="mass")
    length, angle, rate = 0.7, 0.4, 1.3
    q = length * np.array([np.sin(angle), 0.0, -np.cos(angle)])
    qd = length * rate * np.array([np.cos(angle), 0.0, np.sin(angle)])
    rod = Constraint((PointAtDistance((0, 0, 0), length),))
    motion = armdyn.constrained_dynamics(mass, q, qd, np.zeros(3), rod)
    angular = -9.81 / length * np.sin(angle)
    tangent, outward = qd / (length * rate), q / length
    np.testing.assert_allclose(motion.qdd, length * angular * tangent - length * rate**2 * outward, atol=1e-12)
    tension = -1.5 * (length * rate**2 + 9.81 * np.cos(angle))  # the rod pulls inward
    np.testing.assert_allclose(motion.multipliers, [tension], atol=1e-12)
    # d'Alembert: along every motion that keeps the rod's length its force does no work.
    allowed = np.linalg.svd(armdyn.constraint_jacobian(mass, q, rod))[2][1:]
    np.testing.assert_allclose(allowed @ motion.tau_constraint, 0.0, atol=1e-12)


def test_two_masses_on_a_rod_keep_their_momentum():
    first, second = point_mass(name="a", mass=1.0), point_mass(name="b", mass=3.0)
    arm = Arm((*first[0], *second[0]), (*first[1], *second[1]), gravity=(0.0, 0.0, 0.0), name="dumbbell")
    rod = Constraint((PointAtDistance((0, 0, 0), 0.5, frame="b2", relative_to="a2"),))
    q = np.array([0.1, 0.2, 0.3, 0.1, 0.2, 0.8])
    qd = np.array([1.0, 0.0, 0.2, -0.4, 0.3, 0.2])
    motion = armdyn.constrained_dynamics(arm, q, qd, np.zeros(6), rod)
    np.testing.assert_allclose(1.0 * motion.qdd[:3] + 3.0 * motion.qdd[3:], 0.0, atol=1e-12)
    gap, speed = q[3:] - q[:3], qd[3:] - qd[:3]
    reduced = 1.0 * 3.0 / 4.0
    np.testing.assert_allclose(motion.multipliers, [-reduced * (speed @ speed) / np.linalg.norm(gap)], atol=1e-12)


def test_constraints_that_cannot_be_kept_are_one_sentence():
    arm = armdyn.arms.puma560()
    q = np.array([0.3, -0.6, 0.4, 0.2, 0.7, 0.1])
    p = armdyn.forward_kinematics(arm, q)[:3, 3]
    low, high = armdyn.on_plane(p, [0, 0, 1]), armdyn.on_plane(p + np.array([0, 0, 0.1]), [0, 0, 1])
    for constraint, reason, parts in (
        (
            low + high,
            "conflicting",
            {"cause": re.compile("conditions 1 .*, 2 .* contradict each other.*leave out one")},
        ),
        (
            low + low,
            "redundant",
            {
                "cause": (
                    "conditions 1 (PointOnPlane), 2 (PointOnPlane) are redundant here: one follows "
                    "from the others, so their forces are not determined; leave one of them out"
                )
            },
        ),
    ):
        with raises(ConstraintError, **parts) as caught:
            armdyn.constrained_dynamics(arm, q, 0 * q, 0 * q, constraint)
        assert caught.value.reason == reason
        assert caught.value.conditions == (0, 1)
    planar = armdyn.arms.planar2()  # moves in x and y alone
    with raises(
        ConstraintError,
        cause=(
            "arm 'planar2' cannot move its frame against condition 1 (PointOnPlane) here; leave the "
            "singular position, or leave the condition out"
        ),
    ) as caught:
        armdyn.constrained_dynamics(planar, [0.1, 0.2], [0, 0], [0, 0], armdyn.on_plane([0, 0, 0], [0, 0, 1]))
    assert caught.value.reason == "singular"
    with raises(ModelError, names=("hand",)):
        armdyn.constraint_residual(arm, q, Constraint((PointOnPlane((0, 0, 1), frame="hand"),)))
    with raises(ModelError, expected="a constraint such as on_plane(point, normal)", got="(0, 0, 1)"):
        armdyn.constrained_dynamics(arm, q, 0 * q, 0 * q, (0, 0, 1))
    with raises(ModelError, expected="a direction", got="a vector of length zero"):
        armdyn.on_plane(p, [0, 0, 0])


def test_states_are_moved_onto_the_constraint():
    arm = armdyn.arms.puma560()
    q = np.array([0.3, -0.6, 0.4, 0.2, 0.7, 0.1])
    table = armdyn.on_plane(armdyn.forward_kinematics(arm, q)[:3, 3] - [0, 0, 0.02], [0, 0, 1])
    on, qd = armdyn.onto_constraint(arm, q, table, np.ones(6))
    assert np.abs(armdyn.constraint_residual(arm, on, table)).max() < 1e-12
    assert np.abs(armdyn.constraint_jacobian(arm, on, table) @ qd).max() < 1e-12
    assert np.abs(on - q).max() < 0.2
    with raises(ConstraintError, cause=re.compile(r"no position .* near the one given")):
        armdyn.onto_constraint(arm, q, armdyn.at_point([5.0, 0.0, 0.0]))


def test_its_c_code_passes_its_self_test(tmp_path):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    line = armdyn.on_plane([0.0, 0.3, 0.0], [0, 1, 0])
    code = armdyn.c_code(armdyn.constrained_dynamics, armdyn.arms.planar2(), tmp_path, options={"constraint": line})
    program = tmp_path / "selftest"
    subprocess.run([compiler, str(code.source), str(code.selftest), "-lm", "-o", str(program)], check=True)
    subprocess.run([str(program)], check=True)
