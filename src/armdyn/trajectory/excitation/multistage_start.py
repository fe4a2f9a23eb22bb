"""Motions that the multistage method starts from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import LimitError
from armdyn.trajectory.excitation.multistage import Multistage
from armdyn.trajectory.excitation.regressor import excitation_regressor


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
    H = excitation_regressor(problem.base, q, qd, qdd)[..., problem.positions]
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
