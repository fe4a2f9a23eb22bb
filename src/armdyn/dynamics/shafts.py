"""Shafts of drives: where friction and rotors act.

A drive's shaft (its gear's output) turns with a row of the coupling matrix C times q: with its own joint alone, or with
several. Friction and rotors act at its speed C qd, and C' takes their torques to all joints that it moves. Without
coupled drives shafts are joints, and nothing here computes anything.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.model.arm import Arm
from armdyn.trace.symbols import ca


def at_shafts(arm: Arm, x: Any) -> Any:
    """Turns, speeds or accelerations of the shafts: C x, for joints' symbols (n, ...) or arrays (..., n)."""
    return x if arm.coupling is None else _times(arm.coupling, x)


def from_shafts(arm: Arm, x: Any) -> Any:
    """The inverse of `at_shafts`: motion of the joints from that of the shafts, C^-1 x."""
    return x if arm.coupling is None else _times(_inverse(arm), x)


def shaft_torques(arm: Arm, tau: Any) -> Any:
    """Torques at the shafts that are these at the joints, C'^-1 tau: both have the same power."""
    return tau if arm.coupling is None else _times(_inverse(arm).T, tau)


def shaft_rows(arm: Arm, Y: NDArray) -> NDArray:
    """Regressors (..., n, k) of the joints' torques as those of the shafts' torques."""
    return Y if arm.coupling is None else _inverse(arm).T @ Y


def joint_torques(arm: Arm, tau: Any) -> Any:
    """The inverse of `shaft_torques`: torques at the joints from those at the shafts, C' tau."""
    return tau if arm.coupling is None else _times(arm.coupling.T, tau)


def _inverse(arm: Arm) -> NDArray:
    return np.linalg.inv(arm.coupling)  # type: ignore[arg-type]


def _times(A: NDArray, x: Any) -> Any:
    return x @ A.T if isinstance(x, np.ndarray) else ca.mtimes(A, x)
