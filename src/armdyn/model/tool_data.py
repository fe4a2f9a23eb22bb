"""A tool's or payload's mass, centre and inertia in the formats of robot controllers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from armdyn.errors import ArmdynError, ModelError
from armdyn.spatial.rotation import to_rpy


def tool_data(mass: float, com: ArrayLike, inertia: ArrayLike, format: str) -> str:
    """Text that tells a robot's controller what the arm carries.

    Parameters
    ----------
    mass : float
        [kg]
    com : array_like, shape (3,)
        Centre of mass in the flange's frame [m].
    inertia : array_like, shape (3, 3)
        About the centre, in the flange's axes [kg m²].
    format : {"franka", "ur", "kuka"}
        `franka`: JSON with the arguments of `franka::Robot::setLoad`, the tensor by columns. `ur`: the URScript command
        `set_target_payload`. `kuka`: a KRL `LOAD` aggregate, with principal axes and moments; millimetres and degrees.
    """
    if format not in FORMATS:
        expected = f"one of: {', '.join(FORMATS)}"
        raise ArmdynError(f"unknown format '{format}'", where="tool_data", expected=expected, names=(format,))
    com, inertia = np.asarray(com, float), np.asarray(inertia, float)
    if com.shape != (3,) or inertia.shape != (3, 3):
        expected = "a centre (3,) and a tensor (3, 3)"
        raise ArmdynError(where="tool_data", expected=expected, got=f"shapes {com.shape} and {inertia.shape}")
    numbers = np.concatenate([[mass], com, inertia.ravel()])
    if not np.isfinite(numbers).all() or mass < 0:
        remedy = "the log does not determine the load"
        raise ModelError(where="tool_data", expected="finite numbers and a mass >= 0", remedy=remedy)
    return FORMATS[format](float(mass), com, (inertia + inertia.T) / 2)


def _franka(mass: float, com: Any, inertia: Any) -> str:
    values = {"mass": mass, "F_x_Cload": com.tolist(), "load_inertia": inertia.T.ravel().tolist()}
    return json.dumps({name: np.round(value, 9).tolist() for name, value in values.items()})


def _ur(mass: float, com: Any, inertia: Any) -> str:
    """Moments in the order of URScript: xx, yy, zz, xy, xz, yz."""
    moments = [inertia[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    return f"set_target_payload({mass:.6g}, [{_list(com)}], [{_list(moments)}])"


def _kuka(mass: float, com: Any, inertia: Any) -> str:
    """Principal moments, and the angles A, B, C about z, y, x of their axes."""
    moments, axes = np.linalg.eigh(inertia)
    axes = axes * np.array([1.0, 1.0, np.sign(np.linalg.det(axes))])  # right-handed
    c, b, a = np.degrees(to_rpy(axes))
    x, y, z = 1000 * com
    centre = f"CM {{X {x:.3f},Y {y:.3f},Z {z:.3f},A {a:.3f},B {b:.3f},C {c:.3f}}}"
    return f"{{M {mass:.4f},{centre},J {{X {moments[0]:.6f},Y {moments[1]:.6f},Z {moments[2]:.6f}}}}}"


def _list(values: Any) -> str:
    return ", ".join(f"{x:.6g}" for x in values)


FORMATS: dict[str, Callable[[float, Any, Any], str]] = {"franka": _franka, "ur": _ur, "kuka": _kuka}
