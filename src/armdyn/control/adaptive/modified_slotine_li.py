"""Lu and Meng's modification of Slotine and Li's law, which uses the ordinary regressor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from armdyn.control.adaptive.estimate import ADAPTATION_SHAPES, MOTION_SHAPES, Adaptive, adapted, outside
from armdyn.control.adaptive.unknowns import Unknowns
from armdyn.control.design.gains import gain_matrix
from armdyn.control.design.lyapunov import Lyapunov, parameter_energy, quadratic, surface
from armdyn.control.laws.model import MODEL_SHAPES
from armdyn.control.protocol import Answer, Reference, Values
from armdyn.dynamics.coriolis import coriolis_matrix
from armdyn.dynamics.drive import augmented_mass_matrix
from armdyn.errors import ShapeError
from armdyn.model.arm import Arm
from armdyn.trace.symbols import ca
from armdyn.trace.traced import traced


@traced(
    **MOTION_SHAPES, phi="u", lam="n, n", k="n, n", **ADAPTATION_SHAPES, dt="", **MODEL_SHAPES,
    returns={"tau": "n", "phi": "u"},
)  # fmt: skip
def modified_slotine_li(
    unknowns: Unknowns, q: Any, qd: Any, q_ref: Any, qd_ref: Any, qdd_ref: Any, phi: Any, lam: Any,
    start: Any, gain: Any, lower: Any, upper: Any, dead_zone: Any, leak: Any, normalize: Any, dt: Any, k: Any = None, *,
    theta: Any, gravity: Any, drive: Any,
) -> Any:  # fmt: skip
    """Torques of the modified law and the estimate after the sample; see `ModifiedSlotineLi`.

    Parameters
    ----------
    unknowns : Unknowns
    q, qd, q_ref, qd_ref, qdd_ref : array_like, shape (..., n)
        Measured and wanted motion [rad or m, /s, /s²].
    phi : array_like, shape (..., u)
        Estimate of the unknowns.
    lam : array_like, shape (..., n, n)
    k : array_like, shape (..., n, n), optional
        Left out: K = lambda M_hat.
    start, gain, lower, upper, leak : array_like, shape (..., u)
    dead_zone, normalize : array_like, shape (..., n)
    dt : float
        Period [s].
    theta, gravity, drive : array_like, optional
        The known part of the model.

    Returns
    -------
    tau : ndarray, shape (..., n)
    phi : ndarray, shape (..., u)

    References
    ----------
    Lu and Meng (1993), equations (86)-(96), with erratum 7: the estimate is what is updated, and accelerations
    qdd_r, qdd* stand where velocities are printed. Signs here: e = q_ref - q, so s is minus the paper's.
    """
    e, ed = q_ref - q, qd_ref - qd
    s = ed + ca.mtimes(lam, e)
    a = qdd_ref + ca.mtimes(lam, ed)  # qdd_r of (86)
    if k is None:
        a = a + ca.mtimes(lam, s)  # qdd* of (96)
    Y, known = unknowns.torque(q, qd, a, {"theta": theta, "gravity": gravity, "drive": drive})
    tau = ca.mtimes(Y, phi) + known  # (95)
    if k is not None:
        tau = tau + ca.mtimes(k, s)  # (88)
    rules = {"start": start, "gain": gain, "lower": lower, "upper": upper, "leak": leak, "normalize": normalize}
    return tau, adapted(phi, ca.mtimes(Y.T, outside(s, dead_zone)), Y, rules, dt)  # (89), (94)


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
    """

    unknowns: Unknowns
    lam: ArrayLike
    gain: ArrayLike
    k: ArrayLike | None = None
    start: ArrayLike | None = None
    lower: ArrayLike = -np.inf
    upper: ArrayLike = np.inf
    dead_zone: ArrayLike = 0.0
    leak: ArrayLike = 0.0
    normalize: ArrayLike = 0.0
    every_shape: ClassVar = {**Adaptive.shapes, "lam": "n, n", "k": "n, n"}

    def __post_init__(self) -> None:
        self._prepare()
        gain_matrix(self, "lam")
        lam = np.asarray(self.lam)
        if self.k is not None:
            gain_matrix(self, "k")
        elif not np.allclose(lam, lam[..., :1, :1] * np.eye(self.arm.n), rtol=1e-12, atol=0):
            raise ShapeError("ModifiedSlotineLi: lam: expected one number for all joints where K = lambda M_hat")

    @property
    def shapes(self) -> Any:  # type: ignore[override]
        """With K only if it is given."""
        return {name: shape for name, shape in self.every_shape.items() if name != "k" or self.k is not None}

    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample; see `modified_slotine_li`."""
        arguments = self.arguments(params, q, qd, ref) | ({"k": params["k"]} if self.k is not None else {})
        tau, phi = modified_slotine_li(self.unknowns, phi=state["phi"], lam=params["lam"], dt=dt, **arguments)
        return tau, {"phi": phi}

    def lyapunov(self, plant: Arm, truth: ArrayLike, run: Any) -> Lyapunov:
        """V, its rate -s' (K - C) s, and the least eigenvalue of the symmetric part of K - C.

        Parameters
        ----------
        plant : Arm
            The true arm.
        truth : array_like, shape (u,)
            The true unknowns.
        run : SimulationResult
            With the state `phi`.
        """
        lam = np.asarray(self.lam)
        s = surface(run, lam)
        M, C = augmented_mass_matrix(plant, run.q), coriolis_matrix(plant, run.q, run.qd)
        # With K = lambda M_hat the terms of the estimate cancel, and the true lambda M is what remains.
        falls = (lam[0, 0] * M if self.k is None else np.asarray(self.k)) - C
        V = quadratic(M, s) / 2 + parameter_energy(run.states["phi"], truth, self.gain)
        margin = np.linalg.eigvalsh((falls + falls.swapaxes(-1, -2)) / 2)[..., 0]
        return Lyapunov(V, -quadratic(falls, s), margin)
