"""A recorded or computed motion that the page can play: logs, simulated runs, designed trajectories."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.full import joint_torque
from armdyn.errors import ArmdynError, MissingInertiaError
from armdyn.identification.fit.terms import whole_torque
from armdyn.identification.logs.log import Log
from armdyn.identification.motion.differentiate import SmoothedMotion as Derivatives
from armdyn.identification.motion.track import Filters, choose_band, smooth_stretch
from armdyn.model.arm import Arm
from armdyn.simulation.result import SimulationResult
from armdyn.trajectory.protocol import Trajectory

PLAYED_RATE_HZ = 200.0  # samples a second of a trajectory


@dataclass(frozen=True, eq=False)
class Moment:
    """One moment of a motion; at rest unless something plays."""

    q: NDArray  # (n,) [rad or m]
    qd: NDArray
    qdd: NDArray
    measured: NDArray | None = None  # (n,) torques [N m or N], where a log or a simulation has them
    time: float | None = None  # within what plays [s]


@dataclass(frozen=True, eq=False)
class PlayedMotion:
    """Samples of a motion over time; torques where there are any."""

    name: str
    t: NDArray  # (N,) from zero [s]
    q: NDArray  # (N, n)
    qd: NDArray
    qdd: NDArray
    measured: NDArray | None = None  # (N, n) torques of the drives [N m or N]
    predicted: NDArray | None = None  # (N, n) torques by the model
    described: NDArray | None = None  # (N, n) torques by the arm as described, where the model is another

    @property
    def duration(self) -> float:
        """[s]"""
        return float(self.t[-1])

    def at(self, time: float) -> Moment:
        """The moment at a time [s], between samples linearly; beyond the ends the ends."""
        time = float(np.clip(time, 0.0, self.duration))
        k = int(np.clip(np.searchsorted(self.t, time, side="right") - 1, 0, len(self.t) - 2))
        s = (time - self.t[k]) / (self.t[k + 1] - self.t[k])

        def between(x: NDArray) -> NDArray:
            return (1 - s) * x[k] + s * x[k + 1]

        measured = None if self.measured is None else between(self.measured)
        return Moment(between(self.q), between(self.qd), between(self.qdd), measured, time)

    def csv(self) -> str:
        """Columns t, q1 ..., qd1 ..., qdd1 ... and tau1 ... (measured, or else predicted), in SI units."""
        tau = self.predicted if self.measured is None else self.measured
        parts = {"q": self.q, "qd": self.qd, "qdd": self.qdd} | ({} if tau is None else {"tau": tau})
        names = [f"{kind}{i + 1}" for kind in parts for i in range(self.q.shape[1])]
        rows = np.column_stack([self.t, *parts.values()])
        return "\n".join([",".join(["t", *names]), *(",".join(map(repr, row)) for row in rows.tolist())]) + "\n"


def predicted_torque(arm: Arm, q: NDArray, qd: NDArray, qdd: NDArray) -> NDArray | None:
    """Torques of links, friction and drives; None for an arm of unknown inertia."""
    try:
        return joint_torque(arm, q, qd, qdd)
    except MissingInertiaError:
        return None


def from_trajectory(name: str, trajectory: Trajectory, arm: Arm) -> PlayedMotion:
    """A designed motion with the torques it needs."""
    t = np.linspace(0.0, trajectory.duration, max(int(trajectory.duration * PLAYED_RATE_HZ) + 1, 2))
    q, qd, qdd = (np.asarray(x, float) for x in trajectory(t))
    return PlayedMotion(name, t, q, qd, qdd, predicted=predicted_torque(arm, q, qd, qdd))


def from_log(log: Log, arm: Arm, described: Arm | None = None) -> PlayedMotion:
    """A log's motion, smoothed as identification does it, with measured torques and those of one or two models."""
    if log.n != arm.n:
        raise ArmdynError(f"{log.n} joints in the log, {arm.n} in arm '{arm.name}'", where=log.name)
    if not log.stretches:
        raise ArmdynError("no stretch without gaps is long enough to play", where=log.name)
    filters = Filters(choose_band(log.stretches), None, "butterworth")
    parts: list[Derivatives] = [smooth_stretch(s, filters) for s in log.stretches]
    t = np.concatenate([s.t for s in log.stretches])
    q, qd, qdd = (np.concatenate([getattr(part, name) for part in parts]) for name in ("q", "qd", "qdd"))

    def torque(model: Arm | None) -> NDArray | None:
        if model is None:
            return None
        try:
            pairs = zip(parts, log.stretches, strict=True)
            return np.concatenate([whole_torque(model, part, s.temperature) for part, s in pairs])
        except MissingInertiaError:
            return None

    measured = np.concatenate([s.tau for s in log.stretches])
    return PlayedMotion(log.name, t - t[0], q, qd, qdd, measured, torque(arm), torque(described))


def from_run(result: SimulationResult, arm: Arm) -> PlayedMotion:
    """A simulated run; the drives' torques count as measured, those of `arm` as predicted."""
    qdd = np.gradient(result.qd, result.t, axis=0)
    predicted = predicted_torque(arm, result.q, result.qd, qdd)
    return PlayedMotion(result.name, result.t - result.t[0], result.q, result.qd, qdd, result.tau, predicted)
