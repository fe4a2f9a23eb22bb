"""The model as it was estimated: base parameters and joint terms, which need not be physically consistent."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.base.parameters import BaseParameters
from armdyn.dynamics.newton_euler import inverse_dynamics
from armdyn.dynamics.shafts import drive_torques, shaft_rows
from armdyn.identification.fit.passive import passive_torque
from armdyn.identification.fit.rows import CHUNK_SAMPLES
from armdyn.identification.fit.terms import LOAD, TERMS, MotionStatistics, load_column, term_columns
from armdyn.identification.motion.track import Track
from armdyn.model.arm import Arm
from armdyn.spatial import inertia as inertial


class FreeModel(NamedTuple):
    """Torques that are linear in parameters x (size,): base ones, then terms joint by joint."""

    base: BaseParameters
    x: NDArray
    statistics: MotionStatistics
    width: float  # speed within which directions are uncertain [rad/s or m/s]
    rigid_arm: Arm | None  # whose rigid torques load the joints

    @property
    def terms(self) -> NDArray:
        """Values (n, terms)."""
        return self.x[self.base.count :].reshape(-1, len(TERMS))

    def columns_of(self, joint: int) -> NDArray:
        """Positions of the parameters that a joint's torque depends on."""
        first = self.base.count + joint * len(TERMS)
        return np.r_[0 : self.base.count, first : first + len(TERMS)]

    def cuts(self, track: Track) -> list[Track]:
        """A motion in pieces whose regressors are held at once."""
        return [track.part(slice(k, k + CHUNK_SAMPLES)) for k in range(0, len(track.t), CHUNK_SAMPLES)]

    def torque(self, track: Track) -> NDArray:
        """Along a track (N, n)."""
        return np.concatenate([self._torque(part) for part in self.cuts(track)])

    @property
    def bodies(self) -> Arm:
        """The arm whose rigid torques are those of the base parameters, but for rotors among these."""
        arm, theta = self.base.source, np.linalg.pinv(self.base.P) @ self.x[: self.base.count]
        return arm.with_theta(theta[: inertial.SIZE * arm.n_joints])

    def columns(self, part: Track) -> NDArray:
        """Torques (n, N, base + terms) of every shaft for a unit of each of its parameters."""
        base, joint_columns = self.base, self._joint_columns(part).transpose(0, 2, 1)
        rigid = base.regressor(part.q, *(() if base.terms == "gravity" else (part.qd, part.qdd)))
        return np.concatenate([shaft_rows(base.source, rigid), joint_columns], axis=2).swapaxes(0, 1)

    def _joint_columns(self, part: Track) -> NDArray:
        """Columns of each shaft's own terms (N, terms, n)."""
        arm, wanted = self.base.source, np.asarray(self.terms.any(axis=0))
        columns = term_columns(arm, part, self.statistics, part.temperature, self.width, wanted)
        if wanted[LOAD] and self.rigid_arm is not None:
            rigid = inverse_dynamics(self.rigid_arm, part.q, part.qd, part.qdd)
            columns[:, LOAD] = load_column(arm, part, rigid, self.width)
        return columns

    def _torque(self, part: Track) -> NDArray:
        arm, passive = self.base.source, passive_torque(self.base.source, part, self.width)
        if self.base.terms == "gravity" or self.base.joint_terms:
            torques = [Y @ self.x[self.columns_of(j)] for j, Y in enumerate(self.columns(part))]
            return np.asarray(drive_torques(arm, np.stack(torques, axis=1))) + passive
        # The same from fewer operations.
        tau = drive_torques(arm, np.einsum("tkj,jk->tj", self._joint_columns(part), self.terms))
        return np.asarray(inverse_dynamics(self.bodies, part.q, part.qd, part.qdd) + tau) + passive
