"""A model's torques beside those of logs: what it predicts, and how far off it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.drive import drive_torque
from armdyn.dynamics.gravity import gravity_torque
from armdyn.dynamics.shafts import at_drives, drive_torques
from armdyn.errors import ArmdynError, DataError
from armdyn.identification.fit.rows import OVERSAMPLING
from armdyn.identification.fit.terms import whole_torque
from armdyn.identification.hypotheses.check import require_joints
from armdyn.identification.hypotheses.inspection import Logs, as_logs
from armdyn.identification.logs.corrections import check_delay
from armdyn.identification.logs.log import MAX_DELAY_SECONDS, PIECE_SAMPLES, SMALL_SHARE, Log, interpolate
from armdyn.identification.motion.track import Filters, Track, all_tracks, track
from armdyn.identification.poses import HeldPoses, held_poses
from armdyn.lowpass import lowpass
from armdyn.model.arm import Arm


class _Pair(NamedTuple):
    t: NDArray  # (N,) times of the log [s]
    tau: NDArray  # (N, n)


class Prediction(_Pair):
    """Model torques along a log, a pair of times and torques.

    `std` (N, n) is the standard deviation of what torques below 5 Hz may be off: 95 % lie within 1.96 of it; None
    where nothing was held out by which to tell.
    """

    std: NDArray | None

    def __new__(cls, t: NDArray, tau: NDArray, std: NDArray | None = None) -> Prediction:
        """A pair that has a band."""
        pair = super().__new__(cls, t, tau)
        pair.std = std
        return pair


class Validation(NamedTuple):
    """Measured against model torque, both through one low-pass."""

    rel_error: float  # norm(tau - model) / norm(tau) over all joints
    rel_error_joints: NDArray  # (n,) NaN of joints whose torques were not measured
    rmse: NDArray  # (n,) [N m or N]
    whiteness: NDArray  # (n,) correlation of neighbouring residuals 0.1 s apart; 0 is white
    t: NDArray  # of some samples, as many as show all that the low-pass leaves
    tau: NDArray  # measured, low-passed; NaN of joints whose torques were not
    model: NDArray  # low-passed
    band: float  # [Hz]
    std: NDArray | None = None  # (samples, n) of what the model may be off, where that is known


def validate(arm: Arm, logs: Logs, *, band: float | None = None, delay: float | None = None) -> Validation:
    """Compare torques of an arm (links, friction, drives) with those of logs, treated as when it was identified.

    Parameters
    ----------
    arm : Arm
    logs : Log, path, or iterable of them
        Paths are read with `read_log`.
    band : float, optional
        Corner of the low-pass on both sides [Hz]; default that of `arm.preprocessing`.
    delay : float, optional
        Delay of torques relative to positions [s]; default that of `arm.preprocessing`.

    Returns
    -------
    Validation
        With `rel_error`, `rel_error_joints`, `rmse` and `whiteness` of the residuals.

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> t = np.arange(2000) / 200
    >>> q = np.stack([np.sin(2 * t) + 0.3 * np.sin(5 * t), np.cos(3 * t)], axis=1)
    >>> qd, qdd = np.gradient(q, t, axis=0), np.gradient(np.gradient(q, t, axis=0), t, axis=0)
    >>> log = armdyn.Log(t, q, armdyn.joint_torque(arm, q, qd, qdd))
    >>> bool(armdyn.validate(arm, log).rel_error < 0.05)
    True
    """
    if band is not None and not 0 < band < np.inf:
        raise ArmdynError(where="validate", expected="band > 0", got=band)
    read = as_logs(arm, logs)
    filters = Filters.of(arm.preprocessing)
    if band is not None:
        filters = filters._replace(band=float(band))
    if delay is not None:
        filters = filters._replace(delay=check_delay(delay))
    poses = held_poses(read) if arm.preprocessing.rests else None
    return compare(arm, read, filters) if poses is None else compare_poses(arm, poses)


def compare(arm: Arm, logs: list[Log], filters: Filters, std: Callable[[Track], NDArray] | None = None) -> Validation:
    """The arm's torques against those of logs, one after the other in time, both through `filters.band`."""
    for log in logs:
        require_joints(arm, log)
    if not any(log.parts(PIECE_SAMPLES) for log in logs):
        cause = "no stretch without gaps is long enough to validate with"
        raise DataError(cause, where=logs[0].name, remedy="record a longer log")
    return compare_arm(arm, all_tracks(logs, filters), filters, std)


def compare_poses(arm: Arm, poses: HeldPoses) -> Validation:
    """Measured against gravity torque (and offset) at poses; `rmse` are the standard deviations per joint."""
    model = gravity_torque(arm, poses.q) + spring_torque(arm, poses.q) + offset_torque(arm)
    error = poses.tau - model
    size, squares = np.linalg.norm(poses.tau, axis=0), np.sum(error**2, axis=0)
    return Validation(
        float(np.sqrt(np.nansum(squares)) / max(np.sqrt(np.nansum(size**2)), 1e-300)),
        np.sqrt(squares) / np.maximum(size, 1e-300),
        np.sqrt(squares / len(error)),
        np.sum(error[1:] * error[:-1], axis=0) / np.maximum(squares, 1e-300),
        poses.t,
        poses.tau,
        model,
        0.0,
    )


def offset_torque(arm: Arm) -> NDArray:
    """Offsets (n,) of the joints' torques as the arm has them."""
    return np.asarray(drive_torques(arm, np.array([joint.friction.offset for joint in arm.coordinate_joints])))


def spring_torque(arm: Arm, q: NDArray) -> NDArray:
    """Torque (P, n) against springs and balancers as they are described."""
    return drive_torque(arm, q, 0 * q, 0 * q)


def compare_arm(
    arm: Arm, tracks: Iterable[Track], filters: Filters, std: Callable[[Track], NDArray] | None = None
) -> Validation:
    """The arm's torques against those measured along tracks."""
    return compare_models(arm, tracks, filters, lambda track: [arm_torque(arm, track, filters)], std)[0]


def arm_torque(arm: Arm, track: Track, filters: Filters) -> NDArray:
    """Torque (N, n) of the whole arm along a track."""
    return whole_torque(arm, track, track.temperature, filters.width)


def compare_models(
    arm: Arm,
    tracks: Iterable[Track],
    filters: Filters,
    torques: Callable[[Track], list[NDArray]],
    std: Callable[[Track], NDArray] | None = None,
) -> list[Validation]:
    """Torques of several models of an arm against those measured along tracks, with what they may be off."""
    plotted, bands, sums = [], [], []
    begin, end, log = 0.0, 0.0, -1
    for along in tracks:
        if along.log != log:  # logs are shown one after the other
            begin, log = float(along.t[0]) - end, along.log
        some = _compare(arm, along, filters, torques(along))
        sums.append(some.sums)
        if std is not None:
            bands.append(std(along.part(some.samples)))
        plotted.append((some.t - begin, some.tau, some.models))
        end = float(along.t[-1]) - begin
    t, tau = (np.concatenate(column) for column in list(zip(*plotted, strict=True))[:2])
    models = np.concatenate([models for *_, models in plotted], axis=1)
    band = np.concatenate(bands) if bands else None
    known = np.where(np.isnan(tau).all(axis=0), np.nan, 1.0)  # errors of joints without measured torques are not
    return [
        Validation(
            float(np.sqrt(squares.sum() / max(size.sum(), 1e-300))),
            known * np.sqrt(squares / np.maximum(size, 1e-300)),
            known * np.sqrt(squares / samples),
            known * neighbours / np.maximum(squares, 1e-300),
            t,
            tau,
            model,
            filters.band,
            band,
        )
        for model, (squares, size, neighbours, samples) in zip(models, np.sum(sums, axis=0), strict=True)
    ]


class _Comparison(NamedTuple):
    sums: NDArray  # (models, 4, n) squares of errors and torques, products of errors 0.1 s apart, number of samples
    samples: slice  # samples that are shown
    t: NDArray
    tau: NDArray
    models: NDArray  # (models, samples, n)


def _compare(arm: Arm, s: Track, filters: Filters, models: list[NDArray]) -> _Comparison:
    """Measured and model torques of a track, low-passed; errors count where joints move, see `_in_motion`."""
    measured = ~np.isnan(s.tau).all(axis=0)
    tau, *torques = (lowpass(torque, s.dt, filters.band) for torque in (np.where(measured, s.tau, 0.0), *models))
    # The ends of zero-phase filters are guesses.
    margin = min(len(s.t) // 4, int(1 / (filters.band * s.dt)))
    inner = slice(margin, len(s.t) - margin)
    counts = _in_motion(arm, s.qd, int(1 / (filters.band * s.dt)))[inner] & measured
    size, samples = np.sum((tau[inner] * counts) ** 2, axis=0), np.maximum(np.sum(counts, axis=0), 1)
    sums = []
    for torque in torques:
        e = (tau[inner] - torque[inner]) * counts
        lag = max(1, min(int(0.1 / s.dt), len(e) - 1))
        sums.append((np.sum(e**2, axis=0), size, np.sum(e[lag:] * e[:-lag], axis=0), samples))
    k = slice(margin, len(s.t) - margin, max(1, int(1 / (2 * OVERSAMPLING * filters.band * s.dt))))
    # Copies, for slices would keep all samples alive.
    measured_torque = np.where(measured, tau[k], np.nan)
    return _Comparison(np.array(sums), k, s.t[k].copy(), measured_torque, np.array([torque[k] for torque in torques]))


def _in_motion(arm: Arm, qd: NDArray, radius: int) -> NDArray:
    """Samples (N, n) in which torques are determined: not where a joint with dry friction stands still.

    There friction may be anything up to breakaway. A joint stands still while its speed stays below a share
    of its largest, `radius` samples to both sides, which is how far the low-pass spreads what happens there. Of coupled
    drives it is the shafts that stand still, and all joints that move them are not determined.
    """
    from scipy.ndimage import minimum_filter1d

    qd = at_drives(arm, qd)
    frictions = [joint.friction for joint in arm.coordinate_joints]
    dry = np.array([bool(f.coulomb or f.static or f.levels) for f in frictions])
    fast = np.abs(qd) > SMALL_SHARE * np.abs(qd).max(axis=0, initial=0.0)
    # A reversal passes through zero and is soon over; standing still lasts.
    still = minimum_filter1d((~fast).astype(np.int8), 2 * radius + 1, axis=0) > 0
    near = -minimum_filter1d(-still.astype(np.int8), 4 * radius + 1, axis=0) > 0
    stuck = near & dry
    return np.asarray(~stuck if arm.coupling is None else ~(stuck @ (arm.coupling != 0)))


def predict_torque(
    log: Log, n: int, filters: Filters, torque: Callable[[Track], NDArray], std: Callable[[Track], NDArray] | None
) -> Prediction:
    """Torques of a model of n joints at the log's samples, without low-pass; as late as torques are measured."""
    if log.n != n:
        raise DataError(f"{log.n} joints in the log, {n} in the arm", where=log.name)
    runs = log.parts(len(log))
    if not runs:
        cause = "no stretch without gaps is long enough to predict torques"
        raise DataError(cause, where=log.name, remedy="record a longer log")
    t = log.t if runs == [slice(0, len(log))] else np.concatenate([log.t[run] for run in runs])
    models = [torque] if std is None else [torque, std]
    predictions, first = np.empty((len(models), len(t), n)), 0
    for run in runs:
        for whole, inner in _overlapping_pieces(run, int(MAX_DELAY_SECONDS / log.dt)):
            along = track(log, whole, filters._replace(delay=0.0))
            last = first + inner.stop - inner.start
            for values, model in zip(predictions, models, strict=True):
                values[first:last] = interpolate(log.t[inner] - filters.delay, along.t, model(along))
            first = last
    return Prediction(t, *predictions)


def _overlapping_pieces(run: slice, margin: int) -> list[tuple[slice, slice]]:
    """A run in pieces: samples to smooth at once, and those to keep, `margin` fewer at both ends, which are guesses."""
    count = -(-(run.stop - run.start) // PIECE_SAMPLES)
    cuts = np.linspace(run.start, run.stop, count + 1).astype(int).tolist()
    return [(slice(max(a - margin, run.start), min(b + margin, run.stop)), slice(a, b)) for a, b in pairwise(cuts)]
