"""The ten inertial parameters of a rigid body. Their order is fixed in this file and nowhere else.

`theta = m, m cx, m cy, m cz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz`: mass, first moments and the inertia
tensor (tensor signs: Ixy = -integral of xy) about the origin of the body's frame. It is
Pinocchio's order. Any ten finite numbers are legal here, since base, least-squares and adaptive
vectors are often not physical; `problems` tells what is impossible about them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import read_only
from armdyn.errors import ModelError, quote
from armdyn.frozen import Frozen
from armdyn.precision import SIX_DIGITS

NAMES = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
SIZE = len(NAMES)
MASS = NAMES.index("m")
FIRST = slice(1, 4)
# Position of tensor entry (row, column) in theta.
TENSOR = np.array([[4, 5, 7], [5, 6, 8], [7, 8, 9]])
TENSOR_ROWS, TENSOR_COLUMNS = (0, 0, 1, 0, 1, 2), (0, 1, 1, 2, 2, 2)


def entries(i: int) -> slice:
    """Return the place of the ten parameters of link i in an arm's theta."""
    return slice(SIZE * i, SIZE * (i + 1))


def parameter_names(n: int) -> list[str]:
    """Names of the entries of an arm's theta: `m1 ... Izz1, m2 ...`."""
    return [f"{name}{i + 1}" for i in range(n) for name in NAMES]


@dataclass(frozen=True, eq=False)
class Inertia(Frozen):
    """Ten inertial parameters in the body's frame; `mass`, `com` and tensors are views of them."""

    theta: NDArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "theta", read_only(_numbers(self.theta, (SIZE,), f"{', '.join(NAMES)}")))

    @classmethod
    def zero(cls) -> Inertia:
        """A massless body."""
        return cls(np.zeros(SIZE))

    @classmethod
    def unknown(cls) -> Inertia:
        """A body of which nothing is known: ten NaNs."""
        return cls(np.full(SIZE, np.nan))

    @classmethod
    def from_com(cls, mass: ArrayLike, com: ArrayLike = (0, 0, 0), tensor: ArrayLike | None = None) -> Inertia:
        """Build it from mass, centre of mass and the tensor (3, 3) about the centre; no tensor means a point mass."""
        m, c = _numbers(mass, (), "a mass"), _numbers(com, (3,), "a centre of mass")
        I_com = np.zeros((3, 3)) if tensor is None else _numbers(tensor, (3, 3), "a tensor")
        with np.errstate(over="ignore", invalid="ignore"):  # from_tensor rejects what overflows
            return cls.from_tensor(m, m * c, _symmetric(I_com) + m * (c @ c * np.eye(3) - np.outer(c, c)))

    @classmethod
    def from_tensor(cls, mass: ArrayLike, first: ArrayLike, tensor: ArrayLike) -> Inertia:
        """Build it from mass, first moments `m c` and the tensor (3, 3) about the frame's origin."""
        theta = np.empty(SIZE)
        theta[MASS] = _numbers(mass, (), "a mass")
        theta[FIRST] = _numbers(first, (3,), "first moments")
        theta[TENSOR] = _symmetric(_numbers(tensor, (3, 3), "a tensor"))
        return cls(theta)

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        return float(self.theta[MASS])

    @property
    def first(self) -> NDArray:
        """First moments `m c` [kg m]."""
        return self.theta[FIRST]

    @property
    def tensor(self) -> NDArray:
        """Tensor about the frame's origin [kg m²]."""
        return self.theta[TENSOR]

    @property
    def com(self) -> NDArray:
        """Centre of mass [m]; zero for a body without mass or first moments, NaN where it does not exist."""
        if self.mass == 0.0:
            return np.where(self.first == 0.0, 0.0, np.nan)
        with np.errstate(over="ignore"):
            return self.first / self.mass

    @property
    def tensor_com(self) -> NDArray:
        """Tensor about the centre of mass [kg m²]."""
        c = self.com
        return self.tensor - self.mass * (c @ c * np.eye(3) - np.outer(c, c))

    @property
    def entries_com(self) -> NDArray:
        """Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the centre of mass [kg m²], as in theta."""
        return self.tensor_com[TENSOR_ROWS, TENSOR_COLUMNS]

    @property
    def is_known(self) -> bool:
        """Whether no parameter is NaN."""
        return not np.isnan(self.theta).any()

    def __add__(self, other: Inertia) -> Inertia:
        """Two bodies rigidly joined, both described in the same frame."""
        return Inertia(self.theta + other.theta)

    def __sub__(self, other: Inertia) -> Inertia:
        """Return what is left when a part described in the same frame is taken away."""
        return Inertia(self.theta - other.theta)

    def moved(self, T_AB: NDArray) -> Inertia:
        """The same body described in frame A, when `self` describes it in B."""
        R, p = T_AB[:3, :3], T_AB[:3, 3]
        h = R @ self.first
        # Steiner with first moments: I_A = R I R' + (2 h.p + m p.p) 1 - h p' - p h' - m p p'
        tensor = (
            R @ self.tensor @ R.T
            + (2 * h @ p + self.mass * p @ p) * np.eye(3)
            - np.outer(h, p)
            - np.outer(p, h)
            - self.mass * np.outer(p, p)
        )
        return Inertia.from_tensor(self.mass, h + self.mass * p, (tensor + tensor.T) / 2)

    @property
    def pseudo_inertia(self) -> NDArray:
        """The 4x4 matrix [[Sigma, h], [h', m]] that is positive semidefinite for every real body."""
        sigma = np.trace(self.tensor) / 2 * np.eye(3) - self.tensor
        return np.block([[sigma, self.first[:, None]], [self.first[None, :], np.array([[self.mass]])]])

    def problems(self, triangle: float = SIX_DIGITS) -> list[str]:
        """List what is physically impossible about these parameters; empty for a physically consistent body.

        `triangle` is how far the largest principal moment may exceed the others' sum, relative to itself.
        """
        if not self.is_known:
            missing = ", ".join(n for n, x in zip(NAMES, self.theta, strict=True) if np.isnan(x))
            return [f"unknown parameters: {missing}"]
        if self.mass < 0:
            return [f"mass is negative ({self.mass:g} kg)"]
        if self.mass == 0.0 and self.first.any():
            return ["first moments without mass"]
        with np.errstate(over="ignore", invalid="ignore"):
            tensor = self.tensor_com
        if not np.isfinite(tensor).all():
            return [f"mass {self.mass:g} kg is too small for the first moments"]
        # Subtracting Steiner's part leaves round-off of the size of the tensor about the origin.
        slack = SIX_DIGITS * np.abs(self.tensor).max()
        moments = np.linalg.eigvalsh(tensor)
        if moments[0] < -slack:
            return [
                f"tensor about the centre of mass is not positive semidefinite (smallest moment {moments[0]:.3g} kg m²)"
            ]
        if moments[2] - moments[0] - moments[1] > max(slack, triangle * moments[2]):
            return [
                "moments break the triangle inequality "
                f"({moments[0]:.3g} + {moments[1]:.3g} < {moments[2]:.3g} kg m²); swapped axes?"
            ]
        return []

    def impossible(self, triangle: float = SIX_DIGITS) -> str:
        """Why no body can have these parameters, whatever the unknown ones are; empty if one can."""
        if self.mass < 0:
            return f"mass is negative ({self.mass:g} kg)"
        why = self.problems(triangle) if self.is_known else []
        return f"inertia is not physically possible: {why[0]}" if why else ""

    def reject_impossible(self, where: str, triangle: float = SIX_DIGITS) -> None:
        """Raise a `ModelError` that begins with `where` if no body can have these parameters.

        Unknown parameters are no offence here: kinematics does without them.
        """
        if why := self.impossible(triangle):
            raise ModelError(why, where=where)


def point_masses(mass: NDArray, com: NDArray) -> NDArray:
    """Parameters (..., 10) of point masses (...) at places (..., 3)."""
    c = np.asarray(com, float)
    theta = np.empty((*c.shape[:-1], SIZE))
    theta[..., MASS], theta[..., FIRST] = 1.0, c
    theta[..., TENSOR] = (c**2).sum(-1)[..., None, None] * np.eye(3) - c[..., :, None] * c[..., None, :]
    return theta * np.asarray(mass, float)[..., None]


def _numbers(value: ArrayLike, shape: tuple[int, ...], what: str) -> NDArray:
    """A fresh array of this shape; NaN (unknown) is legal, infinity is not."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(where="inertia", expected=f"{what} as numbers", got=quote(value)) from None
    if array.shape != shape:
        raise ModelError(where="inertia", expected=f"{what} of shape {shape}", got=f"shape {array.shape}")
    if np.isinf(array).any():
        raise ModelError(where="inertia", expected=f"{what} of finite numbers (NaN where unknown)", got="infinity")
    return array


def _symmetric(tensor: NDArray) -> NDArray:
    """The symmetric part of a tensor that is symmetric within printing; anything else is rejected."""
    largest = np.max(np.abs(tensor), initial=0.0, where=~np.isnan(tensor))
    if not np.allclose(tensor, tensor.T, rtol=0, atol=SIX_DIGITS * largest, equal_nan=True):
        raise ModelError("tensor is not symmetric; products of inertia must appear twice", where="inertia")
    return (tensor + tensor.T) / 2
