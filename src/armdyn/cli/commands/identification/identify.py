"""`armdyn identify ARM LOG ...`: from measured motion to a model."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from math import isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from armdyn.cli.logs import LogOptions, mount_arm, option_words, reject_swapped
from armdyn.cli.long_work import Tell, progress_bar, require_folders, write_results
from armdyn.cli.resolve import resolve
from armdyn.cli.show import attributes, held_warnings, number, print_json, print_line, print_list, print_table

if TYPE_CHECKING:
    from armdyn.identification.fit.result import Fit
    from armdyn.identification.fit.validation import Validation
    from armdyn.identification.hypotheses.check import DataCheck
    from armdyn.identification.hypotheses.finding import Finding
    from armdyn.identification.logs.log import Log
    from armdyn.model.arm import Arm

MAX_REASONS = 4  # shown on the terminal; the report has all


@dataclass(frozen=True)
class DynamicModelOptions:
    """Unknowns of the model."""

    gravity: bool = False
    friction_terms: Literal["auto", "simple"] = "auto"
    rotors: bool | None = None
    coupling: list[str] | None = None
    springs: bool = False
    balancer: list[str] | None = None
    prior: float | None = None
    mass_bounds: tuple[float, float] | None = None

    def keywords(self) -> dict[str, Any]:
        """The same for `armdyn.identify`."""
        return {
            "terms": "gravity" if self.gravity else "full", "friction": self.friction_terms, "rotors": self.rotors,
            "coupling": self.coupling or None, "springs": self.springs or None, "balancers": self.balancer,
            "prior": self.prior, "mass": self.mass_bounds,
        }  # fmt: skip


@dataclass(frozen=True)
class EquationOptions:
    """Filters and form of the equations, named as in `armdyn.identify`."""

    band: float | None = None
    cutoff: float | None = None
    method: Literal["auto", "butterworth", "kalman", "savgol", "spline"] = "auto"
    form: Literal["torque", "filtered", "energy"] = "torque"


@dataclass(frozen=True)
class FitOutputOptions:
    """Results, and how they are shown."""

    out: Path | None = None
    report: Path | None = None
    force: bool = False
    strict: bool = False
    verbose: bool = False
    json: bool = False


def identify(
    arm: str, logs: list[Path], check: bool = False, validate: list[Path] | None = None, *, model: DynamicModelOptions,
    equations: EquationOptions, options: LogOptions, results: FitOutputOptions, down: str | None = None,
    base: str | None = None, tip: str | None = None,
) -> None:  # fmt: skip
    """Identify an arm's inertia and friction from logs of its motion and torque."""
    require_folders(report=results.report, model=results.out)
    reject_swapped(arm, logs)
    described = mount_arm(resolve(arm, base, tip), down)
    described = described.with_coupling(model.coupling) if model.coupling else described
    with progress_bar() as tell:
        tell(0, 1, "reading logs")
        correct = options if check else options.without_delay()  # a fit finds the delay, or takes it as an option
        read = correct.read([*logs, *(validate or [])], described, currents=results.force)
        if check:
            _check(described, read, results, tell)
            return
        keywords = {**model.keywords(), **vars(equations), "force": results.force, "delay": options.delay}
        fit = _fit(described, read[: len(logs)], read[len(logs) :], tell, results.json, keywords)
    write_results(fit, results.out, results.report)
    if results.json:
        print_json(summary(fit))
    else:
        for log in (log for log in read if log.format.guess):
            print_line(f"{log.name}: {log.format.guess}")
        conclude(fit, results.out, results.report)
        if results.verbose:
            show(fit)
    if results.strict and fit.verdict.word != "good":
        raise typer.Exit(3)


def _fit(
    arm: Arm, logs: list[Log], validation: list[Log], progress: Any, json: bool, keywords: dict[str, Any],
) -> Fit:  # fmt: skip
    """Identify the arm; warnings that the conclusion repeats are left out."""
    from armdyn.identification.identify import identify as fit_arm

    with held_warnings() as held, option_words(arm, *[*logs, *validation][:1]):
        fit = fit_arm(arm, logs, validation=validation or None, progress=progress, **keywords)
        if not json:  # the verdict is printed below, with its reasons
            held[:] = [one for one in held if not _repeats(fit, str(one.message))]
    return fit


def conclude(fit: Fit, out: Path | None, report: Path | None) -> None:
    """The verdict, the errors, what was written where, and the next command: at most 25 lines."""
    from armdyn.identification.fit.validation import compare_arm
    from armdyn.identification.hypotheses.wording import delay_text
    from armdyn.identification.quality import Level, error_text, expected_reason
    from armdyn.model.convert import lost_names, plainly_read
    from armdyn.report.advice import (
        description_is_better,
        next_step,
        step_command,
        which_joints,
    )
    from armdyn.report.fit_tables import known_alone
    from armdyn.report.options import remedy, shown_path

    verdict = fit.verdict
    print(f"{fit.source.name}: {verdict.word}{which_joints(fit)}")
    for reason in verdict.reasons[:MAX_REASONS]:
        if reason != expected_reason(fit.expected_error):  # the next line says it
            print(f"  {reason}")
    if not isnan(fit.expected_error):
        print(f"expected torque error on a new motion: {error_text(fit.expected_error, fit.error_bound)}")
    error = fit.held_out if isnan(fit.held_out_possible) else fit.held_out_possible
    held = "not measured" if isnan(error) else f"{error:.2%}"
    other = "" if fit.other is None else f"; on the validation log {fit.other.rel_error:.2%}"
    print(f"torque error: {held} on held-out data, {fit.rel_error:.2%} on training data{other}")
    if not isnan(fit.rel_error_source):
        better = ", less than the fit's: keep that model or log a longer motion" if description_is_better(fit) else ""
        print(f"the original model's torque error on these logs: {fit.rel_error_source:.1%}{better}")
    for finding in fit.findings:
        if finding.kind == "coupling":
            print(f"{finding.text}: {remedy(fit.source, finding)} declares it, --coupling none leaves it out")
        if finding.kind == "repair":
            print(f"log repaired: {finding.text}")
    if delay := fit.filters.delay:
        print(f"{delay_text(delay)}; the fit corrects this delay")
    good = [str(j + 1) for j, joint in enumerate(verdict.joints) if joint.word == "good"]
    if good and verdict.level != Level.NOT_USABLE:
        print(f"joint{'s' if len(good) > 1 else ''} {', '.join(good)}: good")
    for j, joint in enumerate(verdict.joints):
        if joint.word != "good":
            why = ": see above" if joint.reason in verdict.reasons[:MAX_REASONS] else f": {joint.reason}"
            print(f"joint {j + 1} '{fit.arm.coordinate_names[j]}': {joint.word}{why}")
    for path in filter(None, (out, report)):
        print(f"wrote {shown_path(path)}")
    lost = [] if out is None else lost_names(fit.arm, out.suffix)
    if out is not None and lost:
        error = compare_arm(plainly_read(fit.arm, out.suffix), fit.tracks, fit.filters).rel_error if fit.tracks else nan
        leaves = "" if isnan(error) else f", and the torque error without these is {error:.2%} on the fitted data"
        remedy_text = "armdyn reads all of them" if out.suffix.lower() == ".urdf" else "--out with .toml holds all"
        print(f"other programs ignore {', '.join(lost)} of {out.suffix} files{leaves}; {remedy_text}")
    if out is None and verdict.level != Level.NOT_USABLE:
        print("no model was written; --out identified.urdf writes it")
    if out is not None and not {f"m{j + 1}" for j in range(fit.arm.n)} <= known_alone(fit).keys():
        print("torques do not determine the mass of each link; --mass-bounds bounds the total mass")
    if step := next_step(fit, out):
        print(f"next: {step}")
    if command := step_command(fit, out):
        print(f"try:  {command}")


def _repeats(fit: Fit, warning: str) -> bool:
    """Whether a warning says nothing but what the conclusion prints."""
    return any(reason in warning for reason in fit.verdict.reasons[:MAX_REASONS])


def _check(arm: Arm, logs: list[Log], results: FitOutputOptions, tell: Tell) -> None:
    """Print what speaks against the logs, or write it as a page; fail if one cannot be used."""
    from armdyn.errors import ArmdynError
    from armdyn.identification.hypotheses.check import check_log
    from armdyn.report.options import advice

    checks = []
    for k, log in enumerate(logs, start=1):
        tell(k, len(logs) + 1, f"checking {log.name}")
        checks.append(check_log(arm, log))
    if results.report is not None:
        if len(checks) > 1:
            raise ArmdynError(f"--check --report shows one log at a time, got {len(checks)}")
        from armdyn.report.registry import report as write

        write(checks[0], results.report)
    if results.json:
        print_json([check_summary(check) for check in checks])
    else:
        print("\n\n".join(check.text(partial(advice, check.arm, log=check.log)) for check in checks))
    if not all(check.ok for check in checks):
        raise typer.Exit(1)


def check_summary(check: DataCheck) -> dict[str, Any]:
    """Summarise the check of a log."""
    log = check.log
    return {
        "log": log.name,
        "arm": check.arm.name,
        "ok": check.ok,
        "samples": len(log),
        "duration": log.duration,
        "rate": 1 / log.dt,
        "gaps": len(log.gaps),
        "findings": [_finding(check.arm, f, log) for f in check.findings],
        "tests": [asdict(test) for test in check.tests],
        "joints": check.joints._asdict(),
    }


def _finding(arm: Arm, finding: Finding, log: Log | None) -> dict[str, Any]:
    """A finding with its remedy as options."""
    from armdyn.report.options import remedy

    data = attributes(finding, "level text kind joints log_evidence error_reduction value")
    return data | {"remedy": remedy(arm, finding, log), "gain": finding.gain, "matters": finding.matters}


def summary(fit: Fit) -> dict[str, Any]:
    """Everything that `identify` found, in SI units."""
    from armdyn.report.advice import next_step

    joints = {"joints": [attributes(joint, "word reason") for joint in fit.verdict.joints]}
    return {
        "arm": fit.source.name,
        "verdict": attributes(fit.verdict, "word reasons") | {"next_step": next_step(fit)} | joints,
        "findings": [_finding(fit.source, f, fit.checks[0].log if fit.checks else None) for f in fit.findings],
        **attributes(fit, "rel_error rel_error_best price delay stated expected_error error_bound"),
        **attributes(fit, "held_out held_out_possible held_out_logs"),
        "as_described": fit.rel_error_source,
        "validation": None if fit.other is None else fit.other.rel_error,
        "rel_error_joints": fit.rel_error_joints,
        "residuals": {"logs": _comparison(fit.training), "validation": _comparison(fit.other)},
        "theta": fit.theta,
        "determined": fit.determined,
        "base": {
            **attributes(fit.base, "names theta std intervals"),
            "bound": None if fit.bound is None else fit.bound.parameters,
        },
        **attributes(fit, "structure undetermined boundary condition condition_scaled"),
        "bound": None if fit.bound is None else fit.bound.relative,
        "gap": fit.gap,
        "prior_strength": fit.strength,
        "notes": fit.notes,
    }


def _comparison(result: Validation | None) -> dict[str, Any] | None:
    """Errors of the model on some logs."""
    return None if result is None else attributes(result, "rel_error rel_error_joints rmse whiteness")


def show(fit: Fit) -> None:
    """Print the errors, the joints and the parameters without any prior."""
    text = f"{fit.source.name}: relative torque error {fit.rel_error:.2%}, on held-out blocks {fit.held_out:.2%}"
    if fit.other is not None:
        text += f", on the validation log {fit.other.rel_error:.2%}"
    rows = [
        (
            joint.name,
            "-" if isnan(error) else f"{error:.2%}",
            number(joint.friction.viscous),
            number(joint.friction.coulomb),
            ", ".join(terms),
        )
        for joint, error, terms in zip(fit.arm.coordinate_joints, fit.rel_error_joints, fit.structure, strict=True)
    ]
    print_table(text, ("joint", "error ", "viscous ", "Coulomb ", "terms"), rows)
    data = zip(fit.base.names, fit.base.theta, fit.base.std, strict=True)
    print_table(
        "Parameters without any prior (SI)",
        ("parameter", "estimate ", "95 % ± "),
        [(name, number(value), number(1.96 * std, 2)) for name, value, std in data],
    )
    print_list("How sure", fit.certainty())
    print_list("Notes", fit.notes)
