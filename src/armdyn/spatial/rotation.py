"""Rotations: matrices from and to axis and angle, roll-pitch-yaw, ZYZ Euler angles and quaternions.

`R_AB` turns coordinates in B into coordinates in A. All functions take leading batch axes.
Source: ECE470 (2019), sections 1.2 and 1.3, with erratum 1; Rodrigues' formula also Vukobratovic and
Potkonjak (1979), (8).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import finite_array
from armdyn.errors import ShapeError
from armdyn.precision import ROUND_OFF


def skew(v: NDArray) -> NDArray:
    """The matrix (..., 3, 3) of the cross product with `v` (..., 3): `skew(v) @ u = v x u`."""
    S = np.zeros((*v.shape, 3))
    S[..., 2, 1], S[..., 0, 2], S[..., 1, 0] = np.moveaxis(v, -1, 0)
    return S - np.swapaxes(S, -1, -2)


def rotation_x(angle: ArrayLike) -> NDArray:
    """Rotation about x by `angle` [rad]."""
    return _elementary(angle, 0)


def rotation_y(angle: ArrayLike) -> NDArray:
    """Rotation about y by `angle` [rad]."""
    return _elementary(angle, 1)


def rotation_z(angle: ArrayLike) -> NDArray:
    """Rotation about z by `angle` [rad]."""
    return _elementary(angle, 2)


def _elementary(angle: ArrayLike, axis: int) -> NDArray:
    angle = finite_array(angle, (), "rotation: angle")
    c, s = np.cos(angle), np.sin(angle)
    j, k = (axis + 1) % 3, (axis + 2) % 3
    R = np.zeros((*angle.shape, 3, 3))
    R[..., axis, axis] = 1.0
    R[..., j, j], R[..., j, k] = c, -s
    R[..., k, j], R[..., k, k] = s, c
    return R


def rotation_from_z(axis: NDArray) -> NDArray:
    """Return a rotation that takes z to `axis`; a signed permutation when the axis is one of the frame's own."""
    if np.array_equal(axis, (0.0, 0.0, 1.0)):
        return np.eye(3)
    k = int(np.argmax(np.abs(axis)))
    # This axis of the frame is never nearly parallel to `axis`, and x = y cross z keeps zeros exact.
    helper = np.eye(3)[(k + 2) % 3]
    x = np.cross(helper, axis)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])


def compose(*turns: tuple[ArrayLike, int | None]) -> NDArray:
    """Orientation reached by turning a frame several times, each turn described in a frame of choice.

    Parameters
    ----------
    *turns : tuple of (R, frame)
        Turn i makes frame i from frame i-1 by the rotation `R` (3, 3) whose entries are given in
        frame number `frame`: 0 for the fixed frame, None (or i-1) for the frame being turned,
        any earlier number for that frame.

    Returns
    -------
    R : ndarray, shape (..., 3, 3)
        Orientation of the last frame in frame 0.
    """
    reached = [np.eye(3)]
    for i, (turn, frame) in enumerate(turns, start=1):
        frame = i - 1 if frame is None else frame
        if not 0 <= frame < i:
            cause = f"turn {i} is given in frame {frame}, but only frames 0 to {i - 1} exist by then"
            raise ShapeError(cause, where="compose")
        R_0k = reached[frame]
        # ECE470, 1.3: a turn M given in frame k is R_0k M R_k0 in frame 0, and premultiplies.
        reached.append(R_0k @ _matrix(turn) @ np.swapaxes(R_0k, -1, -2) @ reached[-1])
    return reached[-1]


def from_axis_angle(axis: ArrayLike, angle: ArrayLike) -> NDArray:
    """Rotation by `angle` [rad] about `axis` (..., 3), which need not be of unit length."""
    axis, angle = finite_array(axis, (3,), "rotation: axis"), finite_array(angle, (), "rotation: angle")
    length = np.linalg.norm(axis, axis=-1, keepdims=True)
    if (length == 0).any():
        raise ShapeError("the axis has length zero", where="from_axis_angle", expected="a direction")
    e, angle = axis / length, angle[..., None, None]
    # Rodrigues: R = cos 1 + (1 - cos) e e' + sin S(e); 1 - cos = 2 sin²(angle/2) loses no digits
    outer = e[..., :, None] * e[..., None, :]
    return np.cos(angle) * np.eye(3) + 2 * np.sin(angle / 2) ** 2 * outer + np.sin(angle) * skew(e)


def to_axis_angle(R: ArrayLike) -> tuple[NDArray, NDArray]:
    """Axis (..., 3) and angle (...) in [0, pi] of a rotation; the axis is z where the angle is zero."""
    quaternion = to_quaternion(R)
    vector = quaternion[..., 1:]
    sine = np.linalg.norm(vector, axis=-1)
    angle = 2 * np.arctan2(sine, quaternion[..., 0])
    still = (sine == 0)[..., None]
    axis = np.where(still, (0.0, 0.0, 1.0), vector / np.where(still, 1.0, sine[..., None]))
    return axis, angle


def from_rpy(rpy: ArrayLike) -> NDArray:
    """Rotation of roll, pitch, yaw (..., 3) [rad] about fixed x, y, z in this order, as in URDF."""
    roll, pitch, yaw = np.moveaxis(finite_array(rpy, (3,), "rotation: rpy"), -1, 0)
    return rotation_z(yaw) @ rotation_y(pitch) @ rotation_x(roll)


def to_rpy(R: ArrayLike) -> NDArray:
    """Roll, pitch, yaw (..., 3) with pitch in [-pi/2, pi/2]; roll is zero where pitch is +-pi/2."""
    # Each angle may be wrong by round-off / cosine, but together they give the matrix back in all digits.
    R = _matrix(R)
    cosine = np.hypot(R[..., 0, 0], R[..., 1, 0])
    pitch = np.arctan2(-R[..., 2, 0], cosine)
    singular = cosine < ROUND_OFF
    roll = np.where(singular, 0.0, np.arctan2(R[..., 2, 1], R[..., 2, 2]))
    # R Rx(-roll) = Rz(yaw) Ry(pitch), whose second column is (-sin yaw, cos yaw, 0): an error of roll
    # near the singularity is made good by yaw.
    c, s = np.cos(roll), np.sin(roll)
    yaw = np.arctan2(s * R[..., 0, 2] - c * R[..., 0, 1], c * R[..., 1, 1] - s * R[..., 1, 2])
    return np.stack([roll, pitch, yaw], axis=-1)


def from_zyz(angles: ArrayLike) -> NDArray:
    """Rotation of ZYZ Euler angles phi, theta, psi (..., 3) [rad]: Rz(phi) Ry(theta) Rz(psi)."""
    phi, theta, psi = np.moveaxis(finite_array(angles, (3,), "rotation: angles"), -1, 0)
    # ECE470, 1.3; element (3, 2) of the printed product has the wrong sign (erratum 1)
    return rotation_z(phi) @ rotation_y(theta) @ rotation_z(psi)


def to_zyz(R: ArrayLike, branch: int = 1) -> NDArray:
    """ZYZ Euler angles phi, theta, psi (..., 3) of a rotation.

    Parameters
    ----------
    R : array_like, shape (..., 3, 3)
    branch : 1 or -1
        Sign of sin(theta): the same rotation has one triple with theta in [0, pi] and one with
        theta in [-pi, 0].

    Returns
    -------
    angles : ndarray, shape (..., 3)
        Where sin(theta) vanishes only phi + psi (theta = 0) or phi - psi (theta = +-pi) is defined;
        there phi is zero.
    """
    if branch not in (1, -1):
        raise ShapeError(where="to_zyz", expected="branch 1 or -1", got=f"{branch!r}")
    R = _matrix(R)
    sine = np.hypot(R[..., 0, 2], R[..., 1, 2])
    theta = np.arctan2(branch * sine, R[..., 2, 2])
    singular = sine < ROUND_OFF
    phi = np.where(singular, 0.0, np.arctan2(branch * R[..., 1, 2], branch * R[..., 0, 2]))
    # Rz(-phi) R = Ry(theta) Rz(psi), whose second row is (sin psi, cos psi, 0): so psi makes good
    # an error of phi.
    c, s = np.cos(phi), np.sin(phi)
    psi = np.arctan2(c * R[..., 1, 0] - s * R[..., 0, 0], c * R[..., 1, 1] - s * R[..., 0, 1])
    return np.stack([phi, theta, psi], axis=-1)


def from_quaternion(quaternion: ArrayLike) -> NDArray:
    """Rotation of a quaternion w, x, y, z (..., 4), scalar first, of any length but zero."""
    quaternion = finite_array(quaternion, (4,), "rotation: quaternion")
    length = np.linalg.norm(quaternion, axis=-1, keepdims=True)
    if (length == 0).any():
        raise ShapeError("the quaternion is zero", where="from_quaternion", expected="a rotation")
    unit = quaternion / length
    w, v = unit[..., 0, None, None], unit[..., 1:]
    S = skew(v)
    return np.eye(3) + 2 * w * S + 2 * S @ S


def to_quaternion(R: ArrayLike) -> NDArray:
    """Unit quaternion w, x, y, z (..., 4) of a rotation, with w >= 0."""
    R = _matrix(R)
    # Four times the outer product of the quaternion with itself; its largest row is well conditioned.
    trace = np.trace(R, axis1=-2, axis2=-1)
    K = np.empty((*R.shape[:-2], 4, 4))
    K[..., 0, 0] = 1 + trace
    axial = np.stack([R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]], -1)
    K[..., 0, 1:] = K[..., 1:, 0] = axial
    K[..., 1:, 1:] = R + np.swapaxes(R, -1, -2) + (1 - trace)[..., None, None] * np.eye(3)
    best = np.argmax(np.diagonal(K, axis1=-2, axis2=-1), axis=-1)
    row = np.take_along_axis(K, best[..., None, None], axis=-2)[..., 0, :]
    row = row / np.linalg.norm(row, axis=-1, keepdims=True)
    return np.where(row[..., :1] < 0, -row, row) + 0.0


def nearest_rotation(R: ArrayLike) -> NDArray:
    """The rotation nearest to `R` (..., 3, 3), for matrices that carry rounding."""
    U, _, Vt = np.linalg.svd(_matrix(R))
    U[..., :, 2] *= np.sign(np.linalg.det(U @ Vt))[..., None]
    return U @ Vt


def _matrix(R: ArrayLike) -> NDArray:
    return finite_array(R, (3, 3), "rotation: matrix")
