"""Slotine and Li's adaptive law."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from armdyn.control.adaptive.estimate import Adaptive, adapt_estimate, outside
from armdyn.control.adaptive.unknowns import AdaptiveParameters
from armdyn.control.formula import Answer, Arm, Reference, Symbol, Values, ca, traced_step
from armdyn.control.settings import as_numbers
from armdyn.control.theory.gains import commute
from armdyn.control.theory.lyapunov import Lyapunov, parameter_energy, quadratic, surface
from armdyn.dynamics.drive import augmented_mass_matrix
from armdyn.errors import ArmdynWarning, ShapeError, quote


def torques_and_rate(
    unknowns: AdaptiveParameters, params: Values, phi: Symbol, q: Symbol, qd: Symbol, ref: Reference
) -> tuple[Symbol, Symbol, Symbol]:
    """Slotine and Li's torques Y phi + known + K s, and Y' s, which drives the adaptation, and Y.

    References
    ----------
    Slotine and Li (1987); ECE470 (2019), section 3.3.
    """
    e, ed = ref.q - q, ref.qd - qd
    v, a = ref.qd + ca.mtimes(params["lam"], e), ref.qdd + ca.mtimes(params["lam"], ed)
    s = v - qd
    Y, known = unknowns.torque(q, qd, a, params, v, ref)
    tau = ca.mtimes(Y, phi) + known + ca.mtimes(params["k"], s)
    return tau, ca.mtimes(Y.T, outside(s, params["dead_zone"])), Y


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

    gain_shapes: ClassVar = {**Adaptive.gain_shapes, "lam": "n, n", "k": "n, n"}
    lam: ArrayLike
    k: ArrayLike
    gain: ArrayLike

    @classmethod
    def from_inverse_gain(
        cls, unknowns: AdaptiveParameters, lam: ArrayLike, k: ArrayLike, inverse_gain: ArrayLike, **options: Any
    ) -> SlotineLi:
        """ECE470's form: `inverse_gain` is the diagonal of its Gamma. Warns if Lambda K is not K Lambda."""
        inverse = as_numbers(inverse_gain, f"{cls.__name__}: inverse_gain")
        if not (np.isfinite(inverse).all() and (inverse > 0).all()):
            raise ShapeError(where=f"{cls.__name__}: inverse_gain", expected="numbers > 0", got=quote(inverse_gain))
        law = cls(unknowns, lam, k, 1 / inverse, **options)
        if not commute(np.asarray(law.lam), np.asarray(law.k)):
            cause = "SlotineLi: Lambda and K do not commute, so the Lyapunov function of ECE470, section 3.3, proves"
            warnings.warn(f"{cause} nothing; that of Slotine and Li still does", ArmdynWarning, stacklevel=2)
        return law

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample of the equations above."""
        tau, rate, Y = torques_and_rate(self.unknowns, params, state["phi"], q, qd, ref)
        return tau, {"phi": adapt_estimate(state["phi"], rate, Y, params, dt)}

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
        V = quadratic(augmented_mass_matrix(plant, run.q), s) / 2
        V = V + parameter_energy(run.states["phi"], truth, self.gain)
        if form == "standard":
            return Lyapunov.of(V, -quadratic(k, s), k)
        product = lam @ k
        rate = -quadratic(product @ lam, e) - quadratic(k, ed)
        return Lyapunov.of(V + quadratic(product, e), rate, product)
