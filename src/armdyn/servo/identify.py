"""`identify_servo`: servos from commanded and measured positions, without any torque."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import ArmdynError, ArmdynWarning, DataError, ModelError, check_choice, quote
from armdyn.identification.logs.log import SMALL_SHARE
from armdyn.model.arm import Arm
from armdyn.model.mechanism import require_chain
from armdyn.progress import ProgressCallback, reporting, with_share_and_text
from armdyn.servo.checks import check_logs
from armdyn.servo.examine import findings
from armdyn.servo.log import ServoLog, ServoSegment, encoder_error
from armdyn.servo.parameters import NAMES, ROWS, STRUCTURES, ParameterLayout
from armdyn.servo.regression import first_guess
from armdyn.servo.replay import Replay
from armdyn.servo.result import (
    Replayed,
    ReplayErrors,
    ServoEstimates,
    ServoFit,
    replay_piece,
    word,
)
from armdyn.servo.search import Point, make_point, search
from armdyn.servo.uncertainty import Intervals, intervals

HELD_OUT_SHARE = 0.25  # of the measurements, at the end, to judge with
MIN_HELD_OUT_S = 1.0  # of measurements in a row, most of which count
MAX_REPLAY_S = 60.0  # of replays in the search: more only takes longer
MAX_STEPS, LAST_STEPS = 12, 3  # of Gauss-Newton at most, and once the terms are chosen


Tried = tuple[tuple[str, float], ...]  # structures and their held-out errors, the chosen one last


class ScaleReference(NamedTuple):
    """Quantities that were measured otherwise and fix the scale of masses."""

    stiffness: NDArray  # (n,), NaN: unknown
    payload: bool

    @property
    def scales(self) -> bool:
        """Whether it tells the scale of the masses."""
        return self.payload or bool(np.isfinite(self.stiffness).any())

    @property
    def word(self) -> str:
        """Source of the torques' scale."""
        return "payload" if self.payload else "stiffness" if self.scales else "description"


def identify_servo(
    arm: Arm,
    log: ServoLog | Sequence[ServoLog],
    *,
    stiffness: ArrayLike | Mapping[str, float] | None = None,
    loaded: ServoLog | Sequence[ServoLog] = (),
    mass: float | None = None,
    com: ArrayLike = (0.0, 0.0, 0.0),
    terms: str = "auto",
    progress: ProgressCallback | bool | None = None,
) -> ServoFit:
    """Identify the position servos of an arm from commanded and measured positions.

    Per joint: stiffness, damping, rotor inertia, Coulomb friction, delay and, where they lower the held-out error, a
    dead band, Stribeck's curve and friction that grows with the load. First a regression, then Gauss-Newton over
    replays of the log, whose lanes run on all processors.

    Parameters
    ----------
    arm : Arm
        With the inertia of its links, which gives torques their scale unless a payload or a stiffness does.
    log : ServoLog or sequence of ServoLog
        See `read_servo_log`.
    stiffness : array_like, shape (n,), or mapping from joint to number, optional
        Stiffness that was measured [N m/rad or N/m], NaN where not. Then the description's masses are scaled to it.
    loaded : ServoLog or sequence of ServoLog
        Logs of the same arm with a payload of known mass; the description's masses are scaled to it.
    mass : float, optional
        Mass of that payload [kg].
    com : array_like, shape (3,)
        Its centre of mass in the tip's frame [m].
    terms : {"auto", "plain", "dead band", "friction", "whole"}
        Terms of the servos; auto: chosen by the held-out error.
    progress : callable or bool, optional
        True: show a bar with the time left. A function is called with (done, total, text).

    Returns
    -------
    ServoFit

    Raises
    ------
    DataError
        If the log determines nothing about the servos.

    Warns
    -----
    ArmdynWarning
        For each number that the log does not determine, and where the model does not explain the log.
    """
    require_chain(arm, "identify_servo")
    began = time.perf_counter()
    logs, carrying = _as_list(log), _as_list(loaded)
    check_choice("identify_servo", "terms", terms, ("auto", *STRUCTURES))
    if not arm.is_physical:
        raise ModelError(where="identify_servo", expected=f"physically consistent links, but {arm.is_physical}")
    reference = ScaleReference(_stiffness(arm, stiffness), bool(carrying))
    payload = _payload(arm, carrying, mass, com)
    with reporting(progress, "identify_servo", with_share_and_text) as tell:
        tell(0.0, 1.0, "checking the logs")
        moving = check_logs(arm, [*logs, *carrying])
        pieces = [p for one in logs for p in one.pieces]
        pieces += [p._replace(payload=payload) for one in carrying for p in one.pieces]
        space = ParameterLayout(arm, arm.trace_data("theta"))
        fitted, held, notes = _split(pieces)
        tell(0.05, 1.0, "regression")
        start = first_guess(space, pieces, moving)
        known = np.isfinite(reference.stiffness)
        start[: arm.n][known] = 1 / reference.stiffness[known]
        job = _Job(space, [Replay.of(space, p) for p in fitted], [Replay.of(space, p) for p in held], moving, reference)
        point, tried = _choose(job, start, terms, tell)
        held_out = [replay_piece(space, r, point.x) for r in job.held]
        tell(0.7, 1.0, "fitting to the whole log")
        point = search(make_point(space, [*job.fitted, *job.held], point.free, point.x), LAST_STEPS)
    ranges = intervals(point)
    log_notes = (*(note for one in (*logs, *carrying) for note in one.notes), *notes)
    fit = replace(_result(job, point, ranges, tried, held_out), logs=(*logs, *carrying), notes=log_notes)
    fit = replace(fit, findings=findings(fit), seconds=time.perf_counter() - began)
    for text in fit.warnings:
        warnings.warn(text, ArmdynWarning, stacklevel=2)
    return fit


class _Job(NamedTuple):
    space: ParameterLayout
    fitted: list[Replay]
    held: list[Replay]
    moving: NDArray
    reference: ScaleReference

    def free(self, structure: str) -> NDArray:
        """Indices of the parameters that are sought."""
        n = self.space.arm.n
        chosen = [
            self.space.index(name, j)
            for name in STRUCTURES[structure]
            for j in range(n)
            if self.moving[j] and not (name == "compliance" and np.isfinite(self.reference.stiffness[j]))
        ]
        return np.array([*chosen, self.space.size - 1] if self.reference.scales else chosen)

    @property
    def floor(self) -> float:
        """Held-out error that the encoders alone make."""
        errors = np.array([encoder_error(r.piece.q)[self.moving] for r in self.held])
        return float(np.sqrt((errors**2).mean()))

    def error(self, x: NDArray) -> float:
        """Held-out error of the joints that move, all weighted alike."""
        rms = np.sqrt(np.mean([replay_piece(self.space, r, x).rms ** 2 for r in self.held], axis=0))
        return float(np.sqrt((rms[self.moving] ** 2).mean()))


def _choose(job: _Job, start: NDArray, terms: str, tell: ProgressCallback) -> tuple[Point, Tried]:
    """The structure that pays on held-out data, fitted to the rest, and all that were tried, the chosen one last."""

    def fitted(structure: str, x: NDArray, share: float) -> tuple[Point, float]:
        tell(share, 1.0, f"replaying the log: {structure}")
        begin = np.clip(x, *job.space.bounds)
        point = search(make_point(job.space, job.fitted, job.free(structure), begin), MAX_STEPS)
        return point, job.error(point.x)

    results = {"plain": fitted("plain", start, 0.1)}
    base = results["plain"][0].x
    if terms == "auto" and results["plain"][1] <= job.floor / (1 - SMALL_SHARE):
        terms = "plain"
    elif terms == "auto":
        results["whole"] = fitted("whole", base, 0.35)
        if results["whole"][1] < results["plain"][1] * (1 - SMALL_SHARE):
            for share, name in ((0.5, "dead band"), (0.6, "friction")):
                results[name] = fitted(name, _without(job.space, results["whole"][0].x, name), share)
                if results[name][1] <= results["whole"][1] / (1 - SMALL_SHARE):
                    break  # the simplest that is as good as all terms together
        best = min(error for _, error in results.values())
        # The simplest that is about as good as the best.
        terms = next(name for name in STRUCTURES if name in results and results[name][1] <= best / (1 - SMALL_SHARE))
    elif terms not in results:
        results[terms] = fitted(terms, base, 0.4)
    tried = tuple((name, error) for name, (_, error) in results.items() if name != terms)
    return results[terms][0], (*tried, (terms, results[terms][1]))


def _without(space: ParameterLayout, x: NDArray, structure: str) -> NDArray:
    """Parameters x with the terms left out that a structure does not have."""
    table = space.table(x).copy()
    table[[k for k, name in enumerate(NAMES) if name not in STRUCTURES[structure]]] = 0.0
    return space.vector(table, float(x[-1]))


def _as_list(log: ServoLog | Sequence[ServoLog]) -> list[ServoLog]:
    logs = [log] if isinstance(log, ServoLog) else list(log)
    wrong = next((one for one in logs if not isinstance(one, ServoLog)), None)
    if wrong is not None:
        raise ArmdynError(where="identify_servo", expected="a ServoLog (see read_servo_log)", got=quote(wrong))
    return logs


def _stiffness(arm: Arm, stiffness: ArrayLike | Mapping[str, float] | None) -> NDArray:
    if stiffness is None:
        return np.full(arm.n, np.nan)
    if isinstance(stiffness, Mapping):
        unknown = [name for name in stiffness if name not in arm.joint_names]
        if unknown:
            cause = f"arm '{arm.name}' has no joint '{unknown[0]}'; there are {', '.join(arm.joint_names)}"
            raise ArmdynError(cause, where="identify_servo: stiffness", names=(unknown[0],))
        stiffness = [stiffness.get(name, np.nan) for name in arm.joint_names]
    values = np.asarray(stiffness, float)
    if values.shape != (arm.n,) or (values <= 0).any() or np.isnan(values).all():
        raise ArmdynError(where="identify_servo", expected=f"a stiffness > 0 per joint ({arm.n})", got=quote(stiffness))
    return values


def _payload(arm: Arm, carrying: list[ServoLog], mass: float | None, com: ArrayLike) -> NDArray | None:
    if bool(carrying) != (mass is not None):
        cause = "loaded (logs with the payload) and mass (its kilograms) go together"
        raise ArmdynError(cause, where="identify_servo", remedy="give both")
    if mass is None:
        return None
    if not 0 < mass < np.inf:
        raise ArmdynError(where="identify_servo: mass", expected="kilograms > 0", got=quote(mass))
    return arm.with_payload(mass, com).trace_data("theta") - arm.trace_data("theta")


def _split(pieces: Sequence[ServoSegment]) -> tuple[list[ServoSegment], list[ServoSegment], list[str]]:
    """Pieces to fit to, and the rest to judge with."""
    whole, shortest = sum(p.t[-1] for p in pieces), MIN_HELD_OUT_S / HELD_OUT_SHARE
    if whole < shortest:
        expected = f"at least {shortest:g} s without gaps"
        remedy = "record a longer motion"
        raise DataError(where="identify_servo", expected=expected, got=f"{whole:.2g} s", remedy=remedy)
    notes = []
    if whole > MAX_REPLAY_S:
        replayed: list[ServoSegment] = []
        for p in pieces:
            left = MAX_REPLAY_S - sum(k.t[-1] for k in replayed)
            if left > MIN_HELD_OUT_S:
                replayed.append(p.part(0, int(np.searchsorted(p.t, left, side="right"))))
        notes.append(f"replays use the first {MAX_REPLAY_S:g} s of {whole:.0f} s")
        pieces = replayed
    fitted, held = [], []
    for p in pieces:
        at = int(len(p.t) * (1 - HELD_OUT_SHARE))
        if p.t[-1] > shortest:
            fitted.append(p.part(0, at))
            held.append(p.part(at, len(p.t)))
        else:
            (held if len(held) < HELD_OUT_SHARE * (len(fitted) + len(held)) else fitted).append(p)
    return fitted, held, notes


def _result(job: _Job, point: Point, ranges: Intervals, tried: Tried, held_out: list[Replayed]) -> ServoFit:
    """Numbers, ranges and words, and the arm that has them."""
    space, n = job.space, job.space.arm.n
    table = space.table(point.x)
    low, high = table.copy(), table.copy()
    words = [["left out"] * n for _ in range(ROWS)]
    for k, index in enumerate(point.free):
        if index == space.size - 1:
            continue
        row, j = divmod(int(index), n)
        low[row, j], high[row, j] = ranges.low[k], ranges.high[k]
        words[row][j] = word(NAMES[row], table[row, j], low[row, j], high[row, j])
    for j in range(n):
        if not job.moving[j]:
            for name in words:
                name[j] = "not moved"
        elif np.isfinite(job.reference.stiffness[j]):
            words[0][j] = "given"
    lag = np.concatenate([r.piece.q - r.piece.sent for r in point.replays])
    rms = np.sqrt(np.mean([r.rms**2 for r in held_out], axis=0))
    tip = float(np.sqrt(np.mean([r.tip**2 for r in held_out])))
    return ServoFit(
        space.arm_of(point.x),
        space.arm,
        ServoEstimates(point.x, low, high, tuple(map(tuple, words)), job.reference.word),
        tried,
        ReplayErrors(rms, tip, point.rms, np.sqrt((lag**2).mean(0))),
    )
