"""Equivalent inertial parameters with as many zeros as the joints allow.

What a joint cannot tell from a part of the link before it is handed down to that link, from the tip to
the base: the joint torques stay the same and fewer parameters remain. The computation depends on the
parameters only, not on the motion, so kernels do it once per call and generated code not at all.

Kapadia (1995), theorem 1 with erratum 4, in the form of Gautier and Khalil (1990): past a revolute joint
go the mass, the first moment along the axis and Iyy (a body symmetric about the axis), past a prismatic
joint the whole tensor (the angular velocity is the same on both sides).

Only joint torques are preserved, neither reaction forces nor the value of the potential energy.
"""

from __future__ import annotations

from typing import Any

from armdyn.dynamics.bodies.body import Body, link_theta, symmetric
from armdyn.model.arm import Arm, Segment
from armdyn.trace.symbols import Symbol, ca
from armdyn.trace.traced import MAX_PROGRAMS

_known: dict[str, Any] = {}  # CasADi functions by the arm's geometry: formulas of one arm ask for the same again


def regroup(arm: Arm, theta: Symbol) -> Symbol:
    """Parameters (10 N,) that give the same joint torques as `theta`."""
    function = _known.get(arm.geometry_fingerprint)
    if function is None:
        symbol = ca.SX.sym("theta", 10 * arm.n_joints)
        function = ca.Function("regroup", [symbol], [_regroup_links(arm, symbol)])
        if len(_known) >= MAX_PROGRAMS:
            _known.clear()
        _known[arm.geometry_fingerprint] = function
    return function(theta)


def _regroup_links(arm: Arm, theta: Symbol) -> Symbol:
    """The formula of `regroup`."""
    bodies = [Body.of(link_theta(theta, i)) for i in range(arm.n_joints)]
    for i in reversed(range(arm.n_joints)):
        segment, parent = arm.segments[i], arm.parents[i]
        bodies[i], handed = _split(segment, bodies[i])
        if parent >= 0:
            bodies[parent] = bodies[parent].joined(handed.turned(segment.R_before).shifted(segment.p_before))
    return ca.vertcat(*(body.theta for body in bodies))


def _split(segment: Segment, body: Body) -> tuple[Body, Body]:
    """Return the part that stays, in the link's frame, and the part that may as well belong to the parent, at the joint
    in its axes.
    """
    zero = ca.SX(0)
    if segment.kind == "prismatic":
        handed = Body(zero, ca.SX.zeros(3), body.I).turned(segment.R_after)
        return Body(body.m, body.h, ca.SX.zeros(3, 3)), handed
    at_joint = body.turned(segment.R_after).shifted(segment.p_after)
    I, yy = at_joint.I, at_joint.I[1, 1]
    handed = Body(at_joint.m, ca.vertcat(0, 0, at_joint.h[2]), symmetric(yy, zero, zero, yy, zero, zero))
    rest = symmetric(I[0, 0] - yy, I[0, 1], I[0, 2], zero, I[1, 2], I[2, 2])
    stays = Body(zero, ca.vertcat(at_joint.h[0], at_joint.h[1], 0), rest)
    return stays.shifted(-segment.p_after).turned(segment.R_after.T), handed
