"""The linearised arm against Pinocchio, in one process: `python benchmarks/linearize.py [samples]`.

All candidates take turns of a few milliseconds, and the best turn of each counts, so that others who use the
machine slow all of them alike. Ratios are what matters.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

import armdyn
from armdyn.model.pinocchio_bridge import to_pinocchio

TURNS = 40
FEW = 500  # samples a turn of what takes long


class Candidate(NamedTuple):
    name: str
    run: Callable[[], Any]
    samples: int
    against: str | None = None  # the name of another candidate


def matrix_alone(name: str) -> Callable[..., Any]:
    """A function that computes only C or only K: what three parallel passes would run."""

    @armdyn.traced(q="n", qd="n", qdd="n", theta="10*n", gravity="3", returns={name: "n, n"})
    def alone(arm, q, qd, qdd, *, theta, gravity):
        return getattr(armdyn.torque_derivatives(arm, q, qd, qdd, theta=theta, gravity=gravity), name)

    return alone


def check(arm, model, state) -> None:
    """Both compute the same."""
    data = model.createData()
    pin.computeRNEADerivatives(model, data, *state)
    pin.computeABADerivatives(model, data, *state[:2], data.tau.copy())
    M, C, K, A, B = armdyn.linearize(arm, *state)
    n = arm.n
    pairs = [(np.triu(M), np.triu(data.M)), (C, data.dtau_dv), (K, data.dtau_dq)]
    pairs += [(A[n:, :n], data.ddq_dq), (A[n:, n:], data.ddq_dv), (np.triu(B[n:]), np.triu(data.Minv))]
    for ours, theirs in pairs:
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8 * np.abs(theirs).max())


def candidates(samples: int) -> list[Candidate]:
    arm = armdyn.arms.panda()
    model = to_pinocchio(arm)
    data, n = model.createData(), arm.n
    motion = q, qd, qdd = np.random.default_rng(0).normal(size=(3, samples, n))
    tau = armdyn.inverse_dynamics(arm, *motion)
    state = [x[0].copy() for x in motion]
    check(arm, model, state)
    out3, out5 = armdyn.torque_derivatives(arm, *motion), armdyn.linearize(arm, *motion)
    only_C, only_K = matrix_alone("C"), matrix_alone("K")
    call = armdyn.kernel(armdyn.linearize, arm)

    def rnea() -> None:
        for k in range(FEW):
            pin.computeRNEADerivatives(model, data, q[k], qd[k], qdd[k])

    def rnea_and_aba() -> None:
        for k in range(FEW):
            pin.computeRNEADerivatives(model, data, q[k], qd[k], qdd[k])
            pin.computeABADerivatives(model, data, q[k], qd[k], tau[k])

    def three_passes() -> None:
        armdyn.mass_matrix(arm, q, out=out3.M)
        only_C(arm, *motion, out=out3.C)
        only_K(arm, *motion, out=out3.K)

    def threaded() -> None:
        armdyn.torque_derivatives(arm, *motion, out=out3, threads=2)

    three, five = "Pinocchio: RNEA derivatives", "Pinocchio: RNEA and ABA derivatives"
    return [
        Candidate(three, rnea, FEW),
        Candidate("tau, M, C, K, out=", lambda: armdyn.torque_derivatives(arm, *motion, out=out3), samples, three),
        Candidate("  fresh arrays", lambda: armdyn.torque_derivatives(arm, *motion), samples, three),
        Candidate("  M, C, K in three passes, out=", three_passes, samples, three),
        Candidate(
            "  two threads, out=", lambda: armdyn.torque_derivatives(arm, *motion, out=out3, threads=2), samples, three
        ),
        Candidate(five, rnea_and_aba, FEW),
        Candidate("M, C, K, A, B, out=", lambda: armdyn.linearize(arm, *motion, out=out5), samples, five),
        Candidate("  fresh arrays", lambda: armdyn.linearize(arm, *motion), samples, five),
        Candidate("  two threads, out=", lambda: armdyn.linearize(arm, *motion, out=out5, threads=2), samples, five),
        Candidate("  one sample from Python", lambda: [call(*state) for _ in range(FEW)], FEW, five),
        Candidate("Exact step of A, B at 1 kHz", lambda: armdyn.discretize(out5.A[:FEW], out5.B[:FEW], 1e-3), FEW),
    ]


def main(samples: int = 10_000) -> None:
    rows = candidates(samples)
    best = [np.inf] * len(rows)
    for _ in range(TURNS):
        for k, row in enumerate(rows):
            start = time.perf_counter()
            row.run()
            best[k] = min(best[k], (time.perf_counter() - start) / row.samples)
    times = {row.name: seconds for row, seconds in zip(rows, best, strict=True)}
    print(f"Panda, {samples} samples\n{'':42}{'ns':>8}{'ratio':>8}{'kHz':>8}")
    for row, seconds in zip(rows, best, strict=True):
        ratio = f"{times[row.against] / seconds:8.1f}" if row.against else " " * 8
        print(f"{row.name:42}{seconds * 1e9:8.0f}{ratio}{1e-3 / seconds:8.0f}")


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:2]))
