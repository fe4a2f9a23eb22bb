"""Springs between links: laws, and MuJoCo's spatial tendons."""

from dataclasses import replace

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import Arm, Drive, Joint, Link, Spring
from armdyn.errors import ModelError, ReadError
from armdyn.model.toml_format import arm_from_toml, toml_text
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.transform import transform

BODY = Inertia.from_com(2.0, (0.1, 0.02, 0.03), np.diag([0.02, 0.03, 0.04]))


def balanced_arm(follows=()):
    """Three joints, the last beside the second, with a balancer to the base and one between links."""
    joints = (
        Joint("turn", axis=(0, 0, 1)),
        Joint("lift", axis=(0, 1, 0), before=transform(None, (0.1, 0, 0.3)), drive=Drive(stiffness=5.0, rest=0.2)),
        Joint("reach", "prismatic", axis=(1, 0, 0), before=transform(None, (0.3, 0, 0.1)), follows=follows),
    )
    links = tuple(Link(name, BODY) for name in ("column", "beam", "sledge"))
    springs = (
        Spring("balancer", ("base", "beam"), ((0.2, 0.3, 0.1), (0.2, 0.0, 0.1)), 300.0, 0.15),
        Spring("inner", ("sledge", "column"), ((0.1, 0, 0.2), (0.0, 0.2, 0.4)), 80.0),
    )
    base = transform(None, (0.3, -0.2, 0.1))
    return Arm(joints, links, base_pose=base, springs=springs)


ARMS = {"free": balanced_arm(), "follows": balanced_arm((("lift", -0.3),))}


@pytest.fixture(params=ARMS)
def arm(request):
    return ARMS[request.param]


@pytest.fixture
def state(arm):
    return tuple(np.random.default_rng(0).uniform(-1, 1, (3, 4, arm.n)))


def test_torque_is_the_slope_of_the_energy(arm, state):
    q, qd, qdd = state
    still = armdyn.joint_torque(arm, q, qd, qdd) - armdyn.joint_torque(without_springs(arm), q, qd, qdd)
    step = 1e-6
    slope = [
        (armdyn.spring_energy(arm, q + step * e) - armdyn.spring_energy(arm, q - step * e)) / (2 * step)
        for e in np.eye(arm.n)
    ]
    np.testing.assert_allclose(still, np.array(slope).T, rtol=1e-7, atol=1e-6)  # of central differences
    numbers = [x for spring in arm.springs for x in (spring.stiffness, spring.stiffness * spring.rest_length)]
    plain = arm.with_joints([replace(j, drive=Drive()) for j in arm.joints])
    between = armdyn.joint_torque(plain, q, 0 * qd, 0 * qdd) - armdyn.inverse_dynamics(arm, q, 0 * qd, 0 * qdd)
    np.testing.assert_allclose(armdyn.spring_columns(arm, q) @ numbers, between, rtol=1e-12, atol=1e-12)


def without_springs(arm):
    return replace(arm.with_joints([replace(j, drive=Drive()) for j in arm.joints]), springs=())


def test_forward_dynamics_and_linearization(arm, state):
    q, qd, qdd = (x[0] for x in state)
    tau = armdyn.joint_torque(arm, q, qd, qdd)
    np.testing.assert_allclose(armdyn.joint_acceleration(arm, q, qd, tau), qdd, rtol=1e-9)
    linear = armdyn.linearize(arm, q, qd, qdd, model="full")
    step = 1e-6
    for k, e in enumerate(np.eye(arm.n)):
        ahead, behind = (armdyn.joint_torque(arm, q + s * step * e, qd, qdd) for s in (1, -1))
        np.testing.assert_allclose(linear.K[:, k], (ahead - behind) / (2 * step), rtol=1e-6, atol=1e-6)


def test_torques_are_those_of_mujoco(arm, state, tmp_path):
    mujoco = pytest.importorskip("mujoco")
    arm.save(tmp_path / "arm.xml")
    m = mujoco.MjModel.from_xml_path(str(tmp_path / "arm.xml"))
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    d = mujoco.MjData(m)
    G, b = (np.eye(3), np.zeros(3)) if arm.G is None else (arm.G, arm.b)
    for q, qd, qdd in zip(*state, strict=True):
        d.qpos[:], d.qvel[:], d.qacc[:] = G @ q + b, G @ qd, G @ qdd
        mujoco.mj_inverse(m, d)
        np.testing.assert_allclose(armdyn.joint_torque(arm, q, qd, qdd), G.T @ d.qfrc_inverse, rtol=0, atol=1e-11)
    again = armdyn.load(tmp_path / "arm.xml")
    want, got = (armdyn.joint_torque(one, *state) for one in (arm, again))
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-11)
    assert [spring.name for spring in again.springs] == ["balancer", "inner"]


def test_toml_keeps_springs(arm):
    again = arm_from_toml(toml_text(arm))
    assert again.springs == arm.springs
    assert again.fingerprint == arm.fingerprint != without_springs(arm).fingerprint


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"links": ("beam", "beam")}, {"cause": "both ends are in link 'beam'", "names": ("beam",)}),
        (
            {"links": ("beam", "wing")},
            {
                "cause": ("spring 'balancer' is fixed in link 'wing', which is none of base, column, beam, sledge"),
            },
        ),
        ({"stiffness": -1.0}, {"expected": "stiffness > 0 and rest_length >= 0"}),
        ({"points": ((0, 0, 0),)}, {"expected": "two points"}),
        ({"rest_length": float("nan")}, {"where": "spring 'balancer': stiffness and rest_length"}),
    ],
)
def test_springs_that_cannot_be_are_rejected(change, parts):
    arm = ARMS["free"]
    with raises(ModelError, **parts):
        replace(arm, springs=(replace(arm.springs[0], **change),))


def test_documents_that_lack_something_are_rejected():
    text = toml_text(ARMS["free"]).replace("stiffness = 80.0", "")
    with raises(ReadError, where="TOML text: spring 2", cause="lacks 'stiffness'", names=("stiffness",)):
        arm_from_toml(text)
