"""What adaptive laws share: the estimate as state, how it is kept in bounds, how it forgets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.adaptive.unknowns import AdaptiveParameters
from armdyn.control.formula import Arm, Law, Symbol, ca, check_setting
from armdyn.control.laws.filters import mean_decay
from armdyn.control.laws.model import ModelBased
from armdyn.control.theory.gains import gain_matrix
from armdyn.errors import ShapeError, expect
from armdyn.frozen import PartOf


def adapt_estimate(phi: Symbol, rate: Symbol, Y: Symbol, rules: Mapping[str, Symbol], dt: Symbol) -> Symbol:
    """The estimate after a period of d phi/dt = gain * rate - leak (phi - start), kept within its bounds.

    For a diagonal gain, clipping to a box is the projection that leaves a Lyapunov proof intact. So does the
    normalisation by 1 + dt trace(gain Y' diag(normalize) Y), which vanishes with the period. The rate is held over the
    period, and the leak solved exactly.
    """
    strength = ca.dot(rules["gain"], ca.mtimes((Y * Y).T, rules["normalize"]))
    change = rules["gain"] * rate / (1 + dt * strength) - rules["leak"] * (phi - rules["start"])
    return ca.fmax(ca.fmin(phi + dt * mean_decay(rules["leak"] * dt) * change, rules["upper"]), rules["lower"])


def outside(s: Symbol, dead_zone: Symbol) -> Symbol:
    """The part of s beyond a dead zone; adaptation rests inside, where noise and friction rule."""
    return s - ca.fmax(ca.fmin(s, dead_zone), -dead_zone)


@dataclass(frozen=True, eq=False)
class Adaptive(ModelBased):
    """Base of adaptive laws with a field `gain`; the state `phi` is the estimate.

    * start (u,): the first estimate, by default what the model says;
    * gain (u,): of adaptation, Gamma = diag(gain);
    * lower, upper (u,): a box that the estimate never leaves;
    * dead_zone (n,): errors s below it do not drive the adaptation;
    * leak (u,) [1/s]: pull towards `start` (sigma-modification), which bounds the estimate under disturbances;
    * normalize (n,) [rad/(N m s)]: 0 for none; 1 / diag(K) makes every step of the estimate a contraction, however
      strong the motion, high the gain and low the rate.
    """

    gain_shapes: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("start", "gain", "lower", "upper"), "u"), "dead_zone": "n", "leak": "u", "normalize": "n"
    }  # fmt: skip
    learnt_states: ClassVar = ("phi",)
    unknowns: AdaptiveParameters
    start: ArrayLike | None = field(default=None, kw_only=True)
    lower: ArrayLike = field(default=-np.inf, kw_only=True)
    upper: ArrayLike = field(default=np.inf, kw_only=True)
    dead_zone: ArrayLike = field(default=0.0, kw_only=True)
    leak: ArrayLike = field(default=0.0, kw_only=True)
    normalize: ArrayLike = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        fits = isinstance(self.unknowns, AdaptiveParameters)
        expect(fits, type(self).__name__, "unknowns as adapt(...) makes them", self.unknowns)
        if self.start is None:
            self._set(start=np.array(self.unknowns.phi))
        for name, shape in self.gain_shapes.items():
            if shape != "n, n":
                is_bound = name in ("lower", "upper")
                check_setting(self, name, positive=not is_bound and name != "start", finite=not is_bound)
            elif getattr(self, name) is not None:
                gain_matrix(self, name)
        start, lower, upper = (np.asarray(getattr(self, name)) for name in ("start", "lower", "upper"))
        if len(wrong := np.argwhere(~((lower <= start) & (start <= upper)))):
            name = self.unknowns.names[wrong[0][-1]]
            raise ShapeError(where=type(self).__name__, expected=f"lower <= start <= upper, not so for {name}")

    arm = PartOf[Arm]("unknowns.arm", "The model.")

    subject = PartOf[AdaptiveParameters]("unknowns", "The model's known part, and what of it is unknown.")
    compensates_friction = PartOf[bool]("unknowns.knows_friction", "Whether there is friction that is not unknown.")

    @property
    def models_friction(self) -> bool:  # type: ignore[override]
        """Whether there is friction, known or not."""
        return self.compensates_friction or bool(self.unknowns.friction)

    def without_friction(self) -> Law:
        """The same law, with known friction left to others."""
        unknowns = self.unknowns.without_friction
        return replace(self, unknowns=unknowns) if self.compensates_friction else self  # type: ignore[type-var]

    def init(self) -> dict[str, NDArray]:
        """The estimate at the start."""
        return {"phi": np.array(self.start, float), **super().init()}
