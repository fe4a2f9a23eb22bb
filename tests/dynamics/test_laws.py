"""Laws of mechanics on random arms, all terms of the equations of motion traced together."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import armdyn
from armdyn.trace import backend
from armdyn.trace.symbols import ca

# Round-off: some thousand operations on entries up to 100, further amplified by the condition of M
# (up to 1e4 for these arms) where accelerations are compared.
CLOSE = {"rtol": 1e-11, "atol": 1e-10}
ACCELERATION = {"rtol": 1e-8, "atol": 1e-8}

VECTORS = ("tau", "g", "p", "qdd", "by_articulated", "V", "dT_dq", "g_gradient")
MATRICES = ("M", "C", "W", "Wd")


@armdyn.traced(
    q="n",
    qd="n",
    qdd="n",
    theta="10*n",
    gravity="3",
    returns={"T": "", **dict.fromkeys(VECTORS, "n"), **dict.fromkeys(MATRICES, "n, n")},
)
def everything(arm, q, qd, qdd, *, theta, gravity):
    """All terms at once, so that each arm is traced once."""
    data = {"theta": theta, "gravity": gravity}
    tau = armdyn.inverse_dynamics(arm, q, qd, qdd, **data)
    lagrange = armdyn.lagrange(arm, q, qd, **data)
    terms = {
        "T": armdyn.kinetic_energy(arm, q, qd, theta=theta),
        "tau": tau,
        "g": armdyn.gravity_torque(arm, q, **data),
        "p": armdyn.generalized_momentum(arm, q, qd, theta=theta),
        "qdd": armdyn.forward_dynamics(arm, q, qd, tau, method="composite", **data),
        "by_articulated": armdyn.forward_dynamics(arm, q, qd, tau, method="articulated", **data),
        "V": lagrange.V,
        "dT_dq": lagrange.dT_dq,
        "g_gradient": ca.gradient(armdyn.potential_energy(arm, q, **data), q),
        "M": armdyn.mass_matrix(arm, q, theta=theta),
        "C": armdyn.coriolis_matrix(arm, q, qd, theta=theta),
        "W": lagrange.W,
        "Wd": lagrange.Wd,
    }
    return tuple(terms.values())


def square(arm):
    """The arm with its frames at right angles: most constants are exact zeros and ones."""
    turns = [
        np.eye(3)[list(p)] * s for p in itertools.permutations(range(3)) for s in itertools.product((1, -1), repeat=3)
    ]
    turns = [R for R in map(np.array, turns) if np.linalg.det(R) > 0]

    def snapped(T, i):
        out = np.eye(4)
        out[:3, :3] = turns[i % len(turns)]
        out[:3, 3] = np.where(np.abs(T[:3, 3]) > 0.25, T[:3, 3], 0)
        return out

    return arm.with_joints(
        dataclasses.replace(
            joint, axis=np.eye(3)[i % 3], before=snapped(joint.before, 7 * i + 3), after=snapped(joint.after, 5 * i)
        )
        for i, joint in enumerate(arm.joints)
    )


def check_laws(arm, seed):
    """Every law at a few states; W, V and dT_dq come from Lagrange's equations."""
    q, qd, qdd = np.random.default_rng(seed).normal(size=(3, 3, arm.n))
    x = everything(arm, q, qd, qdd)
    quad = np.einsum("ki,kij,kj->k", qd, x.M, qd) / 2
    Cqd = np.einsum("kij,kj->ki", x.C, qd)
    # M is symmetric and positive definite; kinetic energy and momentum are its forms
    np.testing.assert_array_equal(x.M, np.swapaxes(x.M, 1, 2))
    assert np.linalg.eigvalsh(x.M).min() > 0
    np.testing.assert_allclose(x.T, quad, **CLOSE)
    np.testing.assert_allclose(x.p, np.einsum("kij,kj->ki", x.M, qd), **CLOSE)
    # tau = M qdd + C qd + g, and dM/dt - 2 C is skew with the rate that Lagrange's way gives
    np.testing.assert_allclose(x.tau, np.einsum("kij,kj->ki", x.M, qdd) + Cqd + x.g, **CLOSE)
    skew = x.Wd - 2 * x.C
    assert np.abs(skew + np.swapaxes(skew, 1, 2)).max() <= 1e-12 * max(1, np.abs(x.C).max())
    # Lagrange and Newton-Euler are independent derivations
    np.testing.assert_allclose(x.W, x.M, **CLOSE)
    np.testing.assert_allclose(np.einsum("kij,kj->ki", x.W, qdd) - x.V, x.tau, **CLOSE)
    # C qd = dM/dt qd - dT/dq, and gravity is a gradient
    np.testing.assert_allclose(Cqd, np.einsum("kij,kj->ki", x.Wd, qd) - x.dT_dq, **CLOSE)
    np.testing.assert_allclose(x.g, x.g_gradient, **CLOSE)
    # dE/dt = qd . tau: of T by the chain rule, with M's rate from Lagrange's equations
    rate = np.einsum("ki,kij,kj->k", qd, x.M, qdd) + np.einsum("ki,kij,kj->k", qd, x.Wd, qd) / 2
    power = np.einsum("ki,ki->k", qd, x.tau - x.g)
    np.testing.assert_allclose(rate, power, **CLOSE)
    # forward of inverse is the identity, both ways
    np.testing.assert_allclose(x.qdd, qdd, **ACCELERATION)
    np.testing.assert_allclose(x.by_articulated, qdd, **ACCELERATION)


def parts(most, quick):
    """Parts of a test; those beyond the quick ones belong to the night."""
    return [k if k < quick else pytest.param(k, marks=pytest.mark.slow) for k in range(most)]


@pytest.mark.parametrize("part", parts(20, 1))  # parts of 10 arms, so that workers can share them
@settings(max_examples=10)
@given(kinds=st.text("RP", min_size=1, max_size=3), seed=st.integers(0, 10**6), right_angles=st.booleans())
def test_laws(random_arm, part, kinds, seed, right_angles):
    arm = random_arm(kinds, seed + part * 10**7)
    with backend.using("virtual"):
        check_laws(square(arm) if right_angles else arm, seed)


@pytest.mark.parametrize("k", parts(30, 3))
@pytest.mark.by_day(1)
def test_laws_hold_for_kernels(random_arm, k):
    kinds = ["RR", "RP", "PR", "R", "PP"][k % 5]
    arm = random_arm(kinds, seed=1000 + k)
    check_laws(square(arm) if k % 2 else arm, k)


@pytest.mark.parametrize("kinds", ["RRRRRR", "RPRRPRR"])
@pytest.mark.by_day(1)
def test_laws_of_longer_arms(random_arm, kinds):
    with backend.using("virtual"):
        check_laws(random_arm(kinds, seed=3), 3)


@settings(max_examples=15)
@given(kinds=st.text("RP", min_size=1, max_size=3), seed=st.integers(0, 10**6))
def test_torques_do_not_depend_on_where_link_frames_lie(random_arm, kinds, seed):
    """The same bodies and axes described in other link frames feel the same torques."""
    arm, rng = random_arm(kinds, seed), np.random.default_rng(seed)
    moved = random_arm("R" * arm.n, seed + 1)  # any poses will do as new link frames in the old ones
    frames = [joint.before for joint in moved.joints]
    joints, links = [], []
    for i, (joint, link) in enumerate(zip(arm.joints, arm.links, strict=True)):
        before = joint.before if i == 0 else np.linalg.inv(frames[i - 1]) @ joint.before
        joints.append(dataclasses.replace(joint, before=before, after=joint.after @ frames[i]))
        links.append(dataclasses.replace(link, inertia=link.inertia.moved(np.linalg.inv(frames[i]))))
    tool = np.linalg.inv(frames[-1]) @ arm.tool_pose
    other = dataclasses.replace(arm, joints=tuple(joints), links=tuple(links), tool_pose=tool)
    states, wrench = rng.normal(size=(3, arm.n)), rng.normal(size=6)
    with backend.using("virtual"):
        tau = armdyn.inverse_dynamics(arm, *states, wrench=wrench)
        np.testing.assert_allclose(armdyn.inverse_dynamics(other, *states, wrench=wrench), tau, **CLOSE)


@pytest.mark.parametrize("form", ["standard", "modified", "urdf"])
@pytest.mark.parametrize("name", ["puma560", "stanford"])
def test_torques_do_not_depend_on_the_form_of_description(tmp_path, name, form):
    """The same arm by standard DH, modified DH and URDF."""
    arm = getattr(armdyn.arms, name)()
    if form == "urdf":
        arm.save(tmp_path / "arm.urdf")
        other = armdyn.load(tmp_path / "arm.urdf").with_gravity(arm.gravity)
    else:
        other = armdyn.as_dh(arm, form)
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, 20, 6))
    with backend.using("virtual"):
        np.testing.assert_allclose(
            armdyn.inverse_dynamics(other, q, qd, qdd), armdyn.inverse_dynamics(arm, q, qd, qdd), **CLOSE
        )


@settings(max_examples=15)
@given(kinds=st.text("RP", min_size=1, max_size=3), seed=st.integers(0, 10**6))
def test_torques_are_linear_in_theta(random_arm, kinds, seed):
    arm, rng = random_arm(kinds, seed), np.random.default_rng(seed)
    states, (a, b) = rng.normal(size=(3, arm.n)), rng.normal(size=(2, 10 * arm.n))
    with backend.using("virtual"):
        x, y, both = (armdyn.inverse_dynamics(arm, *states, theta=t) for t in (a, b, 2 * a - 3 * b))
    np.testing.assert_allclose(2 * x - 3 * y, both, **CLOSE)
