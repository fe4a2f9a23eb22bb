"""Base and tool from measured poses, without a guess: linear in both, if the arm is as described."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.calibration.poses import Poses
from armdyn.spatial.transform import transform

# Of the axes of a measured frame: as long as the tool is wide, so that turns count as much as shifts of its end.
POSE_ARM_M = 0.1
FLAT_SHARE = 0.03  # thickness over length of a cloud of points from which on it is a plane


class Start(NamedTuple):
    """Place of the arm's base in the instrument's frame, and the measured points in the tip's."""

    base: NDArray  # (4, 4)
    markers: NDArray  # (M, 3); of poses the origin and a point on each axis
    scale: float  # instrument's metres per metre of the description, 1 where units agree
    mirrored: bool  # whether only a mirror image fits
    rms: float  # residual [m]
    rank: int  # of the linear equations
    unknowns: int


def as_points(poses: Poses) -> NDArray:
    """Measured points (K, M, 3); a pose as its origin and a point on each axis."""
    if poses.points is not None:
        return poses.points
    T = np.asarray(poses.poses)
    axes = np.swapaxes(T[:, :3, :3], 1, 2) * POSE_ARM_M
    return np.concatenate([T[:, None, :3, 3], T[:, None, :3, 3] + axes], axis=1)


def linear_start(tips: NDArray, points: NDArray) -> Start:
    """Solve R_B' p - c = R_k m + t_k, linear in the 3x3 R_B', c and the markers m, then again with a true rotation.

    Parameters
    ----------
    tips : ndarray, shape (K, 4, 4)
        Tips of the arm as described.
    points : ndarray, shape (K, M, 3)
        Measured, NaN where not seen.
    """
    M = points.shape[1]
    centre = np.nanmean(points, axis=(0, 1))
    k, j = np.nonzero(np.isfinite(points[..., 0]))
    p, R, t = points[k, j] - centre, tips[k, :3, :3], tips[k, :3, 3]
    # Points in a plane tell two columns of the rotation; across it there is but noise.
    _, sizes, axes = np.linalg.svd(p, full_matrices=False)
    thin = axes[sizes < FLAT_SHARE * sizes[0]]
    rows = np.zeros((len(k), 3, 12 + 3 * M))
    for axis in range(3):
        rows[:, axis, 3 * axis : 3 * axis + 3] = p
        rows[:, axis, 9 + axis] = -1.0
    at = 12 + 3 * j
    for axis in range(3):
        rows[np.arange(len(k)), :, at + axis] = -R[:, :, axis]
    A = rows.reshape(-1, rows.shape[2])
    observed = np.array(A)
    observed[:, :9] = A[:, :9] @ np.kron(np.eye(3), np.eye(3) - thin.T @ thin)
    x, _, rank, _ = np.linalg.lstsq(observed, t.ravel(), rcond=1e-9)
    U, s, Vt = np.linalg.svd(x[:9].reshape(3, 3))
    mirrored = bool(np.linalg.det(U @ Vt) < 0 and s[2] > 0.5 * s[1])
    Q = U @ np.diag([1, 1, np.linalg.det(U @ Vt)]) @ Vt
    y = np.linalg.lstsq(A[:, 9:], t.ravel() - A[:, :9] @ Q.ravel(), rcond=1e-9)[0]
    residual = A[:, 9:] @ y + A[:, :9] @ Q.ravel() - t.ravel()
    base = transform(Q.T, centre + Q.T @ y[:3])
    rms = float(np.sqrt(np.mean(residual**2) * 3))
    scale = 1 / float(np.median(s[s > 1e-6 * s[0]])) if s[0] > 0 else np.inf
    return Start(base, y[3:].reshape(M, 3), scale, mirrored, rms, int(rank), A.shape[1])


def tool_of(markers: NDArray) -> NDArray:
    """The tool's pose (4, 4) from its origin and a point on each axis."""
    U, _, Vt = np.linalg.svd((markers[1:] - markers[0]).T)
    return transform(U @ np.diag([1, 1, np.linalg.det(U @ Vt)]) @ Vt, markers[0])


def spread(poses: Poses) -> float:
    """Root mean square distance [m] of the measured points from their middle."""
    points = as_points(poses)[:, :1]
    return float(np.sqrt(np.nanmean(np.sum((points - np.nanmean(points, axis=(0, 1))) ** 2, axis=-1))))
