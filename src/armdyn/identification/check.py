"""What is wrong with a log, before anything is fitted to it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.newton_euler import inverse_dynamics
from armdyn.errors import DataError
from armdyn.identification.differentiate import Motion, lowpass
from armdyn.identification.log import Log
from armdyn.identification.resemblance import correlations, objections, resemblance
from armdyn.identification.rows import Filters, choose_band, smoothed
from armdyn.model.arm import Arm

DEGREE = np.pi / 180
STILL = 1e-4  # rad or m: a joint that stays within did not move
CLIPPED = 0.02  # share of samples at the very largest torque that sensors reach when they clip
LARGEST_ANGLE = 4 * np.pi  # rad: no arm's joint turns further; such numbers are degrees
LITTLE = 0.02  # share of the busiest joint's span, of joints of its kind, below which a joint hardly moves
CONDITION = 100.0  # of a joint's own columns (acceleration, speed, sign, one), from which on they look alike


class Finding(NamedTuple):
    """One observation; `level` is "refuse", "warn" or "note"."""

    level: str
    text: str


class JointFigures(NamedTuple):
    """What each joint does in a log, all (n,)."""

    low: NDArray  # least position [rad or m]
    high: NDArray
    speed: NDArray  # exceeded for a hundredth of the time [rad/s or m/s]
    acceleration: NDArray  # likewise [rad/s² or m/s²]
    reversals: NDArray  # how often it turned back
    condition: NDArray  # of its own columns acceleration, speed, sign of speed, one: 1 is best
    torque: NDArray  # rms [N m or N]
    peak: NDArray  # largest torque [N m or N]


class DataCheck(NamedTuple):
    """Everything found in a log."""

    arm: Arm
    log: Log
    findings: tuple[Finding, ...]
    joints: JointFigures

    @property
    def ok(self) -> bool:
        """Whether nothing speaks against using the log."""
        return not any(f.level == "refuse" for f in self.findings)

    @property
    def verdict(self) -> str:
        """In one sentence."""
        doubts = sum(f.level == "warn" for f in self.findings)
        if not self.ok:
            return "This log cannot be used as it is."
        return "Nothing speaks against this log." if not doubts else f"Usable, with {doubts} doubts."

    def rows(self) -> list[tuple[str, ...]]:
        """A row of words for each joint, under `HEADINGS`."""
        figures = zip(*self.joints, strict=True)
        return [
            (f"{j + 1} {name}", f"{low:.3g} .. {high:.3g}", f"{v:.3g}", f"{a:.3g}", f"{turns:.0f}", _told(condition),
             f"{rms:.3g}", f"{peak:.3g}")
            for j, (name, (low, high, v, a, turns, condition, rms, peak)) in enumerate(
                zip(self.arm.joint_names, figures, strict=True)
            )
        ]  # fmt: skip

    def __str__(self) -> str:
        table = [HEADINGS, *self.rows()]
        widths = [max(len(row[k]) for row in table) for k in range(len(HEADINGS))]
        lines = [f"{self.log!r}: {self.verdict}"]
        lines += ["  " + "  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in table]
        return "\n".join(lines + [f"  {f.level}: {f.text}" for f in self.findings])

    def __repr__(self) -> str:
        return f"<DataCheck of {self.log!r}: {self.verdict}>"

    def _repr_html_(self) -> str:
        from armdyn.html import fragment
        from armdyn.identification.check_table import parts

        return fragment(*parts(self))


HEADINGS = ("joint", "range", "top speed", "top acceleration", "reversals", "condition", "torque rms", "largest")


def _told(condition: float) -> str:
    return f"{condition:.3g}" if condition < 1e6 else "-"


def check_log(arm: Arm, log: Log) -> DataCheck:
    """Rates, ranges, dead joints, clipped torques, excitation, suspicious signs, units and order of columns.

    Parameters
    ----------
    arm : Arm
        Whose log it should be. With known inertias torques are compared with the model's.
    log : Log

    Returns
    -------
    DataCheck
        `ok`, `findings` and figures of each joint; `str()` is a report, `armdyn.report(check, path)` a page.
    """
    if log.n != arm.n:
        raise DataError(f"{log.name}: {log.n} joints in the log, {arm.n} in arm '{arm.name}'")
    found = [Finding("note", text) for text in log.notes]
    if not log.stretches:
        found.append(Finding("refuse", "no stretch without gaps is long enough"))
        return DataCheck(arm, log, tuple(found), _figures(log, []))
    band = choose_band(log.stretches)
    motions = [smoothed(s, Filters(band, None, "butterworth")) for s in log.stretches]
    figures = _figures(log, motions)
    found += _motion(arm, figures)
    found += _torque(arm, log)
    found += _velocity(arm, log)
    if not np.isnan(arm.theta).any():
        found += _against_model(arm, log, motions, band)
    return DataCheck(arm, log, tuple(found), figures)


def _figures(log: Log, motions: list[Motion]) -> JointFigures:
    torque = np.sqrt(np.mean(log.tau**2, axis=0)), np.abs(log.tau).max(axis=0)
    low, high = log.q.min(axis=0), log.q.max(axis=0)
    if not motions:
        nothing = np.full(log.n, np.nan)
        return JointFigures(low, high, nothing, nothing, nothing, nothing, *torque)
    qd, qdd = np.vstack([m.qd for m in motions]), np.vstack([m.qdd for m in motions])
    top = np.percentile(np.abs(qd), 99, axis=0)
    # Noise about standstill is no reversal: the speed must pass a twentieth of the top one on either side.
    sides = np.where(qd > top / 20, 1, np.where(qd < -top / 20, -1, 0))
    reversals = np.array([np.count_nonzero(np.diff(side[side != 0])) for side in sides.T])
    condition = np.array([_condition(v, a, s) for v, a, s in zip(qd.T, qdd.T, sides.T, strict=True)])
    still = high - low < STILL
    return JointFigures(
        low,
        high,
        top,
        np.percentile(np.abs(qdd), 99, axis=0),
        np.where(still, 0, reversals),
        np.where(still, np.inf, condition),
        *torque,
    )


def _condition(v: NDArray, a: NDArray, side: NDArray) -> float:
    """Of the columns acceleration, speed, sign and one, each of unit length."""
    columns = np.stack([a, v, side, np.ones_like(v)], axis=1)
    lengths = np.linalg.norm(columns, axis=0)
    return float(np.linalg.cond(columns / lengths)) if lengths.all() else np.inf


def require_good(check: DataCheck) -> None:
    """Raise a `DataError` with the first reason to refuse the log."""
    for finding in check.findings:
        if finding.level == "refuse":
            raise DataError(f"{check.log.name}: {finding.text}")


def _named(arm: Arm, joint: int) -> str:
    return f"joint {joint + 1} '{arm.joint_names[joint]}'"


def _motion(arm: Arm, figures: JointFigures) -> list[Finding]:
    spans = figures.high - figures.low
    still = spans < STILL
    turns = np.array([joint.kind == "revolute" for joint in arm.joints])
    if still.all():
        return [Finding("refuse", "no joint moves; dynamics cannot be identified from an arm at rest")]
    largest = np.maximum(np.abs(figures.low), np.abs(figures.high))
    if (largest[turns] > LARGEST_ANGLE).any():
        return [Finding("refuse", f"joints turn to {largest[turns].max():.0f} rad: degrees instead of radians?")]
    found = []
    for j in range(arm.n):
        busiest = spans[turns == turns[j]].max()
        if still[j]:
            text = f"{_named(arm, j)} does not move: its friction and much of its inertia stay undetermined"
        elif spans[j] < LITTLE * busiest:
            text = f"{_named(arm, j)} hardly moves ({spans[j]:.2g} of the {busiest:.2g} of the busiest joint)"
        elif figures.reversals[j] == 0:
            text = f"{_named(arm, j)} moves in one direction only: Coulomb friction and offset look alike"
        elif figures.condition[j] > CONDITION:
            text = (
                f"{_named(arm, j)} has hardly any variety of speeds (condition {figures.condition[j]:.0f} of its own "
                "terms): friction and inertia look alike"
            )
        else:
            continue
        found.append(Finding("warn", text))
    return found + _limits(arm, figures)


def _limits(arm: Arm, figures: JointFigures) -> list[Finding]:
    found = []
    lower, upper = arm.position_limits
    for j, (low, high) in enumerate(zip(figures.low, figures.high, strict=True)):
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
    likeness = correlations(dq, qd)
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
    sides = []
    for s, m in zip(log.stretches, motions, strict=True):
        columns = (inverse_dynamics(arm, m.q, m.qd, m.qdd), s.tau, m.qd, np.sign(m.qd))
        sides.append([lowpass(x, s.dt, band) for x in columns])
    model, measured, qd, sign = (np.vstack(parts) for parts in zip(*sides, strict=True))
    return [Finding(level, text) for level, text in objections(arm, resemblance(model, measured, qd, sign))]
