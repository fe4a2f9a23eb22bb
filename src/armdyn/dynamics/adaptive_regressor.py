"""The regressor of adaptive control: Y(q, qd, v, a) theta = M(q) a + C(q, qd) v + g(q).

For a particle at x(q) the Christoffel symbols are m dx/dq_i . d²x/dq_j dq_k, so C v is the torque of
the accelerations that are bilinear and symmetric in qd and v. For a rigid body that polarises the
acceleration field: every product of two velocities is replaced by half the sum of the mixed products.
With v = qd and a = qdd it is the torque regressor.
"""

from __future__ import annotations

from typing import Any

from armdyn.dynamics.regressor import AccelerationField, regressor_matrix
from armdyn.kinematics.motion import Motion, Symbol, motions
from armdyn.model.arm import Arm
from armdyn.trace.symbols import ca
from armdyn.trace.traced import traced


def mixed_products(w: Symbol, w_v: Symbol) -> Symbol:
    """The symmetric matrix (w w_v' + w_v w') / 2."""
    S = ca.SX(3, 3)
    for i in range(3):
        S[i, i] = w[i] * w_v[i]
        for k in range(i):
            S[i, k] = S[k, i] = (w[i] * w_v[k] + w[k] * w_v[i]) / 2
    return S


def polarised_fields(
    joints: list[Motion], qd: Symbol, v: Symbol, a: Symbol, gravity: Symbol
) -> list[AccelerationField]:
    """Acceleration fields of the links that are bilinear in qd and v, linear in a and gravity."""
    w, w_v = ca.SX.zeros(3), ca.SX.zeros(3)
    parent = AccelerationField(-gravity, ca.SX.zeros(3), ca.SX.zeros(3, 3))
    fields = []
    for i, m in enumerate(joints):
        w, w_v, z = m.to_link(w), m.to_link(w_v), m.axis
        wd = m.to_link(parent.wd)
        origin = m.to_link(parent.a + ca.mtimes(parent.U, m.before))
        mixed = ca.cross(w, z * v[i]) + ca.cross(w_v, z * qd[i])
        if m.is_revolute:
            # (50) of Eindhoven 1987 polarised: w x z qd becomes half of w x z v + w_v x z qd
            wd = wd + mixed / 2 + z * a[i]
            w, w_v = w + z * qd[i], w_v + z * v[i]
        else:
            origin = origin + mixed + z * a[i]
        field = AccelerationField(origin, wd, mixed_products(w, w_v))
        parent = AccelerationField(origin + ca.mtimes(field.U, m.offset), wd, field.S)
        fields.append(parent)
    return fields


@traced(q="n", qd="n", v="n", a="n", gravity="3", returns={"Y": "n, 10*n"})
def adaptive_regressor(arm: Arm, q: Any, qd: Any, v: Any, a: Any, *, gravity: Any) -> Any:
    """Slotine-Li regressor: `Y @ theta = M(q) a + C(q, qd) v + g(q)` with the Christoffel matrix C.

    In adaptive control v and a are the reference velocity and acceleration, and s'(dM/dt - 2 C)s = 0 is
    what makes the tracking error's energy fall. Friction columns take the measured qd, not v: see
    `joint_columns`.

    Parameters
    ----------
    arm : Arm
    q, qd : array_like, shape (..., n)
        Measured joint positions and velocities [rad or m, /s].
    v, a : array_like, shape (..., n)
        Reference velocities and accelerations [rad/s or m/s, /s²].
    gravity : array_like, shape (..., 3), optional
        Gravity vector instead of the arm's [m/s²].

    Returns
    -------
    Y : ndarray, shape (..., n, 10 n)
        Columns in the order of `arm.theta`; linear in (v, a) apart from gravity.

    References
    ----------
    Slotine and Li (1987), On the adaptive control of robot manipulators. ECE470 (2019), section 3.3.
    """
    joints = motions(arm, q)
    return regressor_matrix(joints, polarised_fields(joints, qd, v, a, gravity))
