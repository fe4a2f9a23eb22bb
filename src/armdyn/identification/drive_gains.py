"""Drive gains from currents: one arm's logs without and with a payload that was weighed.

Currents fix torques only up to a factor per joint, and a payload of known mass sets the scale (Gautier, Briot 2014).
There torque is on the left, `Y x - diag(i) gains = 0`, and noise in the currents draws gains towards zero. Here
currents are on the left, `i = diag(1 / gains) (Y x + known)`, so that their noise draws nothing; Gauss-Newton
starts from the former. All joints share the arm's parameters: joints that hardly feel the payload get their scale
from those that do.
"""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.dynamics.base.parameters import base_parameters
from armdyn.errors import ArmdynError, DataError, ShapeError
from armdyn.identification.estimators.data import normal_equations
from armdyn.identification.estimators.drive_gain import drive_gains
from armdyn.identification.estimators.least_squares import noise
from armdyn.identification.fit.rotors import own_rotors
from armdyn.identification.fit.rows import make_rows
from armdyn.identification.fit.spread import correlated_sum, determine
from armdyn.identification.fit.terms import ALWAYS, ROTOR
from armdyn.identification.hypotheses.warn import warn
from armdyn.identification.limits import MIN_REDUCTION
from armdyn.identification.logs.log import Log, require_all_torques
from armdyn.identification.logs.read_log import read_log
from armdyn.identification.motion.track import DIRECTION_WIDTH, Filters, choose_band, stretches, tracks_of
from armdyn.identification.payload import body_rows
from armdyn.model.arm import Arm
from armdyn.numerals import STD_OF_95_PERCENT
from armdyn.precision import MAX_ITERATIONS
from armdyn.spatial import inertia as inertial
from armdyn.spatial.inertia import Inertia


class DriveGains(NamedTuple):
    """Joint torque per unit of the logged current, per joint."""

    gains: NDArray  # (n,) [N m/A or N/A, where amperes were logged]
    std: NDArray  # (n,), for the autocorrelation that the residuals show
    rel_error: float  # norm(measured - modelled) / norm(measured) of the currents
    rel_error_joints: NDArray  # (n,)

    def __str__(self) -> str:
        pairs = enumerate(zip(self.gains, self.std, strict=True))
        lines = [f"joint {j + 1}: {gain:.4g} ± {STD_OF_95_PERCENT * std:.2g} a unit (95 %)" for j, (gain, std) in pairs]
        return "\n".join([*lines, f"relative error of the currents {self.rel_error:.2%}"])


def identify_drive_gains(
    arm: Arm,
    without: Log | str | os.PathLike[str],
    loaded: Log | str | os.PathLike[str],
    mass: float,
    *,
    com: ArrayLike | None = None,
    inertia: ArrayLike | None = None,
    rotors: bool | None = None,
    band: float | None = None,
) -> DriveGains:
    """Torque per unit of current, per joint, from two logs, one of them with a payload of known mass.

    Parameters
    ----------
    arm : Arm
        Its geometry is trusted; inertia and friction are not needed, nor used.
    without, loaded : Log or path
        Motion and currents (in the place of torques) without and with the payload; not necessarily of one motion.
    mass : float
        Mass of the payload [kg].
    com : array_like, shape (3,), optional
        Its centre of mass in the tip's frame [m]; identified where it is not given.
    inertia : array_like, shape (3, 3), optional
        About its centre of mass, in the tip's axes [kg m²]; identified where it is not given.
    rotors : bool, optional
        Whether drives have inertia of their own; default if the arm's description has any.
    band : float, optional
        Low-pass on currents and regressor alike [Hz]; default from the motion's spectrum.

    Returns
    -------
    DriveGains
        Multiply currents by `gains`, or give them to `read_log(..., drive_gain=gains)`.

    Raises
    ------
    DataError
        If the currents do not show the payload.
    """
    if not mass > 0:
        raise ArmdynError(where="identify_drive_gains", expected="mass > 0", got=mass)
    if arm.coupling is not None:
        cause = f"drives of arm '{arm.name}' are coupled, which is not supported"
        raise ArmdynError(cause, where="identify_drive_gains")
    logs = [log if isinstance(log, Log) else read_log(log, arm) for log in (without, loaded)]
    for log in logs:
        require_all_torques(log, "drive_gains")
    known, unknown = _payload(arm, mass, com, inertia)
    if band is None:
        band = choose_band(stretches(logs))
    both = [
        _equations(arm, log, Filters(float(band), None, "butterworth", width=DIRECTION_WIDTH), rotors) for log in logs
    ]
    start = drive_gains(
        (both[0].Y, both[0].current), (both[1].Y, both[1].current), (both[1].tip[..., unknown], both[1].tip @ known)
    )
    problem = _Problem.of(both[0], both[1], known, unknown)
    h, sigma, error = _refine(problem, 1 / np.where(np.abs(start.gains) > 1e-9, start.gains, 1.0))
    gains_estimate = DriveGains(
        1 / h,
        sigma / h**2,
        float(np.linalg.norm(error) / np.linalg.norm(problem.current)),
        np.linalg.norm(error, axis=0) / np.maximum(np.linalg.norm(problem.current, axis=0), 1e-300),
    )
    _judge(arm, gains_estimate)
    return gains_estimate


def _payload(arm: Arm, mass: float, com: ArrayLike | None, inertia: ArrayLike | None) -> tuple[NDArray, NDArray]:
    """Return what is known (10,) of the payload about the last link's origin, and which parameters are not."""
    if inertia is not None and com is None:
        raise ArmdynError("an inertia about the centre of mass needs com", where="identify_drive_gains")
    for name, value, shape in (("com", com, (3,)), ("inertia", inertia, (3, 3))):
        if value is not None and (np.shape(value) != shape or not np.isfinite(value).all()):  # type: ignore[union-attr]
            raise ShapeError(where="identify_drive_gains", expected=f"{name} of shape {shape}", got=np.shape(value))
    if com is None:
        known = np.zeros(inertial.SIZE)
        known[0] = mass
        return known, np.arange(1, inertial.SIZE)
    body = Inertia.from_com(mass, np.asarray(com, float), np.zeros((3, 3)) if inertia is None else inertia)
    return body.moved(arm.tool_pose).theta, np.arange(4, inertial.SIZE) if inertia is None else np.arange(0)


class _Rows(NamedTuple):
    """Low-passed samples of a log, decimated."""

    Y: NDArray  # (N, n, p) of the arm, friction and rotors
    tip: NDArray  # (N, n, 10) of a body on the link of the tip
    current: NDArray  # (N, n)
    stretch: NDArray  # (N,) numbers of runs without gaps


def _equations(arm: Arm, log: Log, filters: Filters, rotors: bool | None) -> _Rows:
    base = base_parameters(arm)
    rows = make_rows(base, tracks_of([log], filters), filters)
    tips = [body_rows(arm, arm.tip_index, track, rows.low(track)) for track in rows.tracks]
    rotors_of_drives = own_rotors(base, rotors)
    Y, current = (np.concatenate(column, axis=1) for column in zip(*rows, strict=True))
    numbers = np.repeat(np.arange(len(rows.sizes)), rows.sizes)
    columns = [Y[..., : base.count]]
    for k, joints in [*((k, range(arm.n)) for k in range(len(ALWAYS))), (ROTOR, rotors_of_drives)]:
        for joint in joints:
            column = np.zeros((*Y.shape[:2], 1))
            column[joint, :, 0] = Y[joint, :, base.count + k]
            columns.append(column)
    joined = np.concatenate(columns, axis=2)
    return _Rows(joined.swapaxes(0, 1), np.concatenate(tips, axis=1).swapaxes(0, 1), current.T, numbers)


class _Problem(NamedTuple):
    """Both logs: `current = diag(h) (Y x + known)`, h = 1 / gains."""

    Y: NDArray  # (N, n, p)
    known: NDArray  # (N, n) torque of what is known of the payload
    current: NDArray  # (N, n)
    stretch: NDArray  # (N,)

    @classmethod
    def of(cls, free: _Rows, loaded: _Rows, known: NDArray, unknown: NDArray) -> _Problem:
        """The payload's unknown parameters come last in x."""
        nothing = np.zeros((*free.current.shape, len(unknown)))
        return cls(
            np.concatenate([np.dstack([free.Y, nothing]), np.dstack([loaded.Y, loaded.tip[..., unknown]])]),
            np.concatenate([np.zeros_like(free.current), loaded.tip @ known]),
            np.concatenate([free.current, loaded.current]),
            np.concatenate([free.stretch, loaded.stretch + free.stretch[-1] + 1]),
        )


def _refine(problem: _Problem, h: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """h (n,), its standard deviations (n,), and the residuals (N, n): weighted least squares of the currents."""
    n, p = len(h), problem.Y.shape[2]
    x = _solve(*normal_equations(problem.Y * h[:, None], problem.current - h * problem.known, np.ones(n)))[0]
    for _ in range(MAX_ITERATIONS):
        model = problem.Y @ x + problem.known
        error = problem.current - h * model
        weights = 1 / noise(error)
        J = np.concatenate([problem.Y * h[:, None], model[..., None] * np.eye(n)], axis=2)
        step, inverse, lost = _solve(*normal_equations(J, error, weights))
        x, h = x + step[:p], h + step[p:]
        if np.all(np.abs(step[p:]) < 1e-9 * np.abs(h)):
            break
    meat = correlated_sum((J * weights[:, None]).swapaxes(0, 1), (error * weights).T, problem.stretch)
    variances = np.maximum(np.diag(inverse @ meat @ inverse), 0.0)
    return h, np.sqrt(np.where(lost, np.inf, variances))[p:], error


def _solve(A: NDArray, b: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """The solution, the inverse, and which parameters take part in directions that no sample shows."""
    known = determine(A)
    return known.inverse @ b, known.inverse, known.lost


def _judge(arm: Arm, estimate: DriveGains) -> None:
    unsure = estimate.std / np.abs(estimate.gains)
    if not unsure.min() < MIN_REDUCTION:
        known = f"are known to {unsure.min():.0%} at best" if np.isfinite(unsure.min()) else "stay unknown"
        cause = f"the currents do not show the payload: gains {known}"
        raise DataError(cause, where="identify_drive_gains", remedy="take a heavier one, and move all joints")
    names = [arm.coordinate_names[j] for j in np.flatnonzero(~(unsure < MIN_REDUCTION))]
    if names:
        warn(f"identify_drive_gains: gains of {', '.join(names)} are known to no better than {MIN_REDUCTION:.0%}")
