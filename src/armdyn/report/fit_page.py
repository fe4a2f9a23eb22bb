"""The report of an identified arm."""

from __future__ import annotations

import numpy as np

from armdyn.identification.fit import Fit, Validation
from armdyn.report.html import confidence_bar, document, heading, listing, paragraph, svg, table

MOST_POINTS = 1500  # of a curve: finer than any screen


def page(fit: Fit) -> str:
    """The page of a fit."""
    name = fit.source.name
    parts = [heading(f"Identification of {name}", 1), *_summary(fit), *_warnings(fit)]
    for title, result in (("On the logs fitted to", fit.own), ("On the validation log", fit.other)):
        if result is not None:
            parts += [heading(f"Measured and model torque: {title.lower()}"), _torques(result)]
            parts += [_joint_table(fit, result), heading("Residuals"), _residuals(result)]
    parts += [heading("What the data alone say"), *_parameters(fit)]
    parts += [heading("Links"), _links(fit), heading("Joints"), _joints(fit)]
    parts += [heading("What to do next"), listing(advice(fit)), heading("How it was done"), listing(_method(fit))]
    return document(f"armdyn: {name}", *parts)


def _summary(fit: Fit) -> list[str]:
    text = f"Relative torque error {fit.rel_error:.2%}; {fit.held_out:.2%} on held-out blocks"
    if fit.other is not None:
        text += f"; {fit.other.rel_error:.2%} on the validation log"
    before = "" if np.isnan(fit.rel_error_source) else f"The arm as described has {fit.rel_error_source:.1%}. "
    possible = "All links are possible bodies." if fit.arm.is_physical else str(fit.arm.is_physical)
    return [paragraph(text + ".", "big"), paragraph(before + possible)]


def _warnings(fit: Fit) -> list[str]:
    found = []
    if fit.undetermined:
        found.append(paragraph(f"Not determined by the logs: {', '.join(fit.undetermined)}.", "warn"))
    if fit.boundary:
        found.append(paragraph(f"Barely possible bodies: {', '.join(fit.boundary)}.", "warn"))
    return found


def _torques(result: Validation) -> str:
    import matplotlib.pyplot as plt

    n = result.tau.shape[1]
    step = max(1, len(result.t) // MOST_POINTS)
    figure, axes = plt.subplots(n, 1, figsize=(9, 1.4 * n + 0.6), sharex=True, squeeze=False)
    for j, axis in enumerate(axes[:, 0]):
        axis.plot(result.t[::step], result.tau[::step, j], color="#14375e", lw=1.2, label="measured")
        axis.plot(result.t[::step], result.model[::step, j], color="#e07b00", lw=0.9, label="model")
        axis.plot(result.t[::step], (result.tau - result.model)[::step, j], color="#9aa7b4", lw=0.8, label="difference")
        axis.set_ylabel(f"joint {j + 1}")
        axis.grid(alpha=0.25)
    axes[0, 0].legend(loc="upper right", ncols=3, fontsize=8)
    axes[-1, 0].set_xlabel(f"time [s]; torques [N m or N] through a low-pass at {result.band:.1f} Hz")
    return svg(figure)


def _residuals(result: Validation) -> str:
    """Autocorrelation of the residuals: a perfect model leaves white noise."""
    import matplotlib.pyplot as plt

    dt = float(np.median(np.diff(result.t)))
    lags = min(len(result.t) // 2, int(2.0 / dt))
    figure, axis = plt.subplots(figsize=(9, 2.2))
    for j, e in enumerate((result.tau - result.model).T):
        spectrum = np.abs(np.fft.rfft(e - e.mean(), 2 * len(e))) ** 2
        correlation = np.fft.irfft(spectrum)[:lags]
        step = max(1, lags // 400)
        axis.plot(
            dt * np.arange(lags)[::step], (correlation / max(correlation[0], 1e-300))[::step], lw=0.9, label=f"{j + 1}"
        )
    axis.axhline(0, color="#9aa7b4", lw=0.6)
    axis.set_xlabel("lag [s]")
    axis.set_ylabel("autocorrelation")
    axis.legend(fontsize=7, ncols=7, title="joint", title_fontsize=7)
    return svg(figure)


def _joint_table(fit: Fit, result: Validation) -> str:
    rows = [
        (f"{j + 1} {name}", f"{result.rel_error_joints[j]:.2%}", f"{result.rmse[j]:.3g}", f"{result.whiteness[j]:.2f}")
        for j, name in enumerate(fit.arm.joint_names)
    ]
    return table(("joint", "relative error", "RMSE [N m or N]", "correlation 0.1 s apart"), rows)


def _parameters(fit: Fit) -> list[str]:
    base = fit.base
    said = (
        f"{base.count} base parameters and plain friction by weighted least squares, without prior. Intervals (95 %) "
        f"hold for autocorrelated residuals. Condition {fit.condition:.3g}, {fit.condition_scaled:.3g} when scaled."
    )
    rows = []
    for name, value, std in zip(base.names, base.theta, base.std, strict=True):
        sure = np.isfinite(std)
        scale = max(abs(value), 1.96 * std, 1e-300) if sure else 1.0
        rows.append(
            (
                name,
                f"{value:.4g}" if sure else "-",
                f"± {1.96 * std:.2g}" if sure else "not determined",
                f"{std / abs(value):.1%}" if sure and value else "-",
                confidence_bar(value, std, scale) if sure else "",
            )
        )
    return [paragraph(said), table(("parameter (SI)", "estimate", "95 %", "std / value", ""), rows)]


def _links(fit: Fit) -> str:
    rows = []
    for before, after in zip(fit.source.links, fit.arm.links, strict=True):
        c = after.inertia.com
        was = "-" if np.isnan(before.inertia.mass) else f"{before.inertia.mass:.4g}"
        rows.append((after.name, was, f"{after.inertia.mass:.4g}", " ".join(f"{x:.3f}" for x in c)))
    return table(("link", "mass before [kg]", "mass [kg]", "centre [m]"), rows)


def _joints(fit: Fit) -> str:
    rows = []
    for joint, terms in zip(fit.arm.joints, fit.structure, strict=True):
        f = joint.friction
        rows.append((joint.name, f"{f.viscous:.4g}", f"{f.coulomb:.4g}", f"{f.offset:.3g}", ", ".join(terms)))
    return table(("joint", "viscous", "Coulomb", "offset", "terms that pay on held-out data"), rows)


def advice(fit: Fit) -> list[str]:
    """What would make the model better, most useful first."""
    found = []
    worst = int(np.argmax(fit.rel_error_joints))
    if fit.undetermined:
        found.append(f"Move the joints of {', '.join(fit.undetermined[:6])}: the logs say nothing about them.")
    if fit.weak:
        links = sorted({name.strip("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") for name in fit.weak[:12]})
        found.append(
            f"{len(fit.weak)} parameters are weak ({', '.join(fit.weak[:8])} ...): log faster motion "
            f"that turns joints up to {', '.join(x for x in links if x)} together, as armdyn.excite designs."
        )
    if fit.held_out > 1.5 * fit.rel_error:
        found.append("Held-out error is well above the fitted one: log longer, or another motion.")
    if fit.strength >= 1e3:
        found.append(
            "The description is believed more than the log: the motion is too slow or too short to correct it."
        )
    found.append(
        f"Joint {worst + 1} has the largest relative error ({fit.rel_error_joints[worst]:.1%}): look at it first."
    )
    return found


def _method(fit: Fit) -> list[str]:
    f = fit.filters
    cutoff = "chosen a log" if f.cutoff is None else f"{f.cutoff:.3g} Hz"
    return [
        f"Positions: {f.method}, corner {cutoff}. Both sides of the equations: zero-phase low-pass at {f.band:.3g} Hz.",
        f"Strength of the prior: {fit.strength:.3g}. Certificate of the minimum: {fit.gap:.1e} squared sigmas.",
        *fit.notes,
    ]
