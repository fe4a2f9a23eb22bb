"""The geometric Jacobian and its rate of change."""

from __future__ import annotations

from armdyn.kinematics.forward import Frame, carried_point, in_axes
from armdyn.kinematics.motion import Motion, Screw, joint_line, joint_screw
from armdyn.model.arm import Arm
from armdyn.model.quantities import Point, Q, Qd
from armdyn.trace.formula import Array, Symbol, ca, traced


def point_jacobian(moving: list[tuple[Motion, Frame]], p: Symbol, n: int) -> Symbol:
    """Symbols: Jacobian (6, n) of a point at p that these joints move, each with its link's frame, in base axes.

    ECE470 (2019), 1.8 with erratum 4: a revolute column is [z x (p - p_joint); z], a prismatic one [z; 0].
    """
    columns = []
    for m, frame in moving:
        z, p_joint = joint_line(m, frame)
        if m.is_revolute:
            columns.append(ca.vertcat(ca.cross(z, p - p_joint), z))
        else:
            columns.append(ca.vertcat(z, ca.SX.zeros(3)))
    return ca.horzcat(*columns, ca.SX.zeros(6, n - len(moving)))


@traced(returns={"J": "6, n"})
def jacobian(arm: Arm, q: Q, point: Point = None, link: int | None = None, axes: str = "base") -> Array:
    """Jacobian of the tip or of any point: `[v; w] = J qd`, linear rows first.

    Parameters
    ----------
    point
        The point, fixed in the tip (or in `link`) and given in its frame [m]; default its origin.
    link : int, optional
        The link that carries the point, counted from 0; default the tip.
    axes : {"base", "tip"}
        Axes in which velocities are expressed: the base's, or those of the tip (of `link`, if given).

    References
    ----------
    ECE470 (2019), section 1.8.
    """
    R, p, moving = carried_point(arm, q, point, link, "jacobian")
    return in_axes(R, point_jacobian(moving, p, arm.n), axes, "jacobian")


@traced(returns={"J_rate": "6, n"})
def jacobian_rate(arm: Arm, q: Q, qd: Qd, point: Point = None, link: int | None = None, axes: str = "base") -> Array:
    """Time derivative of the Jacobian along a motion: `[a; wd] = J qdd + J_rate qd`.

    Parameters
    ----------
    point, link, axes
        As for `jacobian`. The derivative is taken in base axes, then expressed in `axes`, so that the
        formula above gives the true acceleration in either.
    """
    R, p, moving = carried_point(arm, q, point, link, "jacobian_rate")
    screws = [joint_screw(m, frame) for m, frame in moving]
    velocity, rates = Screw.zero(), []
    for i, screw in enumerate(screws):
        rates.append(velocity.cross(screw))
        velocity = velocity.plus(screw, qd[i])
    # d/dt (v + w x p) = vd + wd x p + w x pd
    p_rate = velocity.at(p)
    columns = [ca.vertcat(r.at(p) + ca.cross(s.w, p_rate), r.w) for s, r in zip(screws, rates, strict=True)]
    return in_axes(R, ca.horzcat(*columns, ca.SX.zeros(6, arm.n - len(moving))), axes, "jacobian_rate")
