"""The arm linearised all along a motion: A(t) and B(t) on its samples, in one call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.dynamics.linear.checks import check_floats, check_state
from armdyn.dynamics.linear.discretize import Discrete, discretize
from armdyn.dynamics.linear.linearize import linearize
from armdyn.errors import ShapeError
from armdyn.model.arm import Arm
from armdyn.presentation import present

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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

    def plot(self, horizon: float = 0.1) -> Figure:
        """Modes along the motion; see `plot_modes`."""
        return present(self, "figure", horizon=horizon)


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
        raise ShapeError(f"{where}: expected t of shape (N,) with at least two samples, got {t.shape}")
    if (late := np.diff(t) <= 0).any():
        k = int(np.argmax(late))
        raise ShapeError(f"{where}: expected increasing times, but t[{k + 1}] = {t[k + 1]:g} after t[{k}] = {t[k]:g}")
    state = check_state(arm, where, (len(t),), q=q, qd=qd, qdd=qdd)
    return LinearMotion(arm, t, *state, **linearize(arm, *state, **options)._asdict())
