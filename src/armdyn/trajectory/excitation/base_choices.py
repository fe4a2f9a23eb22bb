"""Other choices of the parameters that lead an arm's base parameters.

Which standard parameter stands for a combination is arbitrary (Ixx or Iyy, the near or the far link),
but the condition number depends on it: a motion that is excellent for one choice may be twice as bad for
another. A motion is therefore designed for the worst of the choices that are made in practice: armdyn's own
and those of QR with column pivoting (Gautier 1991) on random states.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.base.parameters import BaseParameters
from armdyn.dynamics.regressors.regressor import regressor
from armdyn.trajectory.motion_limits import MotionLimits

DRAWS = 12  # sets of random states of each kind
STATES = 60  # states in each set
SPAN = 2.0  # [rad or m, /s, /s²]


def base_choices(base: BaseParameters, limits: MotionLimits, extra: int) -> NDArray:
    """Matrices F (k, count + extra, ...) with `W F` the columns of choice k, W those of `base` and `extra` others."""
    kept = {tuple(base.kept)}
    rng = np.random.default_rng(0)
    n = base.source.n
    reach = np.minimum(limits.half_range, np.pi)
    for _ in range(DRAWS):
        kept.add(_pivots(base, rng.uniform(-SPAN, SPAN, (3, STATES, n))))
        within = rng.uniform(-1, 1, (3, STATES, n)) * np.array([reach, limits.velocity, limits.acceleration])[:, None]
        within[0] += limits.center
        kept.add(_pivots(base, within))
    return np.array([_form(base, choice, extra) for choice in sorted(kept, key=lambda c: (c != base.kept, c))])


def _pivots(base: BaseParameters, states: NDArray) -> tuple[int, ...]:
    """The columns that pivoting takes first."""
    from scipy.linalg import qr

    Y = regressor(base.source, *states)
    order = qr(Y.reshape(-1, Y.shape[-1]), mode="r", pivoting=True)[1]
    return tuple(sorted(int(k) for k in order[: base.count]))


def _form(base: BaseParameters, kept: tuple[int, ...], extra: int) -> NDArray:
    """Y = Y_base P, so the columns `kept` of Y are Y_base P[:, kept]."""
    F = np.eye(base.count + extra)
    F[: base.count, : base.count] = base.P[:, list(kept)]
    return F
