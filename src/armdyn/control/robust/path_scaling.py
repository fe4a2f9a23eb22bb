"""A motion that slows down on line, and keeps to its path, where torques would not suffice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import is_whole
from armdyn.control.formula import Answer, Arm, Reference, Symbol, Values, ca, traced_step
from armdyn.control.laws.model import ModelLaw, model_data, model_torque
from armdyn.control.settings import joint_numbers, one_number
from armdyn.control.theory.gains import gains_from_bandwidth
from armdyn.dynamics.drive import augmented_mass_matrix
from armdyn.errors import expect
from armdyn.precision import NEGLIGIBLE
from armdyn.trajectory.protocol import Trajectory


@dataclass(frozen=True, eq=False)
class PathScaling(ModelLaw):
    """Computed torque along a motion that slows down where torque limits require it.

        tau = M (q' u + q'' pace² + kd e' + kp e) + C qd + g,   place' = pace,  pace' = u

    e = q(place) - q. u leads the pace back to one (u = catch_up (1 - pace)) as far as all torques stay within `limit`:
    each joint allows an interval of u, and u is brought into what they have in common. So an arm that is asked for too
    much falls behind in time instead of leaving its path. It looks at the present only: where even braking needs more
    torque than there is, torques are limited and the path is left; `time_optimal` plans ahead.

    The motion that `simulate` is given plays no role but for the errors in its result. States are `place` (1,) [s] and
    `pace` (1,).

    Parameters
    ----------
    arm : Arm
        The model.
    motion : Trajectory
        The motion to follow, from rest to rest.
    kp, kd : array_like, shape (..., n)
        Gains [1/s², 1/s].
    limit : array_like, shape (n,), optional
        Largest torques; default the joints' effort limits.
    catch_up : float
        Rate at which the pace goes back to one [1/s].
    pieces : int
        Cubic polynomials that stand for the motion in the law.
    model : {"full", "rigid"}
        Whether friction of the joints is compensated.

    References
    ----------
    Dahl and Nielsen (1990), Torque-limited path following by online trajectory time scaling.
    """

    arm: Arm
    motion: Trajectory
    kp: ArrayLike
    kd: ArrayLike
    limit: ArrayLike | None = None
    catch_up: ArrayLike = 20.0
    pieces: int = 40
    model: str = "full"
    gain_shapes: ClassVar = {"kp": "n", "kd": "n", "catch_up": ""}
    formula_options: ClassVar = ("pieces",)
    path_shapes: ClassVar = {"limit": "n", "begins": "p", "polynomials": "p, 4*n", "end": ""}

    def __post_init__(self) -> None:
        super().__post_init__()
        fits = callable(self.motion) and hasattr(self.motion, "duration") and self.motion.n == self.arm.n
        expect(fits, "PathScaling: motion", f"a trajectory of {self.arm.n} joints", self.motion)
        expect(is_whole(self.pieces, least=1), "PathScaling: pieces", "an integer > 0", self.pieces)
        limit = self.arm.effort_limits if self.limit is None else self.limit
        limit = joint_numbers(limit, self.arm.n, "PathScaling: limit", "finite torques > 0")
        self._set(limit=limit, end=float(self.motion.duration), **self._polynomials())

    @property
    def shapes(self) -> Mapping[str, str]:  # type: ignore[override]
        """Gains and model, and what the path is made of."""
        return {**super().shapes, **self.path_shapes}

    @classmethod
    def from_bandwidth(cls, arm: Arm, motion: Trajectory, bandwidth: float, **options: Any) -> PathScaling:
        """Critically damped gains of a bandwidth [Hz]."""
        kp, kd, _ = gains_from_bandwidth(one_number(bandwidth, "PathScaling", "a bandwidth > 0 in Hz"))
        return cls(arm, motion, kp, kd, **options)

    def _polynomials(self) -> dict[str, NDArray]:
        """Begins (p,) of the pieces, and their coefficients (p, 4 n) by powers of the time since."""
        from scipy.interpolate import CubicSpline

        t = np.linspace(0.0, self.motion.duration, self.pieces + 1)
        curve = CubicSpline(t, np.asarray(self.motion(t)[0]), bc_type="clamped")
        return {"begins": t[:-1], "polynomials": curve.c[::-1].transpose(1, 0, 2).reshape(self.pieces, -1)}

    @property
    def trace_sizes(self) -> Mapping[str, int]:  # type: ignore[override]
        """The arm's, and the number of pieces."""
        return {**self.arm.trace_sizes, "p": self.pieces}

    def init(self) -> dict[str, NDArray]:
        """At the beginning, at the motion's own pace."""
        return {"place": np.zeros(1), "pace": np.ones(1)}

    def at(self, params: Values, place: Symbol) -> tuple[Symbol, Symbol, Symbol]:
        """The motion and its first two derivatives at a place, each (n,)."""
        n, begins = self.arm.n, params["begins"]
        place = ca.fmax(ca.fmin(place, params["end"]), 0)
        piece = params["polynomials"][0, :]
        begin = begins[0]
        for k in range(1, self.pieces):
            reached = place >= begins[k]
            piece = ca.if_else(reached, params["polynomials"][k, :], piece)
            begin = ca.if_else(reached, begins[k], begin)
        c, x = [piece[k * n : (k + 1) * n].T for k in range(4)], place - begin
        q = c[0] + x * (c[1] + x * (c[2] + x * c[3]))
        return q, c[1] + x * (2 * c[2] + 3 * x * c[3]), 2 * c[2] + 6 * x * c[3]

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample."""
        place, pace, limit = state["place"], state["pace"], params["limit"]
        q_ref, slope, bend = self.at(params, place)
        over = place >= params["end"]
        slope, bend = (ca.if_else(over, 0 * x, x) for x in (slope, bend))
        wanted = Reference(q_ref, slope * pace, bend * pace**2)
        qdd = wanted.qdd + params["kp"] * (q_ref - q) + params["kd"] * (wanted.qd - qd)
        tau = model_torque(arm, q, qd, qdd, **model_data(params))
        rest = self.add_friction(params, tau, q, qd, wanted)
        M = augmented_mass_matrix(arm, q, theta=params["theta"], drive=params["drive"])
        a = ca.mtimes(M, slope)
        u = params["catch_up"] * (1 - pace)
        size = ca.fmax(ca.fabs(a), NEGLIGIBLE)  # a joint without inertia along the path does not decide the pace
        middle, reach = -rest * a / size**2, limit / size  # |rest + a u| <= limit
        lowest, highest = ca.mmax(middle - reach), ca.mmin(middle + reach)
        u = ca.fmax(ca.fmin(u, highest), lowest)
        u = ca.if_else(over, 0, ca.fmax(u, -pace / dt))
        tau = ca.fmax(ca.fmin(rest + a * u, limit), -limit)
        after = ca.fmin(place + dt * pace + dt**2 / 2 * u, params["end"])
        return tau, {"place": after, "pace": pace + dt * u}
