"""The result of a calibration: what was found, how sure it is, what it is worth, and what to do with it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import finite_array, read_only
from armdyn.calibration.check import check_poses
from armdyn.calibration.command import command
from armdyn.calibration.fit import EvidenceFit
from armdyn.calibration.held_out import (
    CalibrationVerdict,
    HeldOut,
    PoseErrors,
    PredictiveNoise,
    held_out_errors,
    judge,
    models,
    pose_distances,
    predictive_noise,
    refit,
    summary,
)
from armdyn.calibration.kinematics import calibrated_kinematics, command_steps
from armdyn.calibration.poses import Poses
from armdyn.calibration.start import FLAT_SHARE
from armdyn.calibration.unknowns import GROUPS, CalibrationState, CalibrationUnknowns, zero_columns
from armdyn.calibration.write import moved_arm, placed_arm, save_calibration, save_offsets
from armdyn.errors import ArmdynError
from armdyn.frozen import Frozen, PartOf
from armdyn.identification.logs.log import STILL_TRAVEL
from armdyn.model.arm import Arm
from armdyn.presentation import Reported
from armdyn.progress import ProgressCallback, reporting, with_share
from armdyn.spatial.transform import transform
from armdyn.trace.printers.c_code import CCode, c_code

DOUBTFUL_WEIGHT = 0.25  # of a pose: its residual is more than twice what its neighbours let expect
DETERMINED_SHARE = 0.5  # of a number, decided by the data rather than by what is typical


@dataclass(frozen=True, eq=False)
class Calibration(Reported, Frozen):
    """An arm's base, tool, joint frames, zeros and deflection under gravity, from measured poses.

    `points`, `pose` and `command` use the fitted model; `arm` and `save` only what the verdict allows.
    """

    nominal: Arm  # as described
    poses: Poses
    fit: EvidenceFit

    # -- numbers ----------------------------------------------------------------------------------------

    @property
    def base_pose(self) -> NDArray:
        """Pose (4, 4) of the arm's base axes in the instrument's frame."""
        return read_only(np.array(self.fit.state.base))

    @property
    def markers(self) -> NDArray:
        """Measured points (M, 3) in the tip's frame [m]; where frames are measured, their origin."""
        return read_only(np.array(self._points_on_tip))

    @property
    def tool_pose(self) -> NDArray:
        """Pose (4, 4) of the measured frame in the tip's; the identity where points are measured."""
        return read_only(np.eye(4) if self.poses.n_markers else np.array(self.fit.state.tool))

    @property
    def geometry(self) -> NDArray:
        """Errors x, y, z, rx, ry, rz (n, 6) of the joints' frames; see `calibrated_kinematics` [m, rad]."""
        return read_only(np.array(self.fit.state.geometry))

    @cached_property
    def offsets(self) -> NDArray:
        """Errors (n,) of the joints' zeros, to be added to their readings [rad or m]."""
        return read_only(self.geometry[np.arange(self.nominal.n), zero_columns(self.nominal)])

    @cached_property
    def deflection(self) -> NDArray:
        """Compliance of the joints under gravity (n, 4 n); see `calibrated_kinematics`."""
        return read_only(self.fit.unknowns.functions.matrix(self.fit.state.gravity, self.nominal.n))

    @cached_property
    def harmonics(self) -> NDArray:
        """Amplitudes (n, 2) of the joints' errors sin q and cos q [rad]; zero where they were not fitted."""
        waves, out = self.fit.unknowns.waves, np.zeros((self.nominal.n, 2))
        if waves.harmonics:
            joints = waves._replace(approach=False).joints(self.nominal).reshape(2, -1)
            out[joints[0]] = self.fit.state.waves[: joints.size].reshape(2, -1).T
        return read_only(out)

    @cached_property
    def approach(self) -> NDArray:
        """Errors (n,) of joints that came from below, minus those from above [rad or m]; zero where not fitted."""
        n = self.nominal.n
        return read_only(np.array(self.fit.state.waves[-n:]) if self.fit.unknowns.waves.approach else np.zeros(n))

    def driven(self, q: ArrayLike) -> NDArray:
        """Joint positions (..., n) with harmonics, for readings q (..., n); the mean of both sides of approach."""
        q = finite_array(q, (self.nominal.n,), "calibration: q")
        return self.fit.unknowns.waves.added(self.nominal, q, self.fit.state.waves, np.zeros_like(q))

    @cached_property
    def determined(self) -> NDArray:
        """Share (n, 6) of each error of the joints' frames that the data decide; typical sizes decide the rest."""
        share = np.zeros((self.nominal.n, 6))
        share[self.fit.unknowns.free] = np.clip(self.fit.gamma[: self.fit.unknowns.free.sum()], 0, 1)
        return read_only(share)

    @cached_property
    def undetermined(self) -> tuple[str, ...]:
        """Names of the errors of frames that the data do not determine: they stay about nominal."""
        axes = ("x", "y", "z", "rx", "ry", "rz")
        names = self.nominal.joint_names
        open_ = self.fit.unknowns.free & (self.determined < DETERMINED_SHARE)
        return tuple(f"{names[i]} {axes[k]}" for i, k in np.argwhere(open_))

    @property
    def covariance(self) -> NDArray:
        """Covariance of all fitted numbers: base, tool, geometry, deflection, in this order."""
        return read_only(np.array(self.fit.covariance))

    @property
    def deviations(self) -> dict[str, float]:
        """Typical size of the errors by group, as the data tell [m, rad, rad, per moment]."""
        return dict(zip(GROUPS, map(float, self.fit.deviations), strict=True))

    @cached_property
    def predictive_noise(self) -> PredictiveNoise:
        """Deviations of measurements about their predictions at poses that were not fitted to."""
        return predictive_noise(self.fit.unknowns)

    noise = PartOf[float](
        "predictive_noise.shift",
        "Deviation of a measured coordinate about its prediction, all that the model lacks included [m].",
    )
    converged = PartOf[bool]("fit.converged", "Whether numbers and deviations have settled.")

    # -- residuals --------------------------------------------------------------------------------------

    @cached_property
    def residuals(self) -> NDArray:
        """Measured less predicted: points (K, M, 3) [m], NaN where not seen; or shift and turn (K, 6) [m, rad]."""
        r = self.fit.unknowns.residuals(self.fit.state)
        if self.poses.n_markers:
            return read_only(r.reshape(len(r), -1, 3))
        return read_only(r / np.repeat([1.0, self.fit.unknowns.turn_length], 3))

    @property
    def weights(self) -> NDArray:
        """Weight (K,) of every pose, about 1; small where it disagrees with the others."""
        return read_only(np.array(self.fit.weights))

    @cached_property
    def doubtful(self) -> tuple[int, ...]:
        """Rows of the poses that disagree with the others, from 0, the worst first."""
        order = np.argsort(self.fit.weights)
        rows = np.asarray(self.poses.rows)
        return tuple(int(rows[k]) for k in order if self.fit.weights[k] < DOUBTFUL_WEIGHT)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Notes on the poses: rows left out, joints that do not move, markers on one line."""
        notes = list(self.poses.notes)
        still = [
            name
            for name, span in zip(self.nominal.joint_names, np.ptp(self.poses.q, axis=0), strict=True)
            if span < STILL_TRAVEL
        ]
        if still:
            notes.append(f"{', '.join(still)} never moved: errors of frames beside it cannot be told apart")
        lengths = self.deviations["translation"]
        if lengths > LARGE_LENGTHS:
            sisters = check_poses(self.nominal, self.poses).mistakes
            better = f" '{sisters[0].arm}' fits far better" if sisters and sisters[0].arm else ""
            notes.append(f"lengths differ by {1e3 * lengths:.2g} mm from the description: is it of this arm?{better}")
        if any(self.fit.unknowns.waves):
            notes.append("harmonics and play are part of predictions and commands, not of written files")
        if self.poses.n_markers > 1:
            s = np.linalg.svd(self.markers - self.markers.mean(0), compute_uv=False)
            if s[1] < FLAT_SHARE * s[0]:
                notes.append("the markers lie on one line: turns about it are not seen; mount one beside the line")
        return tuple(notes)

    # -- what it is worth -------------------------------------------------------------------------------

    @cached_property
    def held_out(self) -> HeldOut:
        """Errors at poses not fitted to: of base and tool alone, with the joints' zeros, of the full model."""
        return held_out_errors(self.fit.unknowns)

    def judge(self, progress: ProgressCallback | bool | None = None) -> CalibrationVerdict:
        """Compute `held_out` and the verdict now: `progress` is True for a bar, or called with (done, total, text)."""
        with reporting(progress, "judge", with_share) as tell:
            self.__dict__.setdefault("held_out", held_out_errors(self.fit.unknowns, tell))
        return self.verdict

    @cached_property
    def verdict(self) -> CalibrationVerdict:
        """Verdict of the held-out errors on what may be written."""
        return judge(self.held_out)

    @cached_property
    def fitted_errors(self) -> PoseErrors:
        """Errors at the poses that were fitted to, smaller than at new ones."""
        return summary(pose_distances(self.fit.unknowns, self.fit))

    @cached_property
    def written(self) -> CalibrationState:
        """Numbers that the verdict allows to be written: of the fitted model, of zeros alone, or of base and tool."""
        if self.verdict is CalibrationVerdict.CALIBRATED:
            return self.fit.state
        name = "offsets" if self.verdict is CalibrationVerdict.OFFSETS else "base_and_tool"
        return refit(models(self.fit.unknowns)[name]).state

    @property
    def written_deflection(self) -> NDArray:
        """Deflection (n, 4 n) that the verdict allows to be written."""
        return self.deflection if self.verdict is CalibrationVerdict.CALIBRATED else 0 * self.deflection

    @property
    def written_tool(self) -> NDArray:
        """Pose (4, 4) of the measured frame, or of the first marker, in the tip's frame."""
        tool = self.written.tool
        return transform(None, tool[0]) if self.poses.n_markers else tool

    @cached_property
    def arm(self) -> Arm:
        """The arm to use, in its own base axes: with fitted frames and deflection where the verdict allows."""
        if not self.written.geometry.any():
            return self.nominal
        return moved_arm(self.nominal, self.written.geometry, self.written_deflection, self.poses)

    @cached_property
    def placed_arm(self) -> Arm:
        """`arm` as it stands: its base in the instrument's frame, its tip at the measured frame or the first marker."""
        return placed_arm(self.arm, self.written.base, self.written_tool)

    @cached_property
    def fitted_arm(self) -> Arm:
        """The fitted model as an arm, whatever the verdict: base in the instrument's frame, tip where `pose` is."""
        arm = moved_arm(self.nominal, self.geometry, self.deflection, self.poses)
        return placed_arm(arm, self.base_pose, self.tool_pose)

    # -- predictions ------------------------------------------------------------------------------------

    @property
    def _points_on_tip(self) -> NDArray:
        return self.fit.state.tool if self.poses.n_markers else self.fit.state.tool[None, :3, 3]

    def tip(self, q: ArrayLike) -> NDArray:
        """Pose (..., 4, 4) of the arm's tip in the instrument's frame, by the fitted model."""
        q = finite_array(q, (self.nominal.n,), "calibration: q")
        T = calibrated_kinematics(self.nominal, self.driven(q), geometry=self.geometry, deflection=self.deflection)
        return self.fit.state.base @ np.asarray(T)

    def pose(self, q: ArrayLike) -> NDArray:
        """Pose (..., 4, 4) of the measured frame (of the tip, where points are measured) in the instrument's frame."""
        return self.tip(q) @ self.tool_pose

    def points(self, q: ArrayLike) -> NDArray:
        """Markers (..., M, 3) in the instrument's frame [m]."""
        T = self.tip(q)
        return T[..., None, :3, 3] + np.einsum("...ab,mb->...ma", T[..., :3, :3], self._points_on_tip)

    def points_covariance(self, q: ArrayLike, *, noise: bool = True) -> NDArray:
        """Covariance (..., M, 3, 3) of the markers as they will be measured; without `noise` as they are [m²]."""
        unknowns, batch = self._at(q)
        J = unknowns.jacobian(self.fit.state)
        J = J.reshape(len(J), -1, 3, J.shape[2]) if self.poses.n_markers else J[:, None, :3]
        C = J @ self.fit.covariance @ np.swapaxes(J, 2, 3) + (self.noise**2 if noise else 0.0) * np.eye(3)
        return C.reshape(*batch, *C.shape[1:])

    def pose_covariance(self, q: ArrayLike, *, noise: bool = True) -> NDArray:
        """Covariance (..., 6, 6) of shift and turn of `pose` in the instrument's axes; see `points_covariance`.

        Where points are measured, the noise is added to the shift alone: turns are not measured.
        """
        unknowns, batch = self._at(q)
        length = unknowns.turn_length
        J = unknowns.tip_jacobian(self.fit.state)
        if not self.poses.n_markers:
            J = unknowns.jacobian(self.fit.state) / np.repeat([1.0, length], 3)[:, None]
        C = J @ self.fit.covariance @ np.swapaxes(J, 1, 2)
        if noise:
            turn = 0.0 if self.poses.n_markers else self.predictive_noise.turn
            C = C + np.diag(np.repeat([self.noise**2, turn**2], 3))
        return C.reshape(*batch, 6, 6)

    def _at(self, q: ArrayLike) -> tuple[CalibrationUnknowns, tuple[int, ...]]:
        """The fitted numbers at other joint positions, and the leading axes of these."""
        q = finite_array(q, (self.nominal.n,), "calibration: q")
        rows = q.reshape(-1, self.nominal.n)
        sides = np.zeros_like(rows)
        if self.poses.n_markers:
            at = Poses(rows, self.points(rows), sides=sides)
        else:
            at = Poses(rows, poses=self.pose(rows), sides=sides)
        return self.fit.unknowns.of(at), q.shape[:-1]

    # -- joints to send, and files: functions of a calibration that have modules of their own -----------------------

    command = command
    save = save_calibration
    save_offsets = save_offsets

    def c_code(self, directory: str | os.PathLike[str], *, steps: int = 5, prefix: str | None = None) -> CCode:
        """Write `command` as C: joints to send for a pose in the instrument's frame, from those of the nominal arm.

        Five steps leave less than 1e-9 m and rad away from singular poses; the second output says what is left.
        """
        if any(self.fit.unknowns.waves):
            cause = "harmonics and play are not part of the C code"
            raise ArmdynError(cause, where="c_code", remedy="calibrate without them")
        options = {"task": "pose", "steps": steps}
        return c_code(command_steps, self.fitted_arm, directory, prefix=prefix, options=options, search=False)

    def __repr__(self) -> str:
        errors = self.fitted_errors
        return f"<Calibration of '{self.nominal.name}': {len(self.poses)} poses, fitted to {1e3 * errors.mean:.3g} mm>"


LARGE_LENGTHS = 1.5e-3  # m: deviation of frames; industrial arms have a fifth of it
