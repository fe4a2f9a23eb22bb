"""Slotine and Li's adaptive law."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from armdyn.control.adaptive.estimate import ADAPTATION_SHAPES, MOTION_SHAPES, Adaptive, adapted, outside
from armdyn.control.adaptive.unknowns import Unknowns
from armdyn.control.design.gains import commute, gain_matrix
from armdyn.control.design.lyapunov import Lyapunov, parameter_energy, quadratic, surface
from armdyn.control.laws.model import MODEL_SHAPES
from armdyn.control.protocol import Answer, Reference, Values
from armdyn.control.settings import as_numbers
from armdyn.dynamics.drive import augmented_mass_matrix
from armdyn.errors import ArmdynWarning, ShapeError, shown
from armdyn.model.arm import Arm
from armdyn.trace.symbols import ca
from armdyn.trace.traced import traced


def torques_and_rate(
    unknowns: Unknowns, motion: tuple[Any, ...], phi: Any, lam: Any, k: Any, dead_zone: Any, data: Any
) -> tuple[Any, Any, Any]:
    """Slotine and Li's torques Y phi + known + K s, and Y' s, which drives the adaptation, and Y."""
    q, qd, q_ref, qd_ref, qdd_ref = motion
    e, ed = q_ref - q, qd_ref - qd
    v, a = qd_ref + ca.mtimes(lam, e), qdd_ref + ca.mtimes(lam, ed)
    s = v - qd
    Y, known = unknowns.torque(q, qd, a, data, v)
    return ca.mtimes(Y, phi) + known + ca.mtimes(k, s), ca.mtimes(Y.T, outside(s, dead_zone)), Y


@traced(
    **MOTION_SHAPES, phi="u", lam="n, n", k="n, n", **ADAPTATION_SHAPES, dt="", **MODEL_SHAPES,
    returns={"tau": "n", "phi": "u"},
)  # fmt: skip
def slotine_li(
    unknowns: Unknowns, q: Any, qd: Any, q_ref: Any, qd_ref: Any, qdd_ref: Any, phi: Any, lam: Any, k: Any,
    start: Any, gain: Any, lower: Any, upper: Any, dead_zone: Any, leak: Any, normalize: Any, dt: Any, *,
    theta: Any, gravity: Any, drive: Any,
) -> Any:  # fmt: skip
    """Torques of Slotine and Li's law and the estimate after the sample; see `SlotineLi` for the symbols.

    Parameters
    ----------
    unknowns : Unknowns
    q, qd, q_ref, qd_ref, qdd_ref : array_like, shape (..., n)
        Measured and wanted motion [rad or m, /s, /s²].
    phi : array_like, shape (..., u)
        Estimate of the unknowns.
    lam, k : array_like, shape (..., n, n)
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
    Slotine and Li (1987); ECE470 (2019), section 3.3.
    """
    data = {"theta": theta, "gravity": gravity, "drive": drive}
    tau, rate, Y = torques_and_rate(unknowns, (q, qd, q_ref, qd_ref, qdd_ref), phi, lam, k, dead_zone, data)
    rules = {"start": start, "gain": gain, "lower": lower, "upper": upper, "leak": leak, "normalize": normalize}
    return tau, adapted(phi, rate, Y, rules, dt)


@dataclass(frozen=True, eq=False)
class SlotineLi(Adaptive):
    """Adaptive control that needs neither accelerations nor the inverse of an estimated mass matrix.

        e = q_ref - q,  v = qd_ref + Lambda e,  s = v - qd
        tau = M_hat v' + C_hat v + g_hat + K s = Y phi + known + K s,   d phi/dt = Gamma Y' s

    With the Christoffel C and bounded references, V = s' M s / 2 + (phi - phi_true)' Gamma^-1 (phi - phi_true) / 2
    falls as -s' K s, so e and e' go to zero (Barbalat); phi stays bounded, and reaches its true value if the motion
    excites it. ECE470's form is the same law: its Gamma is the inverse of `gain` (see `from_inverse_gain`), its V has
    e' Lambda K e besides, and its proof needs Lambda K = K Lambda (ECE470 (2019), erratum 2).

    Parameters
    ----------
    unknowns : Unknowns
        As `adapt` makes them.
    lam, k : array_like
        Positive definite gains Lambda [1/s] and K [N m s/rad], each one number, n of them or a matrix.
    gain : array_like, shape (..., u)
        Adaptation gains; see `adaptation_gains`.
    start, lower, upper, leak : array_like, shape (..., u)
    dead_zone, normalize : array_like, shape (..., n)
        See `Adaptive`.
    """

    shapes: ClassVar = {**Adaptive.shapes, "lam": "n, n", "k": "n, n"}
    unknowns: Unknowns
    lam: ArrayLike
    k: ArrayLike
    gain: ArrayLike
    start: ArrayLike | None = None
    lower: ArrayLike = -np.inf
    upper: ArrayLike = np.inf
    dead_zone: ArrayLike = 0.0
    leak: ArrayLike = 0.0
    normalize: ArrayLike = 0.0

    def __post_init__(self) -> None:
        self._prepare()
        gain_matrix(self, "lam")
        gain_matrix(self, "k")

    @classmethod
    def from_inverse_gain(
        cls, unknowns: Unknowns, lam: ArrayLike, k: ArrayLike, inverse_gain: ArrayLike, **options: Any
    ) -> SlotineLi:
        """ECE470's form: `inverse_gain` is the diagonal of its Gamma. Warns if Lambda K is not K Lambda."""
        inverse = as_numbers(inverse_gain, f"{cls.__name__}: inverse_gain")
        if not (np.isfinite(inverse).all() and (inverse > 0).all()):
            raise ShapeError(f"{cls.__name__}: inverse_gain: expected numbers > 0, got {shown(inverse_gain)}")
        law = cls(unknowns, lam, k, 1 / inverse, **options)
        if not commute(np.asarray(law.lam), np.asarray(law.k)):
            warnings.warn(
                "SlotineLi: Lambda and K do not commute, so the Lyapunov function of ECE470, section 3.3, proves "
                "nothing; that of Slotine and Li still does",
                ArmdynWarning,
                stacklevel=2,
            )
        return law

    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample; see `slotine_li`."""
        arguments = self.arguments(params, q, qd, ref)
        tau, phi = slotine_li(self.unknowns, phi=state["phi"], lam=params["lam"], k=params["k"], dt=dt, **arguments)
        return tau, {"phi": phi}

    def lyapunov(self, plant: Arm, truth: ArrayLike, run: Any, form: str = "standard") -> Lyapunov:
        """V and its rate along a run.

        Parameters
        ----------
        plant : Arm
            The true arm.
        truth : array_like, shape (u,)
            The true unknowns.
        run : SimulationResult
            With the state `phi`.
        form : {"standard", "ece470"}
            Whose Lyapunov function.
        """
        lam, k = np.asarray(self.lam), np.asarray(self.k)
        e, ed = run.q_ref - run.q, run.qd_ref - run.qd
        s = surface(run, lam)
        M = augmented_mass_matrix(plant, run.q)
        V = quadratic(M, s) / 2 + parameter_energy(run.states["phi"], truth, self.gain)
        if form == "standard":
            return Lyapunov(V, -quadratic(k, s), np.full(len(V), np.linalg.eigvalsh(k + k.T).min() / 2))
        product = lam @ k
        rate = -quadratic(product @ lam, e) - quadratic(k, ed)
        return Lyapunov(
            V + quadratic(product, e), rate, np.full(len(V), np.linalg.eigvalsh(product + product.T).min() / 2)
        )
