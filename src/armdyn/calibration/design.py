"""Poses to measure for a calibration: those after which predictions are surest (I-optimal), free of collisions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import finite_array
from armdyn.calibration.fit import TYPICAL
from armdyn.calibration.poses import Poses
from armdyn.calibration.unknowns import GROUPS, CalibrationUnknowns, free_entries
from armdyn.errors import ArmdynError
from armdyn.identification.logs.log import MIN_POSES
from armdyn.kinematics.forward import forward_kinematics
from armdyn.model.arm import Arm, require_arm
from armdyn.model.mechanism import require_chain
from armdyn.shapes.bodies import bodies_of
from armdyn.shapes.obstacles import mounting_plane, obstacles_of
from armdyn.trace.backend import interpreting
from armdyn.trajectory.excitation.clearance import Clearance, random_poses

N_CANDIDATES = 400  # random poses to choose from; twice as many lower the expected variance by some per cent
CLEARANCE_M = 0.02  # m: links stay so far apart, for the arm as described is not the arm as it is


def calibration_poses(
    arm: Arm, k: int = 30, *, candidates: ArrayLike | None = None, obstacles: Any = (), seed: int = 0
) -> NDArray:
    """Choose joint positions (k, n) to measure for `calibrate`, within limits, apart and off the floor and obstacles.

    Of random poses those are chosen after which the tip's place is known best on average over all of them: the least
    mean variance of predictions (I-optimal), for errors of typical size. Motions from one pose to the next are not
    checked.

    Parameters
    ----------
    arm : Arm
    k : int
        Number of poses.
    candidates : array_like, shape (N, n), optional
        Poses to choose from, such as those in which the instrument sees the tool; they are taken as they are.
    obstacles : path or sequence of Box, HalfSpace, Sphere
        What links 2 to n keep clear of.
    seed : int
        Seed of the random poses.

    Returns
    -------
    ndarray, shape (k, n)
        In an order in which neighbours are near.
    """
    require_arm(arm)
    require_chain(arm, "calibration_poses")
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < MIN_POSES:
        raise ArmdynError(where="calibration_poses", expected=f"at least {MIN_POSES} poses", got=f"{k!r}")
    if candidates is None:
        q = _free_poses(arm, max(N_CANDIDATES, 4 * k), obstacles, seed)
    else:
        q = finite_array(candidates, (arm.n,), "calibration_poses: candidates").reshape(-1, arm.n)
    if len(q) < k:
        raise ArmdynError(
            f"calibration_poses: {len(q)} of the random poses are free of collisions, fewer than {k}; give candidates, "
            "or fewer obstacles"
            if candidates is None
            else f"calibration_poses: expected at least {k} candidates, got {len(q)}"
        )
    return q[_in_short_order(q, _least_variance(*_information(arm, q), k))]


def _free_poses(arm: Arm, count: int, obstacles: Any, seed: int) -> NDArray:
    """Random poses within limits in which no link is near another or an obstacle."""
    plane = mounting_plane(arm)
    around = (*obstacles_of(obstacles), *(() if plane is None else (plane,)))
    clearance = Clearance(bodies_of(arm), around)
    q = random_poses(arm, 10 * count, seed)
    slack = clearance.slack((q, q, q)).min(axis=1, initial=np.inf)
    return q[slack > CLEARANCE_M][:count]


def _information(arm: Arm, q: NDArray) -> tuple[NDArray, NDArray]:
    """Rows (N, 6, p) of every pose for the numbers in their typical sizes, in units of the noise, and their precision.

    Base and tool are known to 1 m and 1 rad. What the model lacks is about as large as errors of frames: their
    typical size is the noise.
    """
    with interpreting():
        tips = np.asarray(forward_kinematics(arm, q))
        unknowns = CalibrationUnknowns(arm, Poses(q, poses=tips), free_entries(arm, True), gravity=True)
        J = unknowns.jacobian(unknowns.at_zero(np.eye(4), np.eye(4)))
    typical = np.array([TYPICAL[GROUPS[g]] for g in unknowns.groups])
    return J / TYPICAL["translation"], np.concatenate([np.ones(unknowns.n_flat), typical]) ** -2.0


def _least_variance(J: NDArray, precision: NDArray, k: int) -> NDArray:
    """Indices (k,) of the rows that leave the least mean variance of all rows: one after the other, then exchanged."""
    weight = np.einsum("kdp,kdq->pq", J, J) / len(J)
    information = np.diag(precision)
    chosen: list[int] = []

    def best_addition() -> int:
        covariance = np.linalg.inv(information)
        pulled = J @ covariance
        inner = np.eye(J.shape[1]) + pulled @ np.swapaxes(J, 1, 2)
        gain = np.trace(np.linalg.solve(inner, pulled @ weight @ np.swapaxes(pulled, 1, 2)), axis1=1, axis2=2)
        gain[chosen] = -np.inf
        return int(np.argmax(gain))

    for _ in range(k):
        chosen.append(best_addition())
        information = information + J[chosen[-1]].T @ J[chosen[-1]]
    for _ in range(k):  # three settle
        before = set(chosen)
        for old in list(chosen):
            chosen.remove(old)
            information = information - J[old].T @ J[old]
            chosen.append(best_addition())
            information = information + J[chosen[-1]].T @ J[chosen[-1]]
        if set(chosen) == before:
            break
    return np.array(chosen)


def _in_short_order(q: NDArray, chosen: NDArray) -> NDArray:
    """The chosen poses, each followed by the nearest of those that remain; first the one nearest to the middle."""
    rest = list(chosen)
    at, order = q[rest].mean(axis=0), []
    while rest:
        order.append(rest.pop(int(np.argmin(np.abs(q[rest] - at).max(axis=1)))))
        at = q[order[-1]]
    return np.array(order)
