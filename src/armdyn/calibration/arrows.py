"""Residuals of a calibration as arrows, long enough to be seen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.calibration.result import Calibration

ARROW_SHARE = 0.08  # length of the typical arrow, over the size of the cloud of points


class ResidualArrows(NamedTuple):
    """Arrows from measured points along their residuals, in the instrument's frame."""

    places: NDArray  # (N, 3) measured [m]
    shifts: NDArray  # (N, 3) measured less predicted [m]
    doubtful: NDArray  # (N,) whether their pose disagrees with the others
    scale: float  # by which arrows are longer than shifts

    @property
    def ends(self) -> NDArray:
        """Ends (N, 3) of the arrows [m]."""
        return self.places + self.scale * self.shifts


def residual_arrows(calibration: Calibration) -> ResidualArrows:
    """Compute the arrows of all points that were seen."""
    poses = calibration.poses
    doubtful = np.isin(np.asarray(poses.rows), calibration.doubtful)
    if poses.points is not None:
        places, shifts = poses.points.reshape(-1, 3), calibration.residuals.reshape(-1, 3)
    else:
        places, shifts = np.asarray(poses.poses)[:, :3, 3], calibration.residuals[:, :3]
    known = np.isfinite(places).all(1)
    doubtful = np.repeat(doubtful, max(1, poses.n_markers))[known]
    places, shifts = places[known], shifts[known]
    typical = float(np.median(np.linalg.norm(shifts, axis=1))) or 1.0
    return ResidualArrows(places, shifts, doubtful, ARROW_SHARE * float(np.ptp(places, axis=0).max()) / typical)
