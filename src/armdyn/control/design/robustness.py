"""What a regulator about a trajectory bears: closed-loop eigenvalues of arms that are not its model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.laws.lqr import TrajectoryLQR
from armdyn.control.settings import as_numbers, one_number
from armdyn.dynamics.linear.discretize import discretize
from armdyn.dynamics.linear.linearize import linearize
from armdyn.errors import expect
from armdyn.model.arm import Arm
from armdyn.trajectory.protocol import JointMotion

# Relative accuracy of the payload at which a regulator loses stability.
PAYLOAD_ACCURACY = 0.01


class Robustness(NamedTuple):
    """Closed loops frozen at the samples of a motion; a radius below 1 means that small errors die away."""

    eigenvalues: NDArray  # (T, 2 n or 3 n with lag) of the nominal arm, one period per step
    payloads: NDArray  # (p,) [kg]
    radius: NDArray  # (p,) largest magnitude of an eigenvalue over the motion, at each payload
    unstable_payload: float  # least payload at which the radius reaches 1 [kg]; infinite beyond the largest tried

    def __str__(self) -> str:
        nominal = np.abs(self.eigenvalues).max()
        limit = f"{self.unstable_payload:.3g} kg" if np.isfinite(self.unstable_payload) else "no payload tried"
        rows = "\n".join(f"  {m:8.3g} kg  {r:.4f}" for m, r in zip(self.payloads, self.radius, strict=True))
        return f"largest eigenvalue {nominal:.4f}; unstable from {limit}\n  payload   largest eigenvalue\n{rows}"


def closed_loop(law: TrajectoryLQR, true: Arm, motion: JointMotion, motor_lag: float = 0.0) -> NDArray:
    """Closed-loop matrices (T, k, k) over one period of the true arm, frozen at each sample, under a law's gains.

    The state is [q, qd] errors, with drives that lag [.., tau] too. Friction slides: its slope damps, its dry part is a
    constant force. Errors that the wrong nominal torques leave (the sag under a load) are not looked at.

    Parameters
    ----------
    law : TrajectoryLQR
    true : Arm
        The arm as it is.
    motion : JointMotion
        Samples (T, n) of the reference, one period of the law apart.
    motor_lag : float
        Time constant of the drives [s].
    """
    _check(law)
    motor_lag = one_number(motor_lag, "closed_loop", "a motor lag >= 0 in seconds", zero=True)
    n, K = law.arm.n, law.gains(*motion)
    linear = linearize(true, *motion, model=law.model)
    A, B = linear.A, linear.B
    K = np.broadcast_to(K, (len(A), n, 2 * n))
    if motor_lag > 0:
        # d tau/dt = (u - tau) / lag.
        k = 3 * n
        lagged, drives = np.zeros((len(A), k, k)), np.zeros((len(A), k, n))
        lagged[:, : 2 * n, : 2 * n], lagged[:, : 2 * n, 2 * n :] = A, B
        lagged[:, 2 * n :, 2 * n :] = -np.eye(n) / motor_lag
        drives[:, 2 * n :] = np.eye(n) / motor_lag
        A, B, K = lagged, drives, np.concatenate([K, np.zeros((len(A), n, n))], -1)
    Ad, Bd = discretize(A, B, 1 / law.rate)
    return Ad - Bd @ K


def robustness(
    law: TrajectoryLQR, motion: JointMotion, payloads: ArrayLike, friction: float = 1.0, motor_lag: float = 0.0
) -> Robustness:
    """Return how a regulator's closed loop reacts to payloads that its model lacks.

    Parameters
    ----------
    law : TrajectoryLQR
    motion : JointMotion
        Samples (T, n) of the reference, one period of the law apart.
    payloads : array_like, shape (p,)
        Masses at the tip [kg], rising; beyond the last no limit is sought.
    friction : float
        True viscous friction over the model's.
    motor_lag : float
        Time constant of the true drives [s].
    """
    _check(law)
    masses = np.atleast_1d(as_numbers(payloads, "robustness", "rising payloads >= 0 in kg"))
    rising = masses.ndim == 1 and len(masses) > 0 and masses[0] >= 0 and bool((np.diff(masses) > 0).all())
    expect(rising and np.isfinite(masses).all(), "robustness", "rising payloads >= 0 in kg", payloads)
    friction = one_number(friction, "robustness", "friction >= 0", zero=True)

    def eigenvalues(mass: float) -> NDArray:
        true = law.arm.with_payload(mass) if mass else law.arm
        return np.linalg.eigvals(closed_loop(law, _with_friction(true, friction), motion, motor_lag))

    def radius(mass: float) -> float:
        return float(np.abs(eigenvalues(mass)).max())

    radii = np.array([radius(mass) for mass in masses])
    return Robustness(eigenvalues(0.0), masses, radii, _crossing(radius, masses, radii))


def _check(law: TrajectoryLQR) -> None:
    expect(isinstance(law, TrajectoryLQR), "closed_loop", "a TrajectoryLQR", law)


def _crossing(radius: Callable[[float], float], masses: NDArray, radii: NDArray) -> float:
    """The least payload with a radius of 1, by bisection between those tried."""
    bad = np.nonzero(radii >= 1)[0]
    if not len(bad):
        return np.inf
    if bad[0] == 0:
        return float(masses[0])
    low, high = masses[bad[0] - 1], masses[bad[0]]
    while high - low > PAYLOAD_ACCURACY * high:
        middle = (low + high) / 2
        low, high = (low, middle) if radius(middle) >= 1 else (middle, high)
    return float(high)


def _with_friction(arm: Arm, factor: float) -> Arm:
    return arm.with_joints(
        [replace(j, friction=replace(j.friction, viscous=factor * j.friction.viscous)) for j in arm.joints]
    )
