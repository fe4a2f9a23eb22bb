"""`identify`: logs in, a trustworthy model out.

The walk in ten sentences, each step in a file of its own. `logs/` reads files into times, positions and torques in
the arm's order and units. `motion/track` smooths the positions, once, to velocities and accelerations without delay.
`hypotheses/` fits what could be wrong with the logs (a sign, a delay, another unit) as alternatives, and reports the
most probable one with its correction. `fit/rows` passes torques and regressor through one low-pass, and
`fit/equations` sums them up in blocks, so that later fits cost nothing more per sample. `fit/terms` offers the same
friction columns to every joint. `fit/evidence` weighs all columns at once by the hyperparameters that make the logs
most probable, and `fit/choice` lets held-out blocks decide the few things left: the least noise, measured velocities, a
delay, the prior of the links. `fit/estimate` finds the physically consistent bodies with dissipative friction that
fit as well, nearest to that prior. `fit/plain_fit` estimates base parameters from the data alone, for honest
intervals. `fit/uncertainty` carries what held-out blocks leave, and what the parameters may be off, on to new motion.
`quality` turns this expected error and the findings into a verdict, and `fit/result` holds it all as a `Fit`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.blas import single_threaded
from armdyn.dynamics.base.parameters import BaseParameters, base_parameters
from armdyn.errors import ArmdynError, DataError
from armdyn.identification.fit.choice import Choice, Options, choose
from armdyn.identification.fit.estimate import ConstrainedEstimate, estimate
from armdyn.identification.fit.mass_bounds import MassBounds
from armdyn.identification.fit.passive import estimate_passive, has_passive, without_terms
from armdyn.identification.fit.plain_fit import PlainFit, friction_values, plain_fit
from armdyn.identification.fit.prior import why_no_prior
from armdyn.identification.fit.result import (
    Fit,
    FitMetrics,
    FitProvenance,
    ModelPair,
    ModelSelection,
    ParameterConditioning,
    check_notes,
)
from armdyn.identification.fit.rotors import base_with_drives, own_rotors
from armdyn.identification.fit.rows import make_rows
from armdyn.identification.fit.terms import DICTIONARY, sharing_joints
from armdyn.identification.fit.uncertainty import estimate_uncertainty
from armdyn.identification.fit.validation import arm_torque, compare, compare_arm, compare_models, compare_poses
from armdyn.identification.gravity_poses import fit_poses, one_sided
from armdyn.identification.hypotheses.check import DataCheck
from armdyn.identification.hypotheses.finding import Finding, FindingKind, with_remedy
from armdyn.identification.hypotheses.inspection import Logs, as_logs, prepare_logs, run_checks
from armdyn.identification.hypotheses.warn import warn, warn_if_too_fast, warn_of_undetermined
from armdyn.identification.hypotheses.wording import no_torque_text
from armdyn.identification.logs.corrections import with_zeros, without_delay, without_torques
from armdyn.identification.logs.log import (
    PIECE_SAMPLES,
    SMALL_SHARE,
    STILL_TRAVEL,
    Log,
    require_all_torques,
    require_torques,
)
from armdyn.identification.motion.track import Track, moving_parts, tracks_of
from armdyn.identification.options import (
    CorrectionOptions,
    IdentificationKeywords,
    ModelOptions,
    SmoothingOptions,
    merge_options,
)
from armdyn.identification.poses import held_poses
from armdyn.identification.quality import Figures, Level, judge
from armdyn.keywords import with_keywords
from armdyn.model.arm import Arm
from armdyn.progress import ProgressCallback, reporting, with_share_and_text
from armdyn.spatial import inertia as inertial

Checks = tuple[DataCheck, ...]


@with_keywords(IdentificationKeywords, ModelOptions(), SmoothingOptions(), CorrectionOptions())
def identify(
    arm: Arm,
    logs: Logs,
    *,
    model: ModelOptions | None = None,
    smoothing: SmoothingOptions | None = None,
    corrections: CorrectionOptions | None = None,
    validation: Logs | None = None,
    force: bool = False,
    progress: ProgressCallback | bool | None = None,
    **keywords: Unpack[IdentificationKeywords],
) -> Fit:
    """Inertial parameters, friction and drives of an arm from measured motion and torque.

    The steps: check the logs; smooth and differentiate positions; low-pass torque and regressor alike; weigh friction
    terms by the evidence; choose the prior and filters by the error on held-out blocks; fit physically consistent
    bodies; judge the result. `docs/identification.md` has the equations.

    Parameters
    ----------
    arm : Arm
        Its geometry is taken as exact; its inertia may be a prior, or unknown (NaN).
    logs : Log, path, or iterable of them
        Measured motion; paths are read with `read_log`.
    model : ModelOptions, optional
        terms ("full", "gravity"), friction ("auto", "simple"), springs, balancers, rotors, coupling, prior, mass.
    smoothing : SmoothingOptions, optional
        band, cutoff, method, form.
    corrections : CorrectionOptions, optional
        delay, zero, without_torque.
    validation : Log, path, or iterable of them, optional
        Logs that are not fitted to, for `fit.other` and the report.
    force : bool
        Return a fit even if the verdict is that it is not usable.
    progress : callable or bool, optional
        True: show a bar with the time left. A function is called with (done, total, text).
    **keywords
        Fields of these options, one by one: `identify(arm, log, terms="gravity", delay=0.01)`.

    Returns
    -------
    Fit
        With `arm`, `theta`, `friction`, `drive`, `base`, `rel_error`, `predict(log)`, `validate(log)`.

    Raises
    ------
    DataError
        If the logs cannot support a model (no motion, dead sensors, reversed signs, mixed units, another arm), or the
        verdict on the model is *not usable*; not raised with `force`.

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> t = np.arange(2000) / 200
    >>> q = np.stack([np.sin(2 * t) + 0.3 * np.sin(5 * t), np.cos(3 * t)], axis=1)
    >>> qd, qdd = np.gradient(q, t, axis=0), np.gradient(np.gradient(q, t, axis=0), t, axis=0)
    >>> log = armdyn.Log(t, q, armdyn.joint_torque(arm, q, qd, qdd))
    >>> fit = armdyn.identify(arm, log)
    >>> fit.verdict.word, bool(fit.rel_error < 0.05)
    ('good', True)
    """
    parts = (model or ModelOptions(), smoothing or SmoothingOptions(), corrections or CorrectionOptions())
    model, smoothing, corrections = merge_options(dict(keywords), parts)
    masses = None if model.mass is None else MassBounds.of(model.mass, arm.n_joints)
    with reporting(progress, "identify", with_share_and_text) as tell, single_threaded():
        tell(0.0, 1.0, "reading logs")
        read = _corrected_logs(arm, logs, corrections)
        others = [] if validation is None else _corrected_logs(arm, validation, corrections)
        if smoothing.form == "energy":
            require_all_torques(read[0], "the form of energy")
        for log in [*read, *others]:
            smoothing.require_rate(log)
            if not force:
                require_torques(log)
        tell(0.1, 1.0, "checking the data")
        described, arm = arm, _with_passive(arm, without_delay(read, corrections.delay), model.coupling)
        prepared = prepare_logs(arm, without_delay(read, corrections.delay))
        checks, together = run_checks(prepared, model.terms, force, model.coupling is None)
        shared = tuple(finding for finding in together if finding.kind == FindingKind.COUPLING)
        for finding in shared:
            arm = finding.correction.arm(arm) if finding.correction else arm
        balanced, filters = _balanced_joints(arm, model.balancers), smoothing.filters(corrections.delay)
        if model.terms == "gravity":
            if (poses := held_poses(read)) is not None:
                fit = fit_poses(arm, poses, checks, model.prior, filters, masses)
                return _judge_poses(fit, one_sided(arm, poses), others, force)
            warn_if_too_fast(arm, checks)
        tell(0.2, 1.0, "choosing a model")
        base = base_with_drives(base_parameters(arm), model.terms, model.rotors)
        rotor_joints = own_rotors(base, model.rotors)
        options = Options(_kinds(base, model), rotor_joints, model.prior, model.terms == "full" and smoothing.open)
        # What was checked has the same smoothing, unless another one is asked for.
        same = filters.smoothing == prepared.filters.smoothing and len(prepared.checks) == len(read)
        tracks = prepared.tracks if same else tracks_of(read, filters)
        choice = choose(make_rows(base, tracks, filters, balanced), read, options)
        tell(0.6, 1.0, "fitting physically consistent bodies")
        constrained = estimate(choice, masses, model.prior != 0)
        tell(0.8, 1.0, "judging")
        fit = _fit(read, choice, constrained, plain_fit(choice, rotor_joints, "rotor" in options.kinds), checks, others)
        fit_notes = (*(finding.text for finding in shared), *fit.notes, *_beyond(fit, read))
        fit = fit.with_fields(source=described, findings=together, notes=fit_notes)
        tell(1.0, 1.0, "done")
        fit = _with_verdict(fit, choice.rows.statistics.torque, force)
        warn_of_undetermined(fit.undetermined)
        return fit


def _corrected_logs(arm: Arm, logs: Logs, corrections: CorrectionOptions) -> list[Log]:
    """The logs, read, with the zeros and without the torques that are to be corrected; delays are the smoothing's."""
    return without_torques(arm, with_zeros(arm, as_logs(arm, logs), corrections.zero), corrections.without_torque)


def _with_passive(arm: Arm, logs: list[Log], coupling: str | Iterable[str] | ArrayLike | None) -> Arm:
    """The arm with its coupling, friction of joints that follow others and springs between links, as logs tell them."""
    coupled = arm if coupling is None else arm.with_coupling(coupling)
    if not has_passive(arm):
        return coupled
    filters = SmoothingOptions().filters()
    rows = make_rows(base_parameters(without_terms(coupled)), tracks_of(logs, filters), filters)
    passive = estimate_passive(rows, arm)
    return passive if coupling is None else passive.with_coupling(coupling)


def _balanced_joints(arm: Arm, names: Iterable[str] | None) -> list[int]:
    """The joints that have balancers."""
    described = [joint.name for joint in arm.coordinate_joints if joint.drive.balance]
    asked = described if names is None else [names] if isinstance(names, str) else list(names)
    for name in asked:
        if name not in arm.coordinate_names:
            cause = f"arm '{arm.name}' has no joint {name!r}; it has {', '.join(arm.coordinate_names)}"
            raise ArmdynError(cause, where="identify", names=(name,))
    joints = [arm.coordinate_names.index(name) for name in asked]
    if both := set(joints) & set(sharing_joints(arm).tolist()):
        name = arm.coordinate_names[min(both)]
        cause = f"joint {name!r} shares a drive; balancers of such joints cannot be identified"
        raise ArmdynError(cause, where="identify", names=(name,))
    return joints


def _kinds(base: BaseParameters, model: ModelOptions) -> frozenset[str]:
    """Kinds of joint terms that every joint has, as far as the evidence supports them."""
    described = any(joint.drive.stiffness > 0 for joint in base.source.coordinate_joints)
    kinds = {"spring"} if (described if model.springs is None else model.springs) else set()
    if model.terms == "full" and model.friction == "auto":
        # Rotors of coupled drives that are described are among the base parameters.
        kinds |= {*DICTIONARY, *(() if model.rotors is False or base.joint_terms else ("rotor",))}
    return frozenset(kinds)


def _judge_poses(fit: Fit, findings: tuple[Finding, ...], others: list[Log], force: bool) -> Fit:
    """Gravity alone, from an arm at rest in many poses, compared with other logs."""
    warn_of_undetermined(fit.undetermined)
    silent = (Finding("note", no_torque_text(fit.source, j), FindingKind.NO_TORQUE, (j,)) for j in fit.without_torque)
    findings = (*findings, *silent)
    fit = fit.with_fields(findings=findings, notes=(*fit.notes, *(finding.text for finding in findings)))
    fit = _with_verdict(fit, np.nan_to_num(fit.training.rmse), force)
    if not others:
        return fit
    still = held_poses(others)
    return fit.with_fields(
        other=compare(fit.arm, others, fit.filters) if still is None else compare_poses(fit.arm, still)
    )


def _fit(
    logs: list[Log], choice: Choice, constrained: ConstrainedEstimate, ols: PlainFit, checks: Checks, others: list[Log]
) -> Fit:
    """Build the result, compared with the logs."""
    filters, tracks = choice.rows.filters, choice.rows.tracks
    arm, notes = choice.base.source, (*constrained.arm.notes, *_arm_notes(choice, constrained))
    fitted = replace(constrained.arm, preprocessing=filters.preprocessing, notes=notes)
    if filters.delay:  # as `validate` treats the same logs; while choosing, smoothed torques were moved
        tracks = tracks_of(logs, filters)
    uncertainty = estimate_uncertainty(choice, constrained)
    std = None if uncertainty is None else uncertainty.std

    share = np.where(np.isnan(tracks[0].tau).all(axis=0), 0.0, constrained.share)

    def torques(track: Track) -> list[NDArray]:
        consistent, free = arm_torque(fitted, track, filters), constrained.free.torque(track)
        return [consistent, free, share * free + (1 - share) * consistent]

    training, free, best = compare_models(fitted, tracks, filters, torques, std)
    compare_source = None if np.isnan(arm.theta).any() else partial(compare_arm, arm, tracks, filters)
    return Fit(
        fitted, arm, friction_values(fitted, ols.estimate), ols.estimate,
        FitMetrics(
            training, compare(fitted, others, filters, std) if others else None, compare_source, free.rel_error,
            best.rel_error, choice.by_phase.held_out, constrained.held_out, constrained.held_out_joints,
            constrained.held_out_logs,
        ),
        FitProvenance(filters, tracks, checks, (), (*check_notes(checks), *_choice_notes(arm, choice))),
        ModelSelection(choice.strength, choice.prior_source, choice.scan, choice.tried, choice.structure),
        ParameterConditioning(
            ols.spread.condition, ols.spread.condition_scaled, ols.compute_bound, ols.spread.effective,
            ols.undetermined, constrained.determined,
        ),
        ModelPair(
            constrained.free, constrained.share, constrained.price, constrained.minimum.gap,
            tuple(arm.link_names[i] for i in constrained.minimum.boundary),
        ),
        uncertainty,
    )  # fmt: skip


def _arm_notes(choice: Choice, constrained: ConstrainedEstimate) -> list[str]:
    """Return notes on numbers that the logs do not determine, for whoever reads the arm's file."""
    arm, origin = choice.base.source, "the description" if choice.described else "the bodies nearest to the prior"
    notes = [
        f"joint '{arm.coordinate_names[j]}': no torque was measured, friction and rotor are those of the description"
        for j in np.flatnonzero(~choice.rows.measured)
    ]
    unknown = [
        f"'{name}' ({', '.join(np.array(inertial.NAMES)[~known]) if known.any() else 'all'})"
        for name, known in zip(arm.link_names, constrained.determined, strict=True)
        if not known.all()
    ]
    return (
        [*notes, f"not determined by the logs, but taken from {origin}: link {', '.join(unknown)}"]
        if unknown
        else notes
    )


def _choice_notes(arm: Arm, choice: Choice) -> list[str]:
    """Return sentences about the prior and the choices."""
    notes = [f"prior of the links: {choice.prior_source}"]
    if (why := why_no_prior(arm)) and not np.isnan(arm.theta).any():
        notes.append(f"the description's inertia is not used as a prior: {why}")
    if choice.reference.wide:
        names = ", ".join(f"'{arm.link_names[i]}'" for i in choice.reference.wide)
        notes.append(f"no inertia is described of {names}: only that of the other links is a prior")
    first, *within, last = choice.scan[:, 1]
    if min(first, last) < (1 - SMALL_SHARE) * min(within):
        edge = "no prior at all" if first < last else "the strongest prior tried"
        notes.append(f"held-out blocks are predicted best with {edge}: the minimum is at an edge")
    if not choice.can_choose:
        notes.append("the logs are too short to choose anything by held-out blocks")
    return [
        *notes,
        *(f"chosen by held-out error: {tried.what} ({tried.error:.2%})" for tried in choice.tried if tried.taken),
    ]


def _beyond(fit: Fit, logs: list[Log]) -> list[str]:
    """Return a note on how much of very long logs was fitted to, and how well the model explains all of them."""
    pieces = [(log, part) for log in logs for part in log.parts(PIECE_SAMPLES)]
    seconds = sum(log.dt * (part.stop - part.start) for log, part in pieces)
    fitted = sum(track.dt * len(track.t) for track in fit.tracks)
    if fitted > 0.9 * seconds:
        return []
    error = compare(fit.arm, logs, fit.filters).rel_error
    return [
        f"fitted to {fitted:.0f} s spread over the {seconds:.0f} s of motion, of all of which {error:.2%} of the "
        "torque is unexplained"
    ]


def _motion(fit: Fit) -> tuple[float, float]:
    """Seconds of motion, and passes through their ranges of the joint with fewest, where dynamics were identified."""
    if fit.free is None or fit.free.base.terms != "full":
        return np.inf, np.inf
    seconds = float(sum(part.dt * len(part.t) for part in moving_parts(fit.tracks)))
    return seconds, np.inf if fit.uncertainty is None else fit.uncertainty.passes


def _with_verdict(fit: Fit, torque: NDArray, force: bool) -> Fit:
    """The fit with its verdict; rejected where it is not usable, unless forced."""
    still = [check.joints.high - check.joints.low < STILL_TRAVEL for check in fit.checks]
    fit = fit.with_fields(findings=(*(f for check in fit.checks for f in check.findings), *fit.findings))
    joint_errors = fit.held_out_joints
    if fit.other is not None and len(joint_errors):
        joint_errors = np.fmax(joint_errors, fit.other.rel_error_joints)
    verdict = judge(
        Figures(
            fit.arm.coordinate_names, fit.expected_error, joint_errors, torque, fit.undetermined,
            tuple(np.flatnonzero(np.all(still, axis=0)).tolist()) if still else (), fit.findings, *_motion(fit),
            fit.next_motion,
        )
    )  # fmt: skip
    if verdict.level == Level.NOT_USABLE and not force:
        remedy = ", or ".join(filter(None, (verdict.next_step, "force=True to take it anyway")))
        message = with_remedy("; ".join(verdict.reasons), remedy)
        cause = f"the model of arm '{fit.source.name}' is not usable: {message}"
        raise DataError(cause, fit.findings, where="identify", names=(fit.source.name,))
    if verdict.level != Level.GOOD:
        warn(f"identify: arm '{fit.source.name}' is {verdict.word}: {'; '.join(verdict.reasons)}")
    return replace(fit, verdict=verdict)
