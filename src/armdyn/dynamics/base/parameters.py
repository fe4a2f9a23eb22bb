"""Base parameters: the combinations of inertial parameters that the joint torques depend on.

Some of the 10 n parameters move no torque, others only together with parameters of other links. Two
ways find which (`reduction`): numerically, the independent columns of the regressor at random states
(Gautier 1991), and from the geometry alone (`rules`). Both keep the same parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.dynamics.base.reduction import DEPENDENT_COLUMN_RATIO, Gap, Reduction, by_numbers, clean, right_angled
from armdyn.dynamics.base.rules import by_rules
from armdyn.dynamics.base.symbolic import combination, formulas, length_values
from armdyn.dynamics.base.theorems import by_theorems
from armdyn.dynamics.regressors.joint_columns import (
    check_terms,
    full_adaptive_regressor,
    full_regressor,
    joint_parameter_names,
    joint_parameters,
)
from armdyn.errors import ArmdynError, ShapeError, check_choice
from armdyn.frozen import Frozen, PartOf, compute_once
from armdyn.model.arm import Arm
from armdyn.model.mechanism import require_chain
from armdyn.model.quantities import A, Gravity, Q, Qd, Qdd, V
from armdyn.names import HintedAttributes
from armdyn.spatial import inertia as inertial
from armdyn.trace.formula import Array, traced

TERMS = ("full", "gravity")
METHODS = ("numeric", "rules", "theorems")


@dataclass(frozen=True, eq=False)
class BaseParameters(Frozen, HintedAttributes):
    """Base parameters of an arm: `theta_base = P theta`, and `Y theta = Y_base theta_base` for every motion.

    `Y_base` are the `columns` of the regressor, so each base parameter is a standard parameter
    plus the share of those it absorbs. With `joint_terms`, theta here is the arm's followed by the joint
    parameters (see `joint_columns`).
    """

    source: Arm
    terms: str
    joint_terms: tuple[str, ...]
    columns: tuple[int, ...]  # positions in theta
    P: NDArray  # (count, 10 N + N k)
    gap: Gap | None  # None if found by rules

    # -- what they are --------------------------------------------------------------------------------

    name = PartOf[str]("source.name", "The arm's name.")

    @property
    def count(self) -> int:
        """Number of base parameters."""
        return len(self.columns)

    @property
    def labels(self) -> tuple[str, ...]:
        """The standard parameter that leads each base parameter, such as `Ixx2`."""
        return tuple(self.parameter_names[k] for k in self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """Each base parameter written out, such as `Ixx2 - Iyy2 - 0.186 m3`."""
        pairs = zip(self.P, self.columns, strict=True)
        return tuple(combination(row, self.parameter_names, lead) for row, lead in pairs)

    @cached_property
    def formulas(self) -> tuple[str, ...]:
        """Each base parameter in the arm's lengths, such as `Ixx2 - Iyy2 - x3^2 m3`; see `lengths`."""
        return formulas(self._geometry, self.P, self.columns, self.parameter_names, self.terms)

    @property
    def lengths(self) -> Mapping[str, float]:
        """Values [m] of the lengths that `formulas` mention.

        `x3, y3, z3` lead from link 2's origin to joint 3 in link 2's axes, `ax3, ay3, az3` on from there
        to link 3's origin in the joint's axes.
        """
        return length_values(self._geometry)

    @cached_property
    def _geometry(self) -> Arm:
        return right_angled(self.source)

    @cached_property
    def null(self) -> NDArray:
        """Directions of theta (10 N + N k, not count) that change no torque, one per dropped parameter."""
        dropped = self._dropped
        N = np.zeros((self.P.shape[1], len(dropped)))
        N[dropped, range(len(dropped))] = 1.0
        N[list(self.columns)] = -self.P[:, dropped]
        return N

    @property
    def unidentifiable(self) -> tuple[str, ...]:
        """The directions of `null` written out: parameters that may change together unnoticed."""
        pairs = zip(self.null.T, self._dropped, strict=True)
        return tuple(combination(column, self.parameter_names, lead) for column, lead in pairs)

    @property
    def _dropped(self) -> list[int]:
        columns = set(self.columns)
        return [k for k in range(self.P.shape[1]) if k not in columns]

    @cached_property
    def parameter_names(self) -> list[str]:
        """Names of the full parameters: `m1 ... Izz1, m2 ...`, then those of the joint terms."""
        return [
            *inertial.parameter_names(self.source.n_joints),
            *joint_parameter_names(self.source.n_joints, self.joint_terms),
        ]

    # -- between theta and theta_base ---------------------------------------------------------------------

    def project(self, theta: ArrayLike) -> NDArray:
        """Base parameters (..., count) of full parameters (..., 10 N + N k)."""
        return _vectors(theta, self.P.shape[1], "project: expected theta") @ self.P.T

    def expand(self, theta_base: ArrayLike) -> NDArray:
        """The sparsest theta behind base parameters (..., count): zero where nothing is kept."""
        values = _vectors(theta_base, self.count, "expand: expected theta_base")
        theta = np.zeros((*values.shape[:-1], self.P.shape[1]))
        theta[..., list(self.columns)] = values
        return theta

    def nearest(self, theta_base: ArrayLike, theta: ArrayLike) -> NDArray:
        """Return the parameters behind `theta_base` that are nearest to `theta` in the Euclidean sense."""
        theta = _vectors(theta, self.P.shape[1], "nearest: expected theta")
        wanted = _vectors(theta_base, self.count, "nearest: expected theta_base")
        return theta + (wanted - theta @ self.P.T) @ self._pinv.T

    @cached_property
    def _pinv(self) -> NDArray:
        return np.linalg.pinv(self.P)

    @property
    def own_parameters(self) -> NDArray:
        """The arm's own full parameters (10 N + N k,); NaN where unknown."""
        return np.concatenate([self.source.theta, joint_parameters(self.source, self.joint_terms)])

    @cached_property
    def theta(self) -> NDArray:
        """Base parameters of the arm itself."""
        self.source.trace_data("theta")  # says what is unknown
        return self.project(self.own_parameters)

    @cached_property
    def arm(self) -> Arm:
        """The arm with its parameters regrouped: base values where they are kept, zero elsewhere.

        Its torques are the original's (for `terms="gravity"` its gravity torques), from fewer operations.
        Its links are not physically consistent, and its joints are unchanged.
        """
        size = inertial.SIZE * self.source.n_joints
        theta = np.zeros(self.P.shape[1])
        theta[list(self.columns)] = self.P[:, :size] @ self.source.trace_data("theta")
        return self.source.with_theta(theta[:size])

    # -- regressors ---------------------------------------------------------------------------------------

    def regressor(self, q: ArrayLike, qd: Any = None, qdd: Any = None, **options: Any) -> Any:
        """Base regressor (..., n, count); velocities and accelerations left out are zero."""
        zero = [0.0] * self.source.n
        state = (q, zero if qd is None else qd, zero if qdd is None else qdd)
        if not self.count:
            return np.zeros((*np.broadcast_shapes(*(np.shape(x)[:-1] for x in state)), self.source.n, 0))
        return base_regressor(self, *state, **options)

    def adaptive_regressor(self, q: Any, qd: Any, v: Any, a: Any, **options: Any) -> Any:
        """Base form of `adaptive_regressor`: M a + C v + g, friction at qd (..., n, count)."""
        return base_adaptive_regressor(self, q, qd, v, a, **options)

    # -- what traced functions ask of it (see `armdyn.trace.traced.Subject`) -------------------------------

    @property
    def trace_sizes(self) -> Mapping[str, int]:
        """Sizes that shapes may mention."""
        return {**self.source.trace_sizes, "b": self.count}

    @property
    def trace_key(self) -> str:
        """Key of its kernels."""
        return f"{self.source.trace_key} base {self.joint_terms} {self.columns}"

    def trace_data(self, name: str) -> NDArray:
        """The data input `name` bound to these parameters."""
        return self.theta if name == "theta_base" else self.source.trace_data(name)

    def __repr__(self) -> str:
        return f"<BaseParameters of {self.source!r}: {self.count} of {self.P.shape[1]}, {self.terms}>"


@traced(returns={"Y": "n, b"})
def base_regressor(base: BaseParameters, q: Q, qd: Qd, qdd: Qdd, *, gravity: Gravity = None) -> Array:
    """Regressor of the base parameters: `tau = Y @ base.theta`.

    Parameters
    ----------
    gravity
        Gravity vector instead of the arm's [m/s²]; its direction must be one the base parameters are for.

    Returns
    -------
    Y : ndarray, shape (..., n, count)
        The columns of `full_regressor` that are kept.
    """
    return full_regressor(base.source, q, qd, qdd, terms=base.joint_terms, gravity=gravity)[:, list(base.columns)]


@traced(returns={"Y": "n, b"})
def base_adaptive_regressor(base: BaseParameters, q: Q, qd: Qd, v: V, a: A, *, gravity: Gravity = None) -> Array:
    """Slotine-Li regressor of the base parameters at measured q, qd: `Y @ base.theta = M a + C v + g`.

    Returns
    -------
    Y : ndarray, shape (..., n, count)
    """
    every = full_adaptive_regressor(base.source, q, qd, v, a, terms=base.joint_terms, gravity=gravity)
    return every[:, list(base.columns)]


def base_parameters(
    arm: Arm,
    terms: str = "full",
    joint_terms: tuple[str, ...] = (),
    method: str = "numeric",
    tolerance: float = DEPENDENT_COLUMN_RATIO,
) -> BaseParameters:
    """The identifiable combinations of the arm's inertial parameters.

    They depend on the arm's geometry and on the direction of gravity, not on its inertia, so an arm
    with unknown inertia has them too. Angles that are right but for rounding in a file, by less than 1e-6 rad, are
    taken for right ones.

    Parameters
    ----------
    arm : Arm
    terms : {"full", "gravity"}
        All torques, or those of gravity alone (the arm at rest).
    joint_terms : tuple of str, optional
        Joint terms to identify along with the links ("rotor", "viscous", ...; see `joint_columns`): a
        rotor's inertia may be one with a link's.
    method : {"numeric", "rules", "theorems"}
        Independent columns of the regressor at random states, with a report of how clear the rank is; the
        geometric rules, which need no regressor, for joints that move by themselves; or Kapadia's two theorems for
        revolute chains, without joint terms.
    tolerance : float
        Not for the rules: a column counts as dependent if what the others leave unexplained of it is below
        this fraction of the longest column.

    Returns
    -------
    BaseParameters
        With count, names, formulas, P, project, regressor, arm and gap among its fields.

    Raises
    ------
    RankError
        If there is no clear gap between dependent and independent columns.

    References
    ----------
    Gautier (1991), Numerical calculation of the base inertial parameters of robots.

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> base = armdyn.base_parameters(arm)
    >>> base.count, base.names[:2]
    (6, ('mx1 + 0.5 (m1 + m2)', 'my1'))
    """
    check_choice("base_parameters", "terms", terms, TERMS)
    check_choice("base_parameters", "method", method, METHODS)
    if not 0 < tolerance < 1:
        raise ArmdynError(where="base_parameters", expected="0 < tolerance < 1", got=f"{tolerance!r}")
    joint_terms = check_terms(joint_terms, "base_parameters")
    several, options = _reductions(arm), (terms, joint_terms, method, tolerance)
    if options not in several:
        reduction = _reduction(arm, *options)
        several[options] = reduction._replace(P=clean(reduction.P, reduction.columns))
    columns, P, gap = several[options]
    return BaseParameters(arm, terms, joint_terms, tuple(columns), P, gap)


@compute_once
def _reductions(arm: Arm) -> dict[tuple[Any, ...], Reduction]:
    """Those of an arm by the other arguments of `base_parameters`: whoever uses logs asks for them often."""
    return {}


def _reduction(arm: Arm, terms: str, joint_terms: tuple[str, ...], method: str, tolerance: float) -> Reduction:
    """Reduce the parameters of an arm by one of `METHODS`."""
    exact = right_angled(arm)
    if method == "rules":
        return by_rules(exact, terms, joint_terms)
    if method == "numeric":
        return by_numbers(exact, terms, joint_terms, tolerance)
    require_chain(arm, "base_parameters by theorems")
    if joint_terms:
        cause = f"the theorems are of links, not of {', '.join(joint_terms)}"
        raise ArmdynError(cause, where="base_parameters", remedy="use another method", names=joint_terms)
    return by_theorems(exact, terms, tolerance)


def _vectors(values: ArrayLike, size: int, what: str) -> NDArray:
    array = np.asarray(values, float)
    if array.shape[-1:] != (size,):
        raise ShapeError(f"{what} of shape (..., {size}), got {array.shape}")
    return array
