"""Equations of energy: the power of all torques is the rate of the arm's energy and what friction takes.

One equation per sample for all joints together, low-passed like the others; neither accelerations nor Coriolis terms
are made. It is the energy model of Gautier and Khalil (1988), in the place of whose integrals stands the low-pass.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.base.parameters import BaseParameters
from armdyn.dynamics.regressors.energy_regressor import energy_regressor
from armdyn.dynamics.regressors.joint_columns import joint_columns
from armdyn.dynamics.shafts import at_shafts
from armdyn.identification.fit.decimate import Decimator
from armdyn.identification.fit.terms import ROTOR, TERMS
from armdyn.identification.motion.track import Track


def energy_part(
    base: BaseParameters, part: Track, columns: NDArray, tau: NDArray, low: Decimator, rate: Decimator
) -> tuple[NDArray, NDArray]:
    """Rows (1, N, base + n terms) and powers (1, N) from shafts' torques of joint terms (samples, terms, n) and tau."""
    arm, n, speed = base.source, base.source.n, at_shafts(base.source, part.qd)
    energies = np.add(*energy_regressor(arm, part.q, part.qd))
    if base.joint_terms:
        # Coupled rotors: their torques with velocities in the place of accelerations are momenta.
        momenta = joint_columns(arm, part.q, part.qd, part.qd, base.joint_terms)
        energies = np.hstack([energies, np.einsum("ki,kij->kj", part.qd, momenta) / 2])
    Y = np.zeros((low.count, base.count + n * len(TERMS)))
    Y[:, : base.count] = rate @ energies[:, list(base.kept)]
    taken = columns * speed[:, None, :]
    Y[:, base.count :] = low @ taken.swapaxes(1, 2).reshape(len(taken), -1)
    Y[:, base.count + ROTOR :: len(TERMS)] = rate @ (speed**2 / 2)
    return Y[None], (low @ (part.qd * tau).sum(axis=1, keepdims=True)).T
