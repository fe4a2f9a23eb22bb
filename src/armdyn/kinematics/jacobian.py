"""The geometric Jacobian and its rate of change."""

from __future__ import annotations

from armdyn.kinematics.dependents import coordinate_columns, joint_rates
from armdyn.kinematics.forward import Frame, carried_point, in_axes
from armdyn.kinematics.motion import Motion, Screw, joint_line, joint_screw
from armdyn.model.arm import Arm
from armdyn.model.quantities import Point, Q, Qd
from armdyn.trace.formula import Array, Symbol, ca, traced


def point_jacobian(arm: Arm, moving: dict[int, tuple[Motion, Frame]], p: Symbol) -> Symbol:
    """Symbols: Jacobian (6, n) of a point at p that these joints move, each with its link's frame, in base axes.

    ECE470 (2019), 1.8 with erratum 4: a revolute column is [z x (p - p_joint); z], a prismatic one [z; 0].
    """
    columns = {}
    for i, (m, frame) in moving.items():
        z, p_joint = joint_line(m, frame)
        if m.is_revolute:
            columns[i] = ca.vertcat(ca.cross(z, p - p_joint), z)
        else:
            columns[i] = ca.vertcat(z, ca.SX.zeros(3))
    return coordinate_columns(arm, all_columns(arm, columns))


def all_columns(arm: Arm, columns: dict[int, Symbol]) -> Symbol:
    """Columns (6, N) of all joints from those that are not zero."""
    return ca.horzcat(*(columns.get(i, ca.SX.zeros(6)) for i in range(arm.n_joints)))


@traced(returns={"J": "6, n"})
def jacobian(
    arm: Arm, q: Q, point: Point = None, link: int | None = None, axes: str = "base", frame: str | None = None
) -> Array:
    """Jacobian of the tip or of any point: `[v; w] = J qd`, linear rows first.

    Parameters
    ----------
    point
        The point, fixed in the tip (or in `link`) and given in its frame [m]; default its origin.
    link : int, optional
        The link that carries the point, counted from 0; default the tip.
    axes : {"base", "tip"}
        Axes in which velocities are expressed: the base's, or those of the tip (of `link` or `frame`, if given).
    frame : str, optional
        Name of a frame of the arm, or of a link, instead of the tip.

    References
    ----------
    ECE470 (2019), section 1.8.

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> armdyn.jacobian(arm, [0.0, 0.0]).round(3)[:3]
    array([[-0.  , -0.  ],
           [ 0.75,  0.25],
           [ 0.  ,  0.  ]])
    """
    R, p, moving = carried_point(arm, q, point, link, "jacobian", frame)
    return in_axes(R, point_jacobian(arm, moving, p), axes, "jacobian")


@traced(returns={"J_rate": "6, n"})
def jacobian_rate(
    arm: Arm, q: Q, qd: Qd, point: Point = None, link: int | None = None, axes: str = "base", frame: str | None = None
) -> Array:
    """Time derivative of the Jacobian along a motion: `[a; wd] = J qdd + J_rate qd`.

    Parameters
    ----------
    point, link, axes, frame
        As for `jacobian`. The derivative is taken in base axes, then expressed in `axes`, so that the
        formula above gives the true acceleration in either.
    """
    R, p, moving = carried_point(arm, q, point, link, "jacobian_rate", frame)
    screws = {i: joint_screw(m, own_frame) for i, (m, own_frame) in moving.items()}
    velocity, rates, speeds = Screw.zero(), {}, joint_rates(arm, qd)
    for i, screw in screws.items():
        rates[i] = velocity.cross(screw)
        velocity = velocity.plus(screw, speeds[i])
    # d/dt (v + w x p) = vd + wd x p + w x pd
    p_rate = velocity.at(p)
    columns = {i: ca.vertcat(rates[i].at(p) + ca.cross(s.w, p_rate), rates[i].w) for i, s in screws.items()}
    return in_axes(R, coordinate_columns(arm, all_columns(arm, columns)), axes, "jacobian_rate")
