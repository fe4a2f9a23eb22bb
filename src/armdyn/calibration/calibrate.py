"""Calibrate an arm: where base, tool and joint frames are, its zeros and how it yields, from measured poses."""

from __future__ import annotations

import os
import warnings
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import as_floats
from armdyn.calibration.check import explain_misfit
from armdyn.calibration.fit import INTERPRETED_POSES, fit_evidence
from armdyn.calibration.poses import Poses
from armdyn.calibration.read_poses import read_poses
from armdyn.calibration.result import Calibration
from armdyn.calibration.start import spread
from armdyn.calibration.unknowns import CalibrationUnknowns, Waves, free_entries
from armdyn.errors import ArmdynError, ArmdynWarning, DataError, ShapeError, quote
from armdyn.frozen import compute_once
from armdyn.identification.limits import CAREFUL_ERROR
from armdyn.identification.logs.log import MIN_POSES
from armdyn.model.arm import Arm, require_arm
from armdyn.numerals import pluralize
from armdyn.spatial.transform import check_transform
from armdyn.trace.backend import interpreting


def calibrate(
    arm: Arm,
    poses: Poses | str | os.PathLike[str],
    *,
    geometry: bool | Literal["offsets"] = True,
    gravity: bool | Literal["masses"] = True,
    harmonics: bool = False,
    approach: bool = False,
    base: ArrayLike | None = None,
    tool: ArrayLike | None = None,
) -> Calibration:
    """Fit base, tool, joint frames, zeros and the deflection under gravity to measured poses; no guess is needed.

    Parameters
    ----------
    arm : Arm
        As described; its masses are not used, unless `gravity` says so.
    poses : Poses or path
        See `read_poses`.
    geometry : bool or "offsets"
        Whether joint frames are fitted; "offsets": only the joints' zeros; False: base and tool alone (hand-eye).
    gravity : bool or "masses"
        Whether joints yield under gravity, with unknown masses or, one compliance a joint, with those of the arm's
        links; needs `geometry=True`.
    harmonics : bool
        Whether joints err by sin q and cos q, as encoders and gears off their centres do.
    approach : bool
        Whether joints err by the side from which they came (play): the rows must be in the order of motion, from pose
        to pose.
    base : array_like, shape (4, 4), optional
        The arm's base in the instrument's frame, if it is known; default: it is fitted.
    tool : array_like, shape (M, 3) or (4, 4), optional
        Markers, or the measured frame, in the frame of the tip, if known; default: they are fitted.

    Returns
    -------
    Calibration
        Held-out errors, verdict and the arm to use are computed when first asked for.

    Raises
    ------
    DataError
        If the poses are too few or do not fit the arm; the message names the mistake where one explains it.
    """
    require_arm(arm)
    if not isinstance(geometry, bool) and geometry != "offsets":
        raise ArmdynError(where="calibrate", expected="geometry True, False or 'offsets'", got=quote(geometry))
    if not isinstance(gravity, bool) and gravity != "masses":
        raise ArmdynError(where="calibrate", expected="gravity True, False or 'masses'", got=quote(gravity))
    measured = poses if isinstance(poses, Poses) else read_poses(poses, arm)
    measured.require(arm)
    unknowns = CalibrationUnknowns(
        arm,
        measured,
        free_entries(arm, geometry),
        gravity if geometry is True else False,
        None if base is None else check_transform(base, "calibrate: base"),
        None if tool is None else _known_tool(tool, measured),
        Waves(harmonics, approach),
    )
    _require_enough(unknowns)
    fitted = _fitted_poses(arm)
    fitted[0] += len(measured)
    with interpreting(fitted[0] <= INTERPRETED_POSES):
        state, start = unknowns.start()
        if start.rms > CAREFUL_ERROR * spread(measured):
            raise explain_misfit(arm, measured, start)
        fit = fit_evidence(unknowns, state)
    if not fit.converged:
        warnings.warn(
            f"calibrate: the fit has not settled after {fit.steps} steps; measure more poses, or fit fewer numbers "
            "(geometry='offsets')",
            ArmdynWarning,
            stacklevel=2,
        )
    return Calibration(arm, measured, fit)


@compute_once
def _fitted_poses(arm: Arm) -> list[int]:
    """Count the poses that were fitted with an arm: an entry to add to."""
    return [0]


def _known_tool(tool: ArrayLike, poses: Poses) -> NDArray:
    if not poses.n_markers:
        return check_transform(tool, "calibrate: tool")
    markers = as_floats(tool)
    if markers.shape != (poses.n_markers, 3) or not np.isfinite(markers).all():
        expected = f"tool as {poses.n_markers} markers of shape ({poses.n_markers}, 3)"
        raise ShapeError(where="calibrate", expected=expected, got=markers.shape)
    return markers


def _require_enough(unknowns: CalibrationUnknowns) -> None:
    poses = unknowns.poses
    measured = 6 * len(poses) if poses.points is None else int(np.isfinite(poses.points).sum())
    if len(poses) < MIN_POSES or measured <= unknowns.n_flat:
        cause = f"{pluralize(len(poses), 'pose')} cannot determine base and tool"
        remedy = f"measure at least {MIN_POSES} poses, better 30, in which every joint moves"
        raise DataError(cause, where=poses.name, remedy=remedy)
