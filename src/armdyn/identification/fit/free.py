"""The model as it was estimated: base parameters and joint terms, which need not be physically consistent."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.base.parameters import BaseParameters
from armdyn.dynamics.newton_euler import inverse_dynamics
from armdyn.identification.fit.terms import LOAD, TERMS, Reach, load_column, term_columns
from armdyn.identification.motion.track import Track
from armdyn.model.arm import Arm

CHUNK = 20_000  # samples whose regressors are held at once


class FreeModel(NamedTuple):
    """Torques that are linear in parameters x (size,): base ones, then terms joint by joint."""

    base: BaseParameters
    x: NDArray
    reach: Reach
    width: float  # speed within which directions are not told [rad/s or m/s]
    carrier: Arm | None  # whose rigid torques load the joints

    @property
    def terms(self) -> NDArray:
        """Values (n, terms)."""
        return self.x[self.base.count :].reshape(-1, len(TERMS))

    def torque(self, track: Track) -> NDArray:
        """Along a track (N, n)."""
        cuts = [track.part(slice(k, k + CHUNK)) for k in range(0, len(track.t), CHUNK)]
        return np.concatenate([self._torque(part) for part in cuts])

    def _torque(self, part: Track) -> NDArray:
        base, values = self.base, self.terms
        Y = base.regressor(part.q) if base.terms == "gravity" else base.regressor(part.q, part.qd, part.qdd)
        tau = Y @ self.x[: base.count]
        wanted = np.asarray(values.any(axis=0))
        columns = term_columns(base.source, part, self.reach, part.temperature, self.width, wanted)
        tau += np.einsum("ktj,jt->kj", columns[:, wanted], values[:, wanted])
        if wanted[LOAD] and self.carrier is not None:
            rigid = inverse_dynamics(self.carrier, part.q, part.qd, part.qdd)
            tau += load_column(base.source, part, rigid, self.width) * values[:, LOAD]
        return tau
