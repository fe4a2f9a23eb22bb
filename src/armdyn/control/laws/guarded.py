"""A law behind a guard: measurements that are no numbers, references that jump, torques that are too large."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import as_floats
from armdyn.control.laws.model import model_torque
from armdyn.control.laws.wrapped import Wrapped, efforts, joint_sizes
from armdyn.control.protocol import Answer, Law, Reference, Shortfall, Values, choose
from armdyn.control.settings import one_number
from armdyn.errors import ShapeError, shown
from armdyn.model.arm import Arm
from armdyn.model.quantities import DriveData, Gravity, Number, Q, Qd, Tau, Theta, Vec
from armdyn.trace.shapes import Array, Vector
from armdyn.trace.symbols import ca
from armdyn.trace.traced import traced

FALLBACKS = ("zero", "gravity")


class HeldMeasurement(NamedTuple):
    """What `held_measurement` returns."""

    q: Vector
    qd: Vector
    lost: Annotated[Array, "1"]


@traced()
def held_measurement(arm: Arm, q: Q, qd: Qd, q_held: Vec, qd_held: Vec, lost: Annotated[Any, "1"]) -> HeldMeasurement:
    """The measurement if all its numbers are finite, else the last good one, and how many were lost in a row.

    Parameters
    ----------
    q, qd
        What the sensors show, perhaps NaN or infinite.
    q_held, qd_held
        The last good measurement.
    lost
        Samples lost in a row until now; negative before the first good one.
    """
    good = ca.SX(1)
    for x in (*ca.vertsplit(q), *ca.vertsplit(qd)):
        good = ca.logic_and(good, ca.fabs(x) < np.inf)  # false for NaN too
    held = ca.if_else(good, q, q_held), ca.if_else(good, qd, qd_held)
    return HeldMeasurement(*held, ca.if_else(good, 0, ca.if_else(lost < 0, lost, lost + 1)))


class GuardedTorque(NamedTuple):
    """What `guarded_torque` returns."""

    tau: Vector
    missing: Vector
    limited: Annotated[Array, "1"]
    idle: Annotated[Array, "1"]


@traced()
def guarded_torque(
    arm: Arm, tau: Tau, lost: Annotated[Any, "1"], jumped: Annotated[Any, "1"], limited: Annotated[Any, "1"],
    patience: Annotated[Any, "1"], largest: Vec,
) -> GuardedTorque:  # fmt: skip
    """Torques within limits; none where they are no numbers, or once too many measurements are lost in a row.

    Parameters
    ----------
    lost, jumped, limited, patience
        Measurements lost and references rejected in a row (negative: there was no good one yet), samples in a row until
        now that were limited, and how many measurements may be lost.
    largest
        Largest torques.

    Returns
    -------
    missing
        What the limits took off.
    limited
        Samples in a row at which some torque was limited.
    idle
        1 if the law has nothing to learn from this sample: no measurement, no reference or no numbers.
    """
    finite, over = ca.SX(1), ca.SX(0)
    for x in ca.vertsplit(tau):
        finite = ca.logic_and(finite, ca.fabs(x) < np.inf)  # false for NaN too
    seen = ca.logic_and(ca.logic_and(lost >= 0, lost <= patience), jumped >= 0)
    use = ca.logic_and(seen, ca.fabs(tau) < np.inf)
    within = ca.if_else(use, ca.fmax(ca.fmin(tau, largest), -largest), 0)
    missing = ca.if_else(use, within - tau, 0)
    for x in ca.vertsplit(missing):
        over = ca.logic_or(over, x != 0)
    learning = ca.logic_and(ca.logic_and(lost == 0, jumped >= 0), finite)
    return GuardedTorque(within, missing, ca.if_else(over, limited + 1, 0), 1 - learning)


class HeldReference(NamedTuple):
    """What `held_reference` returns."""

    q_ref: Vector
    qd_ref: Vector
    qdd_ref: Vector
    jumped: Annotated[Array, "1"]


@traced()
def held_reference(
    arm: Arm, q_ref: Vec, qd_ref: Vec, qdd_ref: Vec, q_kept: Vec, jumped: Annotated[Any, "1"], jump: Vec, dt: Number
) -> HeldReference:
    """The reference if it goes on from the last one, else the last position at rest, and for how many samples so.

    Parameters
    ----------
    q_ref, qd_ref, qdd_ref
        What is wanted, perhaps NaN or infinite.
    q_kept
        The position wanted last.
    jumped
        Samples rejected in a row until now; negative before the first good one.
    jump
        How far the position may lie from what the last one and the velocity lead to [rad or m].
    dt
        Period [s].
    """
    good, near = ca.SX(1), ca.SX(1)
    for x in (*ca.vertsplit(q_ref), *ca.vertsplit(qd_ref), *ca.vertsplit(qdd_ref)):
        good = ca.logic_and(good, ca.fabs(x) < np.inf)  # false for NaN too
    for x in ca.vertsplit(ca.fabs(q_ref - q_kept) - jump - ca.fabs(qd_ref) * dt):
        near = ca.logic_and(near, x <= 0)
    good = ca.logic_and(good, ca.logic_or(near, jumped < 0))
    none = ca.SX.zeros(arm.n)
    used = ca.if_else(good, q_ref, q_kept), ca.if_else(good, qd_ref, none), ca.if_else(good, qdd_ref, none)
    return HeldReference(*used, ca.if_else(good, 0, ca.if_else(jumped < 0, jumped, jumped + 1)))


@traced(returns={"tau": "n"})
def weight_torque(
    arm: Arm, q: Q, lost: Annotated[Any, "1"], largest: Vec, *,
    theta: Theta = None, gravity: Gravity = None, drive: DriveData = None,
) -> Array:  # fmt: skip
    """Torques of gravity and springs at the last good position, within limits; zero before there was one.

    Parameters
    ----------
    lost
        Negative before the first good measurement.
    largest
        Largest torques.
    """
    still = ca.SX.zeros(arm.n)
    weight = model_torque(arm, q, still, still, theta=theta, gravity=gravity, drive=drive)
    return ca.if_else(lost < 0, still, ca.fmax(ca.fmin(weight, largest), -largest))


class FadedTorque(NamedTuple):
    """Torques, those of the last sample with a measurement, and for how long they have faded."""

    tau: Vector
    tau_kept: Vector
    fading: Annotated[Array, "1"]


@traced()
def faded_torque(
    arm: Arm, tau: Tau, target: Vec, tau_kept: Vec, fading: Annotated[Any, "1"], lost: Annotated[Any, "1"],
    patience: Annotated[Any, "1"], dt: Number, ramp: float = 0.0,
) -> FadedTorque:  # fmt: skip
    """The law's torques, or, once too many measurements are lost in a row, the last ones fading into others.

    Parameters
    ----------
    target, tau_kept
        Torques without measurements, and the last ones with them.
    fading
        For how long torques have faded [s].
    lost, patience
        Measurements lost in a row (negative: there was no good one yet), and how many may be.
    dt
        Period [s].
    ramp : float
        Time in which torques fade [s].
    """
    gone = ca.logic_or(lost < 0, lost > patience)
    since = ca.if_else(gone, fading + dt, 0)
    left = ca.fmax(1 - since / ramp, 0) if ramp else 0
    faded = ca.if_else(gone, target + left * (tau_kept - target), tau)
    return FadedTorque(faded, ca.if_else(gone, tau_kept, tau), since)


@dataclass(frozen=True, eq=False)
class Guarded(Wrapped):
    """Any law with defined behaviour when measurements fail, references jump or torques are beyond the drives.

    * Torques are limited to `limit`. The state `limited` counts for how many samples in a row some joint was; estimates
      of adaptive laws rest meanwhile, integrals unwind, and observers are told of the torques exerted.
    * A sample with NaN or infinity counts as lost: the law sees the last good measurement instead. The state `lost`
      counts how many were lost in a row, 0 while all is well. The law's own state rests meanwhile.
    * After more than `patience` lost samples, and before the first good one, the torques are zero: an arm without
      brakes falls under its own weight. With `fallback="gravity"` they are those of gravity and springs at the last
      good position (zero before the first good one): the arm floats, and goes on coasting if it moved. With `ramp`
      the last torque fades into either within that time instead of at once, so that brakes or friction take over
      gently. None of this is a safe stop by itself: measurements are gone, so nothing is controlled.
    * A reference that jumps by more than `jump`, or is no number, is rejected: the law rests at the last good
      one until the reference comes back to it. The state `jumped` counts the samples rejected in a row. Before the
      first good reference the torques are zero. Channels (gain tables) are passed on as they are.

    Parameters
    ----------
    law : Law
    patience : int
        Samples in a row that may be lost.
    limit : array_like, shape (n,), optional
        Largest torques; default the joints' effort limits.
    jump : array_like, shape (n,)
        How far a reference may be from where the last one led, between two samples [rad or m]; default any distance.
    fallback : {"zero", "gravity"}
        Torques without measurements.
    ramp : float
        Time in which the last torque fades into them [s].
    """

    law: Law
    patience: ArrayLike = 5
    limit: ArrayLike | None = None
    jump: ArrayLike = np.inf
    fallback: str = "zero"
    ramp: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fallback not in FALLBACKS:
            expected = " or ".join(FALLBACKS)
            raise ShapeError(f"Guarded: unknown fallback {self.fallback!r}; expected {expected}")
        one_number(self.ramp, "Guarded: ramp", "a time >= 0 in seconds", zero=True)
        patience = as_floats(self.patience).reshape(-1)
        if patience.shape != (1,) or not patience[0] >= 0:
            raise ShapeError(f"Guarded: patience: expected a number of samples >= 0, got {shown(self.patience)}")
        object.__setattr__(self, "patience", patience)
        joint_sizes(self, "limit", "torques", efforts(self.arm))
        joint_sizes(self, "jump", "distances")

    @property
    def own_shapes(self) -> dict[str, str]:  # type: ignore[override]
        """The guard's numbers, and what gravity needs."""
        model = {"theta": "10*n", "gravity": "3", "drive": "n, 4"} if self.fallback == "gravity" else {}
        return {"patience": "1", "largest": "n", "jump": "n", **model}

    @property
    def trace_key(self) -> str:
        """The inner law's, and what follows a loss."""
        return f"{super().trace_key} {self.fallback} {self.ramp!r}"

    @property
    def largest(self) -> NDArray:
        """The limit, under a name of its own among the parameters."""
        return np.asarray(self.limit)

    @property
    def own_state(self) -> dict[str, NDArray]:
        """The last good measurement and reference, how many of each were lost since, and for how long limits act."""
        n = self.arm.n
        measured = {"q_held": np.zeros(n), "qd_held": np.zeros(n), "lost": np.full(1, -1.0)}
        fading = {"tau_kept": np.zeros(n), "fading": np.zeros(1)} if self.ramp else {}
        return {**measured, "q_kept": np.zeros(n), "jumped": np.full(1, -1.0), "limited": np.zeros(1), **fading}

    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample; see `held_measurement`, `held_reference` and `guarded_torque`."""
        q, qd, lost = held_measurement(arm, q, qd, state["q_held"], state["qd_held"], state["lost"])
        kept = (state["q_kept"], state["jumped"], params["jump"], dt)
        q_ref, qd_ref, qdd_ref, jumped = held_reference(arm, ref.q, ref.qd, ref.qdd, *kept)
        tau, after = self.inner(params, state, q, qd, Reference(q_ref, qd_ref, qdd_ref, ref.channels), dt)
        rules = (lost, jumped, state["limited"], params["patience"], params["largest"])
        tau, missing, limited, idle = guarded_torque(arm, tau, *rules)
        resting = self.law.after_loss(state)
        working = self.law.after_limits(params, state, after, Shortfall(missing, limited), dt)
        memory = {name: choose(idle, resting[name], working[name], x.ndim) for name, x in self.law.init().items()}
        own = {"q_held": q, "qd_held": qd, "lost": lost, "q_kept": q_ref, "jumped": jumped, "limited": limited}
        tau, fading = self._without_measurement(params, state, tau, q, lost, dt)
        return tau, {**memory, **own, **fading}

    def _without_measurement(
        self, params: Values, state: Values, tau: Any, q: Any, lost: Any, dt: Any
    ) -> tuple[Any, dict[str, Any]]:
        """Torques, and what is kept of them, where measurements may be gone for too long."""
        if self.fallback == "zero" and not self.ramp:
            return tau, {}
        target = 0 * tau
        if self.fallback == "gravity":
            model = {name: params[name] for name in ("theta", "gravity", "drive")}
            target = weight_torque(self.arm, q, lost, params["largest"], **model)
        kept = (state["tau_kept"], state["fading"]) if self.ramp else (target, lost)
        tau, kept_tau, since = faded_torque(self.arm, tau, target, *kept, lost, params["patience"], dt, self.ramp)
        return tau, {"tau_kept": kept_tau, "fading": since} if self.ramp else {}
