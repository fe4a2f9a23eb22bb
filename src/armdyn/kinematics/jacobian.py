"""The geometric Jacobian."""

from __future__ import annotations

from typing import Any

from armdyn.kinematics.forward import link_frames
from armdyn.kinematics.motion import motions
from armdyn.model.arm import Arm
from armdyn.trace.symbols import ca
from armdyn.trace.traced import traced


@traced(q="n", returns={"J": "6, n"})
def jacobian(arm: Arm, q: Any) -> Any:
    """Jacobian of the tip: `[v; w] = J qd`, linear rows first, at the tip, in base axes.

    Parameters
    ----------
    arm : Arm
    q : array_like, shape (..., n)
        Joint positions [rad or m].

    Returns
    -------
    J : ndarray, shape (..., 6, n)

    References
    ----------
    ECE470 (2019), section 1.7: a revolute column is [z x (p_tip - p_joint); z], a prismatic one [z; 0].
    """
    frames = link_frames(arm, q)
    R_n, p_n = frames[-1]
    p_tip = p_n + ca.mtimes(R_n, arm.tool[1])
    columns = []
    for m, (R, p) in zip(motions(arm, q), frames, strict=True):
        z = ca.mtimes(R, m.axis)
        if m.is_revolute:
            p_joint = p - ca.mtimes(R, m.after)
            columns.append(ca.vertcat(ca.cross(z, p_tip - p_joint), z))
        else:
            columns.append(ca.vertcat(z, ca.SX.zeros(3)))
    return ca.horzcat(*columns)
