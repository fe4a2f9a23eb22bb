"""Base parameters: the combinations of inertial parameters that the joint torques depend on.

Some of the 10 n parameters move no torque, others only together with parameters of other links. The
regressor of random states shows which: its independent columns are kept, in an order of preference,
and every other column is a combination of those (Gautier 1991). The order prefers what Gautier and
Khalil (1990) keep: of a link on a revolute joint the mass, the first moment along the axis and one of
the two moments of inertia across it go first, for they can be carried to the link before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.dynamics.regressor import regressor
from armdyn.errors import ArmdynError, ShapeError
from armdyn.model.arm import Arm
from armdyn.spatial import inertia as inertial
from armdyn.trace.traced import traced

TERMS = ("full", "gravity")

# A column whose part independent of the kept ones is below this fraction of its length is dependent.
# Exact dependence leaves 1e-15, frames written with six digits 1e-6; real parameters rarely below 1e-3.
TOLERANCE = 1e-5

# A column this much shorter than the longest is round-off of zero.
ZERO = 1e-12

# Between the weakest kept column and the strongest dropped one there must be at least this factor.
CLEAR_GAP = 30.0


class RankError(ArmdynError):
    """The number of independent parameters cannot be told from the numbers."""


class Gap(NamedTuple):
    """How clearly kept and dropped columns differ: independent fractions of column length, singular values."""

    weakest_kept: float
    strongest_dropped: float
    smallest_singular: float  # of the kept columns, scaled to unit length, relative to the largest


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """Base parameters of an arm: `theta_base = P theta`, and `Y theta = Y_base theta_base` for every motion.

    `Y_base` are the columns `kept` of the regressor, so each base parameter is a standard parameter
    plus the share of those it absorbs.
    """

    source: Arm
    terms: str
    kept: tuple[int, ...]  # positions in theta
    P: NDArray  # (count, 10 n)
    gap: Gap

    # -- what they are --------------------------------------------------------------------------------

    @property
    def count(self) -> int:
        """Number of base parameters."""
        return len(self.kept)

    @property
    def labels(self) -> tuple[str, ...]:
        """The standard parameter that leads each base parameter, such as `Ixx2`."""
        every = parameter_names(self.source.n)
        return tuple(every[k] for k in self.kept)

    @property
    def names(self) -> tuple[str, ...]:
        """Each base parameter written out, such as `Ixx2 - Iyy2 - 0.186 m3`."""
        every = parameter_names(self.source.n)
        return tuple(combination(row, every, lead) for row, lead in zip(self.P, self.kept, strict=True))

    @cached_property
    def null(self) -> NDArray:
        """Directions of theta (10 n, 10 n - count) that move no torque, one a dropped parameter."""
        size = self.P.shape[1]
        dropped = [k for k in range(size) if k not in self.kept]
        N = np.zeros((size, len(dropped)))
        N[dropped, range(len(dropped))] = 1.0
        N[list(self.kept)] = -self.P[:, dropped]
        return N

    @property
    def unidentifiable(self) -> tuple[str, ...]:
        """The directions of `null` written out: parameters that may change together unnoticed."""
        every = parameter_names(self.source.n)
        dropped = [k for k in range(self.P.shape[1]) if k not in self.kept]
        return tuple(
            combination(column, every, lead) for column, lead in zip(self.null.T, dropped, strict=True)
        )

    # -- between theta and theta_base ---------------------------------------------------------------------

    def project(self, theta: ArrayLike) -> NDArray:
        """Base parameters (..., count) of inertial parameters (..., 10 n)."""
        return _vectors(theta, self.P.shape[1], "project: expected theta") @ self.P.T

    def expand(self, theta_base: ArrayLike) -> NDArray:
        """The sparsest theta (..., 10 n) behind base parameters (..., count): zero where nothing is kept."""
        values = _vectors(theta_base, self.count, "expand: expected theta_base")
        theta = np.zeros((*values.shape[:-1], self.P.shape[1]))
        theta[..., list(self.kept)] = values
        return theta

    def nearest(self, theta_base: ArrayLike, theta: ArrayLike) -> NDArray:
        """Of all theta behind `theta_base` the one nearest to `theta` in the Euclidean sense."""
        theta = _vectors(theta, self.P.shape[1], "nearest: expected theta")
        return (
            theta
            + (_vectors(theta_base, self.count, "nearest: expected theta_base") - theta @ self.P.T)
            @ self._pinv.T
        )

    @cached_property
    def _pinv(self) -> NDArray:
        return np.linalg.pinv(self.P)

    @cached_property
    def theta(self) -> NDArray:
        """Base parameters of the arm itself."""
        return self.project(self.source.trace_data("theta"))

    @cached_property
    def arm(self) -> Arm:
        """The arm with its parameters regrouped: base values where they are kept, zero elsewhere.

        Its torques are the original's (for `terms="gravity"` its gravity torques), from fewer operations.
        Its links are not possible bodies.
        """
        return self.source.with_theta(self.expand(self.theta))

    # -- the regressor ------------------------------------------------------------------------------------

    def regressor(self, q: ArrayLike, qd: Any = None, qdd: Any = None, **options: Any) -> Any:
        """Base regressor (..., n, count); velocities and accelerations left out are zero."""
        zero = [0.0] * self.source.n
        return base_regressor(self, q, zero if qd is None else qd, zero if qdd is None else qdd, **options)

    # -- what traced functions ask of it (see `armdyn.trace.traced.Subject`) -------------------------------

    @property
    def trace_sizes(self) -> Mapping[str, int]:
        """Sizes that shapes may mention."""
        return {"n": self.source.n, "b": self.count}

    @property
    def trace_key(self) -> str:
        """What kernels are keyed by."""
        return f"{self.source.trace_key} base {self.kept}"

    def trace_data(self, name: str) -> NDArray:
        """The data input `name` bound to these parameters."""
        return self.theta if name == "theta_base" else self.source.trace_data(name)

    def __repr__(self) -> str:
        return f"<BaseParameters of {self.source!r}: {self.count} of {self.P.shape[1]}, {self.terms}>"


@traced(q="n", qd="n", qdd="n", gravity="3", returns={"Y": "n, b"})
def base_regressor(base: BaseParameters, q: Any, qd: Any, qdd: Any, *, gravity: Any) -> Any:
    """Regressor of the base parameters: `tau = Y @ base.theta`, the columns of `regressor` that are kept.

    Parameters
    ----------
    base : BaseParameters
    q, qd, qdd : array_like, shape (..., n)
    gravity : array_like, shape (..., 3), optional

    Returns
    -------
    Y : ndarray, shape (..., n, count)
    """
    return regressor(base.source, q, qd, qdd, gravity=gravity)[:, list(base.kept)]


def base_parameters(arm: Arm, terms: str = "full", tolerance: float = TOLERANCE) -> BaseParameters:
    """The identifiable combinations of the arm's inertial parameters.

    They depend on the arm's geometry and on the direction of gravity, not on its inertia, so an arm
    with unknown inertia has them too.

    Parameters
    ----------
    arm : Arm
    terms : {"full", "gravity"}
        All torques, or those of gravity alone (the arm at rest).
    tolerance : float
        A regressor column whose part independent of the others is below this fraction of its length
        counts as dependent.

    Returns
    -------
    BaseParameters
        With count, names, P, project, regressor, arm and gap among its fields.

    Raises
    ------
    RankError
        If there is no clear gap between dependent and independent columns.

    References
    ----------
    Gautier (1991), Numerical calculation of the base inertial parameters of robots.
    """
    if terms not in TERMS:
        raise ArmdynError(f"base_parameters: expected terms one of {', '.join(TERMS)}, got {terms!r}")
    Y = _stacked_regressor(arm, terms)
    length = np.linalg.norm(Y, axis=0)
    length[length < ZERO * length.max()] = 0.0
    # A triangle of at most 10 n rows has the same dependences as the stack.
    scaled = np.linalg.qr(np.divide(Y, length, out=np.zeros_like(Y), where=length > 0), mode="r")
    kept, fractions = _independent(scaled, _preference(arm), tolerance)
    gap = _gap(arm, scaled, kept, fractions)
    P = np.linalg.lstsq(scaled[:, kept], scaled, rcond=None)[0] * length / length[kept][:, None]
    return BaseParameters(arm, terms, tuple(kept), _cleaned(P, kept), gap)


def parameter_names(n: int) -> list[str]:
    """Names of the entries of theta: `m1 ... Izz1, m2 ...`."""
    return [f"{name}{i + 1}" for i in range(n) for name in inertial.NAMES]


def combination(coefficients: NDArray, names: list[str], lead: int) -> str:
    """A linear combination as text, the leading term first: `Ixx2 - Iyy2 - 0.186 m3`."""
    order = [lead, *(k for k in np.flatnonzero(coefficients) if k != lead)]
    text = ""
    for k in order:
        c = coefficients[k]
        sign = ("-" if c < 0 else "") if not text else (" - " if c < 0 else " + ")
        size = "" if abs(abs(c) - 1) < 1e-12 else f"{abs(c):.6g} "
        text += f"{sign}{size}{names[k]}"
    return text


def _vectors(values: ArrayLike, size: int, what: str) -> NDArray:
    array = np.asarray(values, float)
    if array.shape[-1:] != (size,):
        raise ShapeError(f"{what} of shape (..., {size}), got {array.shape}")
    return array


def _stacked_regressor(arm: Arm, terms: str) -> NDArray:
    """Regressors of random states, one above the other (rows, 10 n)."""
    # Forty states give at least four times as many rows as a joint has parameters of its own to tell apart.
    states = 40 + 2 * arm.n
    rng = np.random.default_rng(0)
    revolute = np.array([joint.kind == "revolute" for joint in arm.joints])
    q = rng.uniform(-1, 1, (states, arm.n)) * np.where(revolute, np.pi, 1.0)
    # Speeds and accelerations at which inertia and gravity weigh about the same.
    motion = rng.uniform(-1, 1, (2, states, arm.n)) * (terms == "full")
    return regressor(arm, q, 3.0 * motion[0], 10.0 * motion[1]).reshape(-1, inertial.SIZE * arm.n)


def _preference(arm: Arm) -> list[int]:
    """Positions in theta in the order in which columns are kept."""
    ranked = []
    for i, (joint, segment) in enumerate(zip(arm.joints, arm.segments, strict=True)):
        axis = int(np.argmax(np.abs(segment.R_after[2])))
        others = [k for k in range(3) if k != axis]
        rank = np.zeros(inertial.SIZE, int)
        if joint.kind == "revolute":
            rank[inertial.TENSOR[others[1], others[1]]] = 1
            rank[1 + axis] = 2
            rank[inertial.MASS] = 3
        else:
            rank[inertial.TENSOR] = 1
        ranked += [(int(rank[k]), i, inertial.SIZE * i + k) for k in range(inertial.SIZE)]
    return [position for _, _, position in sorted(ranked)]


def _independent(A: NDArray, order: list[int], tolerance: float) -> tuple[list[int], NDArray]:
    """Columns of `A` (of unit length or zero) that are independent of those kept before, and each one's fraction."""
    basis = np.empty((A.shape[0], 0))
    kept = []
    fractions = np.zeros(A.shape[1])
    for k in order:
        rest = A[:, k]
        for _ in range(2):  # once more, against cancellation
            rest = rest - basis @ (basis.T @ rest)
        fractions[k] = np.linalg.norm(rest)
        if fractions[k] > tolerance:
            basis = np.column_stack([basis, rest / fractions[k]])
            kept.append(k)
    return sorted(kept), fractions


def _gap(arm: Arm, A: NDArray, kept: list[int], fractions: NDArray) -> Gap:
    """How clearly the kept columns stand out; an error where they do not."""
    dropped = np.delete(fractions, kept)
    singular = np.linalg.svd(A[:, kept], compute_uv=False)
    gap = Gap(
        float(fractions[kept].min(initial=1.0)),
        float(dropped.max(initial=0.0)),
        float(singular[-1] / singular[0]) if kept else 1.0,
    )
    if gap.weakest_kept < CLEAR_GAP * gap.strongest_dropped:
        raise RankError(
            f"base_parameters: the rank of arm '{arm.name}' is not clear: the weakest of {len(kept)} kept columns "
            f"is independent to {gap.weakest_kept:.1e}, the strongest dropped one to {gap.strongest_dropped:.1e}; "
            "frames with rounded angles? Load with snap=, or give a tolerance"
        )
    return gap


def _cleaned(P: NDArray, kept: list[int]) -> NDArray:
    """`P` with round-off removed: zeros, and ones where the coefficient is one within 1e-11."""
    P = np.where(np.abs(P) < 1e-11 * max(1.0, np.abs(P).max(initial=0.0)), 0.0, P)
    near = np.abs(np.abs(P) - 1) < 1e-11
    P = np.where(near, np.sign(P), P)
    P[:, kept] = np.eye(len(kept))
    P.flags.writeable = False
    return P
