"""Predictive control about a motion: at every sample the best torques within limits over a horizon, by a QP."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.formula import Arm, Reference
from armdyn.control.laws.model import FRICTION_WIDTH
from armdyn.control.settings import as_numbers, joint_numbers, one_number
from armdyn.control.theory.gains import bryson
from armdyn.control.theory.riccati import finite_horizon_lqr
from armdyn.dynamics.full import joint_torque
from armdyn.dynamics.linear.discretize import discretize
from armdyn.dynamics.linear.linearize import linearize
from armdyn.errors import ArmdynWarning, expect, import_extra
from armdyn.trajectory.protocol import JointMotion, Trajectory

# DAQP's sign of an optimal solution, and its marks of bounds that hold and of those that may yield.
OPTIMAL, HARD, SOFT = 1, 0, 8
# Stands for bounds that are not there.
FAR = 1e30


class Problem(NamedTuple):
    """Minimise du' H du / 2 + f' du, bounds on du (N n,) and on G du (N n + n,): positions, and where braking ends."""

    H: NDArray
    f: NDArray
    G: NDArray
    lower: NDArray  # (2 N n + n,): of du, then of G du
    upper: NDArray
    end: tuple[NDArray, NDArray]  # velocities after the horizon (n,) without du, and what du adds to them (n, N n)


class PredictiveControl:
    """Linear time-varying predictive control: a controller for `simulate`, one QP per sample.

    The arm, rotors, motor damping and viscous friction included, is linearised along the motion, x(k + 1) = A(k) x(k) +
    B(k) du(k), x being the errors and du the torques besides those of the motion. Over `horizon` periods the sum of
    x' Q x + du' R du, and then what Riccati's equation says of the rest of the motion, is least, while torques and
    positions stay within limits. Where no limit acts these are exactly the torques of the finite-horizon regulator.

    Limits of position also hold where joints that brake with all torque left would come to rest after the horizon:
    q + qd² / (2 a) <= upper, a = (effort - nominal) / inertia, by its tangent at the velocity that the last sample
    predicted. Where no torques keep the limits of position (an arm beyond them, or too fast for its drives), those are
    taken that exceed them least, which is said in `notes`, and by a warning at the first time.

    Parameters
    ----------
    arm : Arm
        The model.
    reference : Trajectory
        The motion, also given to `simulate`.
    rate : float
        Rate of the controller [Hz].
    error : array_like, shape (2 n,)
        Largest errors of positions and velocities, as in `bryson`.
    torque : array_like, shape (n,)
        Largest corrections.
    horizon : int
        Periods.
    effort : array_like, shape (n,), optional
        Limits of torque; default the arm's.
    position : tuple of array_like, optional
        Lower and upper limits (n,) each; default the arm's.

    References
    ----------
    Rawlings, Mayne and Diehl (2017), Model predictive control, sections 1.3 and 2.5; Arnstrom, Bemporad and Axehill
    (2022), A dual active-set solver for embedded quadratic programming (DAQP).
    """

    def __init__(
        self, arm: Arm, reference: Trajectory, rate: float, error: ArrayLike, torque: ArrayLike, horizon: int = 20, *,
        effort: ArrayLike | None = None, position: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> None:  # fmt: skip
        self.solve = import_extra(
            "daqp", "PredictiveControl solves its QP with DAQP, which is not installed", "mpc"
        ).solve
        self.arm, self.rate = arm, one_number(rate, "PredictiveControl", "a rate > 0 in Hz")
        expect(isinstance(horizon, int) and horizon >= 1, "PredictiveControl: horizon", "an integer > 0", horizon)
        self.horizon = horizon
        effort = arm.effort_limits if effort is None else effort
        self.effort = joint_numbers(effort, arm.n, "PredictiveControl: effort", "finite torques > 0")
        lower, upper = arm.position_limits if position is None else position
        self.lower, self.upper = (
            np.broadcast_to(as_numbers(x, "PredictiveControl: position"), arm.n) for x in (lower, upper)
        )
        self.Q = bryson(joint_numbers(error, 2 * arm.n, "PredictiveControl: error", "numbers > 0"))
        self.R = bryson(joint_numbers(torque, arm.n, "PredictiveControl: torque", "torques > 0"))
        self._along(reference)
        self.notes: list[str] = []
        self._end_velocity = np.zeros(arm.n)

    def _along(self, reference: Trajectory) -> None:
        """The motion, its torques and its linear models, to the end and a horizon of rest beyond."""
        count = round(reference.duration * self.rate) + 1
        t = np.minimum(np.arange(count + self.horizon) / self.rate, reference.duration)
        q, qd, qdd = (np.asarray(x) for x in reference(t))
        rest = np.arange(len(t)) >= count
        qd, qdd = (np.where(rest[:, None], 0.0, x) for x in (qd, qdd))
        self.motion = JointMotion(q, qd, qdd)
        self.nominal = np.asarray(joint_torque(self.arm, q, qd, qdd, width=FRICTION_WIDTH))
        linear = linearize(self.arm, q, qd, qdd, model="full")
        self.A, self.B = discretize(linear.A, linear.B, 1 / self.rate)
        # Decelerations that are left besides the motion's torques.
        inertia = np.diagonal(linear.M, axis1=-2, axis2=-1)
        self.braking = np.maximum(self.effort - np.abs(self.nominal), 0.0) / inertia
        self.regulator = finite_horizon_lqr(self.A, self.B, self.Q, self.R)

    def problem(self, k: int, x: NDArray) -> Problem:
        """The QP of sample k at errors x = [q - q_ref, qd - qd_ref]."""
        n, N = self.arm.n, min(self.horizon, len(self.A) - k)
        free, forced = np.empty((N, 2 * n)), np.zeros((N, 2 * n, N, n))
        for j in range(N):
            A, B = self.A[k + j], self.B[k + j]
            free[j] = A @ (x if j == 0 else free[j - 1])
            if j:
                forced[j, :, :j] = np.einsum("ab,bkn->akn", A, forced[j - 1, :, :j])
            forced[j, :, j] = B
        G = forced.reshape(N * 2 * n, N * n)
        cost = np.zeros((N, 2 * n, 2 * n))
        cost[:-1], cost[-1] = self.Q, self.regulator.P[k + N]
        weighted = np.einsum("jab,jbm->jam", cost, G.reshape(N, 2 * n, -1)).reshape(G.shape)
        H = G.T @ weighted + np.kron(np.eye(N), self.R)
        q = self.motion.q[np.minimum(k + 1 + np.arange(N), len(self.motion.q) - 1)]
        ahead, tau = q + free[:, :n], self.nominal[k : k + N]
        last = min(k + N, len(self.motion.q) - 1)
        end = self.motion.qd[last] + free[-1, n:], forced[-1, n:].reshape(n, N * n)
        rows, low, high = self._brakes(self.braking[last], ahead[-1], forced[-1, :n].reshape(n, N * n), *end)
        return Problem(
            (H + H.T) / 2, weighted.T @ free.ravel(), np.vstack([forced[:, :n].reshape(N * n, N * n), rows]),
            np.concatenate([(-self.effort - tau).ravel(), (self.lower - ahead).ravel(), low]),
            np.concatenate([(self.effort - tau).ravel(), (self.upper - ahead).ravel(), high]), end,
        )  # fmt: skip

    def _brakes(
        self, braking: NDArray, q: NDArray, q_by_du: NDArray, qd: NDArray, qd_by_du: NDArray
    ) -> tuple[NDArray, NDArray, NDArray]:
        """Rows and bounds of du for q +- qd² / (2 braking) within limits, tangents at the velocity predicted before."""
        speed, can = self._end_velocity, braking > 0
        time = np.where(can, np.abs(speed), 0.0) / np.where(can, braking, 1.0)
        beyond, at = time * np.abs(speed) / 2, q + time * qd
        low = np.where(can & (speed < 0), self.lower - beyond - at, -FAR)
        high = np.where(can & (speed > 0), self.upper + beyond - at, FAR)
        return q_by_du + time[:, None] * qd_by_du, low, high

    def __call__(self, t: float, q: NDArray, qd: NDArray, ref: Reference) -> NDArray:
        """Torques (n,) at one sample."""
        k = min(round(t * self.rate), len(self.A) - self.horizon)
        x = np.concatenate([q - self.motion.q[k], qd - self.motion.qd[k]])
        H, f, G, lower, upper, (end, end_by_du) = self.problem(k, x)
        bounds, sense = (np.minimum(upper, FAR), np.maximum(lower, -FAR)), np.full(len(upper), HARD, np.int32)
        du, _, flag, _ = self.solve(H, f, G, *bounds, sense)
        if flag != OPTIMAL:
            self._say(
                f"no torques keep the limits of position at t = {t:.4g} s; those that exceed them least are taken"
            )
            sense[len(f) :] = SOFT
            du, _, flag, _ = self.solve(H, f, G, *bounds, sense)
        self._end_velocity = end + end_by_du @ du
        return np.clip(self.nominal[k] + du[: self.arm.n], -self.effort, self.effort)

    def _say(self, what: str) -> None:
        if not self.notes:
            warnings.warn(f"PredictiveControl: {what}", ArmdynWarning, stacklevel=3)
        self.notes.append(what)
