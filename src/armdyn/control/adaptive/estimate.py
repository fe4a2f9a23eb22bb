"""What adaptive laws share: the estimate as state, how it is kept in bounds, how it forgets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.adaptive.unknowns import Unknowns
from armdyn.control.laws.model import FRICTION_SHAPE, MODEL_SHAPES, law_friction
from armdyn.control.protocol import Law, Shortfall, Values, check_setting, choose
from armdyn.control.theory.gains import gain_matrix
from armdyn.errors import ShapeError, shown
from armdyn.kinematics.motion import Symbol
from armdyn.model.arm import Arm
from armdyn.trace.symbols import ca

# Data of every adaptation: see `Adaptive`.
ADAPTATION_SHAPES: dict[str, Any] = {
    "start": "u",
    "gain": "u",
    "lower": "u",
    "upper": "u",
    "dead_zone": "n",
    "leak": "u",
    "normalize": "n",
}


def adapt_estimate(phi: Symbol, rate: Symbol, Y: Symbol, rules: Mapping[str, Symbol], dt: Symbol) -> Symbol:
    """The estimate after a period of d phi/dt = gain * rate - leak (phi - start), kept within its bounds.

    For a diagonal gain, clipping to a box is the projection that leaves a Lyapunov proof intact. So does the
    normalisation by 1 + dt trace(gain Y' diag(normalize) Y), which vanishes with the period.
    """
    strength = ca.dot(rules["gain"], ca.mtimes((Y * Y).T, rules["normalize"]))
    change = rules["gain"] * rate / (1 + dt * strength) - rules["leak"] * (phi - rules["start"])
    return ca.fmax(ca.fmin(phi + dt * change, rules["upper"]), rules["lower"])


def outside(s: Symbol, dead_zone: Symbol) -> Symbol:
    """The part of s beyond a dead zone; adaptation rests inside, where noise and friction rule."""
    return s - ca.fmax(ca.fmin(s, dead_zone), -dead_zone)


@dataclass(frozen=True, eq=False)
class Adaptive(Law):
    """Base of adaptive laws with a field `gain`; the state `phi` is the estimate.

    * start (u,): the first estimate, by default what the model says;
    * gain (u,): of adaptation, Gamma = diag(gain);
    * lower, upper (u,): a box that the estimate never leaves;
    * dead_zone (n,): errors s below it do not drive the adaptation;
    * leak (u,) [1/s]: pull towards `start` (sigma-modification), which bounds the estimate under disturbances;
    * normalize (n,) [rad/(N m s)]: 0 for none; 1 / diag(K) makes every step of the estimate a contraction, however
      strong the motion, high the gain and low the rate.
    """

    gain_shapes: ClassVar[Mapping[str, str]] = ADAPTATION_SHAPES
    unknowns: Unknowns
    start: ArrayLike | None = field(default=None, kw_only=True)
    lower: ArrayLike = field(default=-np.inf, kw_only=True)
    upper: ArrayLike = field(default=np.inf, kw_only=True)
    dead_zone: ArrayLike = field(default=0.0, kw_only=True)
    leak: ArrayLike = field(default=0.0, kw_only=True)
    normalize: ArrayLike = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.unknowns, Unknowns):
            raise ShapeError(
                f"{type(self).__name__}: expected unknowns as adapt(...) makes them, got {shown(self.unknowns)}"
            )
        if self.start is None:
            object.__setattr__(self, "start", self.unknowns.phi)
        for name, shape in self.gain_shapes.items():
            if name in ("lower", "upper"):
                self._bound(name)
            elif shape != "n, n":
                check_setting(self, name, positive=name != "start")
            elif getattr(self, name) is not None:
                gain_matrix(self, name)
        start, lower, upper = (np.asarray(getattr(self, name)) for name in ("start", "lower", "upper"))
        if not ((lower <= start) & (start <= upper)).all():
            k = int(np.argwhere(~((lower <= start) & (start <= upper)))[0][-1])
            raise ShapeError(
                f"{type(self).__name__}: expected lower <= start <= upper, not so for {self.unknowns.names[k]}"
            )

    def _bound(self, name: str) -> None:
        try:
            array = np.array(np.broadcast_to(np.asarray(getattr(self, name), float), self.core_shape(name)))
        except (TypeError, ValueError):
            raise ShapeError(f"{type(self).__name__}: {name}: expected one number or {self.unknowns.count}") from None
        if np.isnan(array).any():
            raise ShapeError(f"{type(self).__name__}: {name}: expected numbers, got NaN")
        array.flags.writeable = False
        object.__setattr__(self, name, array)

    @property
    def arm(self) -> Arm:  # type: ignore[override]
        """The model."""
        return self.unknowns.arm

    @property
    def shapes(self) -> Mapping[str, str]:  # type: ignore[override]
        """Gains and bounds, the known part of the model, and its friction if there is some."""
        return {**self.gain_shapes, **MODEL_SHAPES, **(FRICTION_SHAPE if self.compensates_friction else {})}

    @property
    def params(self) -> dict[str, NDArray]:
        """Gains, bounds and the known part of the model."""
        own = self.gain_shapes
        return {k: np.asarray(getattr(self, k)) if k in own else self.unknowns.trace_data(k) for k in self.shapes}

    @property
    def compensates_friction(self) -> bool:
        """Whether there is friction that is not unknown."""
        return self.unknowns.knows_friction

    def without_friction(self) -> Law:
        """The same law, with known friction left to others."""
        unknowns = self.unknowns.without_friction
        return replace(self, unknowns=unknowns) if self.compensates_friction else self  # type: ignore[type-var]

    def friction_part(self, params: Values, tau: Any, q: Any, qd: Any, ref: Any) -> Any:
        """Known friction that is part of the torques tau."""
        if not self.compensates_friction:
            return super().friction_part(params, tau, q, qd, ref)
        return law_friction(self.arm, params["friction"], q, qd, ref, tau)

    @property
    def trace_sizes(self) -> Mapping[str, int]:
        """Those of the arm, and the number of unknowns."""
        return self.unknowns.trace_sizes

    @property
    def trace_key(self) -> str:
        """What is unknown decides the formula."""
        return self.unknowns.trace_key

    def init(self) -> dict[str, NDArray]:
        """The estimate at the start."""
        return {"phi": np.array(self.start, float)}

    def after_limits(self, params: Values, before: Values, after: Values, short: Shortfall, dt: Any) -> Values:
        """The estimate rests: errors that limits leave tell nothing about the unknowns."""
        return {**after, "phi": choose(short.any, before["phi"], after["phi"])}
