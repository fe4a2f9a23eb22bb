"""Friction curves of an identified arm, drawn with their bands."""

from __future__ import annotations

from typing import Any

from armdyn.identification.fit.friction_band import friction_bands
from armdyn.identification.fit.result import Fit
from armdyn.numerals import STD_OF_95_PERCENT
from armdyn.report.units import UNITS

CURVE, BAND, DESCRIBED = "#e07b00", "#f3b562", "#b9c4cf"
COLUMNS = 3  # of diagrams


def friction_figure(fit: Fit) -> Any | None:
    """One diagram per joint: torque over speed, with the 95 % band of the fit; None where no band is known."""
    import matplotlib.pyplot as plt
    import numpy as np

    bands = friction_bands(fit)
    if not any(bands):
        return None
    rows = -(-len(bands) // COLUMNS)
    figure, axes = plt.subplots(rows, COLUMNS, figsize=(9, 2.1 * rows + 0.4), squeeze=False)
    for axis in axes.flat[len(bands) :]:
        axis.set_visible(False)
    for axis, joint, band in zip(axes.flat, fit.source.joints, bands, strict=False):
        unit = UNITS[joint.kind]
        axis.set_title(joint.name, fontsize=9)
        axis.grid(alpha=0.25)
        axis.set_xlabel(f"speed [{unit.speed}]", fontsize=8)
        axis.set_ylabel(f"friction [{unit.torque}]", fontsize=8)
        if band is None:
            axis.text(0.5, 0.5, "torque not measured", ha="center", va="center", transform=axis.transAxes, fontsize=8)
            continue
        wide = STD_OF_95_PERCENT * band.std
        ends = band.torque - wide, band.torque + wide
        axis.fill_between(band.speed, *ends, color=BAND, alpha=0.45, lw=0, label="95 % band")
        f = joint.friction
        if f.viscous or f.coulomb:
            plain = f.viscous * band.speed + f.coulomb * np.sign(band.speed)
            axis.plot(band.speed, plain, color=DESCRIBED, lw=1.2, label="original model")
        axis.plot(band.speed, band.torque, color=CURVE, lw=1.2, label="identified")
        axis.tick_params(labelsize=8)
    figure.tight_layout()
    return figure
