"""PID gains that are optimal for the arm as a whole, though each joint is controlled by itself."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.settings import joint_numbers, one_number
from armdyn.control.theory.gains import bryson, pd_gains
from armdyn.control.theory.riccati import continuous_lqr
from armdyn.dynamics.linear.linearize import linearize
from armdyn.errors import ArmdynError
from armdyn.model.arm import Arm
from armdyn.trajectory.protocol import JointMotion

# Bandwidths [Hz] of starts that are tried where the optimal regulator's own diagonal is not stable.
START_FACTORS = (1.0, 3.0, 10.0)
# What an unstable loop costs, over the cost of the start: a wall that the search turns back from.
UNSTABLE_COST = 1e6


class PidDesign(NamedTuple):
    """Gains (n,) for `pid(arm, kp, ki, kd)`; `bound` is the cost of the best regulator that couples all joints."""

    kp: NDArray
    ki: NDArray
    kd: NDArray
    cost: float
    bound: float


def optimal_pid(
    arm: Arm,
    motion: JointMotion,
    largest_error: ArrayLike,
    largest_torque: ArrayLike,
    time: float = 0.2,
    model: str = "full",
) -> PidDesign:
    """PID gains that minimise a quadratic cost of the linearised error, over the poses of a motion.

        J = mean over poses and starts of the integral of z' Q z + u' R u,   z = [integral of e, e, e']

    Q and R by Bryson's rule: an error costs as much at its largest value as a torque at its own, an integral as much
    if that error has lasted for `time`, a velocity as much if it makes that error in `time`. Starts are errors of the
    largest size in each joint. The gains of a joint see that joint alone, but the cost is the coupled arm's. The design
    is for continuous time: the rate must be well above 1 / time.

    Parameters
    ----------
    arm : Arm
        The model, such as an identified one.
    motion : JointMotion
        Samples (T, n) about which errors are linearised; a handful is enough.
    largest_error : array_like, shape (n,)
        [rad or m]
    largest_torque : array_like, shape (n,)
        Largest torque of corrections [N m or N].
    time : float
        Time constant in which errors shall decay [s].
    model : {"full", "rigid"}
        Whether friction and drives are part of the model.

    Returns
    -------
    PidDesign

    Raises
    ------
    ArmdynError
        If no stable start is found.

    References
    ----------
    Kapadia, section 6.3.1; Levine and Athans (1970), On the determination of the optimal constant output feedback
    gains, for the gradient.
    """
    from scipy.optimize import minimize

    n = arm.n
    error = joint_numbers(largest_error, n, "optimal_pid: largest_error", "errors > 0")
    torque = joint_numbers(largest_torque, n, "optimal_pid: largest_torque", "torques > 0")
    time = one_number(time, "optimal_pid", "a time > 0 in seconds")
    Q = bryson(np.concatenate([error * time, error, error / time]))
    R, spread = bryson(torque), np.diag(np.concatenate([np.zeros(n), error**2, np.zeros(n)]))
    A, B = _augment(arm, motion, model)
    best = continuous_lqr(A, B, Q, R)
    bound = float(np.einsum("tij,ji->t", best.P, spread).mean())
    problem = _Cost(A, B, Q, R, spread)
    start = _start(problem, arm, motion, best.K.mean(0))
    problem.wall = UNSTABLE_COST * problem(start)[0]
    optimum = minimize(problem, start, jac=True, method="L-BFGS-B", options={"maxiter": 500, "ftol": 1e-12})
    ki, kp, kd = np.exp(optimum.x).reshape(3, n)
    return PidDesign(kp, ki, kd, float(optimum.fun), bound)


def _augment(arm: Arm, motion: JointMotion, model: str) -> tuple[NDArray, NDArray]:
    """A (T, 3 n, 3 n), B (T, 3 n, n) of the errors with their integrals first."""
    linear, n = linearize(arm, *motion, model=model), arm.n
    A = np.zeros((len(linear.A), 3 * n, 3 * n))
    A[:, :n, n : 2 * n] = np.eye(n)
    A[:, n:, n:] = linear.A
    return A, np.concatenate([np.zeros_like(linear.B[:, :n]), linear.B], axis=1)


def _start(problem: _Cost, arm: Arm, motion: JointMotion, K: NDArray) -> NDArray:
    """Logarithms of stable gains: the diagonals of the optimal regulator, or gains from a bandwidth."""
    n = arm.n
    diagonals = [np.diagonal(K[:, k * n : (k + 1) * n]) for k in range(3)]
    tried = [np.concatenate(diagonals)] if all((x > 0).all() for x in diagonals) else []
    for bandwidth in START_FACTORS:
        kp, kd, _ = pd_gains(arm, motion.q[len(motion.q) // 2], bandwidth)
        tried.append(np.concatenate([kp * bandwidth / 2, kp, kd]))
    for gains in tried:
        if np.isfinite(problem(np.log(gains))[0]):
            return np.log(gains)
    remedy = "is the motion slow enough for PID control?"
    raise ArmdynError("found no stable gains to start from", where="optimal_pid", remedy=remedy)


class _Cost:
    """Cost of decoupled gains, and its gradient by their logarithms."""

    def __init__(self, A: NDArray, B: NDArray, Q: NDArray, R: NDArray, spread: NDArray) -> None:
        self.A, self.B, self.Q, self.R, self.spread, self.wall = A, B, Q, R, spread, np.inf

    def __call__(self, x: NDArray) -> tuple[float, NDArray]:
        from scipy.linalg import solve_continuous_lyapunov as lyapunov

        n = self.B.shape[-1]
        K = np.concatenate([np.diag(g) for g in np.exp(x).reshape(3, n)], axis=1)
        cost, gradient = 0.0, np.zeros_like(x)
        closed = self.A - self.B @ K
        if np.linalg.eigvals(closed).real.max() >= 0:
            return self.wall, gradient
        for F, B in zip(closed, self.B, strict=True):
            P = lyapunov(F.T, -(self.Q + K.T @ self.R @ K))
            L = lyapunov(F, -self.spread)
            slope = 2 * (self.R @ K - B.T @ P) @ L  # dJ/dK
            cost += float(np.trace(P @ self.spread))
            gradient += np.concatenate([np.diagonal(slope[:, k * n : (k + 1) * n]) for k in range(3)])
        return cost / len(closed), gradient * np.exp(x) / len(closed)
