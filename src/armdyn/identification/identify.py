"""`identify`: logs in, a trustworthy model out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.base_parameters import BaseParameters
from armdyn.dynamics.base_reduction import arm_size
from armdyn.errors import ArmdynError, ArmdynWarning, DataError
from armdyn.identification.check import DataCheck, check_log, require_good
from armdyn.identification.consistent import Consistent, consistent_fit
from armdyn.identification.differentiate import AUTO, METHODS
from armdyn.identification.equations import Equations, System, solve
from armdyn.identification.fit import BaseEstimate, DriveValues, Fit, FrictionValues, validate, validate_all
from armdyn.identification.geared import Geared, base_with_drives, geared
from armdyn.identification.gravity_poses import compare_poses, fit_poses
from armdyn.identification.log import Log
from armdyn.identification.poses import Poses, held_poses
from armdyn.identification.prior import Prior
from armdyn.identification.read_log import read_log
from armdyn.identification.rows import FORMS, Filters, Rows, choose_band, make_rows, pieces
from armdyn.identification.spread import Spread, spread
from armdyn.identification.structure import FRICTION, STRENGTHS, Choice, choose, starting_terms
from armdyn.identification.terms import ALWAYS, TERMS, Term, with_terms
from armdyn.model.arm import Arm
from armdyn.spatial import inertia as inertial

REFUSED = 0.5  # held-out relative error above which a model explains nothing
HASTY = 0.1  # share of gravity with which links may accelerate where gravity alone is identified
DOUBTFUL = 0.2
MOST_CHECKED = 100_000  # samples of a log by which it is judged
COSTLY = 1.2  # error of possible bodies over that of free parameters, from which rotors are suspected
NO_PRIOR = 1e-3  # strength of the stand-in bodies behind an arm of unknown inertia: data always win

Logs = Log | str | os.PathLike[str] | Iterable[Log | str | os.PathLike[str]]


def identify(
    arm: Arm,
    logs: Logs,
    *,
    terms: str = "full",
    friction: str = "auto",
    springs: bool = False,
    rotors: bool | None = None,
    prior: float | None = None,
    band: float | None = None,
    cutoff: float | None = None,
    method: str = AUTO,
    form: str = "torque",
    validation: Log | str | os.PathLike[str] | None = None,
    progress: Callable[[float, str], None] | None = None,
) -> Fit:
    """Inertial parameters, friction and drives of an arm from measured motion and torque.

    The steps: check the logs; smooth and differentiate positions; low-pass and decimate torque and regressor
    alike; weigh joints by their noise; choose friction terms and the weight of the arm's own description by
    error on held-out blocks; fit possible bodies; give what the data alone say with honest intervals.

    Parameters
    ----------
    arm : Arm
        Its geometry is trusted, its inertia is a prior, or unknown (NaN).
    logs : Log, path, or iterable of them
        Measured motion; paths are read with `read_log`.
    terms : {"full", "gravity"}
        All dynamics; or gravity alone, from poses held still (which are averaged) or, together with friction, from
        slow motion both ways.
    friction : {"auto", "simple"}
        Choose terms by held-out error, or viscous, Coulomb and offset for every joint.
    springs : bool
        Whether joints may have springs to ground (balancers, hoses); on other arms they would pass for gravity.
    rotors : bool, optional
        Whether drives have inertia of their own that links cannot account for, as geared ones do. Default: if the
        arm's description has any. Those that are one with a link's inertia are part of it; those of coupled drives
        are among the base parameters.
    prior : float, optional
        Strength with which the arm's own inertia is believed; 0 disregards it. Default by held-out error.
    band : float, optional
        Corner of the low-pass on both sides of the equations [Hz]; default from the motion's spectrum.
    cutoff : float, optional
        Corner of the low-pass on positions [Hz]; default by cross-validation.
    method : {"auto", "butterworth", "kalman", "savgol", "spline"}
        How positions are differentiated; by default the way that predicts positions left out best.
    form : {"torque", "filtered", "energy"}
        Whether the regressor has accelerations, or momenta are low-passed and differentiated at once, or energies, of
        all joints together: then held-out errors are those of the power.
    validation : Log or path, optional
        A log that is not fitted to, for `fit.other` and the report.
    progress : callable, optional
        Called with the share done (0 to 1) and what is being done.

    Returns
    -------
    Fit
        With `arm`, `theta`, `friction`, `drive`, `base`, `rel_error`, `predict(log)`, `validate(log)`.

    Raises
    ------
    DataError
        If the logs cannot support a model: no motion, dead sensors, reversed signs, mixed units, another arm.
    """
    _check_options(terms, friction, method, form)
    tell = progress or _silent
    tell(0.0, "reading logs")
    given = _logs(arm, logs)
    tell(0.1, "checking the data")
    checks = _checked(arm, given)
    band = choose_band(piece.stretch for piece in pieces(given)) if band is None else float(band)
    if terms == "gravity" and (poses := held_poses(given)) is not None:
        return _from_poses(arm, poses, checks, prior, Filters(band, cutoff, method), validation)
    if terms == "gravity":
        _warn_of_haste(arm, checks)
    base = base_with_drives(arm, terms, rotors)
    tell(0.2, "filtering and differentiating")
    rows = make_rows(base, given, Filters(band, cutoff, method, form))
    believed = Prior.of(arm)
    optional = _optional(arm, terms, friction, springs)
    other = None if validation is None else _logs(arm, validation)[0]

    def attempt(drives: Geared) -> Fit:
        work = _Work(base, believed, drives, *_chosen(base, rows, believed, drives, prior, optional))
        return _fit(arm, given, work, checks, other)

    tell(0.4, "choosing terms and fitting possible bodies")
    fit = attempt(geared(base, rotors))
    if rotors is None and fit.rel_error > COSTLY * fit.rel_error_free and arm.coupling is None and terms == "full":
        # No possible links have the inertia that the torques show; links with rotors may.
        tell(0.7, "trying rotors of the drives")
        second = attempt(geared(base, True))
        fit = second if COSTLY * second.rel_error < fit.rel_error else fit
    tell(1.0, "done")
    return fit


def _warn_of_haste(arm: Arm, checks: tuple[DataCheck, ...]) -> None:
    """Inertia is left out of a model of gravity, and must not matter: links' accelerations against gravity's."""
    turns = np.array([joint.kind == "revolute" for joint in arm.joints])
    lever = np.where(turns, arm_size(arm), 1.0)
    haste = max(float(np.max(check.joints.acceleration * lever)) for check in checks)
    if haste > HASTY * np.linalg.norm(arm.gravity):
        warnings.warn(
            f"identify: the motion is too fast for gravity alone: links accelerate with up to {haste:.2g} m/s²; move "
            "slowly, hold poses, or identify all terms",
            ArmdynWarning,
            stacklevel=4,
        )


def _from_poses(
    arm: Arm,
    poses: Poses,
    checks: tuple[DataCheck, ...],
    prior: float | None,
    filters: Filters,
    validation: Log | str | os.PathLike[str] | None,
) -> Fit:
    """Gravity alone, from an arm at rest in many poses."""
    fit = fit_poses(arm, poses, checks, prior, filters)
    _require_explained(arm, fit.held_out, "on held-out poses")
    _warn_of_undetermined(fit.undetermined)
    if validation is None:
        return fit
    other = _logs(arm, validation)[0]
    still = held_poses([other])
    return replace(fit, other=validate(fit.arm, other, filters) if still is None else compare_poses(fit.arm, still))


def _silent(share: float, text: str) -> None:
    """What is called where nobody wants to know."""


class _Work(NamedTuple):
    """What the steps share."""

    base: BaseParameters
    prior: Prior
    drives: Geared
    rows: Rows
    equations: Equations
    choice: Choice

    @property
    def used(self) -> NDArray:
        return np.flatnonzero(self.choice.used)

    @property
    def joint_terms(self) -> NDArray:
        """Positions of the joint terms that are used, counted from the first of the first joint."""
        return self.used[self.used >= self.base.count] - self.base.count


def _check_options(terms: str, friction: str, method: str, form: str) -> None:
    for name, value, allowed in (
        ("terms", terms, ("full", "gravity")),
        ("friction", friction, ("auto", "simple")),
        ("method", method, (AUTO, *METHODS)),
        ("form", form, FORMS if terms == "full" else FORMS[:1]),
    ):
        if value not in allowed:
            raise ArmdynError(f"identify: expected {name} one of {', '.join(allowed)}, got {value!r}")


def _optional(arm: Arm, terms: str, friction: str, springs: bool) -> tuple[str, ...]:
    """Kinds of joint terms to choose from."""
    kinds: tuple[str, ...] = FRICTION if friction == "auto" and terms == "full" else ()
    if arm.coupling is not None:
        # Rotors of coupled drives act on several joints at once.
        kinds = tuple(kind for kind in kinds if kind != "rotor")
    return (*kinds, "spring") if springs else kinds


def _logs(arm: Arm, logs: Logs) -> list[Log]:
    several = [logs] if isinstance(logs, Log | str | os.PathLike) else list(logs)
    if not several:
        raise ArmdynError("identify: expected at least one log, got none")
    return [log if isinstance(log, Log) else read_log(log, arm) for log in several]


def _checked(arm: Arm, logs: list[Log]) -> tuple[DataCheck, ...]:
    checks = tuple(check_log(arm, _some(log)) for log in logs)
    for check in checks:
        require_good(check)
        for finding in check.findings:
            if finding.level == "warn":
                warnings.warn(f"{check.log.name}: {finding.text}", ArmdynWarning, stacklevel=4)
    return checks


def _some(log: Log) -> Log:
    """The log, or of one that is too long to look at as a whole the run of samples in which joints move most."""
    starts = range(0, len(log), MOST_CHECKED)
    if len(starts) == 1:
        return log
    spans = np.array([np.ptp(log.q[k : k + MOST_CHECKED], axis=0) for k in starts])
    k = starts[int(np.argmax((spans / np.maximum(spans.max(axis=0), 1e-300)).sum(axis=1)))]
    return log.part(float(log.t[k]), float(log.t[min(k + MOST_CHECKED, len(log)) - 1]))


def _chosen(
    base: BaseParameters,
    rows: Rows,
    prior: Prior,
    drives: Geared,
    strength: float | None,
    optional: tuple[str, ...],
) -> tuple[Rows, Equations, Choice]:
    """Weights of the joints, structure and strength, each given the others."""
    equations = Equations.of(rows, base.count)
    used = starting_terms(equations, drives.own)
    if "load" in optional:
        rows = rows.loaded(_bodies(base, _weighed(equations, used), used))
        equations = Equations.of(rows, base.count)
    precision, centre = _base_prior(base, prior, equations, drives)
    strengths = STRENGTHS if strength is None else np.array([strength], float)
    choice = choose(_weighed(equations, used), used, precision, centre, optional, strengths)
    # With its structure known, the noise is better known, and so is what the prior is worth.
    equations = _weighed(equations, choice.used)
    return rows, equations, choose(equations, choice.used, precision, centre, (), strengths)


def _bodies(base: BaseParameters, equations: Equations, used: NDArray) -> NDArray:
    """Some theta (10 n,) with the torques of least squares: those that load the joints."""
    nothing, zero = np.zeros((equations.size, equations.size)), np.zeros(equations.size)
    found = np.linalg.pinv(base.P) @ solve(equations.total, used, nothing, zero)[: base.count]
    return found[: inertial.SIZE * base.source.n]


def _base_prior(base: BaseParameters, prior: Prior, equations: Equations, drives: Geared) -> tuple[NDArray, NDArray]:
    """Precision and centre of the prior on all parameters; joint terms are free."""
    precision, centre = np.zeros((equations.size, equations.size)), np.zeros(equations.size)
    inertias = np.array([joint.drive.reflected_inertia for joint in base.source.joints])
    # Rotors are believed as little as to a factor of two; of coupled ones without description nothing is known.
    undescribed = prior.inertia(base.source) if base.joint_terms else 0.0
    doubts = np.where(inertias > 0, inertias, undescribed)
    precision[: base.count, : base.count] = prior.base_precision(base, drives.shares * doubts)
    centre[: base.count] = base.P[:, : len(prior.theta)] @ prior.theta + drives.shares @ inertias
    return precision, centre


def _weighed(equations: Equations, used: NDArray) -> Equations:
    """Joints weighed by 1 / residual of least squares, found by iteration."""
    nothing, zero = np.zeros((equations.size, equations.size)), np.zeros(equations.size)
    for _ in range(4):
        x = solve(equations.total, used, nothing, zero)
        # A joint that is fitted to the last digit must not drown the others.
        noise = np.sqrt(np.maximum(equations.errors(x), 1e-12 * equations.powers.sum()) / equations.samples.sum())
        equations = equations.weighted(1 / np.maximum(noise, 1e-3 * np.median(noise)))
    return equations


def _fit(arm: Arm, logs: list[Log], work: _Work, checks: tuple[DataCheck, ...], validation: Log | None) -> Fit:
    equations, choice = work.equations, work.choice
    nothing, zero = np.zeros((equations.size, equations.size)), np.zeros(equations.size)
    x = solve(equations.total, choice.used, nothing, zero)
    sure, estimate = _plain(work)
    _require_brakes(arm, work, estimate)
    held_out = _held_out_error(equations, choice)
    _require_explained(arm, held_out, "on held-out data")
    theta, values, consistent, possible = _consistent(work, x)
    fitted = with_terms(arm.with_theta(theta), values, work.rows.reach)
    filters = work.rows.filters
    together = validate_all(fitted, logs, filters)
    # Joints with little noise weigh most in the held-out error; here those with large torques do.
    _require_explained(arm, together.rel_error, "of the logs")
    if max(held_out, together.rel_error) > DOUBTFUL:
        warnings.warn(
            f"identify: arm '{arm.name}' leaves {together.rel_error:.0%} of the logs' torque unexplained, "
            f"{held_out:.0%} on held-out data: another arm, other units, or torques that are not joint torques?",
            ArmdynWarning,
            stacklevel=4,
        )
    return Fit(
        arm=fitted,
        source=arm,
        theta=theta,
        friction=_friction_values(fitted, estimate),
        drive=_drive_values(fitted),
        base=estimate,
        filters=filters,
        rel_error=together.rel_error,
        rel_error_joints=together.rel_error_joints,
        rel_error_free=float(np.sqrt(equations.errors(x).sum() / max(equations.powers.sum(), 1e-300))),
        held_out=held_out,
        held_out_possible=possible,
        rel_error_source=_source_error(arm, logs, filters),
        strength=choice.strength,
        scan=choice.scan,
        condition=sure.condition,
        condition_scaled=sure.condition_scaled,
        gap=consistent.gap,
        boundary=tuple(arm.link_names[i] for i in consistent.boundary),
        structure=_structure(work),
        effective=sure.effective,
        undetermined=_undetermined(estimate, sure),
        weak=tuple(
            n for n, v, s in zip(estimate.labels, estimate.theta, estimate.std, strict=True) if abs(v) < s < np.inf
        ),
        notes=tuple(f"{check.log.name}: {finding.text}" for check in checks for finding in check.findings),
        checks=checks,
        own=together,
        other=None if validation is None else validate(fitted, validation, filters._replace(cutoff=None)),
    )


def _require_explained(arm: Arm, error: float, where: str) -> None:
    if error > REFUSED:
        raise DataError(
            f"identify: arm '{arm.name}' leaves {error:.0%} of the torque unexplained {where}; "
            "another arm, other units, or torques that are not joint torques?"
        )


def _require_brakes(arm: Arm, work: _Work, estimate: BaseEstimate) -> None:
    """Refuse torques with which friction would drive a joint: their sign is reversed."""
    viscous, coulomb = (_of_symbol(estimate.theta, estimate, symbol, arm.n) for symbol in ("Fv", "Fc"))
    sigmas = [_of_symbol(estimate.std, estimate, symbol, arm.n) for symbol in ("Fv", "Fc")]
    speed = work.rows.reach.top / 2
    braking = viscous * speed + coulomb
    # The two errors are of opposite sign, so that this is on the safe side.
    sigma = np.hypot(sigmas[0] * speed, sigmas[1])
    size = np.sqrt(work.equations.powers / work.equations.samples.sum())
    for j in np.flatnonzero(braking < -np.maximum(5 * sigma, 0.003 * size)):
        raise DataError(
            f"identify: friction of joint {j + 1} '{arm.joint_names[j]}' would drive it ({braking[j]:.3g} at half its "
            "top speed): is the sign of its torque or position reversed?"
        )


def _held_out_error(equations: Equations, choice: Choice) -> float:
    """Relative error on held-out blocks, from weighted squares and the joints' noise."""
    share = choice.held_out.sum() / max(equations.folds.c.sum(), 1e-300)
    return float(np.sqrt(share))


def _lifted(system: System, used: NDArray, lift: NDArray) -> System:
    """Equations of all parameters behind those that are used: x = lift y."""
    return System(lift.T @ system.A[np.ix_(used, used)] @ lift, lift.T @ system.b[used], system.c)


def _error_on_folds(fits: list[tuple[System, NDArray]]) -> float:
    """Relative error of parameters, each on its own block of equations."""
    squares = sum(float(y @ fold.A @ y - 2 * fold.b @ y + fold.c) for fold, y in fits)
    return float(np.sqrt(max(squares, 0.0) / max(sum(float(fold.c) for fold, _ in fits), 1e-300)))


def _consistent(work: _Work, x: NDArray) -> tuple[NDArray, NDArray, Consistent, float]:
    """Possible bodies and all joint terms (n, terms) behind the chosen structure, the minimum, its held-out error.

    Rotors that are one with links are told apart from them here, for links alone could not have their inertia.
    """
    base, terms, lumped = work.base, work.joint_terms, work.drives.lumped
    n, links, used = base.source.n, inertial.SIZE * base.source.n, work.used
    lift = np.zeros((len(used), links + len(lumped) + len(terms)))
    lift[: base.count, :links] = base.P[:, :links]
    lift[: base.count, links : links + len(lumped)] = work.drives.shares[:, lumped]
    lift[base.count :, links + len(lumped) :] = np.eye(len(terms))
    positive = np.array([True] * len(lumped) + [TERMS[k % len(TERMS)].positive for k in terms], bool)
    inertias = [max(base.source.joints[j].drive.reflected_inertia, 1e-3) for j in lumped]
    start = np.concatenate([inertias, x[base.count + terms]])
    strength = max(work.choice.strength, NO_PRIOR)
    total = _lifted(work.equations.total, used, lift)
    found = consistent_fit(total, work.prior, strength, start, positive)

    def without(fold: System) -> NDArray:
        rest = System(total.A - fold.A, total.b - fold.b, total.c - fold.c)
        least = consistent_fit(rest, work.prior, strength, start, positive, near=found)
        return np.concatenate([least.theta, least.joint])

    folds = [_lifted(System(*parts), used, lift) for parts in zip(*work.equations.folds, strict=True)]
    held_out = _error_on_folds([(fold, without(fold)) for fold in folds])
    values = np.zeros(n * len(TERMS))
    values[terms] = found.joint[len(lumped) :]
    by_joint = values.reshape(n, len(TERMS))
    by_joint[lumped, [term.kind for term in TERMS].index("rotor")] += found.joint[: len(lumped)]
    return found.theta, by_joint, found, held_out


def _plain(work: _Work) -> tuple[Spread, BaseEstimate]:
    """Least squares with plain friction and no prior, whose statistics no choice has touched."""
    used = starting_terms(work.equations, work.drives.own)
    equations = _weighed(work.equations, used)
    nothing, zero = np.zeros((equations.size, equations.size)), np.zeros(equations.size)
    x = solve(equations.total, used, nothing, zero)
    sure = spread(work.rows, equations, used, x)
    base = work.base
    own = np.flatnonzero(used)[base.count :] - base.count
    names = [f"{TERMS[k % len(TERMS)].symbol}{k // len(TERMS) + 1}" for k in own]
    std = np.sqrt(np.maximum(np.diag(sure.covariance), 0.0))
    labels = (*base.labels, *names)
    return sure, BaseEstimate(x[used], std, (*base.names, *names), labels, base.count, sure.covariance)


def _of_symbol(values: NDArray, estimate: BaseEstimate, symbol: str, n: int) -> NDArray:
    """The entries (n,) of one joint term."""
    return np.array([values[estimate.labels.index(f"{symbol}{j + 1}")] for j in range(n)])


def _undetermined(estimate: BaseEstimate, sure: Spread) -> tuple[str, ...]:
    names = tuple(name for name, lost in zip(estimate.labels, sure.undetermined, strict=True) if lost)
    _warn_of_undetermined(names)
    return names


def _warn_of_undetermined(names: tuple[str, ...]) -> None:
    if names:
        warnings.warn(
            f"identify: the logs do not determine {', '.join(names[:8])}{' ...' if len(names) > 8 else ''}; "
            "excite all joints (see the report)",
            ArmdynWarning,
            stacklevel=5,
        )


def _structure(work: _Work) -> tuple[tuple[str, ...], ...]:
    used = work.choice.used[work.base.count :].reshape(-1, len(TERMS))
    return tuple(tuple(_told(TERMS[k]) for k in np.flatnonzero(row)) for row in used)


def _told(term: Term) -> str:
    return "coulomb with presliding" if term.travel else term.kind


def _friction_values(arm: Arm, estimate: BaseEstimate) -> FrictionValues:
    symbols = [term.symbol for term in ALWAYS]
    values = [_of_symbol(estimate.theta, estimate, symbol, arm.n) for symbol in symbols]
    std = np.array([_of_symbol(estimate.std, estimate, symbol, arm.n) for symbol in symbols])
    return FrictionValues(values[0], values[1], values[2], std, tuple(joint.friction for joint in arm.joints))


def _drive_values(arm: Arm) -> DriveValues:
    drives = [joint.drive for joint in arm.joints]
    return DriveValues(np.array([d.reflected_inertia for d in drives]), np.array([d.stiffness for d in drives]))


def _source_error(arm: Arm, logs: list[Log], filters: Filters) -> float:
    """The error of the arm as it was described; NaN if its inertia is unknown."""
    if np.isnan(arm.theta).any():
        return float("nan")
    return validate_all(arm, logs, filters).rel_error
