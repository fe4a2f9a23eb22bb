"""An identified arm shown: its report, and what it predicts over what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynError
from armdyn.html import (
    MAX_POINTS,
    code,
    confidence_bar,
    document,
    fold,
    fragment,
    heading,
    light,
    listing,
    paragraph,
    picture,
    svg,
    table,
)
from armdyn.identification.fit.result import Fit
from armdyn.identification.fit.validation import Validation
from armdyn.identification.quality import Level, error_text
from armdyn.report import fit_tables as numbers
from armdyn.report.advice import advice, next_command, next_step, step_command, which_joints
from armdyn.report.check import parts as check_parts
from armdyn.report.friction import friction_figure
from armdyn.report.texts import texts
from armdyn.report.units import cell, joint_units, shared_unit, with_unit

MEASURED, MODEL, BEFORE, DIFFERENCE, BAND = "#14375e", "#e07b00", "#b9c4cf", "#c0392b", "#f3b562"


def page(fit: Fit, out: Path | None = None) -> str:
    """The page of a fit; `out` is the file of the model, where it was written."""
    return document(f"armdyn: identification of {fit.source.name}", *parts(fit, out), files=files(fit))


def files(fit: Fit) -> list[Path | None]:
    """The files that a fit was made from: the description and the logs."""
    return [fit.source.source.path if fit.source.source else None, *(check.log.path for check in fit.checks)]


def parts(fit: Fit, out: Path | None = None) -> list[str]:
    """All parts of the page."""
    before = fit.described
    parts = [heading(f"Identification of {fit.source.name}", 1), *_conclusion(fit, out)]
    if fit.undetermined:
        parts.append(paragraph(f"Not determined by the logs: {', '.join(fit.undetermined)}.", "warn"))
    parts += [heading("Links"), *numbers.links(fit), heading("Joints"), *numbers.joints(fit)]
    parts += [fold("Friction terms of the model", *numbers.as_written(fit)), *_friction(fit)]
    parts += [heading("Torque error before and after"), _comparison(fit, before)]
    if fit.training is not None:
        parts += [heading("Measured and model torque: training logs"), svg(torque_figure(fit, fit.training, before))]
    if fit.other is not None:
        parts += [heading("Measured and model torque: validation log"), svg(torque_figure(fit, fit.other))]
    parts += [heading("How to improve the model"), listing(advice(fit)), code(next_command(fit)), heading("Details")]
    parts.append(fold("Uncertainty", listing([line[0].upper() + line[1:] + "." for line in fit.certainty()])))
    parts.append(fold(f"{fit.base.count} base parameters, estimated without any prior", *_parameters(fit)))
    for title, result in (("training logs", fit.training), ("validation log", fit.other)):
        if result is not None and result.band:
            parts.append(fold(f"Residuals on the {title}", _residuals(fit, result)))
    parts += [fold(f"Data: {check.log.name}", *check_parts(check)) for check in fit.checks]
    return [*parts, fold("Method", listing(_method(fit)))]


def _conclusion(fit: Fit, out: Path | None) -> list[str]:
    """The first screen: whether to use the model, its error in words, a light per joint, the one next step."""
    verdict = fit.verdict
    kind = {Level.GOOD: "good", Level.CARE: "warn", Level.NOT_USABLE: "bad"}[Level(verdict.level)]
    lead = f"{verdict.word[0].upper()}{verdict.word[1:]}"
    lead += which_joints(fit)
    if not np.isnan(fit.expected_error):
        lead += f": {error_text(fit.expected_error, fit.error_bound)} torque error on a new motion"
    held_out = held_out_blocks(fit)
    error = "Torque error: " + (f"{held_out:.2%} on held-out data, " if not np.isnan(held_out) else "")
    error += f"{fit.rel_error:.2%} on training data"
    error += "" if fit.other is None else f", {fit.other.rel_error:.2%} on the validation log"
    if not np.isnan(fit.rel_error_source):
        error += f". The original model's torque error on these logs: {fit.rel_error_source:.1%}"
    consistent = "All links are physically consistent." if fit.arm.is_physical else str(fit.arm.is_physical)
    listed = list(verdict.reasons)
    lead += f". {listed[0][0].upper()}{listed[0][1:]}." if len(listed) == 1 else "."
    parts = [paragraph(lead, f"big {kind}"), *([listing(listed)] if len(listed) > 1 else [])]
    parts += [paragraph(f"{error}. {consistent}"), *_both_models(fit)]
    if verdict.joints:
        names = zip(fit.arm.coordinate_names, verdict.joints, strict=False)
        errors = joint_errors(fit)
        rows = [
            (f"{j + 1} {name}", _cell(errors[j], ".1%"), light(str(joint.level), joint.reason))
            for j, (name, joint) in enumerate(names)
        ]
        parts.append(table(("joint", "error on held-out data", "verdict"), rows))
    shared = [f"{finding.text[0].upper()}{finding.text[1:]}." for finding in fit.findings if finding.kind == "coupling"]
    step = next_step(fit, out)
    command = step_command(fit, out)
    following = [paragraph(f"Next: {step}.", "next")] if step else []
    return [*parts, *map(paragraph, shared), *following, *([code(command)] if command else [])]


def _both_models(fit: Fit) -> list[str]:
    """A sentence on both models, where physical consistency costs much."""
    if fit.share < 1 or np.isnan(fit.held_out_possible):
        return []
    text = texts("fit")["consistency"].format(free=fit.held_out, consistent=fit.held_out_possible)
    return [paragraph(text, "warn")]


def _friction(fit: Fit) -> list[str]:
    """The friction curves, where the fit has a covariance."""
    figure = friction_figure(fit)
    if figure is None:
        return []
    described = any(joint.friction.viscous or joint.friction.coulomb for joint in fit.source.joints)
    caption = texts("fit")["friction_curves"] + " Grey: the original model." * described
    return [heading("Friction curves"), svg(figure), paragraph(caption, "small")]


def joint_errors(fit: Fit) -> NDArray:
    """Errors (n,) of the joints by which their lights are set: held out, or on the validation log where larger."""
    held = fit.held_out_joints if len(fit.held_out_joints) == fit.arm.n else np.full(fit.arm.n, np.nan)
    return held if fit.other is None else np.fmax(held, fit.other.rel_error_joints)


def held_out_blocks(fit: Fit) -> float:
    """Relative torque error of the model as it is written on held-out blocks; NaN where there were none."""
    return fit.held_out if np.isnan(fit.held_out_possible) else fit.held_out_possible


def _comparison(fit: Fit, before: Validation | None) -> str:
    """Errors per joint: as described, identified, on the validation log."""
    columns, results = ["joint"], []
    held = np.append(fit.held_out_joints, held_out_blocks(fit)) if len(fit.held_out_joints) else None
    for title, result in (("original model", before), ("training data", fit.training), ("validation log", fit.other)):
        if result is not None:
            columns.append(title)
            results.append(result)
    columns += [
        *(["held-out data"] if held is not None else []),
        with_unit("RMSE", shared_unit(fit.arm, "torque")),
        "residual correlation",
    ]
    rows = []
    for j, name in enumerate(fit.arm.coordinate_names):
        row = [f"{j + 1} {name}", *(_cell(result.rel_error_joints[j], ".2%") for result in results)]
        row += [] if held is None else [_cell(held[j], ".2%")]
        row += [cell(fit.arm, j, "torque", _cell(fit.training.rmse[j], ".3g")), _cell(fit.training.whiteness[j], ".2f")]
        rows.append(row)
    rmse = f"{np.sqrt(np.nanmean(fit.training.rmse**2)):.3g}" if shared_unit(fit.arm, "torque") else "-"
    tail = [rmse, ""]
    whole = [] if held is None else [f"{held[-1]:.2%}"]
    rows.append(["all", *(f"{result.rel_error:.2%}" for result in results), *whole, *tail])
    return table(columns, rows)


def _cell(value: float, form: str) -> str:
    return "-" if np.isnan(value) else f"{value:{form}}"


def _residuals(fit: Fit, result: Validation) -> str:
    """Over time, relative to the joint's torque, and their autocorrelation: a perfect model leaves white noise."""
    import matplotlib.pyplot as plt

    dt = float(np.median(np.diff(result.t)))
    lags = max(2, min(len(result.t) // 2, int(2.0 / dt)))
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 2.6), width_ratios=(1, 1))
    error = result.tau - result.model
    share = error / np.maximum(np.sqrt(np.mean(result.tau**2, axis=0)), 1e-300)
    k = slice(None, None, max(1, len(result.t) // MAX_POINTS))
    for j in np.flatnonzero(np.isfinite(error).all(axis=0)):
        e = error[:, j]
        left.plot(result.t[k], 100 * share[k, j], lw=0.7, label=fit.arm.coordinate_names[j])
        spectrum = np.abs(np.fft.rfft(e - e.mean(), 2 * len(e))) ** 2
        correlation = np.fft.irfft(spectrum)[:lags]
        name = fit.arm.coordinate_names[j]
        right.plot(dt * np.arange(lags), correlation / max(correlation[0], 1e-300), lw=0.9, label=name)
    for axis, x, y in ((left, "time [s]", "% of rms torque"), (right, "lag [s]", "autocorrelation")):
        axis.axhline(0, color="#9aa7b4", lw=0.6)
        axis.set_xlabel(x)
        axis.set_ylabel(y)
        axis.grid(alpha=0.25)
    left.legend(fontsize=7, ncols=7, loc="lower left", bbox_to_anchor=(0, 1.0), frameon=False)
    figure.tight_layout()
    return svg(figure)


def _parameters(fit: Fit) -> list[str]:
    base = fit.base
    caption = texts("fit")["parameters"].format(count=base.count)
    rows = []
    worst = np.full(len(base.theta), np.nan) if fit.bound is None else fit.bound.parameters
    for name, value, std, bound in zip(base.names, base.theta, base.std, worst, strict=True):
        if not np.isfinite(std):
            rows.append((name, "-", "not determined", "", "-", "-"))
            continue
        scale = max(abs(value), 1.96 * std, 1e-300)
        share = f"{std / abs(value):.1%}" if value else "-"
        most = f"± {bound:.2g}" if np.isfinite(bound) else "-"
        rows.append((name, f"{value:.4g}", f"± {1.96 * std:.2g}", confidence_bar(value, std, scale), share, most))
    return [paragraph(caption), table(("parameter (SI)", "estimate", "95 %", "", "std / value", "worst case"), rows)]


def _method(fit: Fit) -> list[str]:
    f = fit.filters
    cutoff = "chosen per log" if f.cutoff is None else f"{f.cutoff:.3g} Hz"
    findings = [finding.text for check in fit.checks for finding in check.findings]
    notes = [
        note for note in fit.notes if not note.startswith("prior of the links") and not note.endswith(tuple(findings))
    ]
    return [
        f"Filter of positions: {f.method}, corner {cutoff}. A zero-phase low-pass at {f.band:.3g} Hz filters both "
        "sides of the equations.",
        f"The prior is {fit.centre or 'the description'} with weight {fit.strength:.3g}, chosen by the data.",
        f"The upper bound on the remaining optimality gap is {fit.gap:.1e} (sum of squares over their variance).",
        *(f"{note[0].upper()}{note[1:]}" for note in notes),
    ]


def torque_figure(fit: Fit, result: Validation, before: Validation | None = None) -> Any:
    """One diagram per joint: measured, identified with its band, their difference, and the arm as described."""
    import matplotlib.pyplot as plt

    n, units = result.tau.shape[1], joint_units(fit.arm)
    k = slice(None, None, max(1, len(result.t) // MAX_POINTS))
    mark = {} if result.band else {"ls": "", "marker": "."}
    figure, axes = plt.subplots(n, 1, figsize=(9, 1.5 * n + 0.8), sharex=True, squeeze=False)
    for j, axis in enumerate(axes[:, 0]):
        reach = np.fmax.reduce(np.abs([*result.tau[k, j], *result.model[k, j]]), initial=1e-12)
        if before is not None and len(before.t) == len(result.t):
            axis.plot(before.t[k], before.model[k, j], color=BEFORE, lw=1.2, label="original model", **mark)
        if result.std is not None:
            low, high = (result.model[k, j] + side * 1.96 * result.std[k, j] for side in (-1, 1))
            axis.fill_between(result.t[k], low, high, color=BAND, alpha=0.35, lw=0, label="95 % band")
        axis.plot(result.t[k], result.tau[k, j], color=MEASURED, lw=1.3, label="measured", **mark)
        axis.plot(result.t[k], result.model[k, j], color=MODEL, lw=0.9, label="identified", **mark)
        error = (result.tau - result.model)[k, j]
        axis.plot(result.t[k], error, color=DIFFERENCE, lw=0.6, label="difference", **mark)
        axis.set_ylim(-1.25 * reach, 1.25 * reach)
        axis.set_ylabel(f"{fit.arm.coordinate_names[j]}\n[{units[j].torque}]", fontsize=8)
        axis.grid(alpha=0.25)
    axes[0, 0].legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=5, fontsize=9, frameon=False)
    axes[-1, 0].set_xlabel(f"time [s]; low-pass at {result.band:.1f} Hz" if result.band else "static poses")
    return figure


def shown_torques(fit: Fit) -> Validation | None:
    """Torques of the log for validation, else of the logs fitted to."""
    return fit.training if fit.other is None else fit.other


def draw(fit: Fit) -> Any:
    """Measured and predicted torques of a fit, one diagram per joint."""
    torques = shown_torques(fit)
    if torques is None:
        raise ArmdynError("this fit has no torques to draw", where="plot", expected="one that identify made from a log")
    return torque_figure(fit, torques)


def notebook(fit: Fit) -> str:
    """The error, a row per joint, and torques on the log for validation, else on the logs fitted to."""
    words = [": ".join(filter(None, joint)) for joint in fit.verdict.joints] or ["-"] * fit.arm.n
    rows = [
        (f"{j + 1} {name}", word, _cell(error, ".2%"), ", ".join(terms))
        for j, (name, word, error, terms) in enumerate(
            zip(fit.arm.coordinate_names, words, fit.rel_error_joints, fit.structure, strict=False)
        )
    ]
    figure = [] if shown_torques(fit) is None else [picture(draw(fit), 60)]
    lines = [paragraph(line) for line in str(fit).splitlines() if not line.startswith("joint ")]
    return fragment(*lines, table(("joint", "verdict", "torque error", "joint terms"), rows), *figure)
