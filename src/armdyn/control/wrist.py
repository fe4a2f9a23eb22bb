"""The force and torque sensor at a wrist: what a tool and the sensor itself add to what the tip feels.

    reading = R' f + weight(R) + bias,   weight = [R' m g; c x R' m g]

in tip axes, R being those of the tip in the base, f the wrench from outside at the tip.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import ArmdynError, quote
from armdyn.kinematics.forward import forward_kinematics
from armdyn.model.arm import Arm
from armdyn.spatial.rotation import skew
from armdyn.trace.symbols import Symbol, ca


@dataclass(frozen=True, eq=False)
class Tool:
    """The tool on a wrist sensor, and the sensor's bias.

    Parameters
    ----------
    mass : float
        [kg]
    com : array_like, shape (3,)
        Centre of mass in the tip frame [m].
    bias : array_like, shape (6,)
        Reading without load [N, N m].
    """

    mass: float = 0.0
    com: ArrayLike = (0.0, 0.0, 0.0)
    bias: ArrayLike = (0.0,) * 6

    @property
    def numbers(self) -> NDArray:
        """Mass, mass times centre, bias: (10,)."""
        parts = [[self.mass], self.mass * np.asarray(self.com, float), self.bias]
        numbers = np.concatenate([np.asarray(x, float).ravel() for x in parts])
        if numbers.shape != (10,) or not np.isfinite(numbers).all() or self.mass < 0:
            raise ArmdynError(where="Tool", expected="a mass >= 0, a centre (3,) and a bias (6,)", got=quote(self))
        return numbers


NO_TOOL = Tool()


def identify_tool(arm: Arm, q: ArrayLike, readings: ArrayLike) -> Tool:
    """The tool and the bias behind readings of a wrist sensor at poses held still, without contact.

    Linear least squares in mass, first moment and bias; four poses with different directions of gravity tell all.

    Parameters
    ----------
    arm : Arm
        Its gravity counts.
    q : array_like, shape (P, n)
        Poses [rad or m].
    readings : array_like, shape (P, 6)
        Force and moment in tip axes [N, N m].
    """
    poses, wrenches = np.asarray(q, float), np.asarray(readings, float)
    if poses.ndim != 2 or poses.shape[1] != arm.n or wrenches.shape != (len(poses), 6):
        expected = f"poses (P, {arm.n}) and readings (P, 6)"
        raise ArmdynError(where="identify_tool", expected=expected, got=f"{poses.shape}, {wrenches.shape}")
    g = np.einsum("pji,j->pi", forward_kinematics(arm, poses)[:, :3, :3], arm.gravity)
    A = np.zeros((len(poses), 6, 10))
    A[:, :3, 0] = g
    A[:, 3:, 1:4] = -skew(g)  # c x m g = -g x (m c)
    A[:, :, 4:] = np.eye(6)
    rows = A.reshape(-1, 10)
    if np.linalg.matrix_rank(rows, 1e-6) < rows.shape[1]:
        remedy = "turn the wrist so that gravity points along three axes of the tip"
        raise ArmdynError("these poses do not tell the tool from the bias", where="identify_tool", remedy=remedy)
    mass, *moment = (x := np.linalg.lstsq(rows, wrenches.ravel(), rcond=None)[0])[:4]
    if not mass > 0:
        expected = f"a mass > 0, the readings give {mass:.3g} kg"
        raise ArmdynError(where="identify_tool", expected=expected, remedy="is gravity's sign right?")
    return Tool(float(mass), tuple(np.array(moment) / mass), tuple(x[4:]))


def free_reading(tool: Symbol, R: Symbol, gravity: Symbol) -> Symbol:
    """Return what the sensor shows of a tool (10,) without contact, in tip axes."""
    g = ca.mtimes(R.T, gravity)
    return ca.vertcat(tool[0] * g, ca.cross(tool[1:4], g)) + tool[4:10]


def outside_wrench(tool: Symbol, reading: Symbol, R: Symbol, gravity: Symbol) -> Symbol:
    """The wrench from outside at the tip (6,), in base axes, behind a reading."""
    outside = reading - free_reading(tool, R, gravity)
    return ca.vertcat(ca.mtimes(R, outside[:3]), ca.mtimes(R, outside[3:]))
