"""Shafts of drives and joints: where friction, rotors and damping act.

A drive's shaft (its gear's output) turns with a row of the coupling matrix C times q: with its own joint alone, or with
several. A joint that follows others has friction of its own, and turns with a row of G. Row by row of the joints these
make S: friction and rotors act at the speeds S qd, and S' takes their torques to the coordinates. Without coupled
drives and dependent joints shafts are joints, and nothing here computes anything.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.model.arm import Arm
from armdyn.trace.symbols import ca


def at_shafts(arm: Arm, x: Any) -> Any:
    """Speeds or accelerations of the shafts: S x, for coordinates' symbols (n, ...) or arrays (..., n)."""
    return x if arm.shafts is None else _times(arm.shafts, x)


def at_drives(arm: Arm, x: Any) -> Any:
    """The same of the drives' shafts alone: C x."""
    return x if arm.coupling is None else _times(arm.coupling, x)


def shaft_positions(arm: Arm, q: Any) -> Any:
    """Turns of the shafts: S q, and the offsets of dependent joints."""
    return at_shafts(arm, q) if arm.b is None else at_shafts(arm, q) + arm.b


def from_shafts(arm: Arm, x: Any) -> Any:
    """The inverse of `at_shafts`: motion of the joints from that of the drives' shafts, C^-1 x."""
    return x if arm.coupling is None else _times(_inverse(arm), x)


def shaft_torques(arm: Arm, tau: Any) -> Any:
    """Torques at the drives' shafts that are these at the coordinates, C'^-1 tau: both have the same power."""
    return tau if arm.coupling is None else _times(_inverse(arm).T, tau)


def measured_shafts(arm: Arm, tau: NDArray) -> NDArray:
    """Return which drives' shafts (n,) have torques, where those (N, n) of some coordinates are NaN throughout."""
    missing = np.isnan(tau).all(axis=0)
    return ~missing if arm.coupling is None else ~(missing @ (_inverse(arm) != 0))


def measured_torques(arm: Arm, tau: NDArray) -> NDArray:
    """Torques (N, n) at the drives' shafts, zero where they were not measured."""
    known = measured_shafts(arm, tau)
    if known.all():
        return np.asarray(shaft_torques(arm, tau))
    return np.where(known, shaft_torques(arm, np.nan_to_num(tau)), 0.0)


def shaft_rows(arm: Arm, Y: NDArray) -> NDArray:
    """Regressors (..., n, k) of the coordinates' torques as those of the shafts' torques."""
    return Y if arm.coupling is None else _inverse(arm).T @ Y


def joint_torques(arm: Arm, tau: Any) -> Any:
    """Torques at the coordinates from those at the shafts, S' tau."""
    return tau if arm.shafts is None else _times(arm.shafts.T, tau)


def drive_torques(arm: Arm, tau: Any) -> Any:
    """The inverse of `shaft_torques`: torques at the coordinates from those at the drives' shafts, C' tau."""
    return tau if arm.coupling is None else _times(arm.coupling.T, tau)


def _inverse(arm: Arm) -> NDArray:
    return np.linalg.inv(arm.coupling)  # type: ignore[arg-type]


def _times(A: NDArray, x: Any) -> Any:
    return x @ A.T if isinstance(x, np.ndarray) else ca.mtimes(A, x)
