"""The robots of the package example-robot-data (PyPI): which open, and ten trees against Pinocchio.

`python -m pip install --no-deps example-robot-data` brings them; without it these tests are skipped. Pinocchio reads
the same files, ignores `<mimic>` and so has the free joints: numbers of the coordinates follow by G. Columns of its
mass matrix come from inverse dynamics.
"""

from __future__ import annotations

import importlib.metadata
import re
import warnings
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import armdyn
from armdyn.errors import ModelError

pin = pytest.importorskip("pinocchio")
pytestmark = pytest.mark.slow

TREES = {
    "baxter": "baxter_description/urdf/baxter.urdf",  # two mimics
    "pr2": "pr2_description/urdf/pr2.urdf",  # ten
    "talos": "talos_data/robots/talos_full_v2.urdf",  # twelve
    "g1": "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf",
    "go2": "go2_description/urdf/go2.urdf",
    "allegro": "allegro_hand_description/urdf/allegro_left_hand.urdf",
    "tiago": "tiago_description/robots/tiago.urdf",
    "tiago pro": "tiago_pro_description/robots/tiago_pro.urdf",  # ten
    "romeo": "romeo_description/urdf/romeo.urdf",  # twenty-two
    "icub": "icub_description/robots/icub.urdf",
}


FINGER = (0.05, (0.01, 0.0, 0.02), 1e-4 * np.eye(3))  # mass, centre, tensor


@pytest.fixture(scope="module")
def robots() -> Path:
    """The folder of the robots."""
    try:
        files = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("example-robot-data is not installed")
    return next(Path(str(f.locate())) for f in files if f.name == "baxter.urdf").parents[2]


def moving_joints(path: Path) -> int:
    return sum(joint.get("type") != "fixed" for joint in ElementTree.parse(path).getroot().findall("joint"))


def test_nearly_all_robots_open(robots):
    """All but those with revolute joints that lack limits, as URDF demands."""
    opened, rejected = [], {}
    for path in sorted(robots.rglob("*.urdf")):
        if not moving_joints(path):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                opened.append(armdyn.load(path))
        except ModelError as error:
            rejected[path.name] = str(error)
    assert len(opened) >= 64
    assert all(re.search(r"lacks <limit lower=\.\.\. upper=\.\.\.>", why) for why in rejected.values())


class Oracle:
    """Pinocchio's numbers of the coordinates of a tree."""

    def __init__(self, path: Path, arm: armdyn.Arm) -> None:
        self.model = pin.buildModelFromUrdf(str(path))
        for joint, link in zip(arm.joints, arm.links, strict=True):
            if link.mass == 0:  # Romeo's fingers, which no torque could accelerate
                arm = arm.with_payload(*FINGER, frame=link.name)
                self.model.inertias[self.model.getJointId(joint.name)] += pin.Inertia(
                    FINGER[0], np.array(FINGER[1]), FINGER[2]
                )
        self.arm, self.data = arm, self.model.createData()
        self.G = np.eye(arm.n) if arm.G is None else arm.G
        self.b = np.zeros(arm.n) if arm.b is None else arm.b
        joints = [self.model.joints[self.model.getJointId(name)] for name in arm.joint_names]
        self.endless = [joint.nq == 2 for joint in joints]
        self.place, self.order = [joint.idx_q for joint in joints], [joint.idx_v for joint in joints]
        assert self.model.nv == arm.n_joints

    def position(self, q: np.ndarray) -> np.ndarray:
        """Pinocchio's configuration: endless joints by cosine and sine."""
        configuration = np.zeros(self.model.nq)
        for k, endless, x in zip(self.place, self.endless, self.G @ q + self.b, strict=True):
            configuration[k : k + 1 + endless] = (np.cos(x), np.sin(x)) if endless else x
        return configuration

    def speed(self, qd: np.ndarray) -> np.ndarray:
        speed = np.zeros(self.model.nv)
        speed[self.order] = self.G @ qd
        return speed

    def torque(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        free = pin.rnea(self.model, self.data, self.position(q), self.speed(qd), self.speed(qdd))
        return self.G.T @ free[self.order]

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        zero = np.zeros(self.arm.n)
        weight = self.torque(q, zero, zero)
        return np.column_stack([self.torque(q, zero, e) - weight for e in np.eye(self.arm.n)])

    def regressor(self, *state: np.ndarray) -> np.ndarray:
        """Torques of the mechanism for each parameter of each joint's body, as its joint carries it."""
        q, qd, qdd = state
        Y = pin.computeJointTorqueRegressor(
            self.model, self.data, self.position(q), self.speed(qd), self.speed(qdd)
        ).reshape(self.model.nv, self.model.njoints - 1, 10)
        theta = [self.model.inertias[i].toDynamicParameters() for i in range(1, self.model.njoints)]
        return self.G.T @ np.einsum("ijk,jk->ij", Y, theta)[self.order]  # torques that each body takes

    def derivatives(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> list[np.ndarray]:
        args = (self.position(q), self.speed(qd), self.speed(qdd))
        both = pin.computeRNEADerivatives(self.model, self.data, *args)[:2]
        return [self.G.T @ x[np.ix_(self.order, self.order)] @ self.G for x in both]


@pytest.fixture(scope="module", params=TREES)
def tree(request: pytest.FixtureRequest, robots: Path) -> tuple[armdyn.Arm, Oracle]:
    path = robots / TREES[request.param]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        oracle = Oracle(path, armdyn.load(path, branches="keep"))
    return oracle.arm, oracle


def close(got: np.ndarray, want: np.ndarray, tolerance: float = 1e-12) -> None:
    """To a share of the largest number, which sums of hundreds of terms are rounded by."""
    np.testing.assert_allclose(got, want, rtol=0, atol=tolerance * max(1.0, np.abs(want).max()))


def test_trees_are_those_of_pinocchio(tree):
    arm, oracle = tree
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 5, arm.n))
    zero = np.zeros(arm.n)
    want = np.array([oracle.torque(*row) for row in zip(q, qd, qdd, strict=True)])
    weight = np.array([oracle.torque(x, zero, zero) for x in q])
    bias = np.array([oracle.torque(x, v, zero) for x, v in zip(q, qd, strict=True)])
    M = np.array([oracle.mass_matrix(x) for x in q])
    close(armdyn.inverse_dynamics(arm, q, qd, qdd), want)
    close(armdyn.mass_matrix(arm, q), M)
    close(armdyn.gravity_torque(arm, q), weight)
    C = armdyn.coriolis_matrix(arm, q, qd)
    close((C @ qd[..., None])[..., 0], bias - weight)
    rate = armdyn.mass_matrix_rate(arm, q, qd)
    close(C + np.swapaxes(C, 1, 2), rate)
    Y = armdyn.regressor(arm, q, qd, qdd)
    close(Y @ arm.theta, want)
    share = Y.reshape(*Y.shape[:2], -1, 10) * arm.theta.reshape(-1, 10)
    bodies = [oracle.model.getJointId(name) - 1 for name in arm.joint_names]
    for row, state in zip(share, zip(q, qd, qdd, strict=True), strict=True):
        close(row.sum(-1), oracle.regressor(*state)[:, bodies])
    # condition numbers of mass matrices reach 1e6: accelerations are as exact as that lets them be
    forward = armdyn.forward_dynamics(arm, q, qd, want)
    close((M @ forward[..., None])[..., 0] + bias, want)


def test_energies_and_jacobians_are_those_of_pinocchio(tree):
    arm, oracle = tree
    q, qd = np.random.default_rng(1).normal(size=(2, 5, arm.n))
    T = [
        pin.computeKineticEnergy(oracle.model, oracle.data, oracle.position(x), oracle.speed(v))
        for x, v in zip(q, qd, strict=True)
    ]
    U = [pin.computePotentialEnergy(oracle.model, oracle.data, oracle.position(x)) for x in q]
    close(armdyn.kinetic_energy(arm, q, qd), np.array(T))
    mine = armdyn.potential_energy(arm, q)
    close(mine - mine[0], np.array(U) - U[0])  # bodies on the base weigh the same everywhere
    for link in arm.link_names:
        index = oracle.model.getFrameId(link)
        at = oracle.position(q[0])
        J = pin.computeFrameJacobian(oracle.model, oracle.data, at, index, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        pin.framesForwardKinematics(oracle.model, oracle.data, at)
        close(armdyn.forward_kinematics(arm, q[0], frame=link), oracle.data.oMf[index].homogeneous)
        close(armdyn.jacobian(arm, q[0], frame=link), J[:, oracle.order] @ oracle.G)


def test_derivatives_are_those_of_pinocchio(tree):
    arm, oracle = tree
    q, qd, qdd = np.random.default_rng(2).normal(size=(3, arm.n))
    K, C = oracle.derivatives(q, qd, qdd)
    derivatives = armdyn.torque_derivatives(arm, q, qd, qdd)
    close(derivatives.K, K, 1e-11)
    close(derivatives.C, C, 1e-11)
    tau = armdyn.inverse_dynamics(arm, q, qd, qdd)
    linear = armdyn.linearize(arm, q, qd, qdd)
    M, n = armdyn.mass_matrix(arm, q), arm.n
    close(M @ linear.A[n:], -np.hstack([K, C]), 1e-7)
    close(armdyn.forward_dynamics(arm, q, qd, tau), qdd, 1e-7)
