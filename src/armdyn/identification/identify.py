"""`identify`: logs in, a trustworthy model out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.base_parameters import BaseParameters, base_parameters
from armdyn.errors import ArmdynError, ArmdynWarning, DataError
from armdyn.identification.check import check_log, require_good
from armdyn.identification.consistent import Consistent, consistent_fit
from armdyn.identification.differentiate import METHODS
from armdyn.identification.equations import Equations, System, solve
from armdyn.identification.fit import BaseEstimate, DriveValues, Fit, FrictionValues, validate, validate_all
from armdyn.identification.log import Log
from armdyn.identification.prior import Prior
from armdyn.identification.read_log import read_log
from armdyn.identification.rows import Filters, Rows, choose_band, make_rows
from armdyn.identification.spread import Spread, spread
from armdyn.identification.structure import FRICTION, STRENGTHS, Choice, choose, starting_terms
from armdyn.identification.terms import ALWAYS, TERMS, Term, with_terms
from armdyn.model.arm import Arm
from armdyn.spatial import inertia as inertial

REFUSED = 0.5  # held-out relative error above which a model explains nothing
DOUBTFUL = 0.25
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
    method: str = "butterworth",
    validation: Log | str | os.PathLike[str] | None = None,
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
        All dynamics, or gravity (and friction) alone, for logs of slow motion.
    friction : {"auto", "simple"}
        Choose terms by held-out error, or viscous, Coulomb and offset for every joint.
    springs : bool
        Whether joints may have springs to ground (balancers, hoses); on other arms they would pass for gravity.
    rotors : bool, optional
        Whether drives have inertia of their own that links cannot account for, as geared ones do. Default: if the
        arm's description has any. Those that are one with a link's inertia are part of it.
    prior : float, optional
        Strength with which the arm's own inertia is believed; 0 disregards it. Default by held-out error.
    band : float, optional
        Corner of the low-pass on both sides of the equations [Hz]; default from the motion's spectrum.
    cutoff : float, optional
        Corner of the low-pass on positions [Hz]; default by cross-validation.
    method : {"butterworth", "kalman", "savgol"}
        How positions are differentiated.
    validation : Log or path, optional
        A log that is not fitted to, for `fit.other` and the report.

    Returns
    -------
    Fit
        With `arm`, `theta`, `friction`, `drive`, `base`, `rel_error`, `predict(log)`, `validate(log)`.

    Raises
    ------
    DataError
        If the logs cannot support a model: no motion, dead sensors, reversed signs, mixed units, another arm.
    """
    _check_options(terms, friction, method)
    given = _logs(arm, logs)
    notes = _checked(arm, given)
    band = choose_band([s for log in given for s in log.stretches]) if band is None else float(band)
    base = base_parameters(arm, terms=terms)
    rows = make_rows(base, given, Filters(band, cutoff, method))
    believed = Prior.of(arm)
    optional = _optional(arm, terms, friction, springs)
    geared = _rotors(arm, terms, rotors)
    work = _Work(base, rows, believed, geared, *_chosen(base, rows, believed, geared, prior, optional))
    other = None if validation is None else _logs(arm, validation)[0]
    return _fit(arm, given, work, notes, other)


class _Work(NamedTuple):
    """What the steps share."""

    base: BaseParameters
    rows: Rows
    prior: Prior
    rotors: tuple[int, ...]  # joints whose rotors are parameters of their own
    equations: Equations
    choice: Choice

    @property
    def used(self) -> NDArray:
        return np.flatnonzero(self.choice.used)

    @property
    def joint_terms(self) -> NDArray:
        """Positions of the joint terms that are used, counted from the first of the first joint."""
        return self.used[self.used >= self.base.count] - self.base.count


def _check_options(terms: str, friction: str, method: str) -> None:
    for name, value, allowed in (
        ("terms", terms, ("full", "gravity")),
        ("friction", friction, ("auto", "simple")),
        ("method", method, METHODS),
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


def _rotors(arm: Arm, terms: str, asked: bool | None) -> tuple[int, ...]:
    """Joints whose rotors' inertia is independent of the links'."""
    if asked is None:
        asked = arm.coupling is None and any(joint.drive.rotor_inertia > 0 for joint in arm.joints)
    if not asked or terms == "gravity":
        return ()
    if arm.coupling is not None:
        raise ArmdynError(f"identify: rotors of coupled drives, as arm '{arm.name}' has, are not supported")
    kept = base_parameters(arm, joint_terms=("rotor",)).kept
    return tuple(k - inertial.SIZE * arm.n for k in kept if k >= inertial.SIZE * arm.n)


def _logs(arm: Arm, logs: Logs) -> list[Log]:
    several = [logs] if isinstance(logs, Log | str | os.PathLike) else list(logs)
    if not several:
        raise ArmdynError("identify: expected at least one log, got none")
    return [log if isinstance(log, Log) else read_log(log, arm) for log in several]


def _checked(arm: Arm, logs: list[Log]) -> list[str]:
    notes = []
    for log in logs:
        check = check_log(arm, log)
        require_good(check)
        for finding in check.findings:
            notes.append(f"{log.name}: {finding.text}")
            if finding.level == "warn":
                warnings.warn(notes[-1], ArmdynWarning, stacklevel=4)
    return notes


def _chosen(
    base: BaseParameters,
    rows: Rows,
    prior: Prior,
    rotors: tuple[int, ...],
    strength: float | None,
    optional: tuple[str, ...],
) -> tuple[Equations, Choice]:
    """Weights of the joints, structure and strength, each given the others."""
    equations = Equations.of(rows, base.count)
    used = starting_terms(equations, rotors)
    precision, centre = _base_prior(base, prior, equations)
    strengths = STRENGTHS if strength is None else np.array([strength], float)
    choice = choose(_weighed(equations, used), used, precision, centre, optional, strengths)
    # With its structure known, the noise is better known, and so is what the prior is worth.
    equations = _weighed(equations, choice.used)
    return equations, choose(equations, choice.used, precision, centre, (), strengths)


def _base_prior(base: BaseParameters, prior: Prior, equations: Equations) -> tuple[NDArray, NDArray]:
    """Precision and centre of the prior on all parameters; joint terms are free."""
    precision, centre = np.zeros((equations.size, equations.size)), np.zeros(equations.size)
    precision[: base.count, : base.count] = prior.base_precision(base)
    centre[: base.count] = base.project(prior.theta)
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


def _fit(arm: Arm, logs: list[Log], work: _Work, notes: list[str], validation: Log | None) -> Fit:
    equations, choice = work.equations, work.choice
    nothing, zero = np.zeros((equations.size, equations.size)), np.zeros(equations.size)
    x = solve(equations.total, choice.used, nothing, zero)
    sure, estimate = _plain(work)
    _require_brakes(arm, work, estimate)
    held_out = _held_out_error(equations, choice)
    if held_out > REFUSED:
        raise DataError(
            f"identify: arm '{arm.name}' leaves {held_out:.0%} of the torque unexplained on held-out data; "
            "another arm, other units, or torques that are not joint torques?"
        )
    if held_out > DOUBTFUL:
        warnings.warn(
            f"identify: {held_out:.0%} of the torque stays unexplained on held-out data", ArmdynWarning, stacklevel=3
        )
    consistent = _consistent(work, x)
    values = np.zeros(equations.n * len(TERMS))
    values[work.joint_terms] = consistent.joint
    by_joint = values.reshape(equations.n, len(TERMS))
    fitted = with_terms(arm.with_theta(consistent.theta), by_joint, work.rows.reach)
    filters = work.rows.filters
    together = validate_all(fitted, logs, filters)
    return Fit(
        arm=fitted,
        source=arm,
        theta=consistent.theta,
        friction=_friction_values(fitted, estimate),
        drive=_drive_values(fitted),
        base=estimate,
        filters=filters,
        rel_error=together.rel_error,
        rel_error_joints=together.rel_error_joints,
        held_out=held_out,
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
        notes=tuple(notes),
        own=together,
        other=None if validation is None else validate(fitted, validation, filters),
    )


def _require_brakes(arm: Arm, work: _Work, estimate: BaseEstimate) -> None:
    """Refuse torques with which friction would drive a joint: their sign is reversed."""
    viscous, coulomb = (_of_symbol(estimate.theta, estimate, symbol, arm.n) for symbol in ("Fv", "Fc"))
    sigmas = [_of_symbol(estimate.std, estimate, symbol, arm.n) for symbol in ("Fv", "Fc")]
    speed = work.rows.reach.top / 2
    braking = viscous * speed + coulomb
    # The two errors are of opposite sign, so that this is on the safe side.
    sigma = np.hypot(sigmas[0] * speed, sigmas[1])
    size = np.sqrt(np.mean(work.rows.tau**2, axis=1))
    for j in np.flatnonzero(braking < -np.maximum(5 * sigma, 0.003 * size)):
        raise DataError(
            f"identify: friction of joint {j + 1} '{arm.joint_names[j]}' would drive it ({braking[j]:.3g} at half its "
            "top speed): is the sign of its torque or position reversed?"
        )


def _held_out_error(equations: Equations, choice: Choice) -> float:
    """Relative error on held-out blocks, from weighted squares and the joints' noise."""
    share = choice.held_out.sum() / max(equations.folds.c.sum(), 1e-300)
    return float(np.sqrt(share))


def _consistent(work: _Work, x: NDArray) -> Consistent:
    """The possible bodies and joint terms behind the chosen structure."""
    base, terms = work.base, work.joint_terms
    links, used = inertial.SIZE * base.source.n, work.used
    lift = np.zeros((len(used), links + len(terms)))
    lift[: base.count, :links] = base.P
    lift[base.count :, links:] = np.eye(len(terms))
    total = work.equations.total
    system = System(lift.T @ total.A[np.ix_(used, used)] @ lift, lift.T @ total.b[used], total.c)
    positive = np.array([TERMS[k % len(TERMS)].positive for k in terms], bool)
    strength = max(work.choice.strength, NO_PRIOR)
    return consistent_fit(system, work.prior, strength, x[base.count + terms], positive)


def _plain(work: _Work) -> tuple[Spread, BaseEstimate]:
    """Least squares with plain friction and no prior, whose statistics no choice has touched."""
    used = starting_terms(work.equations, work.rotors)
    equations = _weighed(work.equations, used)
    nothing, zero = np.zeros((equations.size, equations.size)), np.zeros(equations.size)
    x = solve(equations.total, used, nothing, zero)
    sure = spread(work.rows, equations, used, x)
    base = work.base
    own = np.flatnonzero(used)[base.count :] - base.count
    names = [f"{TERMS[k % len(TERMS)].symbol}{k // len(TERMS) + 1}" for k in own]
    std = np.sqrt(np.maximum(np.diag(sure.covariance), 0.0))
    return sure, BaseEstimate(x[used], std, (*base.names, *names), (*base.labels, *names), base.count)


def _of_symbol(values: NDArray, estimate: BaseEstimate, symbol: str, n: int) -> NDArray:
    """The entries (n,) of one joint term."""
    return np.array([values[estimate.labels.index(f"{symbol}{j + 1}")] for j in range(n)])


def _undetermined(estimate: BaseEstimate, sure: Spread) -> tuple[str, ...]:
    names = tuple(name for name, lost in zip(estimate.labels, sure.undetermined, strict=True) if lost)
    if names:
        warnings.warn(
            f"identify: the logs do not determine {', '.join(names[:8])}{' ...' if len(names) > 8 else ''}; "
            "excite all joints (see the report)",
            ArmdynWarning,
            stacklevel=4,
        )
    return names


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
