"""Whether measured torques resemble those of the arm as described: signs, units, order of columns, another arm.

Friction is in no description, so it is taken away first: what plain friction and an offset explain is removed
from both sides, joint by joint, and the remainders are compared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.checks.arrangement import Samples
from armdyn.model.arm import Arm

STRONG = 0.3  # a model's torque of at least this share of the measured one should resemble it
REVERSED = -0.5  # correlation from which on a sign is wrong
SURE = (
    0.05  # descriptions of joints whose torque is a smaller share of the largest are often wrong: no reason to refuse
)
SHUFFLED = 0.7  # gain in the sum of correlations from which on another order of columns is believed
ALIKE = 0.8  # correlation from which on a factor between the two sides means something
UNLIKE = 0.5  # share of the torque beyond friction that the description may leave unexplained
MAIN = 0.2  # joints whose torque is a smaller share of the largest do not tell units
UNITS = ((1e3, "mN m instead of N m"), (1e-3, "kN m instead of N m"), (100.0, "N cm instead of N m"))
UNIT_SLACK = 1.6  # a factor this far from a unit's is something else


class Resemblance(NamedTuple):
    """Measured against model torque beyond friction, joint by joint."""

    likeness: NDArray  # (n, n) correlation of the model's torque i with the measured torque j
    slopes: NDArray  # (n,) measured over model torque; nan where the model has none
    strong: NDArray  # (n,) of bool: joints whose model torque is not negligible
    sizes: NDArray  # (n,) rms of the measured torque beyond friction
    unexplained: float  # norm(measured - model) / norm(measured) over all joints


def resemblance(model: NDArray, samples: Samples) -> Resemblance:
    """Compare torques (N, n) of the described arm with measured ones, where joints move."""
    a, b = _beyond_friction(model, samples), _beyond_friction(samples.tau, samples)
    squares = np.sum(a**2, axis=0)
    slopes = np.divide(np.sum(a * b, axis=0), squares, out=np.full(len(squares), np.nan), where=squares > 0)
    return Resemblance(
        correlations(a, b),
        slopes,
        a.std(axis=0) > STRONG * b.std(axis=0),
        b.std(axis=0),
        float(np.linalg.norm(b - a)) / max(float(np.linalg.norm(b)), 1e-300),
    )


def objections(arm: Arm, seen: Resemblance) -> list[tuple[str, str]]:
    """What speaks against the log being one of this arm: pairs of level ("refuse" or "warn") and sentence."""
    reversed_ = [
        (
            "refuse" if seen.sizes[j] > SURE * seen.sizes.max() else "warn",
            f"the torque of joint {j + 1} '{arm.joint_names[j]}' is opposite to the model's (correlation "
            f"{seen.likeness[j, j]:.2f}): sign reversed, or another arm?",
        )
        for j in np.flatnonzero(seen.strong & (np.diag(seen.likeness) < REVERSED)).tolist()
    ]
    return reversed_ or _shuffled(arm, seen) or _factor(arm, seen) or _another_arm(arm, seen)


def _shuffled(arm: Arm, seen: Resemblance) -> list[tuple[str, str]]:
    """Whether another order of the torques resembles the model's much more (by most of one whole correlation).

    The model says nothing about joints whose torque is mostly friction, but their columns may be another's.
    """
    from scipy.optimize import linear_sum_assignment

    strong = np.flatnonzero(seen.strong & (seen.sizes > SURE * seen.sizes.max()))
    order = linear_sum_assignment(-seen.likeness[strong])[1]
    if seen.likeness[strong, order].sum() - seen.likeness[strong, strong].sum() < SHUFFLED:
        return []
    joint, other = next((int(j), int(k)) for j, k in zip(strong, order, strict=True) if j != k)
    name = arm.joint_names[joint]
    return [("refuse", f"torque {other + 1} looks like that of joint {joint + 1} '{name}': columns shuffled?")]


def _factor(arm: Arm, seen: Resemblance) -> list[tuple[str, str]]:
    """A factor that all main joints share and that is one between units."""
    main = (np.diag(seen.likeness) > ALIKE) & (seen.sizes > MAIN * seen.sizes.max())
    if not main.any():
        return []
    factor = float(np.exp(np.mean(np.log(seen.slopes[main]))))
    for unit, told in UNITS:
        if 1 / UNIT_SLACK < factor / unit < UNIT_SLACK:
            return [("warn", f"torques are {factor:.3g} times those of arm '{arm.name}': {told}?")]
    return []


def _another_arm(arm: Arm, seen: Resemblance) -> list[tuple[str, str]]:
    if seen.unexplained <= UNLIKE:
        return []
    j = int(np.argmax(seen.sizes))
    return [
        (
            "warn",
            f"arm '{arm.name}' as described leaves {min(seen.unexplained, 99):.0%} of the torque beyond friction "
            f"unexplained (joint {j + 1} has {seen.slopes[j]:.2g} times its torque): a rough description, a payload, "
            "other units, shuffled columns, or another arm?",
        )
    ]


def _beyond_friction(tau: NDArray, samples: Samples) -> NDArray:
    """What viscous and Coulomb friction and an offset cannot explain (N, n); zero where joints stand still."""
    left = np.zeros_like(tau)
    for j, k in enumerate(samples.moving.T):
        columns = np.stack([samples.qd[k, j], samples.direction[k, j], np.ones(np.count_nonzero(k))], axis=1)
        left[k, j] = tau[k, j] - columns @ np.linalg.lstsq(columns, tau[k, j], rcond=None)[0]
    return left


def correlations(a: NDArray, b: NDArray) -> NDArray:
    """Correlation (n, n) of every column of a with every column of b; zero for constants."""
    a, b = a - a.mean(axis=0), b - b.mean(axis=0)
    size = np.outer(np.linalg.norm(a, axis=0), np.linalg.norm(b, axis=0))
    return np.divide(a.T @ b, size, out=np.zeros_like(size), where=size > 0)
