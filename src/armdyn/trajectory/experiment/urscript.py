"""An experiment as a program for Universal Robots' controllers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynError, expect
from armdyn.files import fill_template
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
    q = motion(np.arange(0.0, motion.duration, STEP_S)).q
    step = f"  servoj([{', '.join(['%.6f'] * motion.n)}], 0, 0, {STEP_S}, {LOOKAHEAD}, {GAIN})"
    steps = "\n".join([step] * len(q)) % tuple(q.ravel().tolist())
    return fill_template(Path(__file__).with_suffix(".txt"), home=", ".join(f"{x:.6f}" for x in home), steps=steps)


def require_six_joints(n: int) -> None:
    """Raise where UR's controllers have no such arm."""
    expect(n == 6, "URScript", "an arm of six joints", error=ArmdynError, got=n)
