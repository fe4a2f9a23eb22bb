"""Kapadia's two theorems on the base parameters of revolute arms (1995, section 3.3), corrected.

1. The mass of link i + 1 acts at a point that is fixed in link i: it can be absorbed there.
2. With the masses absorbed, the coefficients of the joint accelerations and of gravity show all base
   parameters: velocity terms follow from them through the Christoffel symbols.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.base.reduction import (
    DEPENDENT_COLUMN_RATIO,
    Reduction,
    arm_size,
    parameter_sizes,
    preference,
    reduce_columns,
)
from armdyn.dynamics.bodies.body import parameter_row
from armdyn.errors import ModelError
from armdyn.kinematics.forward import link_frames
from armdyn.kinematics.motion import joint_line, motions
from armdyn.model.arm import Arm
from armdyn.model.quantities import Gravity, Q, Qdd
from armdyn.spatial import inertia as inertial
from armdyn.spatial.inertia import Inertia
from armdyn.trace.formula import Array, ca, traced


def absorption(arm: Arm) -> NDArray:
    """Theorem 1: the matrix (10 n, 10 n) that takes the masses away and gives each to the link before.

    mrho_i += m l and J_i += m (l.l 1 - l l') with l = l_{i+1}, the place of joint i + 1 in link i
    (erratum 4: the thesis has l_i), and m the mass of link i + 1 and of all that it absorbed before.
    """
    _revolute_only(arm, "absorption")
    rows = np.eye(inertial.SIZE * arm.n).reshape(arm.n, inertial.SIZE, -1)
    for i in reversed(range(arm.n)):
        segment, mass = arm.segments[i], rows[i, inertial.MASS].copy()
        # The joint's point seen from the link itself, where the mass is taken away.
        rows[i] -= np.outer(Inertia.from_com(1.0, -segment.R_after.T @ segment.p_after).theta, mass)
        if i:
            rows[i - 1] += np.outer(Inertia.from_com(1.0, segment.p_before).theta, mass)
    return rows.reshape(inertial.SIZE * arm.n, -1)


class Theorem2Coefficients(NamedTuple):
    """Result of `theorem2_coefficients`."""

    inertia: Annotated[Array, "n, 10*n"]
    weight: Annotated[Array, "n, 10*n"]


@traced()
def theorem2_coefficients(arm: Arm, q: Q, qdd: Qdd, *, gravity: Gravity = None) -> Theorem2Coefficients:
    """Theorem 2: torques of the accelerations and of gravity, by parameter; mass columns are zero.

    Torque at joint j of link x beyond it, with e_k the joint axes and O_k their points,

        e_j.[(O_x - O_j) x (wd x mrho) + mrho x vd + J wd],   -e_j.(mrho x g)

    wd = sum of e_k qdd_k and vd = sum of e_k x (O_x - O_k) qdd_k over k <= x (erratum 5: the vectors
    l_j of the thesis are the sums that lead from O_j to O_x).

    Parameters
    ----------
    arm : Arm
        Revolute joints only.
    q, qdd
        Joint positions and accelerations [rad, rad/s²].

    Returns
    -------
    inertia, weight
        `inertia @ theta = M(q) qdd` and `weight @ theta = g(q)` for a theta without masses.
    """
    _revolute_only(arm, "theorem2_coefficients")
    frames = link_frames(arm, q)
    lines = [joint_line(m, frame) for m, frame in zip(motions(arm, q), frames, strict=True)]
    axes, points = [z for z, _ in lines], [p for _, p in lines]
    inertia, weight = (ca.SX(arm.n, inertial.SIZE * arm.n) for _ in range(2))
    for x, (R, O_x) in enumerate(frames):
        wd = sum((axes[k] * qdd[k] for k in range(x + 1)), ca.SX.zeros(3))
        vd = sum((ca.cross(axes[k], O_x - points[k]) * qdd[k] for k in range(x + 1)), ca.SX.zeros(3))
        columns, zero = inertial.entries(x), ca.SX.zeros(3)
        for j in range(x + 1):
            e, arm_j = axes[j], O_x - points[j]
            # e.(r x (wd x h)) = h.((e x r) x wd), e.(h x vd) = h.(vd x e)
            first = ca.cross(ca.cross(e, arm_j), wd) + ca.cross(vd, e)
            inertia[j, columns] = parameter_row(0, ca.mtimes(R.T, first), ca.mtimes(R.T, e), ca.mtimes(R.T, wd))
            weight[j, columns] = parameter_row(0, ca.mtimes(R.T, ca.cross(e, gravity)), zero, zero)
    return Theorem2Coefficients(inertia, weight)


def by_theorems(arm: Arm, terms: str, tolerance: float = DEPENDENT_COLUMN_RATIO) -> Reduction:
    """Base parameters from theorem 2's coefficients at random positions, the masses absorbed by theorem 1.

    They span what those of the whole torque span; masses never lead.
    """
    rng = np.random.default_rng(0)
    q = rng.uniform(-np.pi, np.pi, (40, 1, arm.n))
    inertia, weight = theorem2_coefficients(arm, q, 10.0 * np.eye(arm.n))
    regressors = (inertia, weight) if terms == "full" else (weight,)
    rows = np.concatenate([Y.reshape(-1, inertial.SIZE * arm.n) for Y in regressors])
    sizes, what = parameter_sizes(arm, arm_size(arm)), f"theorem 2 for arm '{arm.name}'"
    reduction = reduce_columns(rows, sizes, preference(arm), tolerance, what)
    return reduction._replace(P=reduction.P @ absorption(arm))


def _revolute_only(arm: Arm, where: str) -> None:
    for joint in arm.joints:
        if joint.kind != "revolute":
            cause = f"the theorem is for revolute arms, but joint '{joint.name}' slides"
            raise ModelError(cause, where=where, remedy="use rules", names=(joint.name,))
