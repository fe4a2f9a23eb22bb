"""The linearised arm as an object of SciPy or python-control."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.dynamics.linear.checks import check_state
from armdyn.dynamics.linear.discretize import discretize
from armdyn.dynamics.linear.linearize import linearize
from armdyn.errors import ShapeError, check_choice, import_extra
from armdyn.kinematics.jacobian import jacobian
from armdyn.model.arm import Arm
from armdyn.model.quantities import Q, Qd
from armdyn.trace.formula import Array, Symbol, ca, on_symbols, traced

OUTPUTS = ("joint", "tip")
TIP_SIGNALS = ("x", "y", "z", "rx", "ry", "rz", "vx", "vy", "vz", "wx", "wy", "wz")


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


class StateSpace(NamedTuple):
    """dx/dt = A x + B u, y = C x, or the same in steps of dt; the names say what x, u and y are."""

    A: NDArray
    B: NDArray
    C: NDArray
    D: NDArray
    dt: float | None
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def to_scipy(self) -> Any:
        """A `scipy.signal.StateSpace`."""
        from scipy.signal import StateSpace as Scipy

        steps = {} if self.dt is None else {"dt": self.dt}
        return Scipy(self.A, self.B, self.C, self.D, **steps)

    def to_control(self) -> Any:
        """A `control.StateSpace` of python-control, its signals named after the arm's joints."""
        control = import_extra("control", "to_control: python-control is not installed", "control")
        names = {"states": list(self.states), "inputs": list(self.inputs), "outputs": list(self.outputs)}
        return control.ss(self.A, self.B, self.C, self.D, 0 if self.dt is None else self.dt, **names)


def state_space(
    arm: Arm,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    qdd: ArrayLike | None = None,
    output: str = "joint",
    dt: float | None = None,
    **options: Any,
) -> StateSpace:
    """The arm linearised about one state, as a system with named signals.

    Parameters
    ----------
    arm : Arm
    q, qd, qdd : array_like, shape (n,)
        Joint positions, velocities, accelerations [rad or m, /s, /s²]; at rest if the latter are left out.
    output : {"joint", "tip"}
        What the system shows: positions and velocities of the joints, or of the tip (see `tip_output`).
    dt : float, optional
        Step [s] of a system in discrete time with held inputs; left out for continuous time.
    **options
        What `linearize` takes besides: `wrench`, `base_motion`, `model`, ...

    Returns
    -------
    StateSpace
        With `to_scipy()` and `to_control()`.
    """
    where, rest = "state_space", np.zeros(arm.n)
    check_choice(where, "output", output, OUTPUTS, ShapeError)
    state = check_state(arm, where, (), q=q, qd=rest if qd is None else qd, qdd=rest if qdd is None else qdd)
    linear = linearize(arm, *state, **options)
    A, B = (linear.A, linear.B) if dt is None else discretize(linear.A, linear.B, dt)
    states = (*arm.coordinate_names, *(f"{name}_rate" for name in arm.coordinate_names))
    inputs = tuple(f"{name}_torque" for name in arm.coordinate_names)
    C, outputs = (np.eye(2 * arm.n), states) if output == "joint" else (tip_output(arm, *state[:2]), TIP_SIGNALS)
    return StateSpace(A, B, C, np.zeros((len(C), arm.n)), dt, states, inputs, outputs)
