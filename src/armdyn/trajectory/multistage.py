"""Exciting motions by the multistage gradient method: the acceleration of every sample is free.

Bryson and Ho's sweep, as Armstrong applied it to identification: forward through the motion, backward through
its costates, then a step along the gradient (Kapadia 1995, chapter 5 and appendix C). Corrected here: the
costates run backward in time with A' and -dF/dx (the listing runs them forward with A on dF/du), and the Q term
counts once in the gradient (5.11 counts it twice).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.base_parameters import BaseParameters
from armdyn.dynamics.full import joint_torque
from armdyn.errors import ArmdynError, LimitError
from armdyn.model.arm import Arm
from armdyn.trajectory.excitation_regressor import excitation_gradient, excitation_regressor, labels_of
from armdyn.trajectory.motion_limits import MotionLimits
from armdyn.trajectory.piecewise import PiecewiseQuintic
from armdyn.trajectory.protocol import JointMotion

GROWTH = 2.0  # of the step after a success
SHRINK = 0.5
LEAST_STEP = 1e-6  # largest change of an acceleration that is still worth a step [rad/s² or m/s²]


@dataclass(frozen=True, eq=False)
class Multistage:
    """Minimise `1 / sigma_min(R) + sum_k u_k' Q u_k` over accelerations u (K, n), R = sum_k H_k' H_k.

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
            raise ArmdynError(
                f"Multistage: unknown parameters {', '.join(lacking)}; expected some of {', '.join(known)}"
            )
        if not (np.isfinite(self.step) and self.step > 0):
            raise ArmdynError(f"Multistage: expected a step > 0, got {self.step!r}")

    @property
    def arm(self) -> Arm:
        """The arm that moves."""
        return self.base.source

    @property
    def _positions(self) -> list[int]:
        known = labels_of(self.base)
        return [known.index(name) for name in self.columns]

    def states(self, u: NDArray, q0: NDArray) -> JointMotion:
        """Motion (K, n) from rest at q0: x_{k+1} = A x_k + B u_k, A = [1 T; 0 1], B = [0; T]."""
        qd = np.vstack([np.zeros(self.arm.n), self.step * np.cumsum(u, axis=0)])[:-1]
        q = q0 + np.vstack([np.zeros(self.arm.n), self.step * np.cumsum(qd, axis=0)])[:-1]
        return JointMotion(q, qd, u)

    def correlation(self, motion: JointMotion) -> NDArray:
        """R (c, c)."""
        H = excitation_regressor(self.base, *motion)[..., self._positions]
        return np.einsum("kic,kid->cd", H, H)

    def cost(self, motion: JointMotion) -> float:
        """J = 1 / sigma_min(R), without the Q term."""
        least = float(np.linalg.eigvalsh(self.correlation(motion))[0])
        return 1 / least if least > 0 else np.inf

    def gradient(self, motion: JointMotion, Q: float) -> NDArray:
        """Gradient (K, n) of the cost, Q term included, with respect to the accelerations."""
        Fx, Fu = self.slopes(motion)
        return Fu + 2 * Q * motion.qdd - self.sweep(*Fx)

    def slopes(self, motion: JointMotion) -> tuple[tuple[NDArray, NDArray], NDArray]:
        """dF/dx_k (positions, velocities) and dF/du_k of F = 1 / sigma_min(R), each (K, n)."""
        Y = excitation_regressor(self.base, *motion)
        H = Y[..., self._positions]
        values, vectors = np.linalg.eigh(np.einsum("kic,kid->cd", H, H))
        # alpha = dF/dR = -v v' / sigma²;  dF/dH_k = 2 H_k alpha
        v = vectors[:, 0]
        weights = np.zeros_like(Y)
        weights[..., self._positions] = -2 / values[0] ** 2 * (H @ v)[..., None] * v
        dq, dqd, dqdd = excitation_gradient(self.base, *motion, weights)
        return (dq, dqd), dqdd

    def sweep(self, dq: NDArray, dqd: NDArray) -> NDArray:
        """B' lambda_{k+1} (K, n), by lambda_k = A' lambda_{k+1} - dF/dx_k from the end, lambda_K = 0."""
        # lambda = (position part, velocity part); A' adds T times the position part to the velocity part.
        position = -np.cumsum(dq[::-1], axis=0)[::-1]  # lambda_k of positions
        later = np.vstack([position[1:], np.zeros((1, position.shape[1]))])  # lambda_{k+1}
        velocity = np.cumsum((self.step * later - dqd)[::-1], axis=0)[::-1]
        return self.step * np.vstack([velocity[1:], np.zeros((1, velocity.shape[1]))])

    def bryson(self, motion: JointMotion, tolerable: float) -> float:
        """Q by Bryson's rule: the gradient's size over the square of the largest acceleration allowed (5.9)."""
        slope = np.abs(self.slopes(motion)[1]).mean()
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
        """How many times smaller the cost became."""
        return float(self.costs[0] / self.costs[-1])

    @property
    def trajectory(self) -> PiecewiseQuintic:
        """The motion as a trajectory through its samples."""
        knots = self.step * np.arange(len(self.motion.q))
        start, end = (JointMotion(*(x[part] for x in self.motion)) for part in (slice(None, -1), slice(1, None)))
        return PiecewiseQuintic.through(knots, start, end)


def improve(
    problem: Multistage, u: NDArray, q0: NDArray, *, steps: int = 100, largest: float = 0.1, weight: float = 0.01
) -> Improved:
    """Step along the gradient; the size is chosen on line, and steps that break a limit are made shorter.

    Parameters
    ----------
    problem : Multistage
    u : ndarray, shape (K, n)
        Accelerations of the start.
    q0 : ndarray, shape (n,)
        Configuration at the beginning, at rest.
    steps : int
        At most.
    largest : float
        Largest change of an acceleration in the first step [rad/s²].
    weight : float
        Of the Q term, see `Multistage.bryson`.
    """
    motion = problem.states(np.array(u, float), np.asarray(q0, float))
    if not problem.within(motion):
        raise LimitError("improve: the motion to start from breaks a limit")
    Q = problem.bryson(motion, weight)
    total = _total(problem, motion, Q)
    costs, size, stopped = [problem.cost(motion)], largest, "steps"
    for _ in range(steps):
        direction = problem.gradient(motion, Q)
        direction = direction / np.abs(direction).max()
        blocked = False
        while size >= LEAST_STEP:
            new = problem.states(motion.qdd - size * direction, motion.q[0])
            blocked = not problem.within(new)
            if not blocked and _total(problem, new, Q) < total:
                break
            size *= SHRINK
        else:
            stopped = "limits" if blocked else "converged"
            break
        motion, total = new, _total(problem, new, Q)
        costs.append(problem.cost(motion))
        size *= GROWTH
    return Improved(motion, np.array(costs), stopped, problem.step)


def _total(problem: Multistage, motion: JointMotion, Q: float) -> float:
    return problem.cost(motion) + Q * float((motion.qdd**2).sum())


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

    For every parameter m the random state that shows it best is chosen (largest |sum_n H^n H^nT e_m|); the motion
    leads from one to the next as x_{k+1} = A x_k + B K (x_i - x_k), and is filtered. Its size about the middle of
    the joints' ranges is chosen for the wanted least singular value.

    Parameters
    ----------
    problem : Multistage
    samples : int
        K.
    rng : numpy.random.Generator
    sigma : float
        Wanted least singular value of R: enough to tell the parameters from unmodelled torques.
    speed : float
        Largest velocity of the chosen states [rad/s or m/s].
    bandwidth : float
        Of the feedback K and of the filter [Hz].
    candidates : int
        Random states to choose from.
    """
    from scipy.signal import butter, sosfiltfilt

    limits, n, T = problem.limits, problem.arm.n, problem.step
    reach = np.minimum(limits.half_range, np.pi)
    q = limits.center + 0.7 * reach * rng.uniform(-1, 1, (candidates, n))
    qd = speed * rng.uniform(-1, 1, (candidates, n))
    qdd = 2 * np.pi * bandwidth * speed * rng.uniform(-1, 1, (candidates, n))
    H = excitation_regressor(problem.base, q, qd, qdd)[..., problem._positions]
    shown = np.linalg.norm(np.einsum("kic,kid->kcd", H, H), axis=1)  # (candidates, c)
    chosen = shown.argmax(0)
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
        raise LimitError(
            f"heuristic_start: no motion within the limits reaches sigma = {sigma:g}; give less, or more time"
        )
    return min(inside, key=lambda motion: abs(np.log(problem.cost(motion) * sigma))).qdd, limits.center
