"""The Jacobian of any point and its rate: finite differences, golden numbers, Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import Arm, Inertia, Joint, Link
from armdyn.errors import ShapeError

GOLDEN = ["planar2R", "planar_RP", "general_RPR_sdh", "general_RPR_mdh", "puma560_sdh", "puma560_mdh_akb"]
POINT = (0.1, -0.2, 0.3)
# Central differences with a step of 1e-6 lose about ten digits of sixteen.
DIFFERENCE = {"rtol": 1e-8, "atol": 1e-8}


@pytest.mark.parametrize("name", GOLDEN)
def test_tip_pose_and_jacobian_are_the_golden_ones(golden, golden_arm, name):
    data = golden(name)
    arm = golden_arm(data["robot"])
    for case in data["cases"]:
        np.testing.assert_allclose(armdyn.forward_kinematics(arm, case["q"]), case["T_tip"], rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(armdyn.jacobian(arm, case["q"]), case["J_tip"], rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("link", [None, 0, 2])
@pytest.mark.parametrize("axes", ["base", "tip"])
def test_jacobian_is_the_derivative_of_the_pose(random_arm, link, axes):
    arm = random_arm("RPRR", seed=4)
    q = np.random.default_rng(0).normal(size=arm.n)
    J = armdyn.jacobian(arm, q, POINT, link=link, axes=axes)

    def frame(q):
        T = armdyn.forward_kinematics(arm, q) if link is None else armdyn.link_poses(arm, q)[link]
        return T[:3, :3], T[:3, :3] @ POINT + T[:3, 3]

    R, _ = frame(q)
    for i, e in enumerate(1e-6 * np.eye(arm.n)):
        (R1, p1), (R2, p2) = frame(q - e), frame(q + e)
        W = (R2 - R1) @ R.T / 2e-6  # = skew(w)
        v, w = (p2 - p1) / 2e-6, np.array([W[2, 1], W[0, 2], W[1, 0]])
        if axes == "tip":
            v, w = R.T @ v, R.T @ w
        np.testing.assert_allclose(J[:, i], [*v, *w], **DIFFERENCE)
    if link is not None:
        assert not J[:, link + 1 :].any()


@pytest.mark.parametrize("link", [None, 1])
def test_rate_is_the_derivative_of_the_jacobian_along_the_motion(random_arm, link):
    arm = random_arm("RPRR", seed=2)
    q, qd = np.random.default_rng(1).normal(size=(2, arm.n))
    ahead, behind = (armdyn.jacobian(arm, q + h * qd, POINT, link=link) for h in (1e-6, -1e-6))
    rate = armdyn.jacobian_rate(arm, q, qd, POINT, link=link)
    np.testing.assert_allclose(rate, (ahead - behind) / 2e-6, **DIFFERENCE)
    R = armdyn.forward_kinematics(arm, q)[:3, :3] if link is None else armdyn.link_poses(arm, q)[link, :3, :3]
    turned = armdyn.jacobian_rate(arm, q, qd, POINT, link=link, axes="tip")
    np.testing.assert_allclose(turned, np.kron(np.eye(2), R.T) @ rate, atol=1e-13)


def test_jacobian_and_rate_agree_with_pinocchio():
    pin = pytest.importorskip("pinocchio")
    from armdyn.model.pinocchio_bridge import to_pinocchio

    arm = armdyn.arms.panda()
    model = to_pinocchio(arm)
    data = model.createData()
    frame = model.nframes - 1
    rng = np.random.default_rng(3)
    for q, qd in zip(rng.uniform(*arm.position_limits, (20, 7)), rng.normal(size=(20, 7)), strict=True):
        pin.computeJointJacobiansTimeVariation(model, data, q, qd)
        pin.framesForwardKinematics(model, data, q)
        world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        T = data.oMf[frame].homogeneous
        np.testing.assert_allclose(armdyn.forward_kinematics(arm, q), T, atol=1e-12)
        J, J_rate = (
            pin.getFrameJacobian(model, data, frame, world),
            pin.getFrameJacobianTimeVariation(model, data, frame, world),
        )
        np.testing.assert_allclose(armdyn.jacobian(arm, q), J, atol=1e-12)
        np.testing.assert_allclose(armdyn.jacobian_rate(arm, q, qd), J_rate, atol=1e-12)


def test_batches_broadcast(random_arm):
    arm = random_arm("RPR")
    q = np.random.default_rng(0).normal(size=(4, 1, 3))
    points = np.random.default_rng(1).normal(size=(5, 3))
    J = armdyn.jacobian(arm, q, points)
    assert J.shape == (4, 5, 6, 3)
    np.testing.assert_allclose(J[2, 3], armdyn.jacobian(arm, q[2, 0], points[3]), atol=1e-15)


def test_link_may_be_an_integer_of_numpy(random_arm):
    arm, q = random_arm("RPR"), np.array([0.3, 0.1, -0.4])
    np.testing.assert_array_equal(armdyn.jacobian(arm, q, link=np.int64(1)), armdyn.jacobian(arm, q, link=1))


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"link": 3}, {"expected": "link from 0 to 2 for arm 'RPR'", "got": "3"}),
        ({"link": "link2"}, {"got": "'link2'", "remedy": "arm.link_names.index('link2')"}),
        ({"link": "hand"}, {"remedy": "links: link1, link2, link3"}),
        ({"axes": "world"}, {"names": ("world",), "expected": "one of base, tip"}),
        ({"point": (1.0, 2.0)}, {"expected": "point of shape (..., 3) for arm 'RPR'", "got": "(2,)"}),
    ],
)
def test_wrong_choices_are_rejected(random_arm, options, parts):
    arm = random_arm("RPR")
    with raises(ShapeError, **parts):
        armdyn.jacobian(arm, np.zeros(3), **options)


@pytest.mark.parametrize("where", ["before", "after"])
def test_frames_turned_by_a_billionth_count(chain_poses, where):
    """The diagonal of such a rotation is that of none; heights and gravity's torques tell them apart."""
    tilted, lever = np.eye(4), np.eye(4)
    tilted[1, 2], tilted[2, 1] = -1e-9, 1e-9
    lever[:3, 3] = 0.0, 1.0, 0.0
    first = Joint("tilted", "revolute", [0, 0, 1], **{where: tilted})
    second = Joint("moving", "revolute", [0, 0, 1], after=lever)
    links = [Link("a", Inertia.from_com(1.0, [0, 0, 0])), Link("b", Inertia.from_com(2.0, [0, 0, 0]))]
    arm = Arm([first, second], links, gravity=[0, 0, -10.0])
    q = np.array([0.0, 0.7])
    np.testing.assert_allclose(armdyn.forward_kinematics(arm, q), chain_poses(arm, q)[1], rtol=0, atol=1e-16)
    # The load is 1e-9 cos q high.
    tau = armdyn.inverse_dynamics(arm, q, np.zeros(2), np.zeros(2))
    assert tau[1] == pytest.approx(-2.0 * 10.0 * 1e-9 * np.sin(0.7), rel=1e-6)
    assert armdyn.gravity_torque(arm, q)[1] == pytest.approx(tau[1], rel=1e-6)
