"""Position servos: drives that hold a commanded position by themselves, as those of low-cost arms do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import as_floats
from armdyn.errors import ModelError, expect
from armdyn.model.arm import Arm
from armdyn.model.quantities import Q, Qd, Vec
from armdyn.trace.shapes import Array
from armdyn.trace.symbols import ca
from armdyn.trace.traced import traced

SERVO_NAMES = ("stiffness", "damping", "dead_band")


@traced(returns={"tau": "n"})
def servo_torque(arm: Arm, q: Q, qd: Qd, command: Vec, stiffness: Vec, damping: Vec, dead_band: Vec) -> Array:
    """Torques of position servos before any limit.

    A spring to the commanded position, slack within the dead band, and a damper to rest.

    Parameters
    ----------
    q, qd
        Joint positions and velocities [rad or m, /s].
    command
        Commanded positions [rad or m].
    stiffness, damping
        [N m/rad, N m s/rad or N/m, N s/m].
    dead_band
        Errors of position up to which a servo exerts nothing [rad or m].
    """
    error = command - q
    slack = ca.if_else(error > dead_band, dead_band, ca.if_else(error < -dead_band, -dead_band, error))
    return stiffness * (error - slack) - damping * qd


@dataclass(frozen=True, eq=False)
class PositionServo:
    """Position servos of all joints: controllers then send positions to the plant.

        tau = stiffness (e - dead band) - damping qd,    e = commanded - actual position

    Parameters
    ----------
    stiffness, damping : array_like, shape (..., n)
        [N m/rad, N m s/rad or N/m, N s/m]; one number serves all joints, leading axes are batches of rollouts.
    dead_band : array_like, shape (..., n)
        Error up to which the servo exerts nothing [rad or m].
    """

    stiffness: ArrayLike
    damping: ArrayLike = 0.0
    dead_band: ArrayLike = 0.0

    def __post_init__(self) -> None:
        for name in SERVO_NAMES:
            array = as_floats(getattr(self, name))
            fits = np.isfinite(array).all() and (array >= 0).all()
            expect(fits, f"PositionServo: {name}", "finite numbers >= 0", getattr(self, name), ModelError)
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def rows(self, n: int) -> NDArray:
        """The numbers of n joints, (..., 3, n)."""
        arrays = [np.asarray(getattr(self, name)) for name in SERVO_NAMES]
        if any(x.ndim and x.shape[-1] != n for x in arrays):
            shapes = ", ".join(str(x.shape) for x in arrays)
            expected = f"one number or {n}, one per joint"
            raise ModelError(where="PositionServo", expected=expected, got=f"shapes {shapes}")
        try:
            return np.stack(np.broadcast_arrays(*arrays, np.empty(n))[:-1], axis=-2)
        except ValueError:
            raise ModelError("the batches of its numbers do not broadcast", where="PositionServo") from None
