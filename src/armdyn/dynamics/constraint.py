"""Holonomic constraints: conditions phi(q) = 0 on frames of an arm, such as a pen on a table or a hand at a door.

A condition is one equation about a frame (the tip, unless named) seen from another (the base, unless named). Its
residual and how that grows with the frame's motion are written once, over symbols; a constraint is several of them:

    phi(q) = 0,   A(q) qd = 0 with A = d phi/d q,   A qdd + A' qd = 0
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from armdyn.arrays import finite_vector, is_number
from armdyn.errors import ModelError, quote
from armdyn.kinematics.forward import link_frames, named_frame
from armdyn.kinematics.jacobian import jacobian
from armdyn.model.arm import Arm
from armdyn.model.quantities import Q, Qd
from armdyn.spatial.rotation import rotation_from_z
from armdyn.spatial.transform import check_transform
from armdyn.trace.formula import Array, Symbol, ca, on_symbols, traced

Numbers = tuple[float, ...]


class Slope(NamedTuple):
    """Growth of a residual with the velocity (3,) and angular velocity (3,) of the frame, in the other's axes."""

    linear: Symbol
    angular: Symbol


@dataclass(frozen=True)
class PointOnPlane:
    """A point of a frame lies in a plane; the multiplier is the force along the normal [N].

    Parameters
    ----------
    normal : array_like, shape (3,)
        Normal of the plane; made a unit vector.
    offset : float
        Distance of the plane from the origin, along the normal [m].
    point : array_like, shape (3,)
        In the frame [m].
    frame, relative_to : str, optional
        Names of the frame and of the one in which the plane is fixed; default tip and base.
    """

    normal: Numbers
    offset: float = 0.0
    point: Numbers = (0.0, 0.0, 0.0)
    frame: str | None = None
    relative_to: str | None = None

    def __post_init__(self) -> None:
        _set_vectors(self, normal=True, point=False)
        _check_number(self, "offset")

    def residual(self, R: Symbol, p: Symbol) -> Symbol:
        """Distance from the plane [m]."""
        return ca.dot(ca.SX(self.normal), p + ca.mtimes(R, ca.SX(self.point))) - self.offset

    def slope(self, R: Symbol, p: Symbol) -> Slope:
        """n and (R t) x n."""
        n = ca.SX(self.normal)
        return Slope(n, ca.cross(ca.mtimes(R, ca.SX(self.point)), n))


@dataclass(frozen=True)
class PointAtDistance:
    """A point of a frame keeps its distance from a centre, or from an axis; the multiplier is the force outward [N].

    Parameters
    ----------
    center : array_like, shape (3,)
        The centre, or a point of the axis [m].
    distance : float
        [m], > 0.
    axis : array_like, shape (3,), optional
        Direction of an axis; without one the point stays on a sphere, with one on a cylinder.
    point, frame, relative_to
        As of `PointOnPlane`.
    """

    center: Numbers
    distance: float
    axis: Numbers | None = None
    point: Numbers = (0.0, 0.0, 0.0)
    frame: str | None = None
    relative_to: str | None = None

    def __post_init__(self) -> None:
        _set_vectors(self, center=False, point=False, **({} if self.axis is None else {"axis": True}))
        _check_number(self, "distance", positive=True)

    def _outward(self, R: Symbol, p: Symbol) -> Symbol:
        gap = p + ca.mtimes(R, ca.SX(self.point)) - ca.SX(self.center)
        return gap if self.axis is None else gap - ca.SX(self.axis) * ca.dot(ca.SX(self.axis), gap)

    def residual(self, R: Symbol, p: Symbol) -> Symbol:
        """Distance beyond the one to keep [m]."""
        return ca.norm_2(self._outward(R, p)) - self.distance

    def slope(self, R: Symbol, p: Symbol) -> Slope:
        """u and (R t) x u, with u the unit vector outward."""
        gap = self._outward(R, p)
        u = gap / ca.norm_2(gap)
        return Slope(u, ca.cross(ca.mtimes(R, ca.SX(self.point)), u))


@dataclass(frozen=True)
class DirectionAngle:
    """An axis of a frame keeps its angle with a direction; the multiplier is a moment [N m] where they are normal.

    Parameters
    ----------
    axis : array_like, shape (3,)
        In the frame.
    direction : array_like, shape (3,)
        In the other.
    cosine : float
        Cosine of the angle between them, from -1 to 1 (at the ends the condition has no slope: use two angles of 90
        degrees).
    frame, relative_to : str, optional
        As of `PointOnPlane`.
    """

    axis: Numbers
    direction: Numbers
    cosine: float = 0.0
    frame: str | None = None
    relative_to: str | None = None

    def __post_init__(self) -> None:
        _set_vectors(self, axis=True, direction=True)
        _check_number(self, "cosine")
        if not -1 < self.cosine < 1:
            raise ModelError(where="DirectionAngle", expected="a cosine between -1 and 1", got=f"{self.cosine:g}")

    def residual(self, R: Symbol, p: Symbol) -> Symbol:
        """Cosine beyond the one to keep."""
        return ca.dot(ca.SX(self.direction), ca.mtimes(R, ca.SX(self.axis))) - self.cosine

    def slope(self, R: Symbol, p: Symbol) -> Slope:
        """d (a . R b) = w . (R b x a)."""
        return Slope(ca.SX.zeros(3), ca.cross(ca.mtimes(R, ca.SX(self.axis)), ca.SX(self.direction)))


Condition = PointOnPlane | PointAtDistance | DirectionAngle


@dataclass(frozen=True)
class Constraint:
    """Conditions that hold together; `a + b` joins two constraints, `len` counts the conditions.

    Parameters
    ----------
    conditions : sequence of PointOnPlane, PointAtDistance or DirectionAngle
    """

    conditions: tuple[Condition, ...]

    def __post_init__(self) -> None:
        listed = (self.conditions,) if isinstance(self.conditions, Condition) else tuple(self.conditions)
        object.__setattr__(self, "conditions", listed)
        if not listed or not all(isinstance(x, Condition) for x in listed):
            expected = "PointOnPlane(...), PointAtDistance(...) or DirectionAngle(...), at least one"
            raise ModelError(where="Constraint", expected=expected, got=quote(self.conditions))

    def __len__(self) -> int:
        return len(self.conditions)

    def __iter__(self) -> Iterator[Condition]:
        return iter(self.conditions)

    def __add__(self, other: Constraint) -> Constraint:
        return Constraint((*self.conditions, *other.conditions))


# -- common constraints of a tip -------------------------------------------------------------------------------


def on_plane(point: ArrayLike, normal: ArrayLike, flat: bool = False) -> Constraint:
    """Keep the tip on a plane: a pen on a table; `flat`: keep its z-axis along the normal too, as of a hand on it.

    Parameters
    ----------
    point, normal : array_like, shape (3,)
        A point of the plane and its normal, in base axes.
    flat : bool
    """
    n = _unit(normal, "on_plane: normal")
    plane = PointOnPlane(n, float(np.dot(n, finite_vector(point, 3, "on_plane: point"))))
    return Constraint((plane, *(_aligned(n) if flat else ())))


def on_line(point: ArrayLike, direction: ArrayLike) -> Constraint:
    """Keep the tip on a straight line.

    Parameters
    ----------
    point, direction : array_like, shape (3,)
        A point of the line and its direction, in base axes.
    """
    p = finite_vector(point, 3, "on_line: point")
    x, y, _ = rotation_from_z(np.array(_unit(direction, "on_line: direction"))).T
    return Constraint(tuple(PointOnPlane(tuple(n), float(n @ p)) for n in (x, y)))


def at_point(point: ArrayLike) -> Constraint:
    """Keep the tip at a point; it may still turn.

    Parameters
    ----------
    point : array_like, shape (3,)
        In base axes.
    """
    p = finite_vector(point, 3, "at_point: point")
    return Constraint(tuple(PointOnPlane(tuple(n), float(n @ p)) for n in np.eye(3)))


def on_circle(center: ArrayLike, axis: ArrayLike, radius: float) -> Constraint:
    """Keep the tip on a circle: a loosely held handle of a door or crank.

    Parameters
    ----------
    center, axis : array_like, shape (3,)
        Centre and axis of the circle, in base axes.
    radius : float
        [m]
    """
    c, n = finite_vector(center, 3, "on_circle: center"), _unit(axis, "on_circle: axis")
    return Constraint((PointOnPlane(n, float(np.dot(n, c))), PointAtDistance(tuple(c), radius, n)))


def on_hinge(pose: ArrayLike, point: ArrayLike, axis: ArrayLike) -> Constraint:
    """Let the tip turn about a hinge and nothing else: a firmly held handle of a door.

    Parameters
    ----------
    pose : array_like, shape (4, 4)
        Pose of the tip in some position of the door, in base axes.
    point, axis : array_like, shape (3,)
        A point of the hinge and its direction, in base axes.
    """
    T = check_transform(pose, "on_hinge: pose")
    p, n = finite_vector(point, 3, "on_hinge: point"), np.array(_unit(axis, "on_hinge: axis"))
    place, own_axis = T[:3, :3].T @ (p - T[:3, 3]), T[:3, :3].T @ n
    across = rotation_from_z(n).T[:2]
    held = [PointOnPlane(tuple(e), float(e @ p), tuple(place)) for e in np.eye(3)]
    return Constraint((*held, *(DirectionAngle(tuple(own_axis), tuple(e)) for e in across)))


def _aligned(normal: Numbers) -> tuple[DirectionAngle, ...]:
    """The tip's z-axis is normal to two directions across the normal."""
    return tuple(DirectionAngle((0.0, 0.0, 1.0), tuple(e)) for e in rotation_from_z(np.array(normal)).T[:2])


# -- formulas ------------------------------------------------------------------------------------------------


class Row(NamedTuple):
    """A condition over symbols: its residual, and the frames whose twists [v; w] change it, with these slopes."""

    residual: Symbol
    slopes: dict[str | None, Symbol]  # (1, 6) by the frame's name


def rows_of(arm: Arm, q: Symbol, constraint: Constraint) -> list[Row]:
    """Return the conditions at joint positions q."""
    frames, rows = link_frames(arm, q), []
    for condition in constraint:
        R, p = named_frame(arm, frames, condition.frame)
        if condition.relative_to is None:
            slope = condition.slope(R, p)
            rows.append(Row(condition.residual(R, p), {condition.frame: ca.vertcat(*slope).T}))
            continue
        R_B, p_B = named_frame(arm, frames, condition.relative_to)
        R_rel, gap = ca.mtimes(R_B.T, R), p - p_B
        p_rel = ca.mtimes(R_B.T, gap)
        slope = condition.slope(R_rel, p_rel)
        linear, angular = ca.mtimes(R_B, slope.linear), ca.mtimes(R_B, slope.angular)
        # d/dt R_B'(p - p_B) = R_B'(v - v_B - w_B x gap), and the relative turn is w - w_B.
        other = ca.vertcat(-linear, -angular - ca.cross(gap, linear))
        slopes = {condition.frame: ca.vertcat(linear, angular).T, condition.relative_to: other.T}
        rows.append(Row(condition.residual(R_rel, p_rel), slopes))
    return rows


def jacobian_of(arm: Arm, q: Symbol, constraint: Constraint) -> Symbol:
    """A = d phi/d q over symbols, (m, n)."""
    jacobians: dict[str | None, Symbol] = {}
    lines = []
    for row in rows_of(arm, q, constraint):
        line = ca.SX.zeros(1, arm.n)
        for name, slope in row.slopes.items():
            if name not in jacobians:
                jacobians[name] = jacobian(arm, q, frame=name)
            line = line + ca.mtimes(slope, jacobians[name])
        lines.append(line)
    return ca.vertcat(*lines)


@traced(returns={"residual": "constraint"})
def constraint_residual(arm: Arm, q: Q, constraint: Constraint) -> Array:
    """Residuals phi(q) of a constraint's conditions, zero where they hold [m, or a cosine].

    Parameters
    ----------
    constraint : Constraint
        Such as `on_plane(...)`.
    """
    return ca.vertcat(*(row.residual for row in rows_of(arm, q, check_constraint(constraint))))


@traced(returns={"A": "constraint, n"})
def constraint_jacobian(arm: Arm, q: Q, constraint: Constraint) -> Array:
    """Jacobian A = d phi/d q of a constraint's conditions: motions with A qd = 0 keep them.

    Parameters
    ----------
    constraint : Constraint
        Such as `on_plane(...)`.
    """
    return jacobian_of(arm, q, check_constraint(constraint))


@traced(returns={"drift": "constraint"})
def constraint_drift(arm: Arm, q: Q, qd: Qd, constraint: Constraint) -> Array:
    """Second derivative of the residuals at joint accelerations of zero, (dA/dt) qd.

    Parameters
    ----------
    constraint : Constraint
        Such as `on_plane(...)`.
    """
    check_constraint(constraint)

    def formula(q: Symbol, qd: Symbol) -> list[Symbol]:
        return [ca.jtimes(ca.mtimes(jacobian_of(arm, q, constraint), qd), q, qd)]

    return on_symbols(formula, q, qd)[0]


def check_constraint(constraint: Any) -> Constraint:
    """Return the constraint, or raise where something else stands in its place."""
    if not isinstance(constraint, Constraint):
        raise ModelError(expected="a constraint such as on_plane(point, normal)", got=quote(constraint))
    return constraint


# -- numbers that callers give ---------------------------------------------------------------------------------


def _unit(value: ArrayLike, what: str) -> Numbers:
    vector = finite_vector(value, 3, what)
    size = float(np.linalg.norm(vector))
    if not size > 0:
        raise ModelError(where=what, expected="a direction", got="a vector of length zero")
    return tuple(float(x) for x in vector / size)


def _set_vectors(condition: Any, **unit: bool) -> None:
    """Replace vectors of a condition by tuples, some of length one: constants that can be compared."""
    for name, is_unit in unit.items():
        what, value = f"{type(condition).__name__}: {name}", getattr(condition, name)
        checked = _unit(value, what) if is_unit else tuple(float(x) for x in finite_vector(value, 3, what))
        object.__setattr__(condition, name, checked)


def _check_number(condition: Any, name: str, positive: bool = False) -> None:
    value = getattr(condition, name)
    if not is_number(value) or (positive and not value > 0):
        kind = "a number > 0" if positive else "a finite number"
        raise ModelError(where=f"{type(condition).__name__}: {name}", expected=kind, got=quote(value))
    object.__setattr__(condition, name, float(value))
