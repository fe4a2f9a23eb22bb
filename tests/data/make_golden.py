"""Make the golden numbers of `tests/data/golden` again: `python tests/data/make_golden.py`.

A path of its own to every number, without armdyn and without a recursion: poses are products of DH matrices, all
velocities and accelerations are differences of poses in 60 digits, torques follow from d'Alembert's principle

    tau_k = sum over links of dp/dq_k . F + dr/dq_k . N

with the force and moment that a link's ten parameters (m, m c, tensor about the frame's origin) need. Rounding the
result to doubles is the only error. Conventions are those of `golden_arm` in `tests/conftest.py`.
"""

from __future__ import annotations

import json
import random
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from mpmath import mp, mpf

mp.dps = 60
STEP, OUTER = mpf(10) ** -15, mpf(10) ** -10  # errors: their squares
ZERO = [mpf(0)] * 3
RIGHT = 1.5707963267948966


def matrix(rows: Any) -> np.ndarray:
    return np.array([[mpf(x) for x in row] for row in rows], dtype=object)


def eye(n: int) -> np.ndarray:
    return matrix(np.eye(n).tolist())


def skew(v: Any) -> np.ndarray:
    return matrix([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def vee(S: np.ndarray) -> np.ndarray:
    return np.array([S[2, 1], S[0, 2], S[1, 0]], dtype=object)


def turn(axis: int, angle: Any) -> np.ndarray:
    c, s, T = mp.cos(angle), mp.sin(angle), eye(4)
    i, k = [(1, 2), (2, 0), (0, 1)][axis]
    T[i, i], T[k, k], T[i, k], T[k, i] = c, c, -s, s
    return T


def shift(axis: int, length: Any) -> np.ndarray:
    T = eye(4)
    T[axis, 3] = length
    return T


class Chain:
    """A robot as the golden files describe it."""

    def __init__(self, robot: dict[str, Any]) -> None:
        self.robot, self.n = robot, len(robot["joints"])
        self.gravity = np.array([mpf(x) for x in robot["gravity"]], dtype=object)
        self.p = np.concatenate([ten(link) for link in robot["links"]])
        self.jacobians = lru_cache(maxsize=None)(self._jacobians)

    def frames(self, q: Any, base: np.ndarray | None = None) -> list[np.ndarray]:
        """Poses of all link frames."""
        T, found = eye(4) if base is None else base, []
        for joint, x in zip(self.robot["joints"], q, strict=True):
            a, alpha, d, theta = (mpf(joint[k]) for k in ("a", "alpha", "d", "theta"))
            theta, d = (theta + x, d) if joint["type"] == "R" else (theta, d + x)
            about_z, about_x = turn(2, theta) @ shift(2, d), shift(0, a) @ turn(0, alpha)
            T = T @ (about_z @ about_x if self.robot["convention"] == "sdh" else about_x @ about_z)
            found.append(T)
        return found

    def _jacobians(self, q: tuple[mpf, ...]) -> list[np.ndarray]:
        """(6, n) of every link's frame, by differences: velocity of its origin, angular velocity."""
        found = [np.zeros((6, self.n), dtype=object) for _ in range(self.n)]
        middle = self.frames(q)
        for k in range(self.n):
            ahead, behind = (self.frames([x + s * STEP * (j == k) for j, x in enumerate(q)]) for s in (1, -1))
            for J, A, B, T in zip(found, ahead, behind, middle, strict=True):
                rate = (A - B) / (2 * STEP)
                J[:3, k], J[3:, k] = rate[:3, 3], vee(rate[:3, :3] @ T[:3, :3].T)
        return found

    def regressor(self, q: Any, qd: Any, qdd: Any, base: Any = (ZERO, ZERO, ZERO), gravity: Any = None) -> np.ndarray:
        """Y (n, 10 n) with tau = Y p; base: angular velocity, its rate, acceleration of the origin."""
        g = self.gravity if gravity is None else gravity
        omega, omega_rate, acceleration = (np.array([mpf(x) for x in v], dtype=object) for v in base)

        def at(t: mpf) -> list[np.ndarray]:
            T = eye(4)
            T[:3, :3], T[:3, 3] = rotation(omega * t + omega_rate * t**2 / 2), acceleration * t**2 / 2
            return self.frames([x + v * t + a * t**2 / 2 for x, v, a in zip(q, qd, qdd, strict=True)], T)

        Y = np.zeros((self.n, 10 * self.n), dtype=object)
        for i, (A, T, B, J) in enumerate(zip(at(STEP), at(mpf(0)), at(-STEP), self.jacobians(tuple(q)), strict=True)):
            first, second = (A - B) / (2 * STEP), (A - 2 * T + B) / STEP**2
            Y[:, 10 * i : 10 * (i + 1)] = J.T @ needed(T[:3, :3], first[:3, :3], second[:3, :3], second[:3, 3] - g)
        return Y

    def torque(self, q: Any, qd: Any, qdd: Any, base: Any = (ZERO, ZERO, ZERO), gravity: Any = None) -> np.ndarray:
        return self.regressor(q, qd, qdd, base, gravity) @ self.p

    def mass_matrix(self, q: Any) -> np.ndarray:
        rest, none = [mpf(0)] * self.n, np.array(ZERO, dtype=object)
        return np.stack([self.torque(q, rest, row, gravity=none) for row in eye(self.n)], axis=1)


def ten(link: dict[str, Any]) -> np.ndarray:
    """m, m c, Ixx, Iyy, Izz, Ixy, Ixz, Iyz of a link, the tensor about its frame's origin."""
    m, c = mpf(link["m"]), np.array([mpf(x) for x in link["com"]], dtype=object)
    I = matrix(link["I_com"]) + m * ((c @ c) * eye(3) - np.outer(c, c))
    return np.array([m, *(m * c), I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]], dtype=object)


def needed(R: np.ndarray, R1: np.ndarray, R2: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Force and moment (6, 10) at the origin of a frame that turns so and accelerates (gravity taken off) by `a`."""
    w, wd = R.T @ vee(R1 @ R.T), R.T @ vee(R2 @ R.T + R1 @ R1.T)  # in the frame itself
    out = np.zeros((6, 10), dtype=object)
    out[:3, 0], out[:3, 1:4], out[3:, 1:4] = a, R2, -skew(a) @ R
    for k, (i, j) in enumerate([(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]):
        I = matrix(np.zeros((3, 3)).tolist())
        I[i, j] = I[j, i] = mpf(1)
        out[3:, 4 + k] = R @ (I @ wd + skew(w) @ (I @ w))
    return out


def rotation(v: np.ndarray) -> np.ndarray:
    """exp of a rotation vector, to fourth order: it is of size STEP."""
    S, term, total = skew(v), eye(3), eye(3)
    for k in range(1, 5):
        term = term @ S / k
        total = total + term
    return total


def slope(f: Any, x: Any) -> np.ndarray:
    """Derivative of f with respect to the entries of x, last axis."""
    sides = [[[v + s * OUTER * (j == k) for j, v in enumerate(x)] for s in (1, -1)] for k in range(len(x))]
    return np.stack([(f(a) - f(b)) / (2 * OUTER) for a, b in sides], axis=-1)


def solve(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return matrix(mp.lu_solve(mp.matrix(A.tolist()), mp.matrix(column.tolist())) for column in B.T).T


def plain(value: Any) -> Any:
    """Doubles in place of 60 digits."""
    if isinstance(value, dict):
        return {key: plain(x) for key, x in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(x) for x in value]
    return float(value)


def all_terms(chain: Chain, q: Any, qd: Any, qdd: Any) -> dict[str, Any]:
    """Everything about one state of an arm on a resting base."""
    n, M, tau = chain.n, chain.mass_matrix(q), chain.torque(q, qd, qdd)
    dM = slope(chain.mass_matrix, q)
    # c_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2
    christoffel = (dM + dM.transpose(0, 2, 1) - dM.transpose(2, 0, 1)) / 2
    C = christoffel @ np.array(qd, object)
    about_q, about_qd = slope(lambda x: chain.torque(x, qd, qdd), q), slope(lambda x: chain.torque(q, x, qdd), qd)
    A, B = np.zeros((2 * n, 2 * n), dtype=object), np.zeros((2 * n, n), dtype=object)
    A[:n, n:], A[n:, :n], A[n:, n:], B[n:] = eye(n), -solve(M, about_q), -solve(M, about_qd), solve(M, eye(n))
    rest = [mpf(0)] * n
    return {
        "q": q, "qd": qd, "qdd": qdd, "tau": tau, "H": M, "C_christoffel": C, "coriolis": C @ np.array(qd, object),
        "G": chain.torque(q, rest, rest), "Hdot": dM @ np.array(qd, object), "T_tip": chain.frames(q)[-1],
        "J_tip": chain.jacobians(tuple(q))[-1], "lin": {"M": M, "C": about_qd, "K": about_q, "A": A, "B": B},
    }  # fmt: skip


def moving(chain: Chain, q: Any, qd: Any, qdd: Any, rng: random.Random) -> dict[str, Any]:
    """A base that moves, and a wrench that the last link exerts on its surroundings, fixed in its frame."""
    base = [numbers(rng, 3, 2) for _ in range(3)]
    force, moment = numbers(rng, 3, 20), numbers(rng, 3, 5)

    def total(q: Any, qd: Any, qdd: Any) -> np.ndarray:
        R, J = chain.frames(q)[-1][:3, :3], chain.jacobians(tuple(q))[-1]
        wrench = np.concatenate([R @ np.array(force, object), R @ np.array(moment, object)])
        return chain.torque(q, qd, qdd, base) + J.T @ wrench

    return {
        "q": q, "qd": qd, "qdd": qdd, "base_omega": base[0], "base_omegadot": base[1], "base_acc": base[2],
        "tip_force": force, "tip_moment": moment, "tau_total": total(q, qd, qdd),
        "lin_total": {"M": slope(lambda x: total(q, qd, x), qdd), "C": slope(lambda x: total(q, x, qdd), qd),
                      "K": slope(lambda x: total(x, qd, qdd), q)},
    }  # fmt: skip


def sixteen(link: dict[str, Any]) -> np.ndarray:
    """Lu and Meng's parameters: m, m p, m p p' (xx, yy, zz, xy, xz, yz), moments and products about the centre."""
    m, (x, y, z), I = mpf(link["m"]), (mpf(v) for v in link["com"]), matrix(link["I_com"])
    squares = [m * v for v in (x * x, y * y, z * z, x * y, x * z, y * z)]
    return np.array(
        [m, m * x, m * y, m * z, *squares, I[0, 0], I[1, 1], I[2, 2], -I[0, 1], -I[0, 2], -I[1, 2]], dtype=object
    )


def ten_of_sixteen() -> np.ndarray:
    """The matrix (10, 16) from these to the ten: Steiner, and products of inertia against tensor entries."""
    A = np.zeros((10, 16), dtype=object)
    A[range(4), range(4)] = mpf(1)
    for row, (i, j) in zip((4, 5, 6), ((5, 6), (4, 6), (4, 5)), strict=True):
        A[row, i] = A[row, j] = A[row, row + 6] = mpf(1)
    for row in (7, 8, 9):
        A[row, row] = A[row, row + 6] = mpf(-1)
    return A


def numbers(rng: random.Random, count: int, size: float) -> list[mpf]:
    return [mpf(round(rng.uniform(-size, size), 4)) for _ in range(count)]


def states(chain: Chain, count: int, seed: int) -> list[list[list[mpf]]]:
    rng = random.Random(seed)
    return [[numbers(rng, chain.n, size) for size in (3.0, 2.0, 4.0)] for _ in range(count)]


# -- robots -------------------------------------------------------------------------------------------------------


def robot(name: str, convention: str, table: list[tuple], links: list[tuple], gravity: Any) -> dict[str, Any]:
    """`table`: kind, a, alpha, d, theta per joint; `links`: mass, centre, moments, products (xy, xz, yz) a link."""
    joints = [dict(zip(("type", "a", "alpha", "d", "theta"), row, strict=True)) for row in table]
    bodies = []
    for m, com, (xx, yy, zz), (xy, xz, yz) in links:
        bodies.append({"m": m, "com": list(com), "I_com": [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]})
    return {"name": name, "convention": convention, "joints": joints, "links": bodies, "gravity": list(gravity)}


NONE = (0.0, 0.0, 0.0)
RODS = [  # slender, 0.5 and 0.25 m long, in frames at their far ends
    (10.0, (-0.25, 0.0, 0.0), (0.0, 10 * 0.5**2 / 12, 10 * 0.5**2 / 12), NONE),
    (5.0, (-0.125, 0.0, 0.0), (0.0, 5 * 0.25**2 / 12, 5 * 0.25**2 / 12), NONE),
]
SKEWED = [
    (3.7, (0.04, -0.06, 0.1), (0.19, 0.16, 0.13), (0.011, -0.017, 0.009)),
    (2.9, (-0.05, 0.06, -0.08), (0.09, 0.1, 0.085), (-0.007, 0.008, 0.005)),
    (1.3, (0.07, 0.02, 0.05), (0.031, 0.027, 0.022), (0.002, 0.003, -0.004)),
]
# The PUMA 560 of Armstrong, Khatib and Burdick (1986) in their frames, and Corke's in standard ones; what a resting
# base does not feel of link 1 is left out.
MASSES = (0.0, 17.4, 4.8, 0.82, 0.34, 0.09)
AKB_CENTRES = [NONE, (0.068, 0.006, -0.016), (0, -0.07, 0.014), (0, 0, -0.019), NONE, (0, 0, 0.032)]
AKB_MOMENTS = [
    (0.0, 0.0, 0.35), (0.13, 0.524, 0.539), (0.066, 0.0125, 0.086), (1.8e-3, 1.8e-3, 1.3e-3), (3e-4, 3e-4, 4e-4),
    (1.5e-4, 1.5e-4, 4e-5),
]  # fmt: skip
CORKE_CENTRES = [NONE, (-0.3638, 0.006, 0.2275), (-0.0203, -0.0141, 0.07), (0, 0.019, 0), NONE, (0, 0, 0.032)]
CORKE_MOMENTS = [
    (0.0, 0.35, 0.0), (0.13, 0.524, 0.539), (0.066, 0.086, 0.0125), (1.8e-3, 1.3e-3, 1.8e-3), (3e-4, 4e-4, 3e-4),
    (1.5e-4, 1.5e-4, 4e-5),
]  # fmt: skip


def six(a: tuple, turns: tuple, d: tuple) -> list[tuple]:
    return [("R", x, k * RIGHT, z, 0.0) for x, k, z in zip(a, turns, d, strict=True)]


def bodies(centres: list, moments: list) -> list[tuple]:
    return [(m, c, i, NONE) for m, c, i in zip(MASSES, centres, moments, strict=True)]


DOWN = (0.0, 0.0, -9.81)
ROBOTS = {
    "planar2R": robot("planar2R", "sdh", [("R", 0.5, 0, 0, 0), ("R", 0.25, 0, 0, 0)], RODS, (0, -9.80621, 0)),
    "planar_RP": robot(
        "planar_RP", "sdh", [("R", 0, RIGHT, 0, RIGHT), ("P", 0, 0, 0.12, 0)], SKEWED[:2], (0, -9.80621, 0)
    ),
    "general_RPR_sdh": robot(
        "general_RPR_sdh", "sdh", [("R", 0.17, 0.8, 0.25, 0), ("P", -0.12, -1.0, 0, 0.5), ("R", 0.3, 0.6, 0.15, 0)],
        SKEWED, (0.7, -1.1, -9.6),
    ),
    "general_RPR_mdh": robot(
        "general_RPR_mdh", "mdh", [("R", 0.12, 0.4, 0.2, 0), ("P", 0.18, -0.8, 0, 0.3), ("R", -0.14, 1.1, 0.13, 0)],
        SKEWED, (0.7, -1.1, -9.6),
    ),
    "puma560_mdh_akb": robot(
        "puma560_mdh_akb", "mdh",
        six((0, 0, 0.4318, -0.0203, 0, 0), (0, -1, 0, 1, -1, 1), (0, 0.2435, -0.0934, 0.4331, 0, 0)),
        bodies(AKB_CENTRES, AKB_MOMENTS), DOWN,
    ),
    "puma560_sdh": robot(
        "puma560_sdh", "sdh",
        six((0, 0.4318, 0.0203, 0, 0, 0), (1, 0, -1, 1, -1, 0), (0.67183, 0, 0.15005, 0.4318, 0, 0)),
        bodies(CORKE_CENTRES, CORKE_MOMENTS), DOWN,
    ),
}  # fmt: skip


def kalman(Ts: float = 0.005, q: float = 1000.0, R: float = 1e-4**2 / 12) -> dict[str, Any]:
    """The steady predictor of a triple integrator driven by white jerk, by iterating its Riccati equation."""
    T, noise, r = mpf(Ts), mpf(q), mpf(R)
    A = matrix([[1, T, T**2 / 2], [0, 1, T], [0, 0, 1]])
    Q = noise * matrix([[T**5 / 20, T**4 / 8, T**3 / 6], [T**4 / 8, T**3 / 3, T**2 / 2], [T**3 / 6, T**2 / 2, T]])
    P = Q.copy()
    for _ in range(4000):
        K = P[:, 0] / (P[0, 0] + r)
        P = A @ (P - np.outer(K, P[0])) @ A.T + Q
    return {"Ts": Ts, "q": q, "R": R, "A": A, "Q": Q, "P_pred": P, "K": P[:, 0] / (P[0, 0] + r)}


# Kinds, a, alpha / (pi / 2), d, theta / (pi / 2) of arms whose parameters are counted, and gravity.
COUNTED = {
    "planar2R gravity in plane": ("sdh", "RR", (0.5, 0.25), (0, 0), (0, 0), (0, 0), (0, -9.81, 0)),
    "planar2R gravity along axis": ("sdh", "RR", (0.5, 0.25), (0, 0), (0, 0), (0, 0), DOWN),
    "planar3R gravity in plane": ("sdh", "RRR", (0.5, 0.4, 0.3), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, -9.81, 0)),
    "PUMA560 3dof (MDH)": ("mdh", "RRR", (0, 0, 0.4318), (0, -1, 0), (0, 0, 0), (0, 0, 0), DOWN),
    "PUMA560 6dof (MDH AKB)": (
        "mdh", "RRRRRR", (0, 0, 0.4318, -0.0203, 0, 0), (0, -1, 0, 1, -1, 1), (0, 0.2435, -0.0934, 0.4331, 0, 0),
        (0,) * 6, DOWN,
    ),
    "PUMA560 6dof (SDH)": (
        "sdh", "RRRRRR", (0, 0.4318, 0.0203, 0, 0, 0), (1, 0, -1, 1, -1, 0), (0.67183, 0, 0.15005, 0.4318, 0, 0),
        (0,) * 6, DOWN,
    ),
    "Panda 7dof (MDH)": (
        "mdh", "RRRRRRR", (0, 0, 0, 0.0825, -0.0825, 0, 0.088), (0, -1, 1, 1, -1, 1, 1),
        (0.333, 0, 0.316, 0, 0.384, 0, 0), (0,) * 7, DOWN,
    ),
    "UR5 (SDH)": (
        "sdh", "RRRRRR", (0, -0.425, -0.39225, 0, 0, 0), (1, 0, 0, 1, -1, 0),
        (0.089159, 0, 0, 0.10915, 0.09465, 0.0823), (0,) * 6, DOWN,
    ),
    "shoulder, elbow, wrist 7dof (SDH)": (
        "sdh", "RRRRRRR", (0,) * 7, (1, -1, -1, 1, 1, -1, 0), (0, 0, 0.4, 0, 0.39, 0, 0), (0,) * 7, DOWN,
    ),
    "the same on a wall": (
        "sdh", "RRRRRRR", (0,) * 7, (1, -1, -1, 1, 1, -1, 0), (0, 0, 0.4, 0, 0.39, 0, 0), (0,) * 7, (0, -9.81, 0),
    ),
    "vertical axis and three parallel ones": (
        "mdh", "RRRR", (0, 0.05, 0.4, 0.35), (0, -1, 0, 0), (0.3, 0, 0, 0), (0,) * 4, DOWN,
    ),
    "three axes at right angles": ("mdh", "RRR", (0, 0.1, 0.2), (0, -1, 1), (0.3, 0.05, 0.1), (0,) * 3, DOWN),
    "SCARA RRPR (MDH)": ("mdh", "RRPR", (0, 0.4, 0.3, 0), (0, 0, 2, 0), (0.3, 0, 0, 0.1), (0,) * 4, DOWN),
    "SCARA RRRP (MDH)": ("mdh", "RRRP", (0, 0.4, 0.3, 0), (0, 0, 0, 0), (0.3, 0, 0, 0), (0,) * 4, DOWN),
    "Stanford RRPRRR (SDH)": (
        "sdh", "RRPRRR", (0,) * 6, (-1, 1, 0, -1, 1, 0), (0.412, 0.154, 0, 0, 0, 0.263), (0, 0, -1, 0, 0, 0), DOWN,
    ),
    "general RPR (SDH)": ("sdh", "RPR", (0.17, -0.12, 0.3), (0.5, -0.6, 0.4), (0.25, 0, 0.15), (0, 0.3, 0), DOWN),
    "general RRP (MDH)": ("mdh", "RRP", (0.1, 0.2, -0.15), (0.2, -0.6, 0.8), (0.25, 0.1, 0), (0, 0, 0.2), DOWN),
    "general 6R (SDH)": (
        "sdh", "RRRRRR", (0.15, 0.6, 0.12, 0.05, 0.03, 0.02), (0.9, 0.1, 0.8, -0.7, 0.6, 0.3),
        (0.4, 0.1, 0.05, 0.6, 0.02, 0.1), (0,) * 6, DOWN,
    ),
}  # fmt: skip


def counted(title: str) -> dict[str, Any]:
    """An arm and the ranks of its regressors, of all motion and at rest, at random states."""
    convention, kinds, a, alpha, d, theta, gravity = COUNTED[title]
    rows = zip(kinds, a, [x * RIGHT for x in alpha], d, [x * RIGHT for x in theta], strict=True)
    unit = [(1.0, NONE, (0, 0, 0), NONE)] * len(kinds)
    about = robot(title, convention, list(rows), unit, gravity)
    chain, found = Chain(about), {"arm": title} | {key: about[key] for key in ("convention", "joints", "gravity")}
    chosen = states(chain, 12 + 3 * chain.n, 5)
    at_rest = [[q, [mpf(0)] * chain.n, [mpf(0)] * chain.n] for q, _, _ in chosen]
    for key, several in (("base_inertial_parameters", chosen), ("gravity_base_parameters", at_rest)):
        Y = np.concatenate([chain.regressor(*state) for state in several]).astype(float)
        felt = Y[:, np.linalg.norm(Y, axis=0) > 1e-9]  # the double nearest to pi is not pi
        values = np.linalg.svd(felt / np.linalg.norm(felt, axis=0), compute_uv=False) if felt.size else np.ones(0)
        rank = int(np.sum(values > 1e-9))
        assert rank == np.sum(values > 1e-4) == np.sum(values > 1e-12), f"{title}: no clear rank"
        found[key] = rank
    return found


# -- arms of the literature ---------------------------------------------------------------------------------------


def bar(l1: float = 0.7, l2: float = 0.45, g: float = 9.8) -> dict[str, Any]:
    """Lu and Meng's planar arm: point masses at the joints, and a bar grasped at the tip.

    Columns: mass 2, mass of the bar, its first moment along x, m px², and the moment about its centre.
    """
    about = robot("bar", "mdh", [("R", 0, 0, 0, 0), ("R", l1, 0, 0, 0)], [(1.0, NONE, NONE, NONE)] * 2, (0, -g, 0))
    chain, length, found = Chain(about), mpf(l2), []
    to_ten = np.zeros((10, 5), dtype=object)
    to_ten[0, :2], to_ten[1, 1:3], to_ten[6, 1:] = mpf(1), (length, mpf(1)), (length**2, 2 * length, mpf(1), mpf(1))
    theta = np.array([mpf(x) for x in (1.7, 1.3, 1.3 * 0.15, 1.3 * 0.15**2, 0.04)], dtype=object)
    for q, qd, qdd in states(chain, 4, 8):
        Y = chain.regressor(q, qd, qdd)[:, 10:] @ to_ten
        found.append(plain({"q": q, "qd": qd, "qdd": qdd, "Y": Y, "theta": theta, "tau": Y @ theta}))
    return {"cases": [{"l1": l1, "l2": l2, "g": g} | case for case in found]}


def puma3(L: float = 0.43, g: float = 9.8) -> dict[str, Any]:
    """The columns of a PUMA's first three joints that are independent, with Kapadia's letters."""
    about = robot("puma3", "mdh", six((0, 0, L), (0, 1, 0), (0, 0, 0)), [(1.0, NONE, NONE, NONE)] * 3, (0, 0, -g))
    chain, kinds = Chain(about), ("m", "mx", "my", "mz", "Jxx", "Jyy", "Jzz", "Jxy", "Jxz", "Jyz")
    felt = ["Jzz1"] + [kind + link for link in "23" for kind in ("Jzz", "mx", "my", "Jxx", "Jxz", "Jxy", "Jyz")]
    columns = [10 * (int(name[-1]) - 1) + kinds.index(name[:-1]) for name in felt]
    cases = [{"q": q, "qd": v, "qdd": a, "Y": chain.regressor(q, v, a)[:, columns]} for q, v, a in states(chain, 4, 9)]
    return {"L": L, "g": g, "columns": felt, "cases": plain(cases)}


class Members(Chain):
    """Vukobratovic's members, each of which turns about e and slides along r_own; between them massless carriers."""

    def __init__(self, members: list[dict[str, Any]], gravity: Any) -> None:
        nothing = {"m": 0, "com": NONE, "I_com": np.zeros((3, 3)).tolist()}
        links = [({"m": each["m"], "com": NONE, "I_com": np.diag(each["J"]).tolist()}) for each in members]
        pairs = [link for body in links for link in (nothing, body)]
        super().__init__({"joints": pairs, "links": pairs, "gravity": gravity})
        self.members = [{k: np.array([mpf(x) for x in v], object) for k, v in m.items() if k != "m"} for m in members]

    def frames(self, q: Any, base: np.ndarray | None = None) -> list[np.ndarray]:
        T, found = eye(4) if base is None else base, []
        for member, phi, x in zip(self.members, q[::2], q[1::2], strict=True):
            e, own = unit(member["e_prev"]), unit(member["r_own"])
            turned, S = eye(4), skew(e)
            # Rodrigues; at angle zero -r_prev and r_own lie in one plane with the axis, on one side of it.
            about_e = eye(3) + mp.sin(phi) * S + (1 - mp.cos(phi)) * (S @ S)
            turned[:3, :3] = about_e @ triad(e, -member["r_prev"]) @ triad(unit(member["e_own"]), own).T
            turned[:3, 3] = -member["r_prev"]
            T = T @ turned
            found.append(T)
            slid = eye(4)
            slid[:3, 3] = x * own
            T = T @ slid
            found.append(T)
        return found


def unit(v: np.ndarray) -> np.ndarray:
    return v / mp.sqrt(v @ v)


def triad(e: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Columns: an axis, the part of v across it, and their product."""
    across = unit(v - (e @ v) * e)
    return np.stack([e, across, skew(e) @ across], axis=1)


MEMBERS = [
    {"m": 3.5, "J": [0.06, 0.11, 0.09], "e_prev": [0, 0, 1], "e_own": [0, 0, 1], "r_prev": [-0.12, 0.03, -0.25],
     "r_own": [1, 0, 0]},
    {"m": 2.1, "J": [0.03, 0.05, 0.045], "e_prev": [0, 0.8, 0.6], "e_own": [0, 1, 0], "r_prev": [-0.3, 0.02, 0.06],
     "r_own": [0.8, 0, 0.6]},
    {"m": 0.9, "J": [0.007, 0.013, 0.012], "e_prev": [0.6, 0.8, 0], "e_own": [0, 0, 1], "r_prev": [-0.15, -0.04, 0.1],
     "r_own": [0.6, 0.64, 0.48]},
]  # fmt: skip


def members_case(n: int, state: Any) -> dict[str, Any]:
    """Everything of a chain of n members at one state, in the source's letters: W qdd = P + V."""
    chain, (q, qd, qdd) = Members(MEMBERS[:n], DOWN), state
    W, dW, rest = chain.mass_matrix(q), slope(chain.mass_matrix, q), [mpf(0)] * len(q)
    velocity, poses, J = np.array(qd, object), chain.frames(q)[1::2], chain.jacobians(tuple(q))[-1]
    before = [eye(3), *(T[:3, :3] for T in poses[:-1])]
    return {
        "q": q, "qd": qd, "qdd": qdd, "W": W, "Wdot": dW @ velocity,
        "dTdq": [velocity @ dW[:, :, k] @ velocity / 2 for k in range(len(q))],
        "Y": -chain.torque(q, rest, rest), "V": -chain.torque(q, qd, rest), "P": chain.torque(q, qd, qdd),
        "A": [T[:3, :3] for T in poses], "T": [T[:3, 3] for T in poses],
        "e": [R @ m["e_prev"] for R, m in zip(before, chain.members, strict=True)],
        "gamma": [T[:3, :3] @ unit(m["r_own"]) for T, m in zip(poses, chain.members, strict=True)],
        "delta": [R @ m["r_prev"] for R, m in zip(before, chain.members, strict=True)],
        "M_last": J[:3], "N_last": J[3:],
    }  # fmt: skip


def members() -> dict[str, Any]:
    rng, found = random.Random(10), []
    for n in (2, 2, 3):
        state = [numbers(rng, 2 * n, size) for size in (2.0, 1.5, 2.0)]
        found.append({"n": n} | plain(members_case(n, state)))
    return {"gravity": list(DOWN), "members": MEMBERS, "cases": found}


LITERATURE = {"two_links_with_a_bar": bar, "puma3_regressor": puma3, "turning_and_sliding_members": members}


def golden(name: str) -> dict[str, Any]:
    """The contents of one file."""
    if name in LITERATURE:
        return LITERATURE[name]()
    if name == "kalman_triple_integrator":
        return plain(kalman())
    if name == "base_parameter_counts":
        return {"arms": [counted(title) for title in COUNTED]}
    kind, _, rest = name.partition("wrench_") if name.startswith("moving") else name.partition("regressor_")
    about = ROBOTS[rest or kind]
    chain = Chain(about)
    if not rest:
        return {"robot": about, "cases": [plain(all_terms(chain, *s)) for s in states(chain, 4, 1)]}
    if name.startswith("moving"):
        rng = random.Random(7)
        return {"robot": about, "cases": [plain(moving(chain, *s, rng)) for s in states(chain, 3, 2)]}
    cases, to_ten = [], ten_of_sixteen()
    for q, qd, qdd in states(chain, 2, 3):
        Y = chain.regressor(q, qd, qdd)
        Y16 = np.concatenate([Y[:, 10 * i : 10 * (i + 1)] @ to_ten for i in range(chain.n)], axis=1)
        cases.append(plain({"q": q, "qd": qd, "qdd": qdd, "tau": Y @ chain.p, "Y10": Y, "Y16": Y16}))
    theta16 = np.concatenate([sixteen(link) for link in about["links"]])
    return {"robot": about, "theta16": plain(theta16), "cases": cases}


NAMES = (
    *ROBOTS,
    *(f"moving_base_wrench_{name}" for name in ("planar2R", "planar_RP", "general_RPR_sdh")),
    *(f"regressor_{name}" for name in ("planar2R", "general_RPR_sdh", "puma560_mdh_akb")),
    "kalman_triple_integrator",
    "base_parameter_counts",
    *LITERATURE,
)


def main() -> None:
    folder = Path(__file__).parent / "golden"
    folder.mkdir(exist_ok=True)
    for name in NAMES:
        (folder / f"{name}.json").write_text(json.dumps(golden(name), separators=(",", ":")) + "\n")
        print(name)


if __name__ == "__main__":
    main()
