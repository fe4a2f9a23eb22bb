"""Lu and Meng's modification of Slotine and Li's law, which uses the ordinary regressor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from armdyn.control.adaptive.estimate import Adaptive, adapt_estimate, outside
from armdyn.control.formula import Answer, Arm, Reference, Values, ca, traced_step
from armdyn.control.theory.lyapunov import Lyapunov, parameter_energy, quadratic, surface
from armdyn.dynamics.coriolis import coriolis_matrix
from armdyn.dynamics.drive import augmented_mass_matrix
from armdyn.errors import expect


@dataclass(frozen=True, eq=False)
class ModifiedSlotineLi(Adaptive):
    """Slotine and Li's idea with the regressor of the equations of motion (Lu and Meng 1993).

        e = q_ref - q,  s = e' + Lambda e,  qdd_r = qdd_ref + Lambda e'
        tau = M_hat qdd_r + C_hat qd + g_hat + K s = Y(q, qd, qdd_r) phi + known + K s,   d phi/dt = Gamma Y' s

    Without `k`, K = lambda M_hat with Lambda = lambda 1 (equations 92-96): computed torque with an estimated model.
    V = s' M s / 2 + ... obeys V' = -s' (K - C) s, so the proof holds only while K outweighs the Christoffel matrix C of
    the true motion (erratum 8): high speeds need large gains. `lyapunov` tells where that failed.

    Parameters
    ----------
    unknowns : Unknowns
        As `adapt` makes them.
    lam : array_like
        Positive definite Lambda [1/s]; one number without `k`.
    gain : array_like, shape (..., u)
        Adaptation gains (the paper's Gamma).
    k : array_like, optional
        Positive definite K [N m s/rad].
    start, lower, upper, leak, dead_zone, normalize
        See `Adaptive`.

    References
    ----------
    Lu and Meng (1993), equations (86)-(96), with erratum 7: the estimate is what is updated, and accelerations
    qdd_r, qdd* stand where velocities are printed.
    """

    lam: ArrayLike
    gain: ArrayLike
    k: ArrayLike | None = None
    gain_shapes: ClassVar = {**Adaptive.gain_shapes, "lam": "n, n", "k": "n, n"}

    def __post_init__(self) -> None:
        super().__post_init__()
        lam = np.asarray(self.lam)
        fits = self.k is not None or np.allclose(lam, lam[..., :1, :1] * np.eye(self.arm.n), rtol=1e-12, atol=0)
        expect(fits, "ModifiedSlotineLi: lam", "one number for all joints where K = lambda M_hat")

    @property
    def shapes(self) -> Any:  # type: ignore[override]
        """With K only if it is given."""
        return {name: shape for name, shape in super().shapes.items() if name != "k" or self.k is not None}

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample: equations (86)-(96) of the paper, whose s has the other sign."""
        phi, lam = state["phi"], params["lam"]
        e, ed = ref.q - q, ref.qd - qd
        s = ed + ca.mtimes(lam, e)
        a = ref.qdd + ca.mtimes(lam, ed)  # qdd_r of (86)
        if self.k is None:
            a = a + ca.mtimes(lam, s)  # qdd* of (96)
        Y, known = self.unknowns.torque(q, qd, a, params, ref=ref)
        tau = ca.mtimes(Y, phi) + known  # (95)
        if self.k is not None:
            tau = tau + ca.mtimes(params["k"], s)  # (88)
        rate = ca.mtimes(Y.T, outside(s, params["dead_zone"]))
        return tau, {"phi": adapt_estimate(phi, rate, Y, params, dt)}  # (89), (94)

    def lyapunov(self, plant: Arm, truth: ArrayLike, run: Any) -> Lyapunov:
        """V, its rate -s' (K - C) s, and the least eigenvalue of the symmetric part of K - C.

        Parameters as in `SlotineLi.lyapunov`.
        """
        lam = np.asarray(self.lam)
        s = surface(run, lam)
        M, C = augmented_mass_matrix(plant, run.q), coriolis_matrix(plant, run.q, run.qd)
        # With K = lambda M_hat the terms of the estimate cancel, and the true lambda M is what remains.
        falls = (lam[0, 0] * M if self.k is None else np.asarray(self.k)) - C
        V = quadratic(M, s) / 2 + parameter_energy(run.states["phi"], truth, self.gain)
        return Lyapunov.of(V, -quadratic(falls, s), falls)
