"""Motion under holonomic constraints: accelerations, multipliers, torques, and states that keep the constraint.

    M qdd + h = tau + A' lambda,    A qdd + A' qd = -2 w (A qd) - w² phi

Lagrange's multipliers follow d'Alembert's principle (ECE470 2019, section 2.1): constraint forces A' lambda do no work
along motions with A qd = 0. The right side is zero where the constraint is kept, and lets errors fade at the rate w
where it is not (Baumgarte 1972).
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import finite_array
from armdyn.dynamics.bodies.ltdl import factorize
from armdyn.dynamics.constraint import (
    Constraint,
    check_constraint,
    constraint_drift,
    constraint_jacobian,
    constraint_residual,
)
from armdyn.dynamics.mass_matrix import mass_matrix
from armdyn.dynamics.movable import require_movable
from armdyn.dynamics.newton_euler import inverse_dynamics
from armdyn.errors import ConstraintError
from armdyn.model.arm import Arm
from armdyn.model.quantities import Gravity, Q, Qd, Qdd, Tau, Theta
from armdyn.precision import FIVE_DIGITS, MAX_ITERATIONS, NEGLIGIBLE, SOLUTION_ERROR
from armdyn.trace.formula import Array, Symbol, Vector, ca, traced
from armdyn.trace.symbols import is_symbol


class ConstrainedMotion(NamedTuple):
    """Accelerations (n,), a multiplier per condition (m,) [N or N m] and the joint torques A' lambda of all (n,)."""

    qdd: Vector
    multipliers: Annotated[Array, "constraint"]
    tau_constraint: Vector


def solve_constrained(M: Symbol, net: Symbol, A: Symbol, wanted: Symbol) -> tuple[Symbol, Symbol]:
    """Return x and lambda with M x = net + A' lambda and A x = wanted; NaN where conditions depend on each other."""
    factors, rows = factorize(M), range(A.shape[0])
    columns = [factors.solve(A[i, :].T) for i in rows]
    free = factors.solve(net)
    # (A M^-1 A') lambda = wanted - A M^-1 net
    mobility = ca.SX.zeros(len(rows), len(rows))
    for i in rows:
        for j in range(i + 1):
            mobility[i, j] = mobility[j, i] = ca.dot(A[i, :].T, columns[j])
    inner = factorize(mobility)
    lost = ca.SX(0)
    for i in rows:
        # Mobility that the conditions before this one leave it: far below that of any tip that can move.
        share = SOLUTION_ERROR * mobility[i, i] * inner.inverse_d[i]
        lost = ca.fmax(lost, ca.SX.inf() if mobility[i, i].is_zero() else share)
    multipliers = inner.solve(wanted - ca.mtimes(A, free))
    multipliers = ca.if_else(ca.logic_and(lost >= 0, lost < 1), multipliers, ca.SX.nan(len(rows)))
    x = free
    for i in rows:
        x = x + columns[i] * multipliers[i]
    return x, multipliers


def wanted_acceleration(arm: Arm, q: Symbol, qd: Symbol, constraint: Constraint, A: Symbol, rate: Any) -> Symbol:
    """Return A qdd, with errors fading at `rate` [1/s]."""
    wanted = -constraint_drift(arm, q, qd, constraint)
    if is_symbol(rate) or rate:
        wanted = wanted - 2 * rate * ca.mtimes(A, qd) - rate**2 * constraint_residual(arm, q, constraint)
    return wanted


@traced(check=require_movable)
def constrained_motion(
    arm: Arm, q: Q, qd: Qd, tau: Tau, constraint: Constraint, stabilisation: float = 0.0, *,
    theta: Theta = None, gravity: Gravity = None,
) -> ConstrainedMotion:  # fmt: skip
    """Formula of `constrained_dynamics`; NaN where conditions depend on each other."""
    A = constraint_jacobian(arm, q, constraint)
    net = tau - inverse_dynamics(arm, q, qd, ca.SX.zeros(arm.n), theta=theta, gravity=gravity)
    wanted = wanted_acceleration(arm, q, qd, constraint, A, stabilisation)
    qdd, multipliers = solve_constrained(mass_matrix(arm, q, theta=theta), net, A, wanted)
    return ConstrainedMotion(qdd, multipliers, ca.mtimes(A.T, multipliers))


def constrained_dynamics(
    arm: Arm, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, constraint: Constraint, stabilisation: float = 0.0,
    **data: Any,
) -> ConstrainedMotion:  # fmt: skip
    """Joint accelerations under torques and a constraint, and the forces with which the constraint is kept.

    Solves M qdd + h = tau + A' lambda together with the constraint's second derivative. The rigid arm only, as
    `forward_dynamics`; `Plant(arm, constraint=...)` adds friction and drives. Conditions hold in both directions: a
    multiplier below zero means that a pen would be pulled onto its table.

    Parameters
    ----------
    arm : Arm
    q, qd, tau : array_like, shape (..., n)
        Joint positions, velocities and torques. Position and velocity should keep the constraint: see
        `onto_constraint`.
    constraint : Constraint
        Such as `on_plane(point, normal)`, `on_hinge(pose, point, axis)`, or conditions of your own.
    stabilisation : float
        Rate at which errors of the constraint fade [1/s]; 0: they grow as integration lets them.
    **data
        `theta`, `gravity`, `out` and `threads`, as of `forward_dynamics`.

    Returns
    -------
    ConstrainedMotion
        `qdd` (..., n), `multipliers` (..., m) and `tau_constraint` (..., n), the joint torques A' lambda.

    Raises
    ------
    ConstraintError
        If conditions contradict or repeat each other, or the arm cannot move against one of them.

    References
    ----------
    ECE470 (2019), section 2.1; Baumgarte (1972), Computer Methods in Applied Mechanics and Engineering 1.
    """
    check_constraint(constraint)
    motion = constrained_motion(arm, q, qd, tau, constraint, float(stabilisation), **data)
    if isinstance(motion.qdd, np.ndarray) and np.isnan(motion.multipliers).any():
        require_independent(arm, q, constraint)
    return motion


constrained_dynamics.traced = constrained_motion.traced  # type: ignore[attr-defined]


@traced(returns={"tau": "n"})
def constrained_torque(
    arm: Arm, q: Q, qd: Qd, qdd: Qdd, multipliers: Annotated[Any, "constraint"], constraint: Constraint, *,
    theta: Theta = None, gravity: Gravity = None,
) -> Array:  # fmt: skip
    """Torques that move an arm by `qdd` while the constraint exerts `multipliers`.

    tau = M qdd + h - A' lambda. Of motions that keep the constraint any multipliers can be chosen: the force with
    which a pen is pressed onto its table.
    """
    A = constraint_jacobian(arm, q, constraint)
    return inverse_dynamics(arm, q, qd, qdd, theta=theta, gravity=gravity) - ca.mtimes(A.T, multipliers)


def onto_constraint(
    arm: Arm, q: ArrayLike, constraint: Constraint, qd: ArrayLike | None = None
) -> NDArray | tuple[NDArray, NDArray]:
    """Joint positions near q, and velocities near qd, that keep a constraint.

    Parameters
    ----------
    arm : Arm
    q, qd : array_like, shape (n,)
    constraint : Constraint

    Returns
    -------
    q, or (q, qd)
        By Newton's steps of least kinetic energy for positions; for velocities the projection along M^-1 A'.

    Raises
    ------
    ConstraintError
        If no position near q keeps the constraint, or conditions depend on each other.
    """
    check_constraint(constraint)
    x = finite_array(q, (arm.n,), "onto_constraint: q").astype(float)
    for _ in range(MAX_ITERATIONS):
        residual = constraint_residual(arm, x, constraint)
        if np.abs(residual).max() <= SOLUTION_ERROR:
            break
        x = x - _least_step(arm, x, constraint, residual)
    else:
        raise ConstraintError(
            f"no position of arm '{arm.name}' near the one given keeps the constraint (residual "
            f"{np.abs(residual).max():.3g})",
            where="onto_constraint",
            remedy="start nearer, or move the constraint into the arm's reach",
        )
    if qd is None:
        return x
    v = finite_array(qd, (arm.n,), "onto_constraint: qd").astype(float)
    return x, v - _least_step(arm, x, constraint, constraint_jacobian(arm, x, constraint) @ v)


def _least_step(arm: Arm, q: NDArray, constraint: Constraint, error: NDArray) -> NDArray:
    """M^-1 A' (A M^-1 A')^-1 error."""
    A = constraint_jacobian(arm, q, constraint)
    weighted = np.linalg.solve(mass_matrix(arm, q), A.T)
    mobility = A @ weighted
    scale = np.sqrt(np.diag(mobility))
    if not (scale > 0).all() or np.linalg.cond(mobility / np.outer(scale, scale)) > 1 / SOLUTION_ERROR:
        require_independent(arm, q, constraint)
    return np.asarray(weighted @ np.linalg.solve(mobility, error))


def check_start(arm: Arm, constraint: Constraint, q: NDArray, qd: NDArray) -> None:
    """Raise where a run would begin off its constraint: positions and velocities (..., n)."""
    require_independent(arm, q, constraint)
    gap = np.abs(constraint_residual(arm, q, constraint)).max()
    speed = np.abs(np.einsum("...mn,...n->...m", constraint_jacobian(arm, q, constraint), qd)).max()
    if max(gap, speed) > FIVE_DIGITS:
        cause = f"the start is off the constraint by {gap:.3g} (m or rad) and leaves it at {speed:.3g} (m/s or rad/s)"
        raise ConstraintError(cause, where="simulate", remedy="start at onto_constraint(arm, q0, constraint, qd0)")


def require_independent(arm: Arm, q: ArrayLike, constraint: Constraint) -> None:
    """Raise, with the conditions concerned, where some depend on each other at one of the positions q (..., n)."""
    rows = np.reshape(np.asarray(q, float), (-1, arm.n))
    for position in rows[np.isfinite(rows).all(-1)]:
        A, residual = constraint_jacobian(arm, position, constraint), constraint_residual(arm, position, constraint)
        U, s, _ = np.linalg.svd(A)
        rank = int((s > NEGLIGIBLE * max(s.max(initial=0.0), 1.0)).sum())
        if rank == len(constraint):
            continue
        # A combination y of the conditions that no motion changes: y' A = 0.
        null = U[:, rank:]
        involved = np.flatnonzero(np.abs(null).max(1) > NEGLIGIBLE**0.5)
        gap = float(np.abs(null.T @ residual).max())
        raise ConstraintError(*_explanation(arm, constraint, A, involved, gap))


def _explanation(
    arm: Arm, constraint: Constraint, A: NDArray, involved: NDArray, gap: float
) -> tuple[str, str, tuple[int, ...]]:
    """The sentence, the reason in a word, and the conditions concerned."""
    names = tuple(int(i) for i in involved)
    listed = ", ".join(f"{i + 1} ({type(constraint.conditions[i]).__name__})" for i in names)
    if len(names) == 1:
        text = f"arm '{arm.name}' cannot move its frame against condition {listed} here"
        return f"{text}; leave the singular position, or leave the condition out", "singular", names
    if gap > NEGLIGIBLE**0.5:
        text = f"conditions {listed} contradict each other: motion that serves one leaves the other off by {gap:.3g}"
        return f"{text}; correct or leave out one of them", "conflicting", names
    if len(constraint) > arm.n:
        text = f"{len(constraint)} conditions are more than the {arm.n} joints of arm '{arm.name}' can keep"
        return f"{text}; leave out at least {len(constraint) - arm.n} of {listed}", "redundant", names
    text = f"conditions {listed} are redundant here: one follows from the others, so their forces are not determined"
    return f"{text}; leave one of them out", "redundant", names
