"""What is wrong with a log, before anything is fitted to it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.newton_euler import inverse_dynamics
from armdyn.errors import DataError
from armdyn.identification.differentiate import Motion, lowpass
from armdyn.identification.log import Log
from armdyn.identification.rows import Filters, choose_band, smoothed
from armdyn.model.arm import Arm

DEGREE = np.pi / 180
STILL = 1e-4  # rad or m: a joint that stays within did not move
CLIPPED = 0.02  # share of samples at the very largest torque that sensors reach when they clip
MODEL_COUNTS = 0.3  # a model's torque of at least this share of the measured one should resemble it


class Finding(NamedTuple):
    """One observation; `level` is "refuse", "warn" or "note"."""

    level: str
    text: str


class DataCheck(NamedTuple):
    """Everything found in a log."""

    log: Log
    findings: tuple[Finding, ...]
    speeds: NDArray  # (n,) rms [rad/s or m/s]
    torques: NDArray  # (n,) rms [N m or N]
    spans: NDArray  # (n,) of position [rad or m]

    @property
    def ok(self) -> bool:
        """Whether nothing speaks against using the log."""
        return not any(f.level == "refuse" for f in self.findings)

    def __str__(self) -> str:
        rows = [f"{self.log!r}"]
        rows += [
            f"  joint {j + 1}: span {self.spans[j]:.3g}, rms speed {self.speeds[j]:.3g}, torque {self.torques[j]:.3g}"
            for j in range(self.log.n)
        ]
        return "\n".join(rows + [f"  {f.level}: {f.text}" for f in self.findings])


def check_log(arm: Arm, log: Log) -> DataCheck:
    """Rates, ranges, dead joints, clipped torques, suspicious signs, units and order of columns.

    Parameters
    ----------
    arm : Arm
        Whose log it should be. With known inertias torques are compared with the model's.
    log : Log

    Returns
    -------
    DataCheck
        `ok`, `findings` and per-joint figures; `str()` is a report.
    """
    if log.n != arm.n:
        raise DataError(f"{log.name}: {log.n} joints in the log, {arm.n} in arm '{arm.name}'")
    found = [Finding("note", text) for text in log.notes]
    spans = np.ptp(log.q, axis=0)
    if not log.stretches:
        found.append(Finding("refuse", "no stretch without gaps is long enough"))
        zero = np.zeros(log.n)
        return DataCheck(log, tuple(found), zero, zero, spans)
    band = choose_band(log.stretches)
    motions = [smoothed(s, Filters(band, None, "butterworth")) for s in log.stretches]
    speeds = np.sqrt(np.mean(np.vstack([m.qd for m in motions]) ** 2, axis=0))
    torques = np.sqrt(np.mean(log.tau**2, axis=0))
    found += _motion(arm, log, spans)
    found += _torque(arm, log)
    found += _velocity(arm, log)
    if not np.isnan(arm.theta).any():
        found += _against_model(arm, log, motions, band)
    return DataCheck(log, tuple(found), speeds, torques, spans)


def require_good(check: DataCheck) -> None:
    """Raise a `DataError` with the first reason to refuse the log."""
    for finding in check.findings:
        if finding.level == "refuse":
            raise DataError(f"{check.log.name}: {finding.text}")


def _named(arm: Arm, joint: int) -> str:
    return f"joint {joint + 1} '{arm.joint_names[joint]}'"


def _motion(arm: Arm, log: Log, spans: NDArray) -> list[Finding]:
    still = spans < STILL
    if still.all():
        return [Finding("refuse", "no joint moves; dynamics cannot be identified from an arm at rest")]
    found = [
        Finding("warn", f"{_named(arm, j)} does not move: its friction and much of its inertia stay undetermined")
        for j in np.flatnonzero(still).tolist()
    ]
    lower, upper = arm.position_limits
    for j in range(log.n):
        low, high = log.q[:, j].min(), log.q[:, j].max()
        slack = 0.05 * (upper[j] - lower[j]) if np.isfinite(upper[j] - lower[j]) else np.inf
        if low < lower[j] - slack or high > upper[j] + slack:
            found.append(
                Finding(
                    "warn",
                    f"{_named(arm, j)} is at {low:.3g} to {high:.3g}, outside its limits {lower[j]:.3g} to "
                    f"{upper[j]:.3g}: other units, another zero or another arm?",
                )
            )
    return found


def _torque(arm: Arm, log: Log) -> list[Finding]:
    found = []
    for j, tau in enumerate(log.tau.T):
        size = np.ptp(tau)
        if size == 0:
            found.append(Finding("refuse", f"the torque of {_named(arm, j)} is {tau[0]:g} throughout: sensor dead?"))
            continue
        for end in (tau.max(), tau.min()):
            share = np.mean(tau == end)
            # Coarse sensors repeat values too, but not the outermost more than the one next to it.
            inner = tau[tau != end]
            next_to = np.mean(tau == (inner.max() if end == tau.max() else inner.min()))
            if share > CLIPPED and share > 5 * next_to and len(tau) * share > 20:
                found.append(
                    Finding(
                        "warn", f"the torque of {_named(arm, j)} is {end:g} in {share:.0%} of the samples: clipped?"
                    )
                )
    return found


def _velocity(arm: Arm, log: Log) -> list[Finding]:
    """Logged velocities against differences of positions."""
    if log.qd is None:
        return []
    dq = np.gradient(lowpass(log.q, log.dt, min(10.0, 0.2 / log.dt)), log.t, axis=0)
    qd = lowpass(log.qd, log.dt, min(10.0, 0.2 / log.dt))
    found = []
    likeness = _correlations(dq, qd)
    for j in range(log.n):
        if np.ptp(log.q[:, j]) < 10 * STILL or not np.any(qd[:, j]):
            continue
        slope = float(dq[:, j] @ qd[:, j] / (dq[:, j] @ dq[:, j]))
        best = int(np.argmax(np.abs(likeness[j])))
        if likeness[j, j] < -0.8:
            found.append(
                Finding("refuse", f"the velocity of {_named(arm, j)} has the opposite sign of its position's rate")
            )
        elif best != j and abs(likeness[j, best]) > 0.95 and abs(likeness[j, j]) < 0.8:
            found.append(
                Finding(
                    "refuse", f"the position of {_named(arm, j)} moves as velocity {best + 1} says: columns shuffled?"
                )
            )
        elif likeness[j, j] > 0.8 and min(abs(slope * DEGREE - 1), abs(slope / DEGREE - 1)) < 0.2:
            found.append(
                Finding(
                    "refuse", f"positions and velocities of {_named(arm, j)} differ by 57.3: degrees and radians mixed"
                )
            )
    return found


def _against_model(arm: Arm, log: Log, motions: list[Motion], band: float) -> list[Finding]:
    """Measured torques against those of the arm as described."""
    model = np.vstack([inverse_dynamics(arm, m.q, m.qd, m.qdd) for m in motions])
    measured = np.vstack([lowpass(s.tau, s.dt, band) for s in log.stretches])
    likeness = _correlations(model, measured)
    found = []
    strong = model.std(axis=0) > MODEL_COUNTS * measured.std(axis=0)
    for j in np.flatnonzero(strong).tolist():
        if likeness[j, j] < -0.5:
            found.append(
                Finding(
                    "refuse",
                    f"the torque of {_named(arm, j)} is opposite to the model's (correlation {likeness[j, j]:.2f}): "
                    "sign reversed?",
                )
            )
    return found or _shuffled(arm, likeness, np.flatnonzero(strong))


def _shuffled(arm: Arm, likeness: NDArray, strong: NDArray) -> list[Finding]:
    """Whether another order of the torques resembles the model's much more (by most of one whole correlation).

    Joints whose torque is mostly friction are left out: the model says nothing about them.
    """
    from scipy.optimize import linear_sum_assignment

    among = likeness[np.ix_(strong, strong)]
    order = linear_sum_assignment(-among)[1]
    if among[range(len(order)), order].sum() - np.trace(among) < 0.7:
        return []
    j = int(np.flatnonzero(order != np.arange(len(order)))[0])
    other = strong[order[j]] + 1
    return [Finding("refuse", f"torque {other} looks like that of {_named(arm, int(strong[j]))}: columns shuffled?")]


def _correlations(a: NDArray, b: NDArray) -> NDArray:
    """Correlation (n, n) of every column of a with every column of b; zero for constants."""
    a, b = a - a.mean(axis=0), b - b.mean(axis=0)
    size = np.outer(np.linalg.norm(a, axis=0), np.linalg.norm(b, axis=0))
    return np.divide(a.T @ b, size, out=np.zeros_like(size), where=size > 0)
