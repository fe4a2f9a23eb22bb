"""Exciting motions by the multistage gradient method: the acceleration of every sample is free.

Bryson and Ho's sweep, as Armstrong applied it to identification: forward through the motion, backward through
its costates, then a step along the gradient (Kapadia 1995, chapter 5 and appendix C). Corrected here: the
costates run backward in time with A' and -dF/dx (the listing runs them forward with A on dF/du), and the Q term
counts once in the gradient (5.11 counts it twice).

Three things go beyond the thesis, whose search ends where a step would break a limit or where two singular
values meet: limits are barriers, 1 / sigma_min is a p-norm of all 1 / sigma that grows sharper from stage to
stage, and directions are conjugate.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.arrays import check_positive
from armdyn.dynamics.base.parameters import BaseParameters
from armdyn.dynamics.full import joint_torque
from armdyn.errors import ArmdynError, LimitError
from armdyn.frozen import PartOf
from armdyn.model.arm import Arm
from armdyn.trajectory.excitation.interior_point import MIN_DECREASE_RATIO, MIN_STEP_RATIO
from armdyn.trajectory.excitation.motion_constraints import motion_barrier
from armdyn.trajectory.excitation.regressor import excitation_gradient, excitation_regressor, labels_of
from armdyn.trajectory.motion_limits import MotionLimits
from armdyn.trajectory.piecewise import PiecewiseQuintic
from armdyn.trajectory.protocol import JointMotion

# Power of the p-norm and weight of the barrier, as a part of the cost where a stage begins.
STAGES = ((4.0, 0.3), (8.0, 0.1), (16.0, 0.03), (32.0, 0.01))
STEP_GROWTH = 2.0  # of the step after a success, and its reduction after a failure


class Weights(NamedTuple):
    """Objective of a stage of the search: `|1 / sigma(R)|_power + Q sum u² + barrier * motion_barrier`."""

    power: float
    Q: float = 0.0
    barrier: float = 0.0


@dataclass(frozen=True, eq=False)
class Multistage:
    """Minimise `1 / sigma_min(R) + sum_k u_k' Q u_k` over accelerations u (K, n), R = (1/K) sum_k H_k' H_k (5.8).

    Parameters
    ----------
    base : BaseParameters
    columns : tuple of str
        Parameters that count, of the base parameters' labels, `Fv1 ...` and `Fc1 ...`.
    limits : MotionLimits
    step : float
        Time between samples [s].
    """

    base: BaseParameters
    columns: tuple[str, ...]
    limits: MotionLimits
    step: float

    def __post_init__(self) -> None:
        known = labels_of(self.base)
        lacking = [name for name in self.columns if name not in known]
        if lacking or not self.columns:
            unknown = ", ".join(lacking) or "(none given)"
            cause = f"unknown parameters {unknown}"
            raise ArmdynError(cause, where="Multistage", expected=f"some of {', '.join(known)}")
        check_positive("Multistage", step=self.step)

    arm = PartOf[Arm]("base.source", "The arm that moves.")

    @cached_property
    def positions(self) -> list[int]:
        """Places of `columns` in the regressor."""
        known = labels_of(self.base)
        return [known.index(name) for name in self.columns]

    def states(self, u: NDArray, q0: NDArray) -> JointMotion:
        """Motion (K, n) from rest at q0: x_{k+1} = A x_k + B u_k, A = [1 T; 0 1], B = [0; T]."""
        qd = np.vstack([np.zeros(self.arm.n), self.step * np.cumsum(u, axis=0)])[:-1]
        q = q0 + np.vstack([np.zeros(self.arm.n), self.step * np.cumsum(qd, axis=0)])[:-1]
        return JointMotion(q, qd, u)

    def correlation(self, motion: JointMotion) -> NDArray:
        """R (c, c), a mean over the samples: a column of signs (Coulomb friction) has at most 1 on its diagonal."""
        H = excitation_regressor(self.base, *motion)[..., self.positions]
        return np.einsum("kic,kid->cd", H, H) / len(H)

    def cost(self, motion: JointMotion) -> float:
        """J = 1 / sigma_min(R), without the Q term."""
        least = float(np.linalg.eigvalsh(self.correlation(motion))[0])
        return 1 / least if least > 0 else np.inf

    def total(self, motion: JointMotion, weights: Weights) -> tuple[float, NDArray]:
        """Return the objective of a stage, and its gradient (K, n) with respect to the accelerations; infinite
        outside.
        """
        F, (dq, dqd, dqdd) = self.slopes(motion, weights.power)
        walls, pull = motion_barrier(self.arm, self.limits, motion)
        if not np.isfinite(F + walls):
            return np.inf, dqdd
        b, Q = weights.barrier, weights.Q
        gradient = dqdd + b * pull.dqdd + 2 * Q * motion.qdd - self.sweep(dq + b * pull.dq, dqd + b * pull.dqd)
        return F + b * walls + Q * float((motion.qdd**2).sum()), gradient

    def slopes(self, motion: JointMotion, power: float) -> tuple[float, JointMotion]:
        """F = (sum_i sigma_i^-p)^(1/p) of R, which tends to 1 / sigma_min, and dF/dx_k, dF/du_k, each (K, n)."""
        Y = excitation_regressor(self.base, *motion)
        H = Y[..., self.positions]
        values, vectors = np.linalg.eigh(np.einsum("kic,kid->cd", H, H) / len(H))
        if values[0] <= 0:
            return np.inf, motion
        share = (values[0] / values) ** power
        F = float(share.sum() ** (1 / power) / values[0])
        # alpha = dF/dR;  dF/dH_k = (2/K) H_k alpha
        alpha = -F * (vectors * (share / share.sum() / values)) @ vectors.T
        weights = np.zeros_like(Y)
        weights[..., self.positions] = 2 / len(H) * H @ alpha
        return F, JointMotion(*excitation_gradient(self.base, *motion, weights))

    def sweep(self, dq: NDArray, dqd: NDArray) -> NDArray:
        """B' lambda_{k+1} (K, n), by lambda_k = A' lambda_{k+1} - dF/dx_k from the end, lambda_K = 0."""
        # lambda = (position part, velocity part); A' adds T times the position part to the velocity part.
        position = -np.cumsum(dq[::-1], axis=0)[::-1]  # lambda_k of positions
        later = np.vstack([position[1:], np.zeros((1, position.shape[1]))])  # lambda_{k+1}
        velocity = np.cumsum((self.step * later - dqd)[::-1], axis=0)[::-1]
        return self.step * np.vstack([velocity[1:], np.zeros((1, velocity.shape[1]))])

    def bryson(self, motion: JointMotion, tolerable: float, power: float) -> float:
        """Q by Bryson's rule: the gradient's size over the square of the largest acceleration allowed (5.9)."""
        slope = np.abs(self.slopes(motion, power)[1].qdd).mean()
        largest = np.where(np.isfinite(self.limits.acceleration), self.limits.acceleration, np.abs(motion.qdd).max())
        return float(tolerable * slope / largest.max() ** 2)

    def within(self, motion: JointMotion) -> bool:
        """Whether all limits hold, torques by the present model included."""
        q, qd, qdd = motion
        limits = self.limits
        return bool(
            ((q >= limits.lower) & (q <= limits.upper)).all()
            and (np.abs(qd) <= limits.velocity).all()
            and (np.abs(qdd) <= limits.acceleration).all()
            and (np.abs(joint_torque(self.arm, q, qd, qdd)) <= limits.effort).all()
        )


class Improved(NamedTuple):
    """The motion after the last step, and the cost J after every step (the first is that of the start)."""

    motion: JointMotion
    costs: NDArray
    stopped: str  # why: "limits", "converged" or "steps"
    step: float  # time between samples [s]

    @property
    def factor(self) -> float:
        """Ratio of the cost before to the cost after."""
        return float(self.costs[0] / self.costs[-1])

    @property
    def trajectory(self) -> PiecewiseQuintic:
        """The motion as a trajectory through its samples."""
        knots = self.step * np.arange(len(self.motion.q))
        start, end = (JointMotion(*(x[part] for x in self.motion)) for part in (slice(None, -1), slice(1, None)))
        return PiecewiseQuintic.through(knots, start, end)


def improve_motion(
    problem: Multistage, u: NDArray, q0: NDArray, *, steps: int = 300, largest: float = 0.1, weight: float = 0.01
) -> Improved:
    """Step along conjugate gradients, with a line search; steps that break a limit are shortened.

    Parameters
    ----------
    problem : Multistage
    u : ndarray, shape (K, n)
        Accelerations of the start.
    q0 : ndarray, shape (n,)
        Configuration at the beginning, at rest.
    steps : int
        At most, over all stages.
    largest : float
        Largest change of an acceleration in the first step of a stage [rad/s² or m/s²].
    weight : float
        Weight of the Q term, which is chosen anew for every stage; see `Multistage.bryson`.
    """
    motion = problem.states(np.array(u, float), np.asarray(q0, float))
    if not problem.within(motion):
        cause = "the motion to start from breaks a limit"
        raise LimitError(cause, where="improve_motion", remedy="give smaller accelerations")
    costs, stopped = [problem.cost(motion)], "steps"
    for k, (power, barrier) in enumerate(STAGES):
        weights = Weights(power, problem.bryson(motion, weight, power), barrier * costs[-1])
        share = (k + 1) * steps // len(STAGES) - k * steps // len(STAGES)
        motion, more, stopped = _descend(problem, motion, weights, share, largest)
        costs += more
    return Improved(motion, np.array(costs), stopped, problem.step)


def _descend(
    problem: Multistage, motion: JointMotion, weights: Weights, steps: int, largest: float
) -> tuple[JointMotion, list[float], str]:
    """One stage: the last motion, the cost J after every step and why it ended."""
    total, gradient = problem.total(motion, weights)
    costs: list[float] = []
    direction, size, blocked = -gradient, largest, False
    for _ in range(steps):
        slope, reach = float((gradient * direction).sum()), np.abs(direction).max()
        while size >= MIN_STEP_RATIO * largest and reach > 0:
            new = problem.states(motion.qdd + size / reach * direction, motion.q[0])
            blocked = not problem.within(new)
            new_total, new_gradient = problem.total(new, weights)
            if not blocked and new_total <= total + MIN_DECREASE_RATIO * size / reach * slope:
                break
            size /= STEP_GROWTH
        else:
            return motion, costs, "limits" if blocked else "converged"
        # Polak and Ribière's conjugate direction, begun anew where it would not lead down.
        turn = max(0.0, float((new_gradient * (new_gradient - gradient)).sum() / (gradient**2).sum()))
        direction = -new_gradient + turn * direction
        if (new_gradient * direction).sum() >= 0:
            direction = -new_gradient
        motion, total, gradient = new, new_total, new_gradient
        costs.append(problem.cost(motion))
        size *= STEP_GROWTH
    return motion, costs, "steps"


def heuristic_start(
    problem: Multistage,
    samples: int,
    *,
    rng: np.random.Generator,
    sigma: float,
    speed: float = 1.0,
    bandwidth: float = 1.0,
    candidates: int = 2000,
) -> tuple[NDArray, NDArray]:
    """Accelerations (K, n) and first configuration (n,) of a motion to start from (Kapadia 1995, section 5.3).

    For every parameter m the random state that shows it best is chosen (largest `|sum_n H^n H^nT e_m|`); the motion
    leads from one to the next as x_{k+1} = A x_k + B K (x_i - x_k), and is filtered. Its size about the middle of
    the joints' ranges is chosen for the least singular value aimed at.

    Parameters
    ----------
    problem : Multistage
    samples : int
        K.
    rng : numpy.random.Generator
    sigma : float
        Least singular value of R (a mean over the samples) to aim at: enough to tell the parameters from unmodelled
        torques.
    speed : float
        Largest velocity of the chosen states [rad/s or m/s].
    bandwidth : float
        Bandwidth of the feedback K and of the filter [Hz].
    candidates : int
        Random states to choose from.
    """
    from scipy.signal import butter, sosfiltfilt

    limits, n, T = problem.limits, problem.arm.n, problem.step
    reach = np.minimum(limits.half_range, np.pi)
    q = limits.center + 0.7 * reach * rng.uniform(-1, 1, (candidates, n))
    qd = speed * rng.uniform(-1, 1, (candidates, n))
    qdd = 2 * np.pi * bandwidth * speed * rng.uniform(-1, 1, (candidates, n))
    H = excitation_regressor(problem.base, q, qd, qdd)[..., problem.positions]
    column_norms = np.linalg.norm(np.einsum("kic,kid->kcd", H, H), axis=1)  # (candidates, c)
    chosen = column_norms.argmax(0)
    chosen = chosen[rng.permutation(len(chosen))]
    # Feedback with two equal poles at the bandwidth.
    pole = 2 * np.pi * bandwidth
    x, v = limits.center.copy(), np.zeros(n)
    u = np.empty((samples, n))
    for k in range(samples):
        goal = chosen[min(k * len(chosen) // samples, len(chosen) - 1)]
        u[k] = pole**2 * (q[goal] - x) + 2 * pole * (qd[goal] - v)
        x, v = x + T * v, v + T * u[k]
    u = sosfiltfilt(butter(2, bandwidth * 2 * T * 2, output="sos"), u, axis=0)
    u -= u.mean(0)  # at rest again at the end
    motions = [problem.states(size * u, limits.center) for size in np.geomspace(1.0, 0.01, 60)]
    inside = [motion for motion in motions if problem.within(motion)]
    if not inside or problem.cost(inside[0]) > 1 / sigma:
        cause = f"no motion within the limits reaches sigma = {sigma:g}"
        raise LimitError(cause, where="heuristic_start", remedy="give less, or more time")
    return min(inside, key=lambda motion: abs(np.log(problem.cost(motion) * sigma))).qdd, limits.center
