"""Laws that feel: a wrist sensor tells the force at the tip, which is led to a value, or yielded to.

All get the sensor's reading as the channel `wrench` (6,): force and moment from outside on the tip, in tip axes, tool
and bias included; `tool` says what to take off. `push` is what the tip shall exert, in base axes: at rest f = -push.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.formula import Answer, Arm, Reference, Symbol, Values, ca, traced_step
from armdyn.control.laws.filters import spring_step
from armdyn.control.laws.tip_space import ROWS, TipSpace
from armdyn.control.wrist import NO_TOOL, Tool, outside_wrench
from armdyn.errors import ShapeError, expect, quote
from armdyn.kinematics.forward import tip_frame
from armdyn.trajectory.protocol import JointMotion


@dataclass(frozen=True, eq=False)
class ForceLaw(TipSpace):
    """Base of laws with a wrist sensor; fields `push` and `tool` besides.

    Parameters
    ----------
    arm : Arm
        The model.
    stiffness, tip_damping : array_like, shape (..., 6)
        Linear first, in base axes; their units are the law's.
    posture, task, singular, model
        As in `Impedance`.
    """

    gain_shapes: ClassVar = {**TipSpace.gain_shapes, "push": "6", "tool_numbers": "10"}
    signed: ClassVar = frozenset(("push", "tool_numbers", "selection"))
    above_zero: ClassVar = frozenset(("mass",))
    senses: ClassVar = ("wrench",)
    posture: ArrayLike = field(default=5.0, kw_only=True)
    task: str = field(default="pose", kw_only=True)
    singular: ArrayLike = field(default=1e-4, kw_only=True)
    model: str = field(default="full", kw_only=True)

    def __post_init__(self) -> None:
        tool = self.tool  # type: ignore[attr-defined]
        expect(isinstance(tool, Tool), f"{type(self).__name__}: tool", "Tool(...)", tool)
        self._set(tool_numbers=tool.numbers)
        super().__post_init__()

    def channels(self, t: NDArray, motion: JointMotion) -> dict[str, NDArray]:
        """Room for the sensor's readings; simulations and robots fill it."""
        return {"wrench": np.zeros((len(t), 6))}

    def contact_wrench(self, params: Values, q: Symbol, ref: Reference) -> Symbol:
        """The wrench from outside (rows,), in base axes."""
        R = tip_frame(self.arm, q)[0]
        return outside_wrench(params["tool_numbers"], ref.channels["wrench"], R, params["gravity"])[: ROWS[self.task]]


@dataclass(frozen=True, eq=False)
class ShapedImpedance(ForceLaw):
    """An impedance with an inertia of choice: mass x'' + tip_damping x' + stiffness x = f + push.

        tau = J' (Lambda (a_ref - J_rate qd + (tip_damping v_err + stiffness x_err + f + push) / mass) - f) + ...

    f is the wrench felt. A mass below half of the tip's own makes contact with stiff surfaces unstable at usual rates.

    Parameters
    ----------
    arm : Arm
        The model.
    stiffness, tip_damping, mass : array_like, shape (..., 6)
        [N/m, N s/m, kg; N m/rad, N m s/rad, kg m²], linear first, in base axes.
    push : array_like, shape (..., 6)
        Wrench that the tip exerts at rest on its reference [N, N m].
    tool : Tool
        To be taken off the readings.
    posture, task, singular, model
        As in `Impedance`.

    References
    ----------
    Hogan (1985), Impedance control; Siciliano et al. (2009), section 9.2.
    """

    gain_shapes: ClassVar = {**ForceLaw.gain_shapes, "mass": "6"}
    mass: ArrayLike
    push: ArrayLike = 0.0
    tool: Tool = NO_TOOL

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample."""
        tip, f, rows = self.tip(params, q, qd, ref), self.contact_wrench(params, q, ref), ROWS[self.task]
        asked = (self.spring(params, tip) + f + params["push"][:rows]) / params["mass"][:rows]
        force = tip.mobility.solve(tip.acceleration + asked) - f
        return self.torques(params, tip, force, q, qd, ref), state


@dataclass(frozen=True, eq=False)
class Admittance(ForceLaw):
    """The tip yields to measured forces: the reference is displaced by x, and a stiff law of the tip follows it.

        mass x'' + give_damping x' + give_stiffness x = f + push
        tau = J' Lambda (a_ref + x'' - J_rate qd + tip_damping (v_err + x') + stiffness (x_err + x)) + ...

    For arms whose position loop is good and whose friction hides small forces. x is the exact solution for a force that
    is held over each period (`spring_step`), for any mass, damping and stiffness at any rate; x'' in the torques is the
    mean over the period. Without `give_stiffness` the tip drifts until it exerts `push`.

    Parameters
    ----------
    arm : Arm
        The model.
    stiffness, tip_damping : array_like, shape (..., 6)
        Gains of the position loop [1/s², 1/s].
    mass, give_damping, give_stiffness : array_like, shape (..., 6)
        Mass, damping and stiffness of the yielding [kg, N s/m, N/m; kg m², N m s/rad, N m/rad].
    push : array_like, shape (..., 6)
        [N, N m]
    tool, posture, task, singular, model
        As in `ShapedImpedance`.

    References
    ----------
    Siciliano et al. (2009), section 9.2.2.
    """

    gain_shapes: ClassVar = {**ForceLaw.gain_shapes, "mass": "6", "give_damping": "6", "give_stiffness": "6"}
    state_shapes: ClassVar = {"give": "6", "give_rate": "6"}  # the displacement and its rate
    mass: ArrayLike
    give_damping: ArrayLike
    give_stiffness: ArrayLike = 0.0
    push: ArrayLike = 0.0
    tool: Tool = NO_TOOL

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample."""
        tip, rows = self.tip(params, q, qd, ref), ROWS[self.task]
        mass, damping, stiffness = (params[name][:rows] for name in ("mass", "give_damping", "give_stiffness"))
        x, v = state["give"][:rows], state["give_rate"][:rows]
        force = self.contact_wrench(params, q, ref) + params["push"][:rows]
        yields = [spring_step(arm, x[k], v[k], force[k], mass[k], damping[k], stiffness[k], dt) for k in range(rows)]
        x_next, v_next = (ca.vertcat(*column) for column in zip(*yields, strict=True))
        error, rate = tip.error + x, tip.error_rate + v
        asked = params["stiffness"][:rows] * error + params["tip_damping"][:rows] * rate + (v_next - v) / dt
        tau = self.torques(params, tip, tip.mobility.solve(tip.acceleration + asked), q, qd, ref)
        rest = ca.SX.zeros(6 - rows)
        return tau, {"give": ca.vertcat(x_next, rest), "give_rate": ca.vertcat(v_next, rest)}


class _Integrating(ForceLaw):
    """Base of laws with an integral of the force's error, with fields `force_gain` and `ki`.

    The integral is that of the error held over each period.
    """

    gain_shapes: ClassVar = {**ForceLaw.gain_shapes, "force_gain": "", "ki": ""}
    state_shapes: ClassVar = {"force_integral": "6"}  # of the force's error [N s]

    def feedback(self, params: Values, state: Values, q: Symbol, ref: Reference, dt: Symbol) -> tuple[Symbol, Symbol]:
        """Return what the force's error asks for (rows,), and its integral (6,) after the sample."""
        rows = ROWS[self.task]
        lacking = params["push"][:rows] + self.contact_wrench(params, q, ref)
        integral = state["force_integral"] + dt * ca.vertcat(lacking, ca.SX.zeros(6 - rows))
        return params["force_gain"] * lacking + params["ki"] * integral[:rows], integral


@dataclass(frozen=True, eq=False)
class HybridForce(_Integrating):
    """Force along chosen axes, position along the others.

        tau = J' (Lambda (1 - S) (a_ref - J_rate qd + tip_damping v_err + stiffness x_err)
                  + S (push + force_gain (push + f) + ki int(push + f) - Lambda force_damping J qd)) + ...

    S projects on `axes`, directions in the base along which forces are controlled; `push` gives them. On a wall of
    stiffness k the force obeys s³ + force_damping s² + (1 + force_gain) k / Lambda s + ki k / Lambda = 0.

    Parameters
    ----------
    arm, stiffness, tip_damping
        As in `Admittance`.
    axes : array_like, shape (k, 3)
        Directions of controlled force in base axes, linearly independent.
    push : array_like, shape (..., 6)
        Wrench to exert [N, N m]; what is not along the axes plays no role.
    ki : float
        Gain of the integral of the force's error [1/s].
    force_damping : float
        Damping of the motion along the axes [1/s].
    force_gain : float
        Gain of the force's error.
    tool, posture, task, singular, model
        As in `ShapedImpedance`.

    References
    ----------
    Raibert and Craig (1981), Hybrid position/force control of manipulators; Khatib (1987).
    """

    gain_shapes: ClassVar = {**_Integrating.gain_shapes, "selection": "3, 3", "force_damping": ""}
    axes: ArrayLike
    push: ArrayLike
    ki: ArrayLike = 5.0
    force_damping: ArrayLike = 80.0
    tool: Tool = NO_TOOL
    force_gain: ArrayLike = 2.0

    def __post_init__(self) -> None:
        axes = np.atleast_2d(np.asarray(self.axes, float))
        if axes.ndim != 2 or axes.shape[1] != 3 or not 1 <= len(axes) <= 3 or not np.isfinite(axes).all():
            raise ShapeError(where="HybridForce: axes", expected="one to three directions (k, 3)", got=quote(self.axes))
        fits = not np.linalg.matrix_rank(axes, 1e-6 * np.abs(axes).max(initial=0.0) or None) < len(axes)
        expect(fits, "HybridForce: axes", "linearly independent directions", got="dependent ones")
        self._set(selection=np.linalg.pinv(axes) @ axes)
        super().__post_init__()

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample."""
        tip, rows = self.tip(params, q, qd, ref), ROWS[self.task]
        S = params["selection"] if rows == 3 else ca.diagcat(params["selection"], ca.SX.zeros(3, 3))
        asked, integral = self.feedback(params, state, q, ref, dt)
        along = -params["force_damping"] * ca.mtimes(tip.J, qd)
        motion = tip.acceleration + self.spring(params, tip)
        moved = motion - ca.mtimes(S, motion) + ca.mtimes(S, along)
        force = tip.mobility.solve(moved) + ca.mtimes(S, params["push"][:rows] + asked)
        tau = self.torques(params, tip, force, q, qd, ref)
        return tau, {"force_integral": integral}


@dataclass(frozen=True, eq=False)
class ParallelForce(_Integrating):
    """Force and position along all axes at once; the force dominates by its integral.

        tau = J' (Lambda (a_ref - J_rate qd + tip_damping v_err + stiffness x_err)
                  + force_gain (push + f) + ki int(push + f)) + ...

    Where nothing is touched and `push` is zero, the tip follows its reference; where it is, positions yield to the
    force. Needs no knowledge of the surface's direction.

    Parameters
    ----------
    arm, stiffness, tip_damping
        As in `Admittance`.
    push : array_like, shape (..., 6)
        Wrench to exert [N, N m].
    force_gain : float
        Gain of the force's error.
    ki : float
        Gain of its integral [1/s].
    tool, posture, task, singular, model
        As in `ShapedImpedance`.

    References
    ----------
    Chiaverini and Sciavicco (1993), The parallel approach to force/position control of robotic manipulators.
    """

    push: ArrayLike = 0.0
    force_gain: ArrayLike = 1.0
    ki: ArrayLike = 20.0
    tool: Tool = NO_TOOL

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample."""
        tip = self.tip(params, q, qd, ref)
        asked, integral = self.feedback(params, state, q, ref, dt)
        force = tip.mobility.solve(tip.acceleration + self.spring(params, tip)) + asked
        return self.torques(params, tip, force, q, qd, ref), {"force_integral": integral}
