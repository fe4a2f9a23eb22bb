"""How well an arm can move its tip: manipulability, condition number, singular configurations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import ShapeError, check_choice
from armdyn.kinematics.jacobian import jacobian
from armdyn.model.arm import Arm
from armdyn.model.quantities import Q
from armdyn.trace.formula import Array, ca, traced

PARTS = {"all": slice(0, 6), "linear": slice(0, 3), "angular": slice(3, 6)}

# A smallest singular value below this part of the largest makes a configuration count as singular:
# joint velocities grow by that factor.
SINGULAR_RATIO = 1e-3
# Entries of a unit vector below this are not worth a word in a sentence.
MIN_NAMED_ENTRY = 0.1


@traced(returns={"manipulability": ""})
def manipulability(arm: Arm, q: Q, part: str = "all") -> Array:
    """Yoshikawa's measure: sqrt(det(J J')), or sqrt(det(J' J)) for an arm with fewer joints than rows.

    Parameters
    ----------
    part : {"all", "linear", "angular"}
        Rows of the Jacobian to look at.

    Returns
    -------
    manipulability
        The product of the singular values: zero where the arm is singular.

    References
    ----------
    Yoshikawa (1985), Manipulability of robotic mechanisms, Int. J. of Robotics Research 4(2).
    """
    J = jacobian(arm, q)[_part(part, "manipulability"), :]
    gram = ca.mtimes(J, J.T) if J.shape[0] <= J.shape[1] else ca.mtimes(J.T, J)
    det = ca.det(gram)
    return ca.sqrt((det + ca.fabs(det)) / 2)  # round-off below zero is zero, and NaN stays NaN


@dataclass(frozen=True)
class Dexterity:
    """Measures of how well an arm can move its tip at given configurations; see `dexterity`."""

    singular_values: NDArray  # (..., k), descending
    condition: NDArray  # (...): largest / smallest singular value, inf where singular
    manipulability: NDArray  # (...): their product
    singular: NDArray  # (...), bool
    lost: NDArray  # (..., 6): tip velocity [v, w] that is hardest to make, in base axes
    cause: NDArray  # (..., n): joint velocities that then move the tip least
    joint_names: tuple[str, ...]

    def __str__(self) -> str:
        if self.condition.ndim:
            count = int(self.singular.sum())
            return f"{count} of {self.condition.size} configurations are singular; index one to see it"
        if not self.singular:
            return f"regular: condition number {self.condition:.3g}, manipulability {self.manipulability:.3g}"
        joints = [name for name, x in zip(self.joint_names, self.cause, strict=True) if abs(x) > MIN_NAMED_ENTRY]
        v, w = (", ".join(f"{round(x, 2) + 0:.2f}" for x in part) for part in (self.lost[:3], self.lost[3:]))
        return (
            f"singular: condition number {self.condition:.3g}; {', '.join(joints)} can move with the tip at rest, "
            f"and the tip cannot move as v = ({v}) m/s with w = ({w}) rad/s"
        )


def dexterity(arm: Arm, q: ArrayLike, part: str = "all", length: float = 1.0) -> Dexterity:
    """Singular values, condition and singularity of the tip's Jacobian, and which motion is lost where.

    Parameters
    ----------
    arm : Arm
    q : array_like, shape (..., n)
        Joint positions [rad or m].
    part : {"all", "linear", "angular"}
        Rows of the Jacobian to look at. An arm with fewer joints than rows is judged by its joints.
    length : float
        Length that makes a rotation comparable to a translation: angular rows are multiplied by it [m].

    Returns
    -------
    Dexterity
        `print` it for a sentence on one configuration.
    """
    rows = _part(part, "dexterity")
    J = jacobian(arm, q)
    if not np.isfinite(J).all():
        raise ShapeError(where="dexterity", expected="finite numbers for q", got="NaN or infinity")
    scale = np.repeat([1.0, float(length)], 3)
    U, s, Vt = np.linalg.svd((J * scale[:, None])[..., rows, :])
    smallest, largest = s[..., -1], s[..., 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        condition = np.where(smallest > 0, largest / smallest, np.inf)
    lost = np.zeros((*s.shape[:-1], 6))
    lost[..., rows] = U[..., :, s.shape[-1] - 1]
    # With more joints than rows the hardest motion is the last singular vector, not a self-motion.
    cause = Vt[..., s.shape[-1] - 1, :]
    singular = smallest <= SINGULAR_RATIO * largest
    return Dexterity(s, condition, s.prod(-1), singular, lost, cause, arm.coordinate_names)


def _part(part: str, what: str) -> slice:
    check_choice(what, "part", part, PARTS, ShapeError)
    return PARTS[part]
