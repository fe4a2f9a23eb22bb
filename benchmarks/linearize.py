"""The linearised arm against Pinocchio, in one process: `python benchmarks/linearize.py [samples]`.

Times are the best of several runs, per sample. Ratios are what matters: the machine may be busy.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin

import armdyn
from armdyn.model.pinocchio_bridge import to_pinocchio


def best(run: Callable[[], object], repeat: int = 9) -> float:
    run()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def matrix_alone(name: str) -> Callable[..., Any]:
    """A kernel that computes only C or only K: what three parallel passes would run."""

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


def main(samples: int = 10_000) -> None:
    arm = armdyn.arms.panda()
    model = to_pinocchio(arm)
    model.armature = np.zeros(arm.n)  # the rigid arm alone, as in `linearize`
    data = model.createData()
    n, rng = arm.n, np.random.default_rng(0)
    q, qd, qdd = rng.normal(size=(3, samples, n))
    tau = armdyn.inverse_dynamics(arm, q, qd, qdd)
    check(arm, model, (q[0], qd[0], qdd[0]))

    def rnea() -> None:
        for k in range(samples):
            pin.computeRNEADerivatives(model, data, q[k], qd[k], qdd[k])

    def both() -> None:
        for k in range(samples):
            pin.computeRNEADerivatives(model, data, q[k], qd[k], qdd[k])
            pin.computeABADerivatives(model, data, q[k], qd[k], tau[k])

    out3 = armdyn.torque_derivatives(arm, q, qd, qdd)
    out5 = armdyn.linearize(arm, q, qd, qdd)
    alone = [matrix_alone("C"), matrix_alone("K")]
    outs = [np.empty((samples, n, n)) for _ in range(3)]

    def three_passes() -> None:
        armdyn.mass_matrix(arm, q, out=outs[0])
        for f, out in zip(alone, outs[1:], strict=True):
            f(arm, q, qd, qdd, out=out)

    state = q[0].copy(), qd[0].copy(), qdd[0].copy()
    call = armdyn.kernel(armdyn.linearize, arm)
    p3, p5 = best(rnea, 3) / samples, best(both, 3) / samples
    rows = [
        ("pinocchio computeRNEADerivatives", p3, p3),
        ("tau, M, C, K into out=", best(lambda: armdyn.torque_derivatives(arm, q, qd, qdd, out=out3)) / samples, p3),
        ("tau, M, C, K fresh", best(lambda: armdyn.torque_derivatives(arm, q, qd, qdd)) / samples, p3),
        ("M, C, K in three passes into out=", best(three_passes) / samples, p3),
        (
            "tau, M, C, K into out=, two threads",
            best(lambda: armdyn.torque_derivatives(arm, q, qd, qdd, out=out3, threads=2)) / samples,
            p3,
        ),
        ("pinocchio computeRNEA- + computeABADerivatives", p5, p5),
        ("M, C, K, A, B into out=", best(lambda: armdyn.linearize(arm, q, qd, qdd, out=out5)) / samples, p5),
        ("M, C, K, A, B fresh", best(lambda: armdyn.linearize(arm, q, qd, qdd)) / samples, p5),
        (
            "M, C, K, A, B into out=, two threads",
            best(lambda: armdyn.linearize(arm, q, qd, qdd, out=out5, threads=2)) / samples,
            p5,
        ),
        ("M, C, K, A, B, one sample from Python", best(lambda: [call(*state) for _ in range(100)]) / 100, p5),
        ("exact step (zoh) of A, B", best(lambda: armdyn.discretize(out5.A, out5.B, 1e-3), 3) / samples, float("nan")),
    ]
    print(f"{arm.name}, {samples} samples")
    print(f"{'':48}{'ns':>10}{'ratio':>8}{'rate [kHz]':>12}")
    for name, seconds, reference in rows:
        print(f"{name:48}{seconds * 1e9:10.0f}{reference / seconds:8.1f}{1e-3 / seconds:12.0f}")


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:2]))
