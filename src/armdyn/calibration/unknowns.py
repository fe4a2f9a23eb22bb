"""The numbers that a calibration seeks, their order, and what they do to the measurements."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.calibration.kinematics import calibrated_kinematics, deflection_regressor, geometry_regressor
from armdyn.calibration.poses import Poses
from armdyn.calibration.start import POSE_ARM_M, Start, as_points, linear_start, tool_of
from armdyn.frozen import compute_once
from armdyn.kinematics.forward import forward_kinematics
from armdyn.model.arm import Arm
from armdyn.precision import SIX_DIGITS
from armdyn.spatial import inertia as inertial
from armdyn.spatial.rotation import from_axis_angle, skew, to_axis_angle
from armdyn.trajectory.motion_limits import RANDOM_POSES

GROUPS = ("translation", "rotation", "offset", "gravity", "harmonic", "approach")


class CalibrationState(NamedTuple):
    """Values of the numbers sought."""

    base: NDArray  # (4, 4) the arm's base in the instrument's frame
    tool: NDArray  # (M, 3) markers in the tip's frame, or (4, 4) the measured frame
    geometry: NDArray  # (n, 6)
    gravity: NDArray  # (r,) coefficients of the functions of gravity
    waves: NDArray  # (w,) amplitudes of harmonics and of the side of approach


class Deflections(NamedTuple):
    """The independent functions by which gravity moves the joints."""

    joints: NDArray  # (r,) whose deflection each is
    rows: NDArray  # (r, 4 n) each as a row of `deflection`

    def matrix(self, coefficients: NDArray, n: int) -> NDArray:
        """The `deflection` (n, 4 n) of the joints."""
        out = np.zeros((n, 4 * n))
        np.add.at(out, self.joints, coefficients[:, None] * self.rows)
        return out


@compute_once
def deflection_functions(arm: Arm) -> Deflections:
    """Find the directions of every row of `deflection` that move the joint at all, orthonormal."""
    rng = np.random.default_rng(0)
    turns = np.array([joint.kind == "revolute" for joint in arm.joints])
    q = np.where(turns, rng.uniform(-np.pi, np.pi, (RANDOM_POSES, arm.n)), rng.uniform(-1, 1, (RANDOM_POSES, arm.n)))
    Y = np.asarray(deflection_regressor(arm, q))
    joints, rows = [], []
    for i in range(arm.n):
        _, s, Vt = np.linalg.svd(Y[:, i], full_matrices=False)
        keep = s > SIX_DIGITS * max(float(np.linalg.norm(arm.gravity)), 1e-12) * np.sqrt(RANDOM_POSES)
        joints += [i] * int(keep.sum())
        rows += list(Vt[keep])
    return Deflections(np.array(joints, int), np.array(rows).reshape(-1, 4 * arm.n))


@compute_once
def known_deflections(arm: Arm) -> Deflections:
    """Return one function a joint: how far it yields under the masses of the arm's links."""
    bodies = np.asarray(arm.trace_data("theta")).reshape(arm.n, -1)
    moments = bodies[:, [inertial.MASS, *range(*inertial.FIRST.indices(inertial.SIZE))]]
    rows = np.array([np.where(np.arange(arm.n)[:, None] >= i, moments, 0.0).ravel() for i in range(arm.n)])
    return Deflections(np.arange(arm.n), rows / np.linalg.norm(rows, axis=1, keepdims=True))


class Waves(NamedTuple):
    """Errors of joints that are periodic in their positions, and those of the side from which they came."""

    harmonics: bool = False
    approach: bool = False

    def joints(self, arm: Arm) -> NDArray:
        """Joint (w,) of every amplitude."""
        turning = np.flatnonzero([joint.kind == "revolute" for joint in arm.joints])
        parts = [turning, turning] * self.harmonics + [np.arange(arm.n)] * self.approach
        return np.concatenate([np.zeros(0, int), *parts])

    def columns(self, arm: Arm, q: NDArray, sides: NDArray) -> NDArray:
        """Error (..., w) of its joint per unit of every amplitude."""
        turning = q[..., [joint.kind == "revolute" for joint in arm.joints]]
        parts = [np.sin(turning), np.cos(turning)] * self.harmonics + [sides] * self.approach
        return np.concatenate([q[..., :0], *parts], axis=-1)

    def added(self, arm: Arm, q: NDArray, amplitudes: NDArray, sides: NDArray) -> NDArray:
        """Positions (..., n) with these errors."""
        return q + (self.columns(arm, q, sides) * amplitudes) @ np.eye(arm.n)[self.joints(arm)]


NO_WAVES = Waves()


@dataclass(frozen=True, eq=False)
class CalibrationUnknowns:
    """Numbers that are free: base and tool always (unless given), then entries of geometry and gravity, and waves."""

    arm: Arm
    poses: Poses
    free: NDArray  # (n, 6) which entries of geometry
    gravity: bool | str  # "masses": with those of the arm's links
    base: NDArray | None = None  # (4, 4) where it is known
    tool: NDArray | None = None  # (M, 3) or (4, 4) where it is known
    waves: Waves = NO_WAVES
    turn_length: float = POSE_ARM_M  # m by which turns of measured frames are multiplied: noise of shifts over turns

    @property
    def n_base(self) -> int:
        """Numbers of the base."""
        return 6 if self.base is None else 0

    @property
    def n_tool(self) -> int:
        """Numbers of the markers or the tool."""
        return (3 * self.poses.n_markers or 6) if self.tool is None else 0

    @property
    def n_flat(self) -> int:
        """Numbers without a prior: those of base and tool."""
        return self.n_base + self.n_tool

    @property
    def functions(self) -> Deflections:
        """Functions of gravity that are free."""
        known = known_deflections(self.arm) if self.gravity == "masses" else deflection_functions(self.arm)
        return known if self.gravity else Deflections(known.joints[:0], known.rows[:0])

    @property
    def groups(self) -> NDArray:
        """Group (p,) of every number with a prior, an index of `GROUPS`."""
        turns = np.array([joint.kind == "revolute" for joint in self.arm.joints])
        kinds = np.tile([0, 0, 0, 1, 1, 2], (self.arm.n, 1))
        kinds[~turns, 5] = 1
        joints = self.waves.joints(self.arm)
        sides = np.arange(len(joints)) >= len(joints) - self.arm.n * self.waves.approach
        return np.concatenate([kinds[self.free], np.full(len(self.functions.joints), 3), np.where(sides, 5, 4)])

    def start(self) -> tuple[CalibrationState, Start]:
        """Base and tool of the arm as described, from linear equations; what is known replaces them."""
        tips = np.asarray(forward_kinematics(self.arm, self.poses.q))
        solution = linear_start(tips, as_points(self.poses))
        tool = solution.markers if self.poses.n_markers else tool_of(solution.markers)
        base = solution.base if self.base is None else self.base
        return self.at_zero(base, tool if self.tool is None else self.tool), solution

    def at_zero(self, base: NDArray, tool: NDArray) -> CalibrationState:
        """Return the state without errors."""
        counts = len(self.functions.joints), len(self.waves.joints(self.arm))
        return CalibrationState(base, tool, np.zeros((self.arm.n, 6)), *map(np.zeros, counts))

    def values(self, state: CalibrationState) -> NDArray:
        """The numbers with a prior (p,)."""
        return np.concatenate([state.geometry[self.free], state.gravity, state.waves])

    def moved(self, state: CalibrationState, step: NDArray) -> CalibrationState:
        """Return the state after a step (n_flat + p,)."""
        base, tool, geometry = np.array(state.base), np.array(state.tool), np.array(state.geometry)
        a, b = self.n_base, self.n_flat
        if self.n_base:
            base[:3, :3] = _turn(step[3:6]) @ base[:3, :3]
            base[:3, 3] += step[:3]
        if self.n_tool and self.poses.n_markers:
            tool += step[a:b].reshape(-1, 3)
        elif self.n_tool:
            tool[:3, 3] += tool[:3, :3] @ step[a : a + 3]
            tool[:3, :3] = tool[:3, :3] @ _turn(step[a + 3 : b])
        count = int(self.free.sum())
        geometry[self.free] += step[b : b + count]
        c = b + count + len(state.gravity)
        return CalibrationState(base, tool, geometry, state.gravity + step[b + count : c], state.waves + step[c:])

    def of(self, poses: Poses) -> CalibrationUnknowns:
        """Return the same numbers for other poses."""
        return replace(self, poses=poses)

    def positions(self, state: CalibrationState) -> NDArray:
        """Joint positions (K, n) as they are: deflected."""
        q, functions = self._driven(state), self.functions
        if not len(functions.joints):
            return q
        return q + (self._gravity_columns(state) * state.gravity) @ np.eye(self.arm.n)[functions.joints]

    def _driven(self, state: CalibrationState) -> NDArray:
        """Joint positions (K, n) as drives put them: with waves, without the deflection."""
        return self.waves.added(self.arm, self.poses.q, state.waves, np.asarray(self.poses.sides))

    def _gravity_columns(self, state: CalibrationState) -> NDArray:
        """Deflections (K, r) per unit of the coefficients."""
        Y = np.asarray(deflection_regressor(self.arm, self._driven(state), geometry=state.geometry))
        return np.einsum("krc,rc->kr", Y[:, self.functions.joints], self.functions.rows)

    def predict(self, state: CalibrationState) -> tuple[NDArray, NDArray]:
        """Tips in the instrument's frame (K, 4, 4), and the points (K, M, 3) or frames (K, 4, 4) to compare."""
        tips = state.base @ calibrated_kinematics(
            self.arm, self.positions(state), geometry=state.geometry, deflection=self._rigid
        )
        if self.poses.n_markers:
            return tips, tips[:, None, :3, 3] + np.einsum("kab,mb->kma", tips[:, :3, :3], state.tool)
        return tips, tips @ state.tool

    @property
    def _rigid(self) -> NDArray:
        return np.zeros((self.arm.n, 4 * self.arm.n))

    def residuals(self, state: CalibrationState) -> NDArray:
        """Measured less predicted (K, D): coordinates, or shift and scaled turn of a frame; NaN where not seen."""
        measured = self.predict(state)[1]
        if self.poses.points is not None:
            return (self.poses.points - measured).reshape(len(self.poses), -1)
        T = np.asarray(self.poses.poses)
        shift = T[:, :3, 3] - measured[:, :3, 3]
        axis, angle = to_axis_angle(T[:, :3, :3] @ np.swapaxes(measured[:, :3, :3], 1, 2))
        return np.concatenate([shift, self.turn_length * axis * angle[:, None]], axis=1)

    def tip_jacobian(self, state: CalibrationState) -> NDArray:
        """Velocity (K, 6, n_flat + p) of the tip per unit of every number, [linear; angular], instrument's axes."""
        functions, b = self.functions, self.n_flat
        q = self.positions(state)
        tips = state.base @ calibrated_kinematics(self.arm, q, geometry=state.geometry, deflection=self._rigid)
        J = np.asarray(geometry_regressor(self.arm, q, geometry=state.geometry))
        R_B = state.base[:3, :3]
        J = np.concatenate([R_B @ J[:, :3], R_B @ J[:, 3:]], axis=1)
        count = int(self.free.sum())
        c, waves = b + count + len(functions.joints), self.waves.joints(self.arm)
        out = np.zeros((len(q), 6, c + len(waves)))
        if self.n_base:
            out[:, :3, :3] = out[:, 3:, 3:6] = np.eye(3)
            out[:, :3, 3:6] = -skew(tips[:, :3, 3] - state.base[:3, 3])
        out[:, :, b : b + count] = J[:, :, np.flatnonzero(self.free.ravel())]
        if len(functions.joints):
            along = J[:, :, 6 * functions.joints + zero_columns(self.arm)[functions.joints]]
            out[:, :, b + count : c] = along * self._gravity_columns(state)[:, None]
        if len(waves):
            columns = self.waves.columns(self.arm, self.poses.q, np.asarray(self.poses.sides))
            out[:, :, c:] = J[:, :, 6 * waves + zero_columns(self.arm)[waves]] * columns[:, None]
        return out

    def jacobian(self, state: CalibrationState) -> NDArray:
        """Change of the prediction (K, D, n_flat + p) per unit of every number."""
        tips, predicted = self.predict(state)
        J, a, b = self.tip_jacobian(state), self.n_base, self.n_flat
        if not self.poses.n_markers:
            J[:, :3] -= skew(predicted[:, :3, 3] - tips[:, :3, 3]) @ J[:, 3:]
            if self.n_tool:
                J[:, :3, a : a + 3] = J[:, 3:, a + 3 : b] = predicted[:, :3, :3]
            J[:, 3:] *= self.turn_length
            return J
        out = J[:, None, :3] - skew(predicted - tips[:, None, :3, 3]) @ J[:, None, 3:]
        if self.n_tool:
            for m in range(self.poses.n_markers):
                out[:, m, :, a + 3 * m : a + 3 * m + 3] = tips[:, :3, :3]
        return out.reshape(len(tips), -1, out.shape[3])


def _turn(vector: NDArray) -> NDArray:
    angle = float(np.linalg.norm(vector))
    return from_axis_angle(vector, angle) if angle else np.eye(3)


def free_entries(arm: Arm, geometry: bool | str) -> NDArray:
    """Return which entries (n, 6) of geometry are fitted: all, the joints' zeros, or none."""
    free = np.full((arm.n, 6), geometry is True)
    if geometry == "offsets":
        free[np.arange(arm.n), zero_columns(arm)] = True
    return free


def zero_columns(arm: Arm) -> NDArray:
    """Column (n,) of geometry that is the error of each joint's zero: rz, or z where the joint slides."""
    return np.array([5 if joint.kind == "revolute" else 2 for joint in arm.joints])
