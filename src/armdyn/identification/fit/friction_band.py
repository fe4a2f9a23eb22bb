"""The friction curve of a joint in steady sliding, with the band in which the logs let it lie."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.fit.result import Fit
from armdyn.identification.fit.terms import ASYMMETRIES, TERMS, friction_curve
from armdyn.precision import NEGLIGIBLE


class FrictionBand(NamedTuple):
    """Friction of a drive, without its offset and what depends on load, position and temperature."""

    speed: NDArray  # (k,) [rad/s or m/s]
    torque: NDArray  # (k,) [N m or N]
    std: NDArray  # (k,) its standard deviation, from the covariance of the fit


def friction_bands(fit: Fit) -> list[FrictionBand | None]:
    """Friction curves of the drives up to their top speeds; None of those whose torque was not measured.

    The list is empty where nothing could be held out, and so no covariance is known.
    """
    uncertainty = fit.uncertainty
    if uncertainty is None:
        return []
    model, bands = uncertainty.model, list[FrictionBand | None]()
    directions = np.concatenate([uncertainty.jackknife.T, uncertainty.root], axis=1)
    for joint, noise in enumerate(uncertainty.noise):
        first = model.base.count + joint * len(TERMS)
        terms = slice(first, first + len(TERMS))
        top = max(float(model.statistics.top[joint]), NEGLIGIBLE)
        # Dense about zero, where dry friction turns.
        way = top * np.linspace(0.0, 1.0)[1:] ** 2
        speed = np.concatenate([-way[::-1], way])
        rows = np.sign(speed)[:, None] * friction_curve(joint, np.abs(speed), model.statistics)
        rows[:, ASYMMETRIES[0]], rows[:, ASYMMETRIES[1]] = 1.0, np.abs(speed)
        std = np.linalg.norm(rows @ directions[terms], axis=1)
        bands.append(None if np.isnan(noise) else FrictionBand(speed, rows @ uncertainty.x[terms], std))
    return bands
