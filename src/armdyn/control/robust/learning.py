"""Iterative learning: what errors of one trial of a motion say about the torques of the next."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.formula import Answer, Arm, Law, Reference, traced_step
from armdyn.control.laws.wrapped import Wrapped
from armdyn.control.settings import as_numbers, one_number
from armdyn.control.theory.riccati import Regulator, finite_horizon_lqr
from armdyn.dynamics.linear.discretize import discretize
from armdyn.dynamics.linear.linearize import linearize
from armdyn.errors import ShapeError, expect
from armdyn.trajectory.protocol import JointMotion, Trajectory

# Step of central differences by which a law's feedback is computed [rad or m, /s]: rounding is as small as curvature.
DIFFERENCE_STEP = np.cbrt(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class Learnt(Wrapped):
    """Any law with torques added that were learnt for one motion, sample by sample; zero after its end.

    Parameters
    ----------
    law : Law
    torque : array_like, shape (T, n)
        [N m or N]
    rate : float
        Rate of the controller [Hz].
    """

    law: Law
    torque: ArrayLike
    rate: float

    def __post_init__(self) -> None:
        super().__post_init__()
        torque = as_numbers(self.torque, "Learnt: torque")
        fits = torque.ndim == 2 and torque.shape[1] == self.arm.n and np.isfinite(torque).all()
        expect(fits, "Learnt: torque", f"finite numbers (T, {self.arm.n})", got=f"shape {torque.shape}")
        torque.flags.writeable = False
        object.__setattr__(self, "torque", torque)
        one_number(self.rate, "Learnt", "a rate > 0 in Hz")

    def channels(self, t: NDArray, motion: JointMotion) -> dict[str, NDArray]:
        """The inner law's, and the torques of the samples."""
        torque = np.asarray(self.torque)
        k = np.rint(np.asarray(t) * self.rate).astype(int)
        rows = np.where((k < len(torque))[:, None], torque[np.minimum(k, len(torque) - 1)], 0.0)
        return {**super().channels(t, motion), "learnt": rows}

    @traced_step
    def step(self, arm: Arm, params: Any, state: Any, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample."""
        tau, after = self.inner(params, state, q, qd, ref, dt)
        return tau + ref.channels["learnt"], after


@dataclass(frozen=True, eq=False)
class IterativeLearning:
    """Norm-optimal learning of a repeated motion, about the closed loop linearised along it.

    With e the errors of the last trial and G the map from added torques to positions, the next trial's added torques
    change by the du that minimises `|e - G du|² + |caution stiffness^-1 du|²`, `stiffness` being the law's own. Were
    the loop linear and G exact, every trial would take (1 + G G' stiffness² / caution²)^-1 of the error: a contraction,
    whatever its size. G is never formed: the minimum is that of a linear-quadratic tracking problem, solved by
    Riccati's equation along the motion.

    Parameters
    ----------
    law : Law
        The feedback law, without state; its arm is the model.
    reference : Trajectory
        The motion that is repeated, from the same start.
    rate : float
        Rate of the controller [Hz].
    caution : float
        Small: learns fast, and trusts the model up to higher frequencies.

    References
    ----------
    Amann, Owens and Rogers (1996), Iterative learning control using optimal feedback and feedforward actions; Bristow,
    Tharayil and Alleyne (2006), A survey of iterative learning control.
    """

    law: Law
    reference: Trajectory
    rate: float = 1000.0
    caution: float = 0.03
    regulator: Regulator = field(init=False, repr=False)
    loops: tuple[NDArray, NDArray] = field(init=False, repr=False)  # closed-loop A (N, 2n, 2n), B (N, 2n, n)
    weight: NDArray = field(init=False, repr=False)  # of torques, R (n, n)

    def __post_init__(self) -> None:
        stateless = isinstance(self.law, Law) and not self.law.init()
        expect(stateless, "IterativeLearning", "a control law without state", self.law)
        rate = one_number(self.rate, "IterativeLearning", "a rate > 0 in Hz")
        caution = one_number(self.caution, "IterativeLearning: caution", "a number > 0")
        t = np.arange(self.samples) / rate
        motion = JointMotion(*self.reference(t))
        n = self.law.arm.n
        K = feedback(self.law, t, motion)
        linear = linearize(self.law.arm, *motion)
        A, B = discretize(linear.A, linear.B, 1 / rate)
        A = (A - B @ K)[:-1]
        stiffness = np.diagonal(K[:, :, :n].mean(0))
        R = np.diag((caution / np.maximum(stiffness, 1e-9 * np.abs(stiffness).max())) ** 2)
        regulator = finite_horizon_lqr(A, B[:-1], self.errors_weight, R, self.errors_weight)
        for name, value in (("regulator", regulator), ("loops", (A, B[:-1])), ("weight", R)):
            object.__setattr__(self, name, value)

    @property
    def samples(self) -> int:
        """Samples of a trial, both ends included."""
        return round(self.reference.duration * self.rate) + 1

    @property
    def errors_weight(self) -> NDArray:
        """Positions count, velocities do not: (2n, 2n)."""
        n = self.law.arm.n
        return np.diag(np.concatenate([np.ones(n), np.zeros(n)]))

    def trial(self, torque: ArrayLike | None = None) -> Learnt:
        """The law of a trial; without torques that of the first."""
        return Learnt(self.law, np.zeros((self.samples, self.law.arm.n)) if torque is None else torque, self.rate)

    def improved(self, torque: ArrayLike, error: ArrayLike) -> NDArray:
        """Torques (T, n) of the next trial.

        Parameters
        ----------
        torque : array_like, shape (T, n)
            Those added in the last trial.
        error : array_like, shape (T, n)
            Its errors q_ref - q at the samples.
        """
        before, e = as_numbers(torque, "improved: torque"), as_numbers(error, "improved: error")
        shape = (self.samples, self.law.arm.n)
        if before.shape != shape or e.shape != shape or not np.isfinite(e).all():
            raise ShapeError(where="improved", expected=f"torques and finite errors of shape {shape}", got=e.shape)
        return before + np.concatenate([self.change(e), np.zeros((1, shape[1]))])

    def change(self, e: NDArray) -> NDArray:
        """The du (N, n) of the minimum, for errors e (N + 1, n)."""
        (A, B), (K, P) = self.loops, self.regulator
        n, N = self.law.arm.n, len(A)
        asked = np.concatenate([e, np.zeros_like(e)], 1)
        # Backwards p(k) = Q e(k) + (A - B K)' p(k + 1), forwards du = -K x + (R + B' P B)^-1 B' p(k + 1).
        p = np.empty((N + 1, 2 * n))
        p[N] = asked[N]
        for k in reversed(range(N)):
            p[k] = asked[k] + (A[k] - B[k] @ K[k]).T @ p[k + 1]
        S = self.weight + B.swapaxes(-1, -2) @ P[1:] @ B
        pushed = np.linalg.solve(S, (B.swapaxes(-1, -2) @ p[1:, :, None]))[..., 0]
        x, u = np.zeros(2 * n), np.empty((N, n))
        for k in range(N):
            u[k] = pushed[k] - K[k] @ x
            x = A[k] @ x + B[k] @ u[k]
        return u


def feedback(law: Law, t: NDArray, motion: JointMotion) -> NDArray:
    """Gains K (T, n, 2n) of a law without state about a motion: torques change by -K [q, qd] (central differences)."""
    channels = law.channels(t, motion)
    ref, n = Reference(*motion, channels), law.arm.n

    def torque(q: NDArray, qd: NDArray) -> NDArray:
        return np.asarray(law.step(law.arm, law.params, {}, q, qd, ref, 1.0)[0])

    columns = []
    for k in range(2 * n):
        d = DIFFERENCE_STEP * np.eye(2 * n)[k]
        up, down = (torque(motion.q + s * d[:n], motion.qd + s * d[n:]) for s in (1, -1))
        columns.append((down - up) / (2 * DIFFERENCE_STEP))
    return np.stack(columns, -1)
