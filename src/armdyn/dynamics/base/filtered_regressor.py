"""The filtered regressor: tau through a low-pass, linear in theta, without accelerations.

With the momentum P theta and the gradient D theta of the Lagrangian, tau = d/dt(P theta) - D theta. Both
sides pass the filter a / (s + a); the derivative is then a (P - low-passed P), so that

    tau_f = Y_f theta,    Y_f = a P - z,    dz/dt = a (a P + D - z),    z(0) = a P(0)

needs positions and velocities only (Middleton and Goodwin 1988; Slotine and Li 1989; Lu and Meng 1993,
remark 2). Between samples P, D and tau are taken to be linear, and the filter is then exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import check_positive
from armdyn.dynamics.base.parameters import BaseParameters
from armdyn.dynamics.regressors.energy_regressor import lagrangian_regressor, momentum_regressor
from armdyn.dynamics.regressors.joint_columns import joint_columns
from armdyn.errors import ShapeError
from armdyn.model.arm import Arm
from armdyn.model.quantities import Gravity, Q, Qd
from armdyn.trace.formula import Array, ca, traced


class FilterTerms(NamedTuple):
    """Result of `filter_terms`."""

    P: Annotated[Array, "n, 10*joints + joints*terms"]
    D: Annotated[Array, "n, 10*joints + joints*terms"]


@traced()
def filter_terms(arm: Arm, q: Q, qd: Qd, terms: tuple[str, ...] = (), *, gravity: Gravity = None) -> FilterTerms:
    """P and D of links and joint terms, with tau = d/dt(P theta) - D theta.

    Parameters
    ----------
    terms : tuple of str
        Joint terms, see `joint_columns`.

    Returns
    -------
    P, D : ndarray, shape (..., n, 10 n + n k)
    """
    P, D = [momentum_regressor(arm, q, qd)], [lagrangian_regressor(arm, q, qd, gravity=gravity)]
    for term in terms:
        # A rotor's torque is the rate of its momentum; all others are torques as they stand.
        column = joint_columns(arm, q, qd, qd, terms=(term,))
        rotor = term == "rotor"
        P.append(column if rotor else ca.SX(*column.shape))
        D.append(ca.SX(*column.shape) if rotor else -column)
    return FilterTerms(ca.horzcat(*P), ca.horzcat(*D))


@dataclass(frozen=True)
class LowPass:
    """The filter a / (s + a) at a fixed sampling time, exact for inputs linear between samples.

    z[k + 1] = decay z[k] + old u[k] + new u[k + 1]
    """

    bandwidth: float  # a [rad/s]
    dt: float  # [s]

    def __post_init__(self) -> None:
        check_positive("low-pass", bandwidth=self.bandwidth, dt=self.dt)

    @property
    def decay(self) -> float:
        """Part of the state that is left after one sample."""
        return float(np.exp(-self.bandwidth * self.dt))

    @property
    def new(self) -> float:
        """Weight of the newest input."""
        x = self.bandwidth * self.dt
        return float(1 + np.expm1(-x) / x)

    @property
    def old(self) -> float:
        """Weight of the input before it."""
        return 1 - self.decay - self.new

    def batch(self, u: ArrayLike, z0: ArrayLike = 0.0) -> NDArray:
        """The filter's output (N, ...) for samples u (N, ...) along the first axis, from the state z0."""
        from scipy.signal import lfilter

        u = np.asarray(u, float)
        if u.ndim == 0 or not len(u):
            raise ShapeError(where="low-pass", expected="samples along the first axis", got=f"shape {u.shape}")
        z = np.empty_like(u)
        z[0] = z0
        if len(u) > 1:
            state = self.decay * z[:1] + self.old * u[:1]
            z[1:] = lfilter([self.new, self.old], [1.0, -self.decay], u[1:], axis=0, zi=state)[0]
        return z


@dataclass(frozen=True, eq=False)
class FilteredRegressor:
    """Regressor of the low-passed torque: `tau_f = Y_f @ theta`, from positions and velocities.

    Parameters
    ----------
    subject : Arm or BaseParameters
        Whose parameters: all of an arm's, or base parameters with their joint terms.
    bandwidth : float
        Bandwidth of the low-pass [rad/s].
    dt : float
        Sampling time [s].
    """

    subject: Arm | BaseParameters
    bandwidth: float
    dt: float

    def __post_init__(self) -> None:
        _ = self.low_pass  # checks the numbers

    @property
    def low_pass(self) -> LowPass:
        """The filter that the torques are to pass too: `tau_f = low_pass.batch(tau)`."""
        return LowPass(self.bandwidth, self.dt)

    def batch(self, q: ArrayLike, qd: ArrayLike) -> NDArray:
        """Y_f (N, n, columns) of a motion sampled as q, qd (N, n)."""
        P, D = self._terms(q, qd)
        scaled = self.bandwidth * P
        return scaled - self.low_pass.batch(scaled + D, z0=scaled[0])

    def init(self, q: Any, qd: Any) -> Any:
        """The state before the sample that follows q, qd."""
        P, D = self._terms(q, qd)
        scaled = self.bandwidth * P
        return self._carry(scaled, scaled + D)

    def step(self, state: Any, q: Any, qd: Any) -> tuple[Any, Any]:
        """Y_f (n, columns) at the next sample, and the next state; arrays or CasADi symbols."""
        P, D = self._terms(q, qd)
        scaled = self.bandwidth * P
        z = state + self.low_pass.new * (scaled + D)
        return scaled - z, self._carry(z, scaled + D)

    def _carry(self, z: Any, u: Any) -> Any:
        """Return what the filter needs of the past: its state and the last input, in one matrix."""
        return self.low_pass.decay * z + self.low_pass.old * u

    def _terms(self, q: Any, qd: Any) -> tuple[Any, Any]:
        if isinstance(self.subject, Arm):
            return filter_terms(self.subject, q, qd)
        base = self.subject
        P, D = filter_terms(base.source, q, qd, terms=base.joint_terms)
        columns = list(base.columns)
        return (P[..., columns], D[..., columns]) if isinstance(P, np.ndarray) else (P[:, columns], D[:, columns])
