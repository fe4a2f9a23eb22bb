"""The result of identification: a model, how sure it is, and what it predicts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.full import joint_torque
from armdyn.errors import DataError
from armdyn.identification.check import DataCheck
from armdyn.identification.differentiate import Motion, lowpass
from armdyn.identification.log import Log, Stretch
from armdyn.identification.rows import Filters, pieces, smoothed
from armdyn.identification.terms import presliding_torque
from armdyn.model.arm import Arm
from armdyn.model.joint import Friction

STILL = 0.005  # part of a joint's largest speed below which it may be standing still
SHOWN = 8  # samples a period of the low-pass's corner that validations keep


class FrictionValues(NamedTuple):
    """Plain friction by least squares, one number a joint, and the structure that the data support.

    `viscous`, `coulomb` and `offset` are those of the model in which every joint has just these: comparable with
    the literature. `chosen` is what `Fit.arm` has, with further terms where these pay on held-out data.
    """

    viscous: NDArray  # (n,) [N m s/rad or N s/m]
    coulomb: NDArray  # (n,) [N m or N]
    offset: NDArray  # (n,)
    std: NDArray  # (3, n) standard deviations of the three
    chosen: tuple[Friction, ...]


class DriveValues(NamedTuple):
    """Identified drives, one number a joint, seen at the joint."""

    inertia: NDArray  # rotors, beyond what is one with the links [kg m² or kg]
    stiffness: NDArray  # springs to ground [N m/rad or N/m]


@dataclass(frozen=True, eq=False)
class BaseEstimate:
    """What the data alone say: least squares without prior, with plain friction in every joint.

    Base parameters come first, then viscous, Coulomb friction and offset joint by joint (and the rotors' inertias of
    geared arms, where they are parameters of their own). No term was selected and
    no prior was used, so that the intervals are what they claim to be.
    """

    theta: NDArray  # (p,)
    std: NDArray  # (p,) standard deviations; infinite where the log determines nothing
    names: tuple[str, ...]  # written out, such as "Ixx2 - Iyy2 - 0.186 m3"
    labels: tuple[str, ...]  # the leading parameter, such as "Ixx2"
    count: int  # base parameters among them
    covariance: NDArray  # (p, p), for the autocorrelation that the residuals show

    @property
    def intervals(self) -> NDArray:
        """95 % intervals (p, 2)."""
        return self.theta[:, None] + 1.96 * self.std[:, None] * np.array([-1.0, 1.0])


class Prediction(NamedTuple):
    """Model torques along a log."""

    t: NDArray  # (N,) times of the log [s]
    tau: NDArray  # (N, n)


class Validation(NamedTuple):
    """Measured against model torque, both through one low-pass."""

    rel_error: float  # norm(tau - model) / norm(tau) over all joints
    rel_error_joints: NDArray  # (n,)
    rmse: NDArray  # (n,) [N m or N]
    whiteness: NDArray  # (n,) correlation of neighbouring residuals 0.1 s apart; 0 is white
    t: NDArray  # of some samples, as many as show all that the low-pass leaves
    tau: NDArray  # measured, low-passed
    model: NDArray  # low-passed
    band: float  # [Hz]


@dataclass(frozen=True, eq=False)
class Fit:
    """An identified arm; see `identify`."""

    arm: Arm  # with identified links, friction and drives
    source: Arm  # as it was described
    theta: NDArray  # (10 n,) possible bodies behind the base parameters
    friction: FrictionValues
    drive: DriveValues
    base: BaseEstimate
    filters: Filters
    rel_error: float = np.nan  # on the logs fitted to
    rel_error_joints: NDArray = field(default_factory=lambda: np.empty(0))
    rel_error_free: float = np.nan  # of least squares that need not be possible nor near the description
    held_out: float = np.nan  # of parameters near the prior that need not be possible, by cross-validation over blocks
    held_out_possible: float = np.nan  # the same of possible bodies: what `arm` costs on data it has not seen
    rel_error_source: float = np.nan  # of the arm as it was described
    strength: float = 0.0  # of the prior
    scan: NDArray = field(default_factory=lambda: np.empty((0, 2)))  # strengths tried, held-out error of each
    condition: float = np.nan  # of the weighted regressor
    condition_scaled: float = np.nan
    gap: float = 0.0  # certificate of the consistent fit: what is left to gain, in squared sigmas
    boundary: tuple[str, ...] = ()  # links that are barely possible bodies
    structure: tuple[tuple[str, ...], ...] = ()  # joint terms used, a joint at a time
    effective: NDArray = field(default_factory=lambda: np.empty(0))  # independent residuals of each joint
    undetermined: tuple[str, ...] = ()  # parameters on which the logs have no say
    weak: tuple[str, ...] = ()  # parameters less certain than large
    notes: tuple[str, ...] = ()
    checks: tuple[DataCheck, ...] = ()  # of the logs fitted to
    own: Validation | None = None  # on the logs fitted to
    other: Validation | None = None  # on the log given for validation

    def predict(self, log: Log) -> Prediction:
        """Torques that the model needs for the log's motion, at the log's samples, without low-pass.

        Samples in stretches too short to differentiate are left out.
        """
        _same_joints(self.arm, log)
        t, tau = [], []
        for s in log.stretches:
            k = (log.t >= s.t[0] - 1e-12) & (log.t <= s.t[-1] + s.dt)
            model = model_torque(self.arm, s, self.filters._replace(cutoff=None))
            t.append(log.t[k])
            tau.append(np.stack([np.interp(log.t[k], s.t, column) for column in model.T], axis=1))
        if not t:
            raise DataError(f"{log.name}: no stretch without gaps is long enough to predict torques")
        return Prediction(np.concatenate(t), np.concatenate(tau))

    def validate(self, log: Log) -> Validation:
        """Compare the model with another log."""
        return validate(self.arm, log, self.filters._replace(cutoff=None))

    def __str__(self) -> str:
        lines = [
            f"{self.source.name}: {self.base.count} base parameters and {sum(map(len, self.structure))} joint terms",
            f"relative torque error {self.rel_error:.2%}, on held-out blocks {self.held_out:.2%}"
            + ("" if np.isnan(self.held_out_possible) else f" ({self.held_out_possible:.2%} with possible bodies)")
            + ("" if np.isnan(self.rel_error_source) else f", as described {self.rel_error_source:.1%}"),
        ]
        lines += [
            f"joint {j + 1}: {e:.2%}, {', '.join(s)}"
            for j, (e, s) in enumerate(zip(self.rel_error_joints, self.structure, strict=False))
        ]
        if self.filters.cutoff is not None:
            lines.append(
                f"positions smoothed by {self.filters.method}, halved at {self.filters.cutoff:.3g} Hz; "
                f"equations low-passed at {self.filters.band:.3g} Hz"
            )
        if self.undetermined:
            lines.append(f"not determined by the logs: {', '.join(self.undetermined)}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Fit of '{self.source.name}': relative torque error {self.rel_error:.2%}>"

    def _repr_html_(self) -> str:
        from armdyn.identification.fit_figure import notebook

        return notebook(self)


def validate(arm: Arm, log: Log, filters: Filters) -> Validation:
    """An arm's torques (links, friction, drives) against a log's, both through the low-pass at `filters.band`."""
    return validate_all(arm, [log], filters)


def validate_all(arm: Arm, logs: list[Log], filters: Filters) -> Validation:
    """The same for several logs together, one after the other in time."""
    shown, elapsed, total = [], 0.0, np.zeros((4, arm.n))
    for log in logs:
        _same_joints(arm, log)
        for piece in pieces([log]):
            compared = _compared(arm, piece.stretch, filters)
            total += compared.sums
            shown.append((compared.t - log.t[0] + elapsed, compared.tau, compared.model))
        elapsed += log.duration
    if not shown:
        raise DataError(f"{logs[0].name}: no stretch without gaps is long enough to validate with")
    squares, size, neighbours, samples = total
    t, tau, model = (np.concatenate(column) for column in zip(*shown, strict=True))
    return Validation(
        float(np.sqrt(squares.sum() / max(size.sum(), 1e-300))),
        np.sqrt(squares / np.maximum(size, 1e-300)),
        np.sqrt(squares / samples),
        neighbours / np.maximum(squares, 1e-300),
        t,
        tau,
        model,
        filters.band,
    )


class _Compared(NamedTuple):
    sums: NDArray  # (4, n) squares of errors and torques, products of errors 0.1 s apart, number of samples
    t: NDArray
    tau: NDArray
    model: NDArray


def _compared(arm: Arm, s: Stretch, filters: Filters) -> _Compared:
    """Measured and model torque of a piece, low-passed; errors count where joints move, see `_in_motion`."""
    motion = smoothed(s, filters)
    tau = lowpass(s.tau, s.dt, filters.band)
    model = lowpass(_model_torque(arm, motion, s), s.dt, filters.band)
    # The ends of zero-phase filters are guesses.
    margin = min(len(s.t) // 4, int(1 / (filters.band * s.dt)))
    inner = slice(margin, len(s.t) - margin)
    counts = _in_motion(arm, motion.qd, int(1 / (filters.band * s.dt)))[inner]
    e = (tau[inner] - model[inner]) * counts
    lag = max(1, min(int(0.1 / s.dt), len(e) - 1))
    sums = np.stack(
        [
            np.sum(e**2, axis=0),
            np.sum((tau[inner] * counts) ** 2, axis=0),
            np.sum(e[lag:] * e[:-lag], axis=0),
            np.maximum(np.sum(counts, axis=0), 1),
        ]
    )
    k = slice(margin, len(s.t) - margin, max(1, int(1 / (SHOWN * filters.band * s.dt))))
    # Copies, for slices would keep all samples alive.
    return _Compared(sums, s.t[k].copy(), tau[k].copy(), model[k].copy())


def _in_motion(arm: Arm, qd: NDArray, reach: int) -> NDArray:
    """Samples (N, n) in which torques can be told: not where a joint with dry friction stands still.

    There friction may be anything up to breakaway. A joint stands still while its speed stays below STILL of its
    largest, `reach` samples to both sides, which is how far the low-pass spreads what happens there.
    """
    from scipy.ndimage import minimum_filter1d

    dry = np.array([joint.friction.coulomb > 0 or (joint.friction.static or 0.0) > 0 for joint in arm.joints])
    fast = np.abs(qd) > STILL * np.abs(qd).max(axis=0, initial=0.0)
    # A reversal passes through zero and is soon over; standing still lasts.
    still = minimum_filter1d((~fast).astype(np.int8), 2 * reach + 1, axis=0) > 0
    near = -minimum_filter1d(-still.astype(np.int8), 4 * reach + 1, axis=0) > 0
    return np.asarray(~(near & dry))


def model_torque(arm: Arm, s: Stretch, filters: Filters) -> NDArray:
    """Torque (N, n) of the whole arm along a stretch."""
    return _model_torque(arm, smoothed(s, filters), s)


def _model_torque(arm: Arm, motion: Motion, s: Stretch) -> NDArray:
    tau = joint_torque(arm, motion.q, motion.qd, motion.qdd, temperature=s.temperature)
    return tau + presliding_torque(arm, motion.q, motion.qd)


def _same_joints(arm: Arm, log: Log) -> None:
    if log.n != arm.n:
        raise DataError(f"{log.name}: {log.n} joints in the log, {arm.n} in arm '{arm.name}'")
