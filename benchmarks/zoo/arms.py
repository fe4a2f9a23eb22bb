"""Arms of many kinds: geometry, bodies strung along it, mounts, and what somebody wrote down about them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

import armdyn
from armdyn import Arm

GEOMETRIES = 60  # different ones; arms beyond differ in bodies, mounts, drives, motion and sensors
HALF = np.pi / 2
# Modified Denavit-Hartenberg rows as kind, a, alpha, d, theta, in which numbers above 0 of a and d are lengths to draw.
FAMILIES: dict[str, list[tuple[str, float, float, float, float]]] = {
    "pendulum": [("R", 0, HALF, 0, -HALF), ("R", 1, 0, 0, 0)],
    "polar": [("R", 0, 0, 1, 0), ("R", 0, HALF, 0, HALF), ("P", 0, HALF, 1, 0)],
    "three": [("R", 0, 0, 1, 0), ("R", 0, -HALF, 0, 0), ("R", 1, 0, 0, 0)],
    "scara": [("R", 0, 0, 1, 0), ("R", 1, 0, 0, 0), ("P", 1, np.pi, 0, 0), ("R", 0, 0, 0, 0)],
    "five": [("R", 0, 0, 1, 0), ("R", 0.2, -HALF, 0, 0), ("R", 1, 0, 0, 0), ("R", 1, 0, 0, 0), ("R", 0, -HALF, 0.4, 0)],
    "industrial": [
        ("R", 0, 0, 1, 0), ("R", 0.4, -HALF, 0, -HALF), ("R", 1.6, 0, 0, 0),
        ("R", 0.2, -HALF, 1.5, 0), ("R", 0, HALF, 0, 0), ("R", 0, -HALF, 0.3, 0),
    ],
    "cobot6": [
        ("R", 0, 0, 0.5, 0), ("R", 0, HALF, 0, 0), ("R", 1.4, 0, 0, 0),
        ("R", 1.3, 0, 0.4, 0), ("R", 0, HALF, 0.4, 0), ("R", 0, -HALF, 0.3, 0),
    ],
    "cobot7": [
        ("R", 0, 0, 0.8, 0), ("R", 0, -HALF, 0, 0), ("R", 0, HALF, 0.9, 0), ("R", 0.2, HALF, 0, 0),
        ("R", 0.2, -HALF, 0.9, 0), ("R", 0, HALF, 0, 0), ("R", 0.2, HALF, 0.3, 0),
    ],
}  # fmt: skip
ORDER = (
    "cobot7", "industrial", "cobot6", "three", "cobot6", "scara",
    "cobot7", "industrial", "five", "polar", "industrial", "pendulum",
)  # fmt: skip
MOUNTS = {"floor": (0, 0, -1), "ceiling": (0, 0, 1), "wall": (0, -1, 0), "tilted": (0.5, 0, -0.866)}


def family(geometry: int) -> str:
    return ORDER[geometry % len(ORDER)]


def make_arm(geometry: int, gravity: NDArray) -> Arm:
    """The geometry of that number, without bodies."""
    rng = np.random.default_rng([7, geometry])
    size = rng.uniform(0.15, 0.7)
    rows: list[dict[str, Any]] = [
        dict(kind=kind, a=a and round(size * a * rng.uniform(0.6, 1.4), 4), alpha=alpha,
             d=d and round(size * d * rng.uniform(0.6, 1.4), 4), theta=theta)
        for kind, a, alpha, d, theta in FAMILIES[family(geometry)]
    ]  # fmt: skip
    return Arm.from_dh(rows, convention="modified", gravity=gravity, name=f"{family(geometry)}-{geometry}")


def spans(arm: Arm) -> NDArray:
    """From each link's frame to the next (n, 3), in its own frame; the last link goes on half as far."""
    poses = np.asarray(armdyn.link_poses(arm, np.zeros(arm.n)))
    v = np.array([a[:3, :3].T @ (b[:3, 3] - a[:3, 3]) for a, b in pairwise(poses)])
    mean = max(np.linalg.norm(v, axis=1).mean(), 0.05)
    return np.vstack([v, [0, 0, 0.5 * mean]])


def random_bodies(arm: Arm, rng: np.random.Generator) -> NDArray:
    """Physically consistent bodies (10 n,) strung along the links, lighter towards the tip."""
    v = spans(arm)
    mean = np.linalg.norm(v, axis=1).mean()
    heavy = 60 * mean**1.5 * np.exp(0.4 * rng.normal())
    theta = []
    for i, span in enumerate(v):
        length = max(np.linalg.norm(span), 0.4 * mean)
        mass = heavy * 0.75**i * np.exp(0.4 * rng.normal())
        com = span * rng.uniform(0.1, 0.9) + 0.1 * length * rng.normal(size=3)
        radii = 0.25 * length * np.exp(0.3 * rng.normal(size=3))
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        second = mass * turn @ np.diag(radii**2) @ turn.T
        tensor = np.trace(second) * np.eye(3) - second
        theta.append(armdyn.Inertia.from_com(mass, com, tensor).theta)
    return np.concatenate(theta)


def describe(arm: Arm, rng: np.random.Generator, kind: str | None = None) -> tuple[Arm, str]:
    """What somebody wrote down about the arm: exact, off by 5 to 40 %, impossible, or its geometry alone."""
    drawn = str(rng.choice(["exact", "off", "impossible", "missing"], p=[0.15, 0.45, 0.1, 0.3]))
    kind = drawn if kind is None else kind
    if kind == "exact":
        return arm, kind
    if kind == "missing":
        return arm.with_theta(np.full(10 * arm.n, np.nan)), kind
    off = rng.uniform(0.05, 0.4)
    theta = arm.theta.reshape(-1, 10).copy()
    for row in theta:
        mass, com = row[0], row[1:4] / row[0]
        central = armdyn.Inertia(row).tensor - mass * (com @ com * np.eye(3) - np.outer(com, com))
        size = np.sqrt(np.trace(central) / mass)
        factor = np.exp(off * rng.normal(size=2))
        row[:] = armdyn.Inertia.from_com(
            mass * factor[0], com + off * size * rng.normal(size=3), central * factor.prod()
        ).theta
    if kind == "impossible":
        link = int(rng.integers(arm.n))
        theta[link, 4:] *= rng.choice([-1.0, 0.02])
        theta[link, 0] *= rng.choice([1.0, -1.0])
    return arm.with_theta(theta.ravel()), kind
