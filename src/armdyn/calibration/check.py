"""Mistakes in measured poses, found by trying what would mend them: units, signs, columns, rows, the wrong arm.

Base and tool are linear in the measurements (see `start`), so that each hypothesis costs a millisecond.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, permutations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from armdyn.calibration.fit import INTERPRETED_POSES
from armdyn.calibration.pose_columns import LENGTHS
from armdyn.calibration.poses import Poses
from armdyn.calibration.read_poses import read_poses
from armdyn.calibration.start import Start, as_points, linear_start, spread
from armdyn.errors import DataError
from armdyn.kinematics.forward import forward_kinematics
from armdyn.model.arm import Arm, require_arm
from armdyn.model.library.sisters import sister_arms
from armdyn.spatial.rotation import from_quaternion, to_quaternion
from armdyn.spatial.transform import inverse
from armdyn.trace.backend import interpreting

# Clauses on each kind of mistake; of another kind lengths are in that unit.
TEXTS: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_name("mistakes.toml").read_text(encoding="utf-8"))
MENDED_SHARE = 0.5  # of the residual, that must vanish; true mistakes take away 80 % and more, others below 20 %
UNITS = {"millimetres": "mm", "centimetres": "cm", "inches": "in"}


class PoseMistake(NamedTuple):
    """A mistake that explains most of what does not fit."""

    kind: str  # "degrees", a unit, "mirrored", "axes", "sign", "exchange", "shift", "inverse", "quaternion", "arm"
    joints: tuple[int, ...] = ()  # from 0
    value: float = 1.0  # factor of a unit, rows of a shift
    axes: tuple[int, ...] = ()  # order of exchanged axes
    arm: str = ""  # of another arm that fits
    rms: float = np.nan  # residual as measured [m]
    mended_rms: float = np.nan  # and without the mistake [m]

    @property
    def text(self) -> str:
        """Say what is wrong, in a clause."""
        kinds = TEXTS["kinds"]
        return kinds.get(self.kind, kinds["unit"]).format(
            joints=" and ".join(str(j + 1) for j in self.joints),
            axes=", ".join("xyz"[k] for k in self.axes),
            when="later" if self.value > 0 else "earlier",
            arm=self.arm,
            unit=self.kind,
        )

    @property
    def remedy(self) -> str:
        """Say what to do about it, in a clause."""
        kind, remedies = "unit" if self.kind in UNITS else self.kind, TEXTS["remedies"]
        return remedies.get(kind, remedies["others"]).format(arm=self.arm, unit=UNITS.get(self.kind))

    def mend(self, poses: Poses) -> Poses:
        """Return the poses without the mistake."""
        return poses if self.kind == "arm" else _mended(poses, self)


class PosesCheck(NamedTuple):
    """Everything found about measured poses."""

    arm: Arm
    poses: Poses
    mistakes: tuple[PoseMistake, ...]  # all together
    rms: float  # residual of base and tool as measured [m]
    mended_rms: float  # without the mistakes

    @property
    def ok(self) -> bool:
        """Whether no mistake was found."""
        return not self.mistakes

    @property
    def mended(self) -> Poses:
        """The poses without the mistakes."""
        poses = self.poses
        for mistake in self.mistakes:
            poses = mistake.mend(poses)
        return poses


def check_poses(arm: Arm, poses: Poses | str | os.PathLike[str], *, sisters: bool = True) -> PosesCheck:
    """Look for mistakes in measured poses: what would at least halve the residual of base and tool.

    Parameters
    ----------
    arm : Arm
        As described.
    poses : Poses or path
        See `read_poses`.
    sisters : bool
        Whether arms of the library with the same joints are tried too.
    """
    require_arm(arm)
    measured = poses if isinstance(poses, Poses) else read_poses(poses, arm)
    measured.require(arm)
    few = _sample(measured)
    first = rms = _start(arm, few).rms
    mistakes: list[PoseMistake] = []
    while True:
        best, best_rms = None, MENDED_SHARE * rms
        for mistake in _hypotheses(arm, few):
            tried = _start(arm, mistake.mend(few)).rms
            if tried < best_rms:
                best, best_rms = mistake, tried
        if best is None:
            break
        mistakes.append(best._replace(rms=rms, mended_rms=best_rms))
        few, rms = best.mend(few), best_rms
    if sisters and not mistakes:
        mistakes += _other_arm(arm, few, rms)
        rms = mistakes[-1].mended_rms if mistakes else rms
    return PosesCheck(arm, measured, tuple(mistakes), first, rms)


def explain_misfit(arm: Arm, poses: Poses, start: Start) -> DataError:
    """Return the error of poses that do not fit the arm; it names the mistake where one explains it."""
    if mistakes := check_poses(arm, poses).mistakes:
        return mistakes_error(poses, mistakes)
    cause = (
        f"the poses do not fit arm '{arm.name}': with base and tool fitted, measured points are "
        f"{1e3 * start.rms:.3g} mm off and spread over {1e3 * spread(poses):.3g} mm"
    )
    remedy = "use the description of the arm that was measured; check units, columns and the noise of the instrument"
    return DataError(cause, where=poses.name, remedy=remedy)


def mistakes_error(poses: Poses, mistakes: tuple[PoseMistake, ...]) -> DataError:
    """Return the error that says what is wrong with poses and what to do about it."""
    remedies = dict.fromkeys(mistake.remedy for mistake in mistakes)
    return DataError("; ".join(mistake.text for mistake in mistakes), where=poses.name, remedy=", and ".join(remedies))


def _sample(poses: Poses) -> Poses:
    """Stretches of neighbouring rows, for a shift needs neighbours."""
    return poses.select(np.arange(min(INTERPRETED_POSES, len(poses))))


def _start(arm: Arm, poses: Poses) -> Start:
    with interpreting():
        tips = np.asarray(forward_kinematics(arm, poses.q))
    return linear_start(tips, as_points(poses))


def _hypotheses(arm: Arm, poses: Poses) -> Iterator[PoseMistake]:
    turning = [j for j, joint in enumerate(arm.joints) if joint.kind == "revolute"]
    if turning and np.abs(poses.q[:, turning]).max() > np.pi / 2:
        yield PoseMistake("degrees", tuple(turning))
    yield from (PoseMistake(name, value=LENGTHS[unit]) for name, unit in UNITS.items())
    if poses.points is not None:
        yield PoseMistake("mirrored")
    else:
        yield PoseMistake("inverse")
        yield PoseMistake("quaternion")
        yield from (PoseMistake("axes", axes=axes) for axes in permutations(range(3)) if axes != (0, 1, 2))
        yield from (PoseMistake("mirrored", axes=(axis,)) for axis in range(3))
    yield from (PoseMistake("sign", (j,)) for j in range(arm.n))
    yield from (PoseMistake("exchange", pair) for pair in combinations(range(arm.n), 2))
    if len(poses) > 8:
        yield from (PoseMistake("shift", value=rows) for rows in (1, -1))


def _mended(poses: Poses, mistake: PoseMistake) -> Poses:
    kind, q, joints = mistake.kind, np.array(poses.q), list(mistake.joints)
    factors = {"degrees": np.radians(1.0), "sign": -1.0}
    points = None if poses.points is None else np.array(poses.points)
    frames = None if poses.poses is None else np.array(poses.poses)
    if kind in factors:
        q[:, joints] *= factors[kind]
    elif kind == "exchange":
        q[:, joints] = q[:, joints[::-1]]
    elif kind == "shift":
        k = int(mistake.value)
        keep = slice(k, None) if k > 0 else slice(None, k)
        q = q[:-k] if k > 0 else q[-k:]
        points, frames = (None if x is None else x[keep] for x in (points, frames))
        return Poses(q, points, frames, poses.name, poses.path)
    elif kind in UNITS:
        points = None if points is None else points * mistake.value
        if frames is not None:
            frames[:, :3, 3] *= mistake.value
    elif kind == "mirrored" and points is not None:
        points[..., 0] *= -1
    elif frames is not None:
        frames = _mended_frames(frames, mistake)
    return replace(poses, q=q, points=points, poses=frames)


def _mended_frames(frames: np.ndarray, mistake: PoseMistake) -> np.ndarray:
    if mistake.kind == "inverse":
        return inverse(frames)
    if mistake.kind == "mirrored":
        frames[:, list(mistake.axes), 3] *= -1
    elif mistake.kind == "axes":
        frames[:, :3, 3] = frames[:, np.argsort(mistake.axes), 3]
    else:  # the quaternion w, x, y, z was read as x, y, z, w
        quaternion = to_quaternion(frames[:, :3, :3])[:, [1, 2, 3, 0]]
        frames[:, :3, :3] = from_quaternion(quaternion)
    return frames


def _other_arm(arm: Arm, poses: Poses, rms: float) -> list[PoseMistake]:
    """The known arm with the same kinds of joints that fits best, if it fits far better."""
    fits = {name: _start(other, poses).rms for name, other in sister_arms(arm)}
    best = min(fits, key=lambda name: fits[name], default="")
    if not best or fits[best] >= MENDED_SHARE * rms:
        return []
    return [PoseMistake("arm", arm=best, rms=rms, mended_rms=fits[best])]
