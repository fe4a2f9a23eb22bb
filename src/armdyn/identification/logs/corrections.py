"""Corrections of logs whose faults are known: late torques, zeros of joints, clocks at another pace, signs, orders.

A correction is data: a finding carries one, `Log.corrected` applies it, and what was applied stays in
`Log.corrections`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynError
from armdyn.identification.logs.log import MAX_DELAY_SECONDS, Log, interpolate
from armdyn.model.arm import Arm
from armdyn.precision import SOLUTION_ERROR

PER_JOINT = ("gear_ratio", "drive_gain", "zero")  # fields with a number per joint


class ColumnOrder(NamedTuple):
    """Columns (n,), from 0, that hold the joints' positions and velocities, and their torques; empty: in order."""

    positions: tuple[int, ...] = ()
    torques: tuple[int, ...] = ()


class JointMaps(NamedTuple):
    """Rows of matrices (n, n) by which positions, less zeros, and torques are multiplied; empty: left as they are."""

    positions: tuple[tuple[float, ...], ...] = ()
    torques: tuple[tuple[float, ...], ...] = ()


IN_ORDER, NO_MAPS = ColumnOrder(), JointMaps()


@dataclass(frozen=True)
class LogCorrection:
    """Correction of a log, and of how the arm is described; fields at their defaults change nothing."""

    order: ColumnOrder = IN_ORDER  # of the log's columns
    gear_ratio: tuple[float, ...] = ()  # (n,) by which positions are divided and torques multiplied
    drive_gain: tuple[float, ...] = ()  # (n,) by which torques are multiplied
    zero: tuple[float, ...] = ()  # (n,) errors of joint zeros, subtracted from positions [rad or m]
    time_scale: float = 1.0  # factor of the times
    delay: float = 0.0  # by which torques were measured later than positions [s]
    until: float = np.inf  # after the first sample, up to which the log is used [s]
    degrees: bool = False  # positions of turning joints are degrees
    gravity: tuple[float, float, float] | None = None  # of the arm, in base axes [m/s²]
    coupling: tuple[str, ...] = ()  # drives of the arm that move several joints, as `Arm.with_coupling` takes them
    without_torque: tuple[int, ...] = ()  # joints, from 0, whose torques are not to be used
    maps: JointMaps = NO_MAPS  # of columns that are those of other joints than the coordinates

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", ColumnOrder(*(tuple(int(k) for k in columns) for columns in self.order)))
        object.__setattr__(self, "without_torque", tuple(int(j) for j in self.without_torque))
        for name in ("gear_ratio", "drive_gain", "zero"):
            object.__setattr__(self, name, tuple(float(x) for x in getattr(self, name)))
        object.__setattr__(self, "maps", JointMaps(*(tuple(map(tuple, rows)) for rows in self.maps)))

    @property
    def changes(self) -> dict[str, object]:
        """Fields that change something, by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value != _DEFAULTS[name]}

    def __str__(self) -> str:
        return ", ".join(f"{name}={_text(value)}" for name, value in self.changes.items())

    def arm(self, arm: Arm) -> Arm:
        """The arm as it should be described."""
        mounted = arm if self.gravity is None else arm.with_gravity(np.array(self.gravity))
        return mounted.with_coupling(list(self.coupling)) if self.coupling else mounted

    def then(self, other: LogCorrection) -> LogCorrection:
        """Both corrections in one, this one first; orders of columns are those of the log as it was."""
        return LogCorrection(
            ColumnOrder(*map(_composed, self.order, other.order)),
            _multiplied(self.gear_ratio, other.gear_ratio),
            _multiplied(self.drive_gain, other.drive_gain),
            self._zeros_before(other.zero),
            self.time_scale * other.time_scale,
            self.delay + other.delay,
            min(self.until, other.until),
            self.degrees or other.degrees,
            other.gravity or self.gravity,
            other.coupling or self.coupling,
            tuple(sorted({*self.without_torque, *other.without_torque})),
            JointMaps(*map(_mapped, self.maps, other.maps)),
        )  # fmt: skip

    def _zeros_before(self, further: tuple[float, ...]) -> tuple[float, ...]:
        """Zeros of the columns as they were read, where further ones are subtracted behind the map of positions."""
        if self.maps.positions and further:
            further = tuple(np.linalg.solve(np.array(self.maps.positions), further).tolist())
        return tuple(map(sum, zip(self.zero, further, strict=True))) if self.zero and further else self.zero or further


_DEFAULTS = {field.name: field.default for field in fields(LogCorrection)}


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_text, value))}{',' * (len(value) == 1)})"
    return f"{value:.6g}" if isinstance(value, float) else repr(value)


def _composed(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(first[k] for k in second) if first and second else first or second


def _multiplied(first: tuple[float, ...], second: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(a * b for a, b in zip(first, second, strict=True)) if first and second else first or second


def _mapped(first: tuple[tuple[float, ...], ...], second: tuple[tuple[float, ...], ...]) -> tuple[Any, ...]:
    return tuple((np.array(second) @ np.array(first)).tolist()) if first and second else first or second


def of_joints(arm: Arm, positions: Sequence[str] = (), torques: Sequence[str] = ()) -> LogCorrection:
    """Return the correction of a log whose columns are those of other joints, by name, than the coordinates.

    Torques are then those that would act at these joints: both have the same power.
    """
    R, zero = _rows_of(arm, positions) if positions else (None, np.zeros(arm.n))
    maps = JointMaps(
        () if R is None else np.linalg.inv(R).tolist(), _rows_of(arm, torques)[0].T.tolist() if torques else ()
    )
    return LogCorrection(zero=tuple(zero) if zero.any() else (), maps=maps)


def _rows_of(arm: Arm, names: Sequence[str]) -> tuple[NDArray, NDArray]:
    """Positions of joints per coordinate (n, n), and where the coordinates are zero (n,)."""
    if len(names) != arm.n:
        raise ArmdynError(expected=f"{arm.n} joints, one per column of the log", got=", ".join(names))
    for name in names:
        if name not in arm.joint_names:
            raise ArmdynError(f"arm '{arm.name}' has no joint {name!r}", remedy=f"it has {', '.join(arm.joint_names)}")
    rows = [arm.joint_names.index(name) for name in names]
    R = (np.eye(arm.n_joints) if arm.G is None else np.asarray(arm.G))[rows]
    if np.linalg.matrix_rank(R) < arm.n:
        raise ArmdynError(f"positions of {', '.join(names)} do not determine the coordinates of arm '{arm.name}'")
    return R, np.zeros(arm.n) if arm.b is None else np.asarray(arm.b)[rows]


def joints_of(arm: Arm, correction: LogCorrection) -> tuple[tuple[str, ...], tuple[str, ...], LogCorrection]:
    """Return the joints whose positions and torques the columns are, as `of_joints` takes them, and what remains."""
    turns, torques = correction.maps
    positions = _names_of(arm, np.linalg.inv(turns)) if turns else ()
    if not positions:
        return (), _names_of(arm, np.transpose(torques)), replace(correction, maps=NO_MAPS)
    offset = np.array(of_joints(arm, positions).zero or np.zeros(arm.n))
    zero = np.array(turns) @ (np.array(correction.zero or offset) - offset)
    rest = replace(correction, maps=NO_MAPS, zero=tuple(zero) if np.abs(zero).max() > SOLUTION_ERROR else ())
    return positions, _names_of(arm, np.transpose(torques)), rest


def _names_of(arm: Arm, matrix: NDArray) -> tuple[str, ...]:
    """Names of the joints whose positions per coordinate are the rows of a matrix."""
    G = np.eye(arm.n) if arm.G is None else arm.G
    return tuple(arm.joint_names[int(np.argmin(np.abs(G - row).max(axis=1)))] for row in matrix)


def correct(log: Log, correction: LogCorrection) -> Log:
    """The log with a correction applied to it."""
    sizes = {name: getattr(correction, name) for name in PER_JOINT} | correction.order._asdict()
    for name, numbers in sizes.items():
        if numbers and len(numbers) != log.n:
            raise ArmdynError(where="corrected", expected=f"{name} of {log.n} joints", got=len(numbers))
    q, qd, tau = log.q, log.qd, log.tau
    if correction.degrees:
        q, qd = np.radians(q), None if qd is None else np.radians(qd)
    positions, torques = map(list, correction.order)
    if positions:
        q, qd = q[:, positions], None if qd is None else qd[:, positions]
    tau = tau[:, torques] if torques else tau
    if correction.gear_ratio:
        ratio = np.array(correction.gear_ratio)
        q, qd, tau = q / ratio, None if qd is None else qd / ratio, tau * ratio
    tau = tau * np.array(correction.drive_gain) if correction.drive_gain else tau
    if correction.without_torque:
        tau = np.where(np.isin(np.arange(log.n), correction.without_torque), np.nan, tau)
    q = q - np.array(correction.zero) if correction.zero else q
    turns, shares = correction.maps
    if turns:
        q, qd = q @ np.transpose(turns), None if qd is None else qd @ np.transpose(turns)
    tau = tau @ np.transpose(shares) if shares else tau
    corrected = replace(log, q=q, qd=qd, tau=tau, corrections=(*log.corrections, correction))
    if correction.time_scale != 1:
        scale = correction.time_scale
        if not 0 < scale < np.inf:
            raise ArmdynError(f"time scale: expected a factor > 0, got {scale}")
        corrected = replace(corrected, t=corrected.t * scale, qd=_velocities(corrected, scale))
    if correction.delay and not log.still:
        corrected = replace(corrected, tau=interpolate(corrected.t + correction.delay, corrected.t, corrected.tau))
    return corrected if np.isinf(correction.until) else corrected.part(-np.inf, log.t[0] + correction.until)


def _velocities(log: Log, scale: float) -> NDArray | None:
    """Velocities of the log: those that were computed from its times change with these, others do not."""
    if log.qd is None or log.still:
        return log.qd
    rates = np.gradient(log.q, log.t, axis=0)
    slope = np.sum(log.qd * rates) / max(np.sum(rates**2), 1e-300)
    of_times = abs(np.log(max(slope, 1e-12))) < abs(np.log(max(slope * scale, 1e-12)))
    return np.asarray(log.qd / scale if of_times else log.qd)


def _joint_index(arm: Arm, name: str, where: str) -> int:
    if name not in arm.coordinate_names:
        names = ", ".join(arm.coordinate_names)
        cause = f"arm '{arm.name}' has no joint {name!r}"
        raise ArmdynError(cause, where=where, remedy=f"it has {names}", names=(name,))
    return arm.coordinate_names.index(name)


def with_zeros(arm: Arm, logs: list[Log], zero: Mapping[str, float] | None) -> list[Log]:
    """The logs with positions from which the zeros of joints, by name, are taken [rad or m]."""
    if not zero:
        return logs
    off = np.zeros(arm.n)
    for name, value in zero.items():
        if not np.isfinite(value):
            raise ArmdynError(where="zero", expected=f"a number for joint '{name}'", got=value)
        off[_joint_index(arm, name, "zero")] = value
    return [log.corrected(LogCorrection(zero=tuple(off))) for log in logs]


def without_torques(arm: Arm, logs: list[Log], names: Iterable[str]) -> list[Log]:
    """The logs without the torques of some joints, by name, and of those that one of the logs has no torques of."""
    wanted = [names] if isinstance(names, str) else list(names)
    missing = np.isin(np.arange(arm.n), [_joint_index(arm, name, "without_torque") for name in wanted])
    for log in logs:
        missing = missing | ~log.measured if log.n == arm.n else missing
    if missing.all():
        expected = f"torques of at least one joint of arm '{arm.name}'"
        raise ArmdynError(where="without_torque", expected=expected, got="none")
    correction = LogCorrection(without_torque=tuple(np.flatnonzero(missing)))
    return [log.corrected(correction) if log.n == arm.n and (missing & log.measured).any() else log for log in logs]


def with_time_scale(logs: list[Log], scale: float | None) -> list[Log]:
    """The logs with times that are longer by a factor, and velocities that follow if they were those of the times."""
    return logs if scale is None else [log.corrected(LogCorrection(time_scale=scale)) for log in logs]


def without_delay(logs: list[Log], delay: float | None) -> list[Log]:
    """The logs with torques as if they had not been measured later than positions [s]."""
    if not delay:
        return logs
    return [log.corrected(LogCorrection(delay=check_delay(delay))) for log in logs]


def check_delay(delay: float) -> float:
    """Return a delay of torques [s], or raise where it is none."""
    if not abs(delay) < MAX_DELAY_SECONDS:
        raise ArmdynError(where="delay", expected=f"less than {MAX_DELAY_SECONDS:g} s", got=delay)
    return float(delay)
