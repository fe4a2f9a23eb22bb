"""One sample of the adaptive laws against their equations, written with matrices in NumPy, to 1e-10."""

import numpy as np
import pytest

import armdyn
from armdyn import Craig, ModifiedSlotineLi, NaturalSlotineLi, ProjectedSlotineLi, Reference, SlotineLi
from armdyn.control.adaptive.composite import CompositeSlotineLi
from armdyn.control.adaptive.unknowns import adapt
from armdyn.spatial.inertia import Inertia

DT, LAM, K = 1e-3, np.array([8.0, 6.0]), np.array([60.0, 15.0])
GAIN = np.r_[2.0, np.full(9, 0.3), 1.5, 0.7]
LENGTH = np.array([10.0, 10.0, 10.0, 1.0])  # bodies are measured in 0.1 m


@pytest.fixture(scope="module")
def unknowns(planar):
    return adapt(armdyn.unknown_payload(planar), ("viscous",))


class Sample:
    """A state, a reference and an estimate; the model's torques from matrices, columns from their linearity."""

    def __init__(self, unknowns):
        rng = np.random.default_rng(7)
        self.unknowns, self.arm = unknowns, unknowns.arm
        self.q, self.qd, self.q_ref, self.qd_ref, self.qdd_ref = rng.normal(size=(5, 2))
        body = Inertia.from_com(0.8, (0.03, -0.02, 0.05), np.diag([3e-3, 4e-3, 5e-3])).theta
        self.phi = np.r_[body, 0.4, 0.2]
        self.e, self.ed = self.q_ref - self.q, self.qd_ref - self.qd
        self.s, self.ref = self.ed + LAM * self.e, Reference(self.q_ref, self.qd_ref, self.qdd_ref)

    def torque(self, phi, q, qd, v, a):
        """M a + C v + g + viscous friction of an estimate."""
        theta = self.unknowns.theta_known + self.unknowns.S @ phi[:10]
        M, C = armdyn.mass_matrix(self.arm, q, theta=theta), armdyn.coriolis_matrix(self.arm, q, qd, theta=theta)
        return M @ a + C @ v + armdyn.gravity_torque(self.arm, q, theta=theta) + phi[10:] * qd

    def columns(self, *motion):
        zero = self.torque(np.zeros(12), *motion)
        return np.stack([self.torque(unit, *motion) - zero for unit in np.eye(12)], 1)

    def step(self, law, **state):
        return law.step(self.arm, law.params, {**law.init(), "phi": self.phi, **state}, self.q, self.qd, self.ref, DT)


@pytest.fixture(scope="module")
def sample(unknowns):
    return Sample(unknowns)


def check(got, expected):
    assert np.allclose(got, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())


def slotine_li(sample):
    """Torques, and Y' s."""
    motion = sample.q, sample.qd, sample.qd_ref + LAM * sample.e, sample.qdd_ref + LAM * sample.ed
    return sample.torque(sample.phi, *motion) + K * sample.s, sample.columns(*motion).T @ sample.s


def test_slotine_and_li(sample, unknowns):
    tau, after = sample.step(SlotineLi(unknowns, LAM, K, GAIN))
    expected, rate = slotine_li(sample)
    check(tau, expected)
    check(after["phi"], sample.phi + DT * GAIN * rate)


@pytest.mark.parametrize("given", [True, False])
def test_the_modified_law(sample, unknowns, given):
    """Lu and Meng's, with K or with lambda M_hat, which is an acceleration more."""
    law = ModifiedSlotineLi(unknowns, lam=8.0, gain=GAIN, k=K if given else None)
    s = sample.ed + 8.0 * sample.e
    a = sample.qdd_ref + 8.0 * sample.ed + (0 if given else 8.0 * s)
    motion = sample.q, sample.qd, sample.qd, a
    tau, after = sample.step(law)
    check(tau, sample.torque(sample.phi, *motion) + (K * s if given else 0))
    check(after["phi"], sample.phi + DT * GAIN * (sample.columns(*motion).T @ s))


def test_craig(sample, unknowns):
    kp, kd, psi = np.array([90.0, 70.0]), np.array([20.0, 15.0]), np.array([4.0, 3.0])
    before = {"q_last": sample.q - 2e-3, "qd_last": sample.qd + 5e-3, "started": np.ones(1)}
    tau, after = sample.step(Craig(unknowns, kp, kd, psi, GAIN), **before)
    asked = sample.qdd_ref + kd * sample.ed + kp * sample.e
    check(tau, sample.torque(sample.phi, sample.q, sample.qd, sample.qd, asked))
    middle, mean = sample.q - 1e-3, sample.qd + 2.5e-3
    Y = sample.columns(middle, mean, mean, np.full(2, -5e-3 / DT))
    theta = unknowns.theta_known + unknowns.S @ sample.phi[:10]
    M = armdyn.mass_matrix(sample.arm, sample.q, theta=theta)
    check(after["phi"], sample.phi + DT * GAIN * (Y.T @ np.linalg.solve(M, sample.ed + psi * sample.e)))


def units():
    """P of the ten parameters one by one: the second moments, from those of bodies whose sums they are."""
    E = np.zeros((10, 4, 4))
    E[0, 3, 3] = 1
    for k in range(3):
        E[1 + k, k, 3] = E[1 + k, 3, k] = 1
    # Sum of m r r' = trace(I) / 2 - I, for Ixx, Ixy, Iyy, Ixz, Iyz, Izz.
    for k, (i, j) in zip(range(4, 10), [(0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)], strict=True):
        inertia = np.zeros((3, 3))
        inertia[i, j] = inertia[j, i] = 1
        E[k, :3, :3] = np.trace(inertia) / 2 * np.eye(3) - inertia
    return E * np.outer(LENGTH, LENGTH)


def dual(rate):
    """B with trace(B E_k) = rate_k, symmetric."""
    E = units()
    return np.einsum("k,kij->ij", np.linalg.solve(np.einsum("kij,lij->kl", E, E), rate), E)


def body(P):
    E = units().reshape(10, 16).T
    return np.linalg.lstsq(E, P.ravel(), rcond=None)[0]


def test_the_natural_gradient(sample, unknowns):
    """dP/dt = gain P B P, and to first order in the period nothing else; torques and friction as Slotine and Li's."""
    expected, rate = slotine_li(sample)
    law = NaturalSlotineLi(unknowns, LAM, K, 3.0, GAIN, base=0.5)
    tau, after = sample.step(law)
    check(tau, expected)
    P, B = np.einsum("k,kij->ij", sample.phi[:10], units()) + 0.5 * np.eye(4), dual(rate[:10])
    root = np.linalg.cholesky(P)
    h = 3.0 * DT / (1 + 3.0 * DT * np.linalg.norm(root.T @ B @ root))
    half = np.eye(4) + h / 2 * P @ B
    moved = half @ P @ half.T - 0.5 * np.eye(4)
    assert np.linalg.eigvalsh(moved)[0] > law.least  # no projection here
    check(after["phi"], np.r_[body(moved), sample.phi[10:] + DT * GAIN[10:] * rate[10:]])
    small = law.step(sample.arm, law.params, {"phi": sample.phi}, sample.q, sample.qd, sample.ref, 1e-7)[1]["phi"]
    slope = np.einsum("k,kij->ij", (small - sample.phi)[:10] / 1e-7, units())
    assert np.allclose(slope, 3.0 * P @ B @ P, rtol=1e-3, atol=1e-4 * np.abs(P @ B @ P).max())


def test_the_projected_gradient(sample, unknowns):
    """A gain so large that the body leaves what is possible: eigenvalues below the least are lifted there."""
    expected, rate = slotine_li(sample)
    law = ProjectedSlotineLi(unknowns, LAM, K, 300.0, GAIN)
    tau, after = sample.step(law)
    check(tau, expected)
    P = np.einsum("k,kij->ij", sample.phi[:10], units()) + 300.0 * DT * dual(rate[:10])
    values, V = np.linalg.eigh(P)
    assert values[0] < law.least
    nearest = V @ np.diag(np.maximum(values, law.least)) @ V.T
    check(after["phi"], np.r_[body(nearest), sample.phi[10:] + DT * GAIN[10:] * rate[10:]])


def test_the_composite_law(sample, unknowns):
    """What predictions teach, on top of Slotine and Li's step."""
    law, rng = CompositeSlotineLi(unknowns, LAM, K, GAIN, weight=0.6, smoothing=4.0), np.random.default_rng(8)
    middle, mean = sample.q - 1e-3, sample.qd + 2.5e-3
    motion = middle, mean, mean, np.full(2, -5e-3 / DT)
    W, r, tau_last = rng.normal(size=(2, 12)), rng.normal(size=2), rng.normal(size=2)
    W = np.where(np.abs(sample.columns(*motion)) > 1e-12, W, 0.0)  # what never shows was never seen
    before = {"q_last": sample.q - 2e-3, "qd_last": sample.qd + 5e-3, "tau_last": tau_last}
    tau, after = sample.step(law, W=W, r=r, started=np.ones(1), **before)
    expected, rate = slotine_li(sample)
    check(tau, expected)
    new = 1 - np.exp(-2 * np.pi * 4.0 * DT)
    W = W + new * (sample.columns(*motion) - W)
    r = r + new * (tau_last - sample.torque(np.zeros(12), *motion) - r)
    check(after["W"], W)
    check(after["r"], r)
    R = 0.6 / K
    strength = np.trace(np.diag(GAIN) @ W.T @ np.diag(R) @ W)
    taught = GAIN * (W.T @ (R * (r - W @ sample.phi))) / (1 + DT * strength)
    check(after["phi"], sample.phi + DT * GAIN * rate + DT * taught)
