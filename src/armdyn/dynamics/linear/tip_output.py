"""What the tip shows of small deviations of the joints: output matrices of the linearised arm."""

from __future__ import annotations

from armdyn.kinematics.jacobian import jacobian
from armdyn.model.arm import Arm
from armdyn.model.quantities import Q, Qd
from armdyn.trace.formula import Array, Symbol, ca, on_symbols, traced


@traced(returns={"C": "12, 2*n"})
def tip_output(arm: Arm, q: Q, qd: Qd) -> Array:
    """Output matrix from the state [dq; dqd] to the tip's deviation, in base axes.

    Parameters
    ----------
    q, qd
        Joint positions and velocities of the motion [rad or m, /s].

    Returns
    -------
    C
        [[J, 0], [d(J qd)/dq, J]]: rows 0-5 are the tip's displacement and small turn [m, rad], rows 6-11
        the deviations of its velocity and angular velocity [m/s, rad/s].
    """

    def rows(x: Symbol) -> list[Symbol]:
        J = jacobian(arm, x)
        return [J, ca.jacobian(ca.mtimes(J, qd), x)]

    J, slope = on_symbols(rows, q)
    return ca.blockcat([[J, ca.SX.zeros(6, arm.n)], [slope, J]])
