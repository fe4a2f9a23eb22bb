"""An experiment as a program for Universal Robots' controllers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynError
from armdyn.trajectory.protocol import Trajectory

STEP_S = 0.008  # between positions [s]: the period of a CB3 controller, two of an e-series one
LOOKAHEAD, GAIN = 0.1, 300  # of servoj


def urscript(motion: Trajectory, home: NDArray) -> str:
    """URScript that goes home by a slow movej and follows a motion by servoj.

    Parameters
    ----------
    motion : Trajectory
        Motion of six joints, from home [rad].
    home : ndarray, shape (6,)
    """
    require_six_joints(motion.n)
    return "\n".join(_lines(motion, home)) + "\n"


def require_six_joints(n: int) -> None:
    """Raise where UR's controllers have no such arm."""
    if n != 6:
        raise ArmdynError(where="URScript", expected="an arm of six joints", got=n)


def _lines(motion: Trajectory, home: NDArray) -> Iterator[str]:
    yield "def armdyn_motion():"
    yield "  # Base to wrist 3 [rad]. The way home is straight in joint space and was not checked: stand by."
    yield f"  movej([{', '.join(f'{x:.6f}' for x in home)}], a=0.3, v=0.2)"
    q = motion(np.arange(0.0, motion.duration, STEP_S)).q
    step = f"  servoj([{', '.join(['%.6f'] * motion.n)}], 0, 0, {STEP_S}, {LOOKAHEAD}, {GAIN})"
    yield "\n".join([step] * len(q)) % tuple(q.ravel().tolist())
    yield "  stopj(1.0)"
    yield "end"
