"""Concurrent learning: an adaptive law that remembers what it saw, and learns from it while nothing new happens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from armdyn.control.adaptive.composite import CompositeSlotineLi, learning_step, predict, where_other
from armdyn.control.adaptive.slotine_li import SlotineLi
from armdyn.control.formula import Answer, Arm, Reference, Symbol, Values, ca, traced_step
from armdyn.control.theory.lyapunov import Lyapunov, quadratic
from armdyn.dynamics.bodies.ltdl import factorize
from armdyn.errors import ShapeError

# Records that are kept, each of n equations.
RECORDS = 10
# Rates of learning [1/s] far below this count as none when records are judged.
SLOWEST_LEARNING_RATE = 1e-3
# A record is exchanged if that makes log det larger by this, so that round-off exchanges nothing.
MIN_GAIN = 1e-6


def remember(W: Symbol, r: Symbol, memory: Values, params: Values) -> dict[str, Symbol]:
    """The memory after a sample: its first record is exchanged for what is seen now if that tells more, and goes last.

    Merit is log det of 1 + the rates of learning that all records together give; it never falls, so that a memory
    which determines all unknowns goes on doing so. `information` and `evidence` are the sums W' R W and W' R r over the
    records.

    References
    ----------
    Chowdhary and Johnson (2010), Concurrent learning for convergence in adaptive control without persistency of
    excitation; Fedorov (1972) for the exchange by determinants.
    """
    n = W.shape[0]
    records, torques, evidence, merit = (memory[name] for name in ("records", "torques", "evidence", "merit"))
    old_W, old_r = where_other(records[:n, :], W), torques[:n]
    R = params["weight"] / RECORDS / ca.diag(params["k"])
    gram = _squares(W, R)
    information = where_other(ca.triu2symm(ca.triu(memory["information"])), gram)
    changed = information + gram - _squares(old_W, R)
    judged = _merit(changed, params["gain"])
    better = judged > merit + MIN_GAIN
    return {
        "records": ca.vertcat(records[n:, :], ca.if_else(better, W, old_W)),
        "torques": ca.vertcat(torques[n:], ca.if_else(better, r, old_r)),
        "information": ca.if_else(better, changed, information),
        "evidence": ca.if_else(better, evidence + ca.mtimes(W.T, R * r) - ca.mtimes(old_W.T, R * old_r), evidence),
        "merit": ca.if_else(better, judged, merit),
    }


def _merit(information: Symbol, gain: Symbol) -> Symbol:
    """Log det of 1 + rates of learning over the slowest that counts."""
    root = ca.diag(ca.sqrt(gain / SLOWEST_LEARNING_RATE))
    rates = ca.SX.eye(gain.shape[0]) + ca.mtimes([root, information, root])
    # Round-off may leave a vanishing pivot negative: such a memory is worse than any.
    return -sum((ca.log(ca.if_else(x > 0, x, np.finfo(float).max)) for x in factorize(rates).inverse_d), ca.SX(0))


def _squares(W: Symbol, R: Symbol) -> Symbol:
    """W' diag(R) W, each product computed once."""
    total = ca.SX.zeros(W.shape[1], W.shape[1])
    for j in range(W.shape[1]):
        scaled = R * W[:, j]
        for i in range(j + 1):
            total[i, j] = total[j, i] = ca.dot(W[:, i], scaled)
    return total


@dataclass(frozen=True, eq=False)
class ConcurrentSlotineLi(CompositeSlotineLi):
    """Slotine and Li's law that also learns from what it has recorded, without persistent excitation.

        d phi/dt = Gamma (Y' s + mean over 10 records of W_j' R (r_j - W_j phi)),   R = weight / diag(K)

    Records are low-passed columns and torques of the run's past, exchanged only for more telling ones. Once they
    determine all unknowns, the estimate converges exponentially, whatever the motion does then: V' = -s' K s -
    (phi - phi_true)' (mean of W_j' R W_j) (phi - phi_true). What changes after it was recorded, such as a load put
    down, is unlearnt only where new records push out the old: start the law anew then.

    Parameters
    ----------
    unknowns, lam, k, gain, start, lower, upper, dead_zone, leak, normalize, weight, smoothing
        As in `CompositeSlotineLi`; at most 10 unknowns per joint.

    References
    ----------
    Chowdhary and Johnson (2010), Concurrent learning for convergence in adaptive control without persistency of
    excitation.
    """

    state_shapes: ClassVar = {
        **CompositeSlotineLi.state_shapes, "records": f"{RECORDS}*n, u", "torques": f"{RECORDS}*n",
        "information": "u, u", "evidence": "u", "merit": "1",
    }  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.unknowns.count > RECORDS * self.arm.n:
            expected = f"at most {RECORDS * self.arm.n} unknowns, which {RECORDS} records can determine"
            raise ShapeError(where="ConcurrentSlotineLi", expected=expected, got=self.unknowns.count)

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample: the torques of `SlotineLi`, and a period of d phi/dt = gain (evidence - information phi)."""
        tau, after = SlotineLi.step(self, arm, params, state, q, qd, ref, dt)
        new = predict(self.unknowns, params, state, q, qd, tau, dt)
        memory = remember(new["W"], new["r"], state, params)
        information = memory["information"]
        strength = ca.dot(params["gain"], ca.diag(information))
        change = memory["evidence"] - ca.mtimes(information, state["phi"])
        return tau, {"phi": learning_step(after["phi"], change, strength, params, dt), **new, **memory}

    def lyapunov(self, plant: Arm, truth: ArrayLike, run: Any, form: str = "standard") -> Lyapunov:
        """V and its rate along a run, as in `SlotineLi`, with what the memory adds."""
        function = SlotineLi.lyapunov(self, plant, truth, run, form)
        wrong = run.states["phi"] - np.asarray(truth, float)
        return function._replace(rate=function.rate - quadratic(run.states["information"], wrong))
