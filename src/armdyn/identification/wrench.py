"""Logs of arms that touch something while a wrist sensor, or a known force, tells how hard."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from armdyn.dynamics.regressors.regressor import wrench_columns
from armdyn.errors import DataError
from armdyn.identification.logs.log import Log
from armdyn.model.arm import Arm


def subtract_wrench(log: Log, arm: Arm, wrench: ArrayLike, *, frame: str | None = None) -> Log:
    """Return the log of the same motion without a measured wrench on the tip or on a frame, for `identify`.

    A wrist sensor's reading includes weight and inertia of what it carries: the arm that is then identified ends at the
    sensor, and `frame`, or the tip (`arm.with_tool`), must be where the sensor measures, in its axes.

    Parameters
    ----------
    log : Log
    arm : Arm
        Geometry suffices.
    wrench : array_like, shape (6,) or (N, 6)
        [force, moment] exerted ON the arm at the frame, in its axes [N, N m]: constant, or one of each sample.
    frame : str, optional
        A frame or link of the arm on which the wrench acts; default the tip.

    References
    ----------
    Lu and Meng (1993), section IV-B.
    """
    if not isinstance(log, Log):
        remedy = "read_log reads one from a file"
        raise DataError(where="subtract_wrench", expected="a Log", got=f"{log!r:.60}", remedy=remedy)
    arm = arm if frame is None else arm.with_tip(frame)
    w = np.asarray(wrench, float)
    if w.shape not in ((6,), (len(log), 6)) or not np.isfinite(w).all():
        expected = f"finite [force, moment] of shape (6,) or ({len(log)}, 6)"
        remedy = "give one row for each sample of the log"
        raise DataError(where="subtract_wrench", expected=expected, got=w.shape, remedy=remedy)
    if arm.n != log.n:
        cause = f"the log has {log.n} joints, arm '{arm.name}' has {arm.n}"
        raise DataError(cause, where="subtract_wrench", remedy="give its own arm")
    torque = np.einsum("nij,nj->ni", wrench_columns(arm, log.q), np.broadcast_to(w, (len(log), 6)))
    largest = float(np.linalg.norm(w[..., :3], axis=-1).max())
    note = f"Torques of a wrench on '{frame or arm.tip_name}', of up to {largest:.3g} N, are subtracted."
    return replace(log, tau=log.tau - torque, notes=(*log.notes, note))
