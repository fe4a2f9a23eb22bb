"""The regressor of adaptive control: Y(q, qd, v, a) theta = M(q) a + C(q, qd) v + g(q).

For a particle at x(q) the Christoffel symbols are m dx/dq_i . d²x/dq_j dq_k, so C v is the torque of
the accelerations that are bilinear and symmetric in qd and v. For a rigid body that polarises the
acceleration field: every product of two velocities is replaced by half the sum of the mixed products.
With v = qd and a = qdd it is the torque regressor.
"""

from __future__ import annotations

from dataclasses import replace

from armdyn.dynamics.bodies.body import link_theta
from armdyn.dynamics.newton_euler import field_of_products, inward, tip_wrench
from armdyn.dynamics.regressors.regressor import AccelerationField, regressor_matrix
from armdyn.kinematics.dependents import coordinate_torques, joint_rates
from armdyn.kinematics.motion import Motion, motions
from armdyn.model.arm import Arm
from armdyn.model.quantities import A, Gravity, Q, Qd, Theta, TipWrench, V
from armdyn.trace.formula import Array, Symbol, ca, traced


def mixed_field(a: Symbol, wd: Symbol, w: Symbol, w_v: Symbol) -> AccelerationField:
    """The field with S = (w w_v' + w_v w') / 2."""
    squares = (w[0] * w_v[0], w[1] * w_v[1], w[2] * w_v[2])
    yz, xz, xy = ((w[i] * w_v[k] + w[k] * w_v[i]) / 2 for i, k in ((1, 2), (0, 2), (0, 1)))
    products = (yz, xz, xy)
    return AccelerationField(a, wd, field_of_products(squares, products, wd), products)


def polarised_fields(
    joints: list[Motion], qd: Symbol, v: Symbol, a: Symbol, gravity: Symbol
) -> list[AccelerationField]:
    """Acceleration fields of the links that are bilinear in qd and v, linear in a and gravity."""
    zero = ca.SX.zeros(3)
    base = (zero, zero, AccelerationField(-gravity, zero, ca.SX.zeros(3, 3), (zero[0], zero[0], zero[0])))
    links: list[tuple[Symbol, Symbol, AccelerationField]] = []
    for i, m in enumerate(joints):
        w, w_v, parent = base if m.parent < 0 else links[m.parent]
        w, w_v, wd, z = m.to_link(w), m.to_link(w_v), m.to_link(parent.wd), m.axis
        origin = m.to_link(parent.a + ca.mtimes(parent.U, m.before))
        mixed = ca.cross(w, z * v[i]) + ca.cross(w_v, z * qd[i])
        if m.is_revolute:
            # (50) of Eindhoven 1987 polarised: w x z qd becomes half of w x z v + w_v x z qd
            wd = wd + mixed / 2 + z * a[i]
            w, w_v = w + z * qd[i], w_v + z * v[i]
        else:
            origin = origin + mixed + z * a[i]
        at_joint = mixed_field(origin, wd, w, w_v)
        links.append((w, w_v, replace(at_joint, a=origin + ca.mtimes(at_joint.U, m.offset))))
    return [field for _, _, field in links]


@traced(returns={"Y": "n, 10*joints"})
def adaptive_regressor(arm: Arm, q: Q, qd: Qd, v: V, a: A, *, gravity: Gravity = None) -> Array:
    """Slotine-Li regressor: `Y @ theta = M(q) a + C(q, qd) v + g(q)` with the Christoffel matrix C.

    In adaptive control v and a are the reference velocity and acceleration, and s'(dM/dt - 2 C)s = 0 is
    what makes the tracking error's energy fall. Friction columns take the measured qd, not v: see
    `joint_columns`.

    Parameters
    ----------
    q, qd
        Measured joint positions and velocities [rad or m, /s].

    Returns
    -------
    Y
        Columns in the order of `arm.theta`; linear in (v, a) apart from gravity. A wrench on the tip adds
        `wrench_columns(arm, q) @ wrench`.

    References
    ----------
    Slotine and Li (1987), On the adaptive control of robot manipulators. ECE470 (2019), section 3.3.

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> q, qd, v, a = np.ones((4, 2))
    >>> Y = armdyn.adaptive_regressor(arm, q, qd, v, a)
    >>> Y.shape
    (2, 20)
    """
    joints, (qd, v, a) = motions(arm, q), (joint_rates(arm, x) for x in (qd, v, a))
    rows = [field.row for field in polarised_fields(joints, qd, v, a, gravity)]
    return coordinate_torques(arm, regressor_matrix(joints, rows))


@traced(returns={"tau": "n"}, redescribable=True)
def adaptive_torque(
    arm: Arm, q: Q, qd: Qd, v: V, a: A, wrench: TipWrench = None, *, theta: Theta = None, gravity: Gravity = None
) -> Array:
    """The torques M(q) a + C(q, qd) v + g(q) themselves, with the Christoffel matrix C, in one recursion.

    Parameters
    ----------
    q, qd
        Measured joint positions and velocities [rad or m, /s].
    theta
        Inertial parameters instead of the arm's, such as an estimate.

    Returns
    -------
    tau
        `adaptive_regressor(...) @ theta`, and `wrench_columns(arm, q) @ wrench`, from a tenth of the operations.
    """
    joints, (qd, v, a) = motions(arm, q), (joint_rates(arm, x) for x in (qd, v, a))
    fields = polarised_fields(joints, qd, v, a, gravity)
    wrenches = [field.wrench(link_theta(theta, i)) for i, field in enumerate(fields)]
    return coordinate_torques(arm, ca.vertcat(*inward(joints, wrenches, tip_wrench(arm, wrench))))
