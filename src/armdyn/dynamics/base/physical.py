"""The physically consistent bodies behind base parameters.

Infinitely many inertial parameters give the same torques; those of real bodies among them have a positive
semidefinite pseudo-inertia for every link (Wensing, Kim, Slotine 2018). That set is convex: the member
nearest to a guess, and the range of any parameter over it, are semidefinite programs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.dynamics.base.parameters import BaseParameters
from armdyn.errors import ArmdynError, ShapeError, import_extra
from armdyn.spatial import inertia as inertial
from armdyn.spatial.inertia import Inertia


def possible_theta(base: BaseParameters, theta_base: ArrayLike, near: ArrayLike | None = None) -> NDArray:
    """Parameters of physically consistent bodies that have the given base parameters.

    Parameters
    ----------
    base : BaseParameters
    theta_base : array_like, shape (count,)
    near : array_like, shape (10 n + n k,), optional
        A guess: of all possible parameters the nearest to it is returned. Left out: the arm's own where
        they are known, else bodies of little mass and extent.

    Returns
    -------
    theta : ndarray, shape (10 n + n k,)
        `base.project(theta) = theta_base` to the solver's accuracy (about 1e-8).

    Raises
    ------
    ArmdynError
        If no physically consistent bodies have these base parameters; it says how far off the nearest that have are.
    """
    cp = _cvxpy()
    wanted = _check(base, theta_base)
    theta, bodies = _bodies(cp, base)
    guess = _known_theta(base) if near is None else np.asarray(near, float)
    if guess is not None and guess.shape != theta.shape:
        raise ShapeError(where="possible_theta", expected=f"near of shape {theta.shape}", got=guess.shape)
    cost = cp.sum_squares(theta - guess) if guess is not None else cp.sum_squares(theta)
    problem = cp.Problem(cp.Minimize(cost), [*bodies, base.P @ theta == wanted])
    problem.solve(solver=cp.CLARABEL)
    if problem.status not in ("optimal", "optimal_inaccurate"):
        raise ArmdynError(
            f"no physically consistent bodies of arm '{base.name}' have these base parameters; the "
            f"nearest that have are {_distance(cp, base, wanted):.2%} away",
            where="possible_theta",
        )
    return np.asarray(theta.value)


def possible_range(base: BaseParameters, theta_base: ArrayLike, name: str) -> tuple[float, float]:
    """Smallest and largest value of one parameter over all physically consistent bodies behind base parameters.

    Parameters
    ----------
    base : BaseParameters
    theta_base : array_like, shape (count,)
    name : str
        A full parameter such as `m3` (see `base.parameter_names`).

    Returns
    -------
    low, high : float
        Infinite where the set is unbounded: the mass of the first link may be anything, for example.
    """
    cp = _cvxpy()
    wanted = _check(base, theta_base)
    names = base.parameter_names
    if name not in names:
        expected = f"one of {', '.join(names)}"
        raise ArmdynError(f"no parameter {name!r}", where="possible_range", expected=expected, names=(name,))
    theta, bodies = _bodies(cp, base)
    entry = theta[names.index(name)]
    ends = []
    for sense, unbounded in ((cp.Minimize, -np.inf), (cp.Maximize, np.inf)):
        problem = cp.Problem(sense(entry), [*bodies, base.P @ theta == wanted])
        problem.solve(solver=cp.CLARABEL)
        if problem.status.startswith("infeasible"):
            cause = f"no physically consistent bodies of arm '{base.name}' have these base parameters"
            raise ArmdynError(cause, where="possible_range")
        ends.append(unbounded if problem.status.startswith("unbounded") else float(problem.value))
    return ends[0], ends[1]


def _cvxpy() -> Any:
    return import_extra("cvxpy", "physically consistent bodies behind base parameters need a conic solver", "physical")


def _check(base: BaseParameters, theta_base: ArrayLike) -> NDArray:
    wanted = np.asarray(theta_base, float)
    if wanted.shape != (base.count,):
        raise ShapeError(expected=f"{base.count} base parameters of arm '{base.name}'", got=f"shape {wanted.shape}")
    return wanted


def _known_theta(base: BaseParameters) -> NDArray | None:
    """The arm's own parameters, if it knows them all."""
    theta = base.own_parameters
    return None if np.isnan(theta).any() else theta


def _bodies(cp: Any, base: BaseParameters) -> tuple[Any, list[Any]]:
    """A variable theta and the conditions that every link is physically consistent, and no rotor negative."""
    theta = cp.Variable(base.P.shape[1])
    units = [Inertia(unit).pseudo_inertia for unit in np.eye(inertial.SIZE)]
    conditions = []
    for i in range(base.source.n_joints):
        body = theta[inertial.entries(i)]
        conditions.append(sum(body[k] * units[k] for k in range(inertial.SIZE)) >> 0)
    rotors = [k for k, name in enumerate(base.parameter_names) if name.startswith("Ia")]
    if rotors:
        conditions.append(theta[rotors] >= 0)
    return theta, conditions


def _distance(cp: Any, base: BaseParameters, wanted: NDArray) -> float:
    """Relative distance to the nearest base parameters of physically consistent bodies."""
    theta, bodies = _bodies(cp, base)
    problem = cp.Problem(cp.Minimize(cp.norm(base.P @ theta - wanted)), bodies)
    problem.solve(solver=cp.CLARABEL)
    return float(problem.value) / float(np.linalg.norm(wanted))
