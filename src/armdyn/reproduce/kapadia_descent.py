"""Kapadia (1995), appendix C: the multistage descent by the rules of its listing, with erratum 12."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.trajectory.excitation.multistage import Multistage

START = np.array([0.0, 0.0, -np.pi])  # x0 of the listing, at rest [rad]
SAMPLES, STEP = 1000, 0.005  # K is not given; Ts of the listing [s]
HARMONICS, LEVEL = 4, 0.3  # of the first accelerations, which are not given; [rad/s²]
LARGEST_CHANGE = 0.1  # of an acceleration in one iteration [rad/s²]


class Descent(NamedTuple):
    """A descent: J = 1 / sigma_min(R), R = (1/K) sum H H' (5.8), before and after every iteration."""

    costs: NDArray  # (iterations + 1,)
    inside: int  # motions, the first included, before a limit of Table 5.1 is broken: there the thesis stops (5.4.2)

    @property
    def factor(self) -> float:
        """How many times smaller the cost became."""
        return float(self.costs[0] / self.costs.min())

    @property
    def factor_inside(self) -> float:
        """The same up to where a limit is broken."""
        return float(self.costs[0] / self.costs[: max(self.inside, 1)].min())


def first_accelerations(seed: int, start: int) -> NDArray:
    """Accelerations (K, 3) to start from: some cosines, at rest at the beginning and at the end."""
    t = 2 * np.pi * np.arange(SAMPLES)[:, None, None] / SAMPLES
    waves = np.cos(np.arange(1, HARMONICS + 1) * t)  # (K, 1, harmonics)
    return LEVEL * (np.random.default_rng([seed, start]).normal(size=(3, HARMONICS)) * waves).sum(-1)


def descend(problem: Multistage, u: NDArray, iterations: int) -> Descent:
    """Iterate as the listing does: Q by Bryson's rule and the step anew each time, no line search."""
    costs, inside = [], []
    for _ in range(iterations + 1):
        motion = problem.states(u, START)
        # The sharpest norm is 1 / sigma_min itself.
        J, slope = problem.slopes(motion, np.inf)
        costs.append(J)
        inside.append(problem.within(motion))
        # q = 0.4 |dF/du| / (3 K 0.3²);  dJ/du = dF/du + 2 Q u - B' lambda;  mu = 0.1 / max |dJ/du|
        Q = 0.4 * np.linalg.norm(slope.qdd) / (u.size * 0.3**2)
        gradient = slope.qdd + 2 * Q * u - problem.sweep(slope.q, slope.qd)
        u = u - LARGEST_CHANGE / np.abs(gradient).max() * gradient
    return Descent(np.array(costs), inside.index(False) if False in inside else len(inside))
