"""The arm linearised about a motion, dx/dt = A(t) x + B(t) u, and how that changes with its inertial parameters."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.dynamics.bodies.ltdl import factorize
from armdyn.dynamics.linear.checks import check_floats, check_state
from armdyn.dynamics.linear.discretize import Discrete, discretize
from armdyn.dynamics.linear.full_derivatives import Balance, joint_terms
from armdyn.dynamics.linear.torque_derivatives import torque_derivatives
from armdyn.dynamics.movable import require_movable_with_rotors
from armdyn.errors import ShapeError
from armdyn.model.arm import Arm
from armdyn.model.quantities import BaseMotion, DriveData, FrictionData, Gravity, Q, Qd, Qdd, Theta, TipWrench
from armdyn.presentation import draw_figure
from armdyn.spatial.inertia import SIZE, Inertia
from armdyn.trace.formula import Array, Matrix, Symbol, ca, traced

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def state_matrices(balance: Balance) -> tuple[Symbol, Symbol]:
    """A and B of the state [q; qd], Eindhoven (68) with erratum 9."""
    n = balance.M.shape[0]
    zero, inverse = ca.SX.zeros(n, n), factorize(balance.M).inverse()
    by_q, by_qd = -ca.mtimes(inverse, balance.K), -ca.mtimes(inverse, balance.C)
    A = ca.blockcat([[zero, ca.SX.eye(n)], [by_q, by_qd]])
    return A, ca.vertcat(zero, ca.mtimes(inverse, balance.inverse_gain))


class Linearize(NamedTuple):
    """Result of `linearize`."""

    M: Matrix
    C: Matrix
    K: Matrix
    A: Annotated[Array, "2*n, 2*n"]
    B: Annotated[Array, "2*n, n"]


@traced(check=require_movable_with_rotors)
def linearize(
    arm: Arm, q: Q, qd: Qd, qdd: Qdd, wrench: TipWrench = None, base_motion: BaseMotion = None,
    model: str = "rigid", width: float = 0.0, *,
    theta: Theta = None, gravity: Gravity = None, friction: FrictionData = None, drive: DriveData = None,
) -> Linearize:  # fmt: skip
    """Matrices of the arm's small deviations from the motion q, qd, qdd.

    dtau = M dqdd + C dqd + K dq, and with the state x = [dq; dqd] and u = dtau: dx/dt = A x + B u.

    Parameters
    ----------
    q, qd, qdd
        Joint positions, velocities, accelerations of the motion [rad or m, /s, /s²].
    wrench
        [force, moment] exerted ON the arm at the tip, in tip axes, and constant there [N, N m].
    model : {"rigid", "full"}
        The links alone (`inverse_dynamics`), or with friction, rotors, damping and springs (`joint_torque`).
    width : float
        Smoothing width of the full model's friction: zero for the exact sign of the velocity, whose slope is zero but
        at reversals; else the width of tanh(qd / width) in its place [rad/s or m/s].

    Returns
    -------
    M, C, K
        Derivatives of the torques with respect to qdd, qd and q.
    A
        [[0, 1], [-M^-1 K, -M^-1 C]].
    B
        [[0], [M^-1]].

    Raises
    ------
    ModelError
        If neither a link nor a rotor resists some joint; see `massless_joints`. If only a rotor does, the
        rigid model's A and B are infinite or NaN.

    References
    ----------
    Eindhoven (1987), equations (64)-(68) and (69)-(110) with errata 4-7 and 9.

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> state = armdyn.linearize(arm, [0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
    >>> state.A.shape, state.B.shape
    ((4, 4), (4, 2))
    """
    joints = joint_terms(arm, model, "linearize", q, qd, qdd, width, friction, drive)
    rigid = torque_derivatives(arm, q, qd, qdd, wrench, base_motion, theta=theta, gravity=gravity)
    balance = joints.balance(rigid)
    return Linearize(*balance.matrices, *state_matrices(balance))


def unit_payload(arm: Arm, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike | None = None) -> NDArray:
    """The change of `arm.theta` per kilogram of payload.

    Parameters
    ----------
    arm : Arm
    com : array_like, shape (3,), optional
        Centre of the payload in the tip frame [m].
    inertia : array_like, shape (3, 3), optional
        Its tensor about the centre per kilogram [m²]; left out for a point mass.

    Returns
    -------
    direction : ndarray, shape (10 n,)
        For `linearize_sensitivity`, or to be multiplied by the torque regressor.
    """
    direction = np.zeros(SIZE * arm.n)
    direction[-SIZE:] = Inertia.from_com(1.0, com, inertia).moved(arm.tool_pose).theta
    return direction


class LinearizeSensitivity(NamedTuple):
    """Result of `linearize_sensitivity`."""

    dM: Matrix
    dC: Matrix
    dK: Matrix
    dA: Annotated[Array, "2*n, 2*n"]
    dB: Annotated[Array, "2*n, n"]


@traced(check=require_movable_with_rotors)
def linearize_sensitivity(
    arm: Arm, q: Q, qd: Qd, qdd: Qdd, direction: Annotated[Any, "10*joints"], wrench: TipWrench = None,
    base_motion: BaseMotion = None, model: str = "rigid", width: float = 0.0, *,
    theta: Theta = None, gravity: Gravity = None, friction: FrictionData = None, drive: DriveData = None,
) -> LinearizeSensitivity:  # fmt: skip
    """Derivatives of the results of `linearize`, along a direction of `theta`.

    The motion q, qd, qdd is kept; the rigid arm's torques along it change by `regressor(...) @ direction`.

    Parameters
    ----------
    q, qd, qdd
        Joint positions, velocities, accelerations of the motion [rad or m, /s, /s²].
    direction
        Change of the inertial parameters, such as `unit_payload(arm)`.
    wrench
        [force, moment] exerted ON the arm at the tip, in tip axes, and constant there [N, N m].
    model, width, theta, gravity, friction, drive
        As in `linearize`.
    """
    n, state = arm.n, (q, qd, qdd)
    joints = joint_terms(arm, model, "linearize_sensitivity", *state, width, friction, drive)
    rigid = torque_derivatives(arm, *state, wrench, base_motion, theta=theta, gravity=gravity)
    # The rigid arm's torques are linear in theta but for the wrench, which does not depend on theta.
    slope = torque_derivatives(arm, *state, None, base_motion, theta=direction, gravity=gravity)
    balance, change = joints.balance(rigid), joints.change(rigid, slope)
    M, C, K = balance.M, balance.C, balance.K
    inverse = factorize(M).inverse()
    # d(M^-1 X) = M^-1 (dX - dM M^-1 X)
    turn = ca.mtimes(inverse, change.M)
    by_q, by_qd = (
        ca.mtimes(turn, ca.mtimes(inverse, X)) - ca.mtimes(inverse, dX) for X, dX in ((K, change.K), (C, change.C))
    )
    dA = ca.vertcat(ca.SX.zeros(n, 2 * n), ca.horzcat(by_q, by_qd))
    by_tau = -ca.mtimes(turn, ca.mtimes(inverse, balance.inverse_gain))
    return LinearizeSensitivity(*change.matrices, dA, ca.vertcat(ca.SX.zeros(n, n), by_tau))


@dataclass(frozen=True, eq=False)
class LinearMotion:
    """A motion and its linear model: dtau = M dqdd + C dqd + K dq, dx/dt = A x + B u, sample by sample."""

    arm: Arm
    t: NDArray  # (N,) [s]
    q: NDArray  # (N, n)
    qd: NDArray
    qdd: NDArray
    M: NDArray  # (N, n, n)
    C: NDArray
    K: NDArray
    A: NDArray  # (N, 2 n, 2 n)
    B: NDArray  # (N, 2 n, n)

    def discretize(self, method: str = "zoh") -> Discrete:
        """Steps from every sample to the next, A and B held over the step: arrays of N - 1 matrices."""
        return discretize(self.A[:-1], self.B[:-1], np.diff(self.t), method)

    def plot(self, horizon: float = 0.1, path: str | os.PathLike[str] | None = None) -> Figure:
        """Modes along the motion, written to `path` if one is given (.png, .svg, .pdf); see `plot_modes`."""
        return draw_figure(self, path, horizon=horizon)


def linearize_motion(
    arm: Arm, t: ArrayLike, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, **options: Any
) -> LinearMotion:
    """Linearise the arm about every sample of a motion.

    Parameters
    ----------
    arm : Arm
    t : array_like, shape (N,)
        Increasing times [s].
    q, qd, qdd : array_like, shape (N, n)
        Joint positions, velocities, accelerations [rad or m, /s, /s²].
    **options
        What `linearize` takes besides: `wrench`, `base_motion`, `model`, ...

    Returns
    -------
    LinearMotion

    Raises
    ------
    ShapeError
        If shapes do not fit, or at the first sample that is not finite or not later than the one before.
    """
    where = "linearize_motion"
    t = check_floats(t, where, "t", 0)
    if t.ndim != 1 or len(t) < 2:
        raise ShapeError(where=where, expected="t of shape (N,) with at least two samples", got=t.shape)
    if (late := np.diff(t) <= 0).any():
        k = int(np.argmax(late))
        expected = f"increasing times, but t[{k + 1}] = {t[k + 1]:g} after t[{k}] = {t[k]:g}"
        raise ShapeError(where=where, expected=expected)
    state = check_state(arm, where, (len(t),), q=q, qd=qd, qdd=qdd)
    return LinearMotion(arm, t, *state, **linearize(arm, *state, **options)._asdict())
