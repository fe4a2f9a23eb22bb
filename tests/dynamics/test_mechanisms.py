"""Trees, and joints that follow others: every formula against Pinocchio, which has the free joints only.

Where joints follow others, Pinocchio's numbers of the free tree at G q + b give those of the coordinates: G' tau and
G' M G. Its joints are sorted by `names`; columns of M come from its inverse dynamics, because its composite-body
algorithm needs joints in depth-first order.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import Arm, Friction, Joint, Link
from armdyn.errors import ModelError, ShapeError
from armdyn.model.joint import Drive
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.rotation import from_rpy
from armdyn.spatial.transform import transform

pin = pytest.importorskip("pinocchio")


def random_body(rng: np.random.Generator) -> Inertia:
    """A cloud of points, so that any body can have these moments."""
    points, masses = rng.normal(size=(6, 3)) * 0.15, rng.uniform(0.1, 0.5, 6)
    com = masses @ points / masses.sum()
    r = points - com
    tensor = sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, r, strict=True))
    return Inertia.from_com(masses.sum(), com, tensor)


def random_tree(seed: int, n_joints: int, follow: bool = False) -> Arm:
    """Joints on random links before them; with `follow` some depend on one or two others."""
    rng = np.random.default_rng(seed)
    joints: list[Joint] = []
    for i in range(n_joints):
        parent = int(rng.integers(-1, i)) if i else -1
        name = None if parent == i - 1 else "base" if parent < 0 else f"l{parent}"
        free = [joint.name for joint in joints if not joint.follows]
        follows: tuple[tuple[str, float], ...] = ()
        if follow and len(free) > 1 and rng.random() < 0.4:
            leaders = rng.choice(free, size=int(rng.integers(1, 3)), replace=False)
            follows = tuple((str(leader), float(rng.uniform(0.5, 1.5))) for leader in leaders)
        joints.append(
            Joint(
                f"j{i}",
                "prismatic" if rng.random() < 0.25 else "revolute",
                axis=rng.normal(size=3),
                before=transform(from_rpy(rng.normal(size=3)), rng.normal(size=3) * 0.3),
                after=transform(from_rpy(rng.normal(size=3)), rng.normal(size=3) * 0.1),
                parent=name,
                follows=follows,
                offset=0.2 if follows else 0.0,
            )
        )
    links = tuple(Link(f"l{i}", random_body(rng)) for i in range(n_joints))
    base = transform(from_rpy(rng.normal(size=3)), rng.normal(size=3))
    return Arm(tuple(joints), links, base_pose=base, tool_pose=transform(None, [0.1, 0.0, 0.2]), name=f"tree{seed}")


def pinocchio_tree(arm: Arm) -> tuple[pin.Model, np.ndarray]:
    """The free tree, built joint by joint, and where Pinocchio has each joint of the arm."""
    model = pin.Model()
    model.gravity.linear = np.array(arm.gravity)
    ids: list[int] = []
    for joint, link, parent in zip(arm.joints, arm.links, arm.parents, strict=True):
        kind = pin.JointModelRevoluteUnaligned if joint.kind == "revolute" else pin.JointModelPrismaticUnaligned
        T = arm.base_pose @ joint.before if parent < 0 else arm.joints[parent].after @ joint.before
        ids.append(model.addJoint(0 if parent < 0 else ids[parent], kind(*joint.axis), pin.SE3(T), joint.name))
        body = link.inertia.moved(joint.after)
        model.appendBodyToJoint(ids[-1], pin.Inertia(body.mass, body.com, body.tensor_com), pin.SE3.Identity())
        model.addFrame(pin.Frame(link.name, ids[-1], 0, pin.SE3(np.array(joint.after)), pin.FrameType.OP_FRAME))
    return model, np.array([model.joints[i].idx_v for i in ids])


class Oracle:
    """Numbers of the coordinates from Pinocchio's free tree."""

    def __init__(self, arm: Arm) -> None:
        self.arm = arm
        self.model, self.order = pinocchio_tree(arm)
        self.data = self.model.createData()
        self.G = np.eye(arm.n_joints) if arm.G is None else arm.G
        self.b = np.zeros(arm.n_joints) if arm.b is None else arm.b

    def _sorted(self, x: np.ndarray) -> np.ndarray:
        theirs = np.zeros(self.arm.n_joints)
        theirs[self.order] = x
        return theirs

    def torque(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """G' of the free tree's inverse dynamics."""
        state = (self._sorted(x) for x in (self.G @ q + self.b, self.G @ qd, self.G @ qdd))
        return self.G.T @ pin.rnea(self.model, self.data, *state)[self.order]

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """Columns by inverse dynamics."""
        zero = np.zeros(self.arm.n)
        weight = self.torque(q, zero, zero)
        return np.column_stack([self.torque(q, zero, e) - weight for e in np.eye(self.arm.n)])

    def frame(self, q: np.ndarray, link: str) -> tuple[np.ndarray, np.ndarray]:
        """Pose and Jacobian of a link's frame."""
        at = self._sorted(self.G @ q + self.b)
        J = pin.computeFrameJacobian(
            self.model, self.data, at, self.model.getFrameId(link), pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        )
        pin.framesForwardKinematics(self.model, self.data, at)
        return self.data.oMf[self.model.getFrameId(link)].homogeneous, J[:, self.order] @ self.G


TREES = {
    "tree of 7": lambda: random_tree(1, 7),
    "tree of 14": lambda: random_tree(2, 14),  # beyond the size at which articulated bodies are used
    "followers": lambda: random_tree(3, 9, follow=True),
}


@pytest.fixture(params=TREES, scope="module")
def arm(request: pytest.FixtureRequest) -> Arm:
    """A random mechanism."""
    return TREES[request.param]()


@pytest.fixture(scope="module")
def oracle(arm: Arm) -> Oracle:
    """Pinocchio's model of it."""
    return Oracle(arm)


@pytest.fixture(scope="module")
def state(arm: Arm) -> tuple[np.ndarray, ...]:
    """Positions, velocities and accelerations, three samples."""
    return tuple(np.random.default_rng(0).normal(size=(3, 3, arm.n)))


CLOSE = {"rtol": 1e-11, "atol": 1e-11}  # sums of some dozen terms of the order of one to ten


def test_mechanisms_are_what_they_should_be():
    tree, followers = TREES["tree of 14"](), TREES["followers"]()
    assert not tree.is_chain
    assert tree.G is None
    assert tree.n == tree.n_joints == 14
    assert followers.n < followers.n_joints == 9
    assert followers.G.shape == (9, followers.n)
    assert any(len(joint.follows) == 2 for joint in followers.joints)


def test_inverse_dynamics_regressor_and_lagrange(arm, oracle, state):
    want = np.array([oracle.torque(*row) for row in zip(*state, strict=True)])
    np.testing.assert_allclose(armdyn.inverse_dynamics(arm, *state), want, **CLOSE)
    np.testing.assert_allclose(armdyn.regressor(arm, *state) @ arm.theta, want, **CLOSE)
    q, qd, qdd = state
    adaptive = armdyn.adaptive_regressor(arm, q, qd, qd, qdd) @ arm.theta
    np.testing.assert_allclose(adaptive, want, **CLOSE)
    np.testing.assert_allclose(armdyn.adaptive_torque(arm, q, qd, qd, qdd), want, **CLOSE)
    W, V, *_ = armdyn.lagrange(arm, q, qd)
    np.testing.assert_allclose((W @ qdd[..., None])[..., 0] - V, want, **CLOSE)


def test_mass_coriolis_gravity_and_forward_dynamics(arm, oracle, state):
    q, qd, qdd = state
    zero = np.zeros_like(qd)
    M, C, g = armdyn.mass_matrix(arm, q), armdyn.coriolis_matrix(arm, q, qd), armdyn.gravity_torque(arm, q)
    np.testing.assert_allclose(M, [oracle.mass_matrix(row) for row in q], **CLOSE)
    np.testing.assert_allclose(g, [oracle.torque(row, zero[0], zero[0]) for row in q], **CLOSE)
    tau = armdyn.inverse_dynamics(arm, q, qd, qdd)
    np.testing.assert_allclose((M @ qdd[..., None] + C @ qd[..., None])[..., 0] + g, tau, **CLOSE)
    rate = armdyn.mass_matrix_rate(arm, q, qd)
    step = 1e-6
    differences = (armdyn.mass_matrix(arm, q + step * qd) - armdyn.mass_matrix(arm, q - step * qd)) / (2 * step)
    np.testing.assert_allclose(rate, differences, rtol=1e-7, atol=1e-7)  # of central differences
    methods = ("composite", "articulated") if arm.G is None else ("composite",)
    for method in methods:
        np.testing.assert_allclose(armdyn.forward_dynamics(arm, q, qd, tau, method=method), qdd, rtol=1e-8, atol=1e-8)


def test_articulated_bodies_are_for_free_joints():
    arm = TREES["followers"]()
    with raises(
        ModelError,
        cause=(
            "articulated bodies are for joints that move by themselves, and arm 'tree3' has some that follow others"
        ),
        remedy="use method='composite'",
    ):
        armdyn.forward_dynamics(arm, *np.zeros((3, arm.n)), method="articulated")


def test_energies_momentum_and_their_regressors(arm, state):
    q, qd, qdd = state
    M = armdyn.mass_matrix(arm, q)
    p = (M @ qd[..., None])[..., 0]
    T = (p * qd).sum(-1) / 2
    np.testing.assert_allclose(armdyn.kinetic_energy(arm, q, qd), T, **CLOSE)
    np.testing.assert_allclose(armdyn.generalized_momentum(arm, q, qd), p, **CLOSE)
    rows = armdyn.energy_regressor(arm, q, qd)
    np.testing.assert_allclose(rows.kinetic @ arm.theta, T, **CLOSE)
    np.testing.assert_allclose(rows.potential @ arm.theta, armdyn.potential_energy(arm, q), **CLOSE)
    np.testing.assert_allclose(armdyn.momentum_regressor(arm, q, qd) @ arm.theta, p, **CLOSE)
    tau = armdyn.inverse_dynamics(arm, q, qd, qdd)
    np.testing.assert_allclose(armdyn.power_regressor(arm, q, qd, qdd) @ arm.theta, (qd * tau).sum(-1), **CLOSE)
    # dT/dq - dU/dq by central differences along each coordinate
    step = 1e-6
    lagrangian = lambda x: armdyn.kinetic_energy(arm, x, qd) - armdyn.potential_energy(arm, x)  # noqa: E731
    slope = [(lagrangian(q + step * e) - lagrangian(q - step * e)) / (2 * step) for e in np.eye(arm.n)]
    got = armdyn.lagrangian_regressor(arm, q, qd) @ arm.theta
    np.testing.assert_allclose(got, np.array(slope).T, rtol=1e-6, atol=1e-6)


def test_poses_and_jacobians_of_every_link(arm, oracle, state):
    q, qd, qdd = (x[0] for x in state)
    for i, link in enumerate(arm.link_names):
        pose, J = oracle.frame(q, link)
        np.testing.assert_allclose(armdyn.link_poses(arm, q)[i], pose, **CLOSE)
        np.testing.assert_allclose(armdyn.forward_kinematics(arm, q, frame=link), pose, **CLOSE)
        np.testing.assert_allclose(armdyn.jacobian(arm, q, frame=link), J, **CLOSE)
        np.testing.assert_allclose(armdyn.jacobian(arm, q, link=i), J, **CLOSE)
        np.testing.assert_allclose(armdyn.point_velocity(arm, q, qd, frame=link), J @ qd, **CLOSE)
        rate = armdyn.jacobian_rate(arm, q, qd, frame=link)
        acceleration = armdyn.point_acceleration(arm, q, qd, qdd, frame=link)
        np.testing.assert_allclose(acceleration, J @ qdd + rate @ qd, **CLOSE)


def test_derivatives_of_torques(arm, state):
    q, qd, qdd = (x[0] for x in state)
    found = armdyn.torque_derivatives(arm, q, qd, qdd)
    np.testing.assert_allclose(found.tau, armdyn.inverse_dynamics(arm, q, qd, qdd), **CLOSE)
    np.testing.assert_allclose(found.M, armdyn.mass_matrix(arm, q), **CLOSE)
    step, unit = 1e-6, np.eye(arm.n)
    for matrix, k in ((found.K, 0), (found.C, 1)):
        ahead, behind = (
            armdyn.inverse_dynamics(arm, *(x + sign * step * unit * (i == k) for i, x in enumerate((q, qd, qdd))))
            for sign in (1, -1)
        )
        np.testing.assert_allclose(matrix, (ahead - behind).T / (2 * step), rtol=1e-6, atol=1e-6)


def with_friction_everywhere(arm: Arm) -> Arm:
    """The arm with friction, a rotor and a spring at each joint, those that follow others too."""
    rng = np.random.default_rng(4)
    joints = []
    for joint in arm.joints:
        viscous, coulomb, rotor, stiffness = rng.uniform(0.1, 1.0, 4)
        drive = Drive(rotor_inertia=rotor, damping=0.1, stiffness=stiffness, rest=0.3)
        joints.append(dataclasses.replace(joint, friction=Friction(viscous, coulomb, offset=0.1), drive=drive))
    return arm.with_joints(joints)


def test_friction_drives_and_springs_of_all_joints(arm, state):
    """By virtual power: each joint's torque times its own speed, summed, is the coordinates' power."""
    arm = with_friction_everywhere(arm)
    q, qd, qdd = state
    G = np.eye(arm.n_joints) if arm.G is None else arm.G
    b = np.zeros(arm.n_joints) if arm.b is None else arm.b
    at, speed, acceleration = q @ G.T + b, qd @ G.T, qdd @ G.T
    torque = np.zeros_like(speed)
    for i, joint in enumerate(arm.joints):
        friction, drive = joint.friction, joint.drive
        torque[:, i] = friction.viscous * speed[:, i] + friction.coulomb * np.sign(speed[:, i]) + friction.offset
        torque[:, i] += drive.rotor_inertia * acceleration[:, i] + drive.damping * speed[:, i]
        torque[:, i] += drive.stiffness * (at[:, i] - drive.rest)
    want = armdyn.inverse_dynamics(arm, q, qd, qdd) + torque @ G
    tau = armdyn.joint_torque(arm, q, qd, qdd)
    np.testing.assert_allclose(tau, want, **CLOSE)
    np.testing.assert_allclose(armdyn.joint_acceleration(arm, q, qd, tau), qdd, rtol=1e-8, atol=1e-8)
    terms = ("rotor", "viscous", "coulomb", "spring", "offset")
    parameters = np.concatenate([arm.theta, armdyn.joint_parameters(arm, terms)])
    np.testing.assert_allclose(armdyn.full_regressor(arm, q, qd, qdd, terms=terms) @ parameters, want, **CLOSE)


def test_linearization_of_the_whole_arm(arm, state):
    arm = with_friction_everywhere(arm)
    q, qd, qdd = (x[0] for x in state)
    linear = armdyn.linearize(arm, q, qd, qdd, model="full")
    tau = armdyn.joint_torque(arm, q, qd, qdd)
    step, n = 1e-6, arm.n
    unit = np.eye(2 * n)
    ahead, behind = (
        armdyn.joint_acceleration(arm, q + s * step * unit[:, :n], qd + s * step * unit[:, n:], tau) for s in (1, -1)
    )
    np.testing.assert_allclose(linear.A[n:], (ahead - behind).T / (2 * step), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(linear.B[n:] @ armdyn.augmented_mass_matrix(arm, q), np.eye(n), rtol=1e-8, atol=1e-8)


def test_wrench_at_the_tip_of_a_tree(arm, state):
    q, qd, qdd = (x[0] for x in state)
    wrench = np.arange(1.0, 7.0)
    R = armdyn.forward_kinematics(arm, q)[:3, :3]
    force = np.concatenate([R @ wrench[:3], R @ wrench[3:]])
    free, loaded = (armdyn.inverse_dynamics(arm, q, qd, qdd, wrench=w) for w in (None, wrench))
    np.testing.assert_allclose(loaded, free - armdyn.jacobian(arm, q).T @ force, **CLOSE)
    derivatives = armdyn.torque_derivatives(arm, q, qd, qdd, wrench=wrench)
    np.testing.assert_allclose(derivatives.tau, loaded, **CLOSE)
    np.testing.assert_allclose(armdyn.forward_dynamics(arm, q, qd, loaded, wrench=wrench), qdd, rtol=1e-8, atol=1e-8)


def test_wrench_at_any_frame(arm, state):
    """By an arm whose tip is there."""
    q, qd, qdd = (x[0] for x in state)
    wrench, free = np.arange(1.0, 7.0), armdyn.inverse_dynamics(arm, q, qd, qdd)
    for link in arm.link_names[::3]:
        R = armdyn.forward_kinematics(arm, q, frame=link)[:3, :3]
        force = np.concatenate([R @ wrench[:3], R @ wrench[3:]])
        loaded = armdyn.inverse_dynamics(arm.with_tip(link), q, qd, qdd, wrench=wrench)
        np.testing.assert_allclose(loaded, free - armdyn.jacobian(arm, q, frame=link).T @ force, **CLOSE)


def test_a_turning_base_is_a_joint_before_all_branches(arm, state):
    """As far as the other joints feel it; and a falling base takes gravity away."""
    arm = dataclasses.replace(arm, base_pose=np.eye(4))
    on_table = [
        dataclasses.replace(joint, parent="table") if parent < 0 else joint
        for joint, parent in zip(arm.joints, arm.parents, strict=True)
    ]
    table = Link("table", Inertia.zero())
    longer = dataclasses.replace(arm, joints=(Joint("turntable"), *on_table), links=(table, *arm.links))
    q, qd, qdd = (x[0] for x in state)
    w, wd = 0.7, -0.4
    want = armdyn.inverse_dynamics(longer, [0, *q], [w, *qd], [wd, *qdd])[1:]
    base = (np.array([0, 0, w]), np.array([0, 0, wd]), np.zeros(3))
    np.testing.assert_allclose(armdyn.inverse_dynamics(arm, q, qd, qdd, base_motion=base), want, **CLOSE)
    falling = (np.zeros(3), np.zeros(3), arm.gravity)
    at_rest = armdyn.inverse_dynamics(arm, q, 0 * q, 0 * q, base_motion=falling)
    np.testing.assert_allclose(at_rest, np.zeros(arm.n), atol=1e-12)


def test_base_parameters(arm, state):
    """By numbers, and on trees of free joints by rules: as many, and torques of all motions follow from them."""
    base = armdyn.base_parameters(arm, joint_terms=("rotor",))
    want = armdyn.full_regressor(arm, *state, terms=("rotor",)) @ base.own_parameters
    np.testing.assert_allclose(base.regressor(*state) @ base.theta, want, **CLOSE)
    if arm.G is not None:
        with raises(
            ModelError,
            cause=(
                "base_parameters by rules is for joints that move by themselves, and arm 'tree3' is a "
                "mechanism of 9 joints of which 5 follow others; use method='numeric'"
            ),
        ):
            armdyn.base_parameters(arm, method="rules")
        free = dataclasses.replace(
            arm, joints=tuple(dataclasses.replace(j, follows=(), offset=0.0) for j in arm.joints)
        )
        assert base.count < armdyn.base_parameters(free, joint_terms=("rotor",)).count
        return
    by_rules = armdyn.base_parameters(arm, joint_terms=("rotor",), method="rules")
    assert by_rules.columns == base.columns
    np.testing.assert_allclose(by_rules.P, base.P, rtol=1e-7, atol=1e-7)
    assert (
        armdyn.base_parameters(arm, "gravity").columns == armdyn.base_parameters(arm, "gravity", method="rules").columns
    )


def test_normal_equations_and_payload_columns(arm, state):
    tau = armdyn.inverse_dynamics(arm, *state)
    equations = armdyn.normal_equations(arm, (*state, tau))
    Y = armdyn.regressor(arm, *state).reshape(-1, 10 * arm.n_joints)
    np.testing.assert_allclose(equations.A, Y.T @ Y, rtol=1e-10, atol=1e-10)
    split = armdyn.unknown_payload(arm)
    load = np.array([0.5, 0.05, 0, 0, 0.02, 0, 0.02, 0, 0, 0.02])
    heavy = arm.with_payload(0.5, (0.1, 0, 0), np.diag([0.02, 0.02 - 0.005, 0.02 - 0.005]))
    np.testing.assert_allclose(arm.theta + split.S @ load, heavy.theta, atol=1e-12)


def test_inverse_kinematics_of_frames():
    """Of any frame, and of several at once: joints that move none of them stay where they are."""
    arm = TREES["tree of 14"]()
    rng = np.random.default_rng(0)
    q = rng.uniform(-1, 1, arm.n)
    depth = {name: armdyn.jacobian(arm, q, frame=name).any(0).sum() for name in arm.link_names}
    first, second = sorted(depth, key=depth.__getitem__)[-2:]
    start = q + rng.uniform(-0.1, 0.1, arm.n)
    wanted = {name: armdyn.forward_kinematics(arm, q, frame=name) for name in (first, second)}
    one = armdyn.inverse_kinematics(arm, wanted[first], start, frame=first, task="position")
    assert one.success
    found = armdyn.forward_kinematics(arm, one.q, frame=first)
    np.testing.assert_allclose(found[:3, 3], wanted[first][:3, 3], atol=1e-8)
    idle = ~armdyn.jacobian(arm, q, frame=first).any(0)
    np.testing.assert_allclose(one.q[idle], start[idle], atol=1e-12)
    both = armdyn.inverse_kinematics(arm, wanted, start)
    assert both.success
    for name, pose in wanted.items():
        np.testing.assert_allclose(armdyn.forward_kinematics(arm, both.q, frame=name), pose, atol=1e-8)
    many = {name: np.stack([pose, pose]) for name, pose in wanted.items()}
    assert armdyn.inverse_kinematics(arm, many, start).q.shape == (2, arm.n)
    with raises(ModelError, names=("hand",)):
        armdyn.inverse_kinematics(arm, wanted[first], frame="hand")
    with raises(ShapeError, cause="frame is for one frame, got poses of l11, l12"):
        armdyn.inverse_kinematics(arm, wanted, frame=first)
    far = {first: np.array(wanted[first]), second: np.array(wanted[second])}
    far[first][:3, 3] += 100
    assert not armdyn.inverse_kinematics(arm, far, start, restarts=1).success
