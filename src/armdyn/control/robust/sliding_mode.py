"""Sliding modes: errors are forced onto a surface along which they decay, whatever bounded torques disturb."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from armdyn.control.formula import Answer, Arm, Reference, Values, Vector, ca, traced, traced_step
from armdyn.control.laws.model import ModelLaw, model_data, model_torque
from armdyn.dynamics.drive import drive_torque
from armdyn.dynamics.regressors.adaptive_regressor import adaptive_torque
from armdyn.model.quantities import Number, Vec

# Periods that a radian of the linear motion in super-twisting's layer takes: slow enough for samples.
LAYER_PERIODS = 4.0


@dataclass(frozen=True, eq=False)
class SlidingMode(ModelLaw):
    """The model's torques, and a torque towards the sliding surface as large as the disturbance may be.

        e = q_ref - q,  v = qd_ref + lam e,  s = v - qd
        tau = M v' + C v + g + k s + reach sat(s / boundary)

    V = s' M s / 2 changes by -s' k s - s' reach sat(s / boundary) + s' d under disturbances d: while
    `|d| <= reach` it falls outside of the boundary layer, so that `|s|` ends below `boundary` and `|e|` below
    boundary / lam. Inside the law is a linear one of the gain reach / boundary + k, which the rate must bear; without a
    layer (0 is rejected) torques would chatter.

    Parameters
    ----------
    arm : Arm
        The model.
    lam : array_like, shape (..., n)
        Rate at which errors decay on the surface [1/s].
    k : array_like, shape (..., n)
        Damping [N m s/rad].
    reach : array_like, shape (..., n)
        Bound of what the model does not explain [N m].
    boundary : array_like, shape (..., n)
        Half the layer's width [rad/s].
    model : {"full", "rigid"}
        Whether friction of the joints is compensated.

    References
    ----------
    Slotine and Li (1991), Applied nonlinear control, sections 7.1 and 9.1.
    """

    gain_shapes: ClassVar = {"lam": "n", "k": "n", "reach": "n", "boundary": "n"}
    above_zero: ClassVar = frozenset(("lam", "boundary"))
    arm: Arm
    lam: ArrayLike
    k: ArrayLike
    reach: ArrayLike
    boundary: ArrayLike
    model: str = "full"

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample."""
        v, a = ref.qd + params["lam"] * (ref.q - q), ref.qdd + params["lam"] * (ref.qd - qd)
        s = v - qd
        links = {name: params[name] for name in ("theta", "gravity")}
        tau = adaptive_torque(arm, q, qd, v, a, **links) + drive_torque(arm, q, qd, a, drive=params["drive"])
        inside = ca.fmax(ca.fmin(s / params["boundary"], 1), -1)
        tau = tau + params["k"] * s + params["reach"] * inside
        return self.add_friction(params, tau, q, qd, ref), state


class SuperTwistingStep(NamedTuple):
    """Result of `super_twisting`."""

    u: Vector
    twist: Vector


@traced()
def super_twisting(arm: Arm, s: Vec, twist: Vec, k1: Vec, k2: Vec, dt: Number) -> SuperTwistingStep:
    """One sample of the super-twisting algorithm: u = k1 sqrt(abs(s)) sign(s) + twist, twist' = k2 sign(s).

    Within the layer `|s| < (4 dt)² k2`, which a sample cannot tell from zero, roots and signs go over into straight
    lines: there s'' + 2 damping w s' + w² s = d' with w = 1 / (4 dt) and damping = k1 / (2 sqrt(k2)), so that torques
    do not chatter. The twist is that of s held over the period (Euler's rule).

    Parameters
    ----------
    s
        Distance from the surface.
    twist
        What is known of the disturbance.
    k1, k2
        Gains.
    dt
        Period [s].

    References
    ----------
    Levant (1993), Sliding order and sliding accuracy in sliding mode control.
    """
    layer = (LAYER_PERIODS * dt) ** 2 * k2
    u = k1 * s / ca.sqrt(ca.fmax(ca.fabs(s), layer)) + twist
    return SuperTwistingStep(u, twist + dt * k2 * ca.fmax(ca.fmin(s / layer, 1), -1))


@dataclass(frozen=True, eq=False)
class SuperTwisting(ModelLaw):
    """Computed torque whose feedback is the super-twisting algorithm: continuous torques, errors zero in finite time.

        s = e' + lam e,   tau = M (qdd_ref + lam e' + u) + C qd + g,   s' = -u + d,   u by `super_twisting`

    Disturbing accelerations d = M^-1 (torques that the model does not explain) of bounded rate `|d'| < L` are learnt
    if k2 > L and k1² > 4 L (k2 + L) / (k2 - L) (Levant 1993), up to the layer that samples need, of the order dt² L.
    See `from_bound`.

    Parameters
    ----------
    arm, lam
        As in `SlidingMode`.
    k1, k2 : array_like, shape (..., n)
        [rad^½/s^3/2, rad/s³]
    model : {"full", "rigid"}
        Whether friction of the joints is compensated.

    References
    ----------
    Levant (1993); Moreno and Osorio (2012), Strict Lyapunov functions for the super-twisting algorithm.
    """

    gain_shapes: ClassVar = {"lam": "n", "k1": "n", "k2": "n"}
    above_zero: ClassVar = frozenset(("lam", "k1", "k2"))
    state_shapes: ClassVar = {"twist": "n"}  # what is known of the disturbance [rad/s²]
    learnt_states: ClassVar = ("twist",)
    arm: Arm
    lam: ArrayLike
    k1: ArrayLike
    k2: ArrayLike
    model: str = "full"

    @classmethod
    def from_bound(cls, arm: Arm, lam: ArrayLike, bound: ArrayLike, model: str = "full") -> SuperTwisting:
        """Levant's gains k1 = 1.5 sqrt(bound), k2 = 1.1 bound for `|d'| <= bound` [rad/s³]."""
        bound = np.asarray(bound, float)
        return cls(arm, lam, 1.5 * np.sqrt(bound), 1.1 * bound, model)

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample."""
        s = ref.qd - qd + params["lam"] * (ref.q - q)
        u, twist = super_twisting(arm, s, state["twist"], params["k1"], params["k2"], dt)
        qdd = ref.qdd + params["lam"] * (ref.qd - qd) + u
        tau = model_torque(arm, q, qd, qdd, **model_data(params))
        return self.add_friction(params, tau, q, qd, ref), {"twist": twist}
