"""What a computer sends to position servos: positions at some instants, which arrive late."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.formula import Answer, Arm, Array, Law, Reference, Values, ca, check_setting, traced
from armdyn.errors import ShapeError, expect
from armdyn.model.quantities import Number, Vec
from armdyn.trajectory.protocol import JointMotion

Age = Annotated[Any, "1"]
MAX_WAITING, WAITING = 32, 4  # commands that may be on their way at a time; a multiple of the latter is provided for


@traced(returns={"command": "n"})
def arriving_command(arm: Arm, before: Vec, sent: Vec, age: Age, delay: Vec, dt: Number) -> Array:
    """The command that acts in a step on average, as one more may arrive during it.

    The average makes motions depend continuously on the delay, whatever the steps.

    Parameters
    ----------
    before
        The command that acts until `sent` arrives [rad or m].
    sent
        A later one [rad or m].
    age
        For how long that is on its way when the step begins [s].
    delay
        How long it takes to each joint [s].
    dt
        The step [s].
    """
    part = (age + dt - delay) / dt
    part = ca.if_else(part > 1, 1, ca.if_else(part < 0, 0, part))
    return before + part * (sent - before)


@dataclass(frozen=True, eq=False)
class PositionCommands(Law):
    """Positions sent at given times to a plant with position servos; each is held until the next arrives.

    What `simulate` follows is `q`, not the reference.

    Parameters
    ----------
    arm : Arm
    t : array_like, shape (K,)
        When commands are sent [s], rising.
    q : array_like, shape (K, n)
        What is sent [rad or m]; the first holds before its time, too.
    delay : array_like, shape (..., n)
        From sending to acting [s]; leading axes are batches of rollouts.
    most_delay : float, optional
        Kernels serve delays up to this one [s]; default the largest of `delay`.
    """

    shapes: ClassVar = {"delay": "n"}
    arm: Arm
    t: ArrayLike
    q: ArrayLike
    delay: ArrayLike = 0.0
    most_delay: float | None = None

    def __post_init__(self) -> None:
        check_setting(self, "delay")
        t, q = np.asarray(self.t, float), np.asarray(self.q, float)
        fits = t.ndim == 1 and q.shape == (len(t), self.arm.n) and np.isfinite(q).all() and (np.diff(t) > 0).all()
        expected = f"rising times (K,) and finite positions (K, {self.arm.n})"
        expect(fits, "PositionCommands", expected, got=f"shapes {t.shape} and {q.shape}")
        largest = float(np.max(self.delay))
        most = largest if self.most_delay is None else self.most_delay
        expect(largest <= most < np.inf, "PositionCommands: most_delay", f"at least {largest:g} s", most)
        for name, value in (("t", t), ("q", q), ("most_delay", float(most))):
            object.__setattr__(self, name, value)
        if self.waiting > MAX_WAITING:
            cause = f"{self.waiting} commands are sent within the delay of {most:g} s, expected at most {MAX_WAITING}"
            raise ShapeError(cause, where="PositionCommands", remedy="leave some out")

    @property
    def waiting(self) -> int:
        """Number of commands that may be on their way in a step, and one more; rounded up, so that one kernel serves
        more.
        """
        t = np.asarray(self.t)
        most = (np.searchsorted(t, t + float(self.most_delay or 0.0), side="right") - np.arange(len(t))).max() + 2
        return -(-int(most) // WAITING) * WAITING

    def channels(self, t: NDArray, motion: JointMotion) -> dict[str, NDArray]:
        """The commands sent last at the end of each step, the latest first, and for how long each is on its way."""
        # Those that are sent during a step count: their age when it begins is negative.
        step = t[1] - t[0] if len(t) > 1 else 0.0
        last = np.searchsorted(np.asarray(self.t), t + step - 1e-9, side="right") - 1
        channels = {}
        for k in range(self.waiting):
            channels[f"sent{k}"] = np.asarray(self.q)[np.maximum(last - k, 0)]
            # The first command acts from the beginning.
            age = np.where(last >= k, t - np.asarray(self.t)[np.maximum(last - k, 0)], np.inf)
            channels[f"age{k}"] = np.minimum(age, 1e6).reshape(-1, 1)
        return channels

    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample; see `arriving_command`."""
        latest, channels = self.waiting - 1, ref.channels
        command = channels[f"sent{latest}"]
        for k in reversed(range(latest)):
            command = arriving_command(arm, command, channels[f"sent{k}"], channels[f"age{k}"], params["delay"], dt)
        return command, state
