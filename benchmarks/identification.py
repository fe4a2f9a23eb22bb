"""Identification, measured in one process: `python benchmarks/identification.py`.

10,000 samples of a Panda end to end with consistency; weighted least squares on ready data against a loop over
Pinocchio's regressor and a QR decomposition; and, with `--big [SAMPLES]`, ten million samples in bounded memory.
"""

from __future__ import annotations

import resource
import sys
import time
import warnings
from collections.abc import Callable

import numpy as np

import armdyn
from armdyn.dynamics.normal_equations import normal_equations
from armdyn.errors import ArmdynWarning
from armdyn.identification.log import Log

RATE = 1000.0


def motion(arm: armdyn.Arm, samples: int, first: int = 0) -> tuple[np.ndarray, ...]:
    rng, t = np.random.default_rng(0), (first + np.arange(samples)[:, None]) / RATE
    q, qd, qdd = (np.zeros((samples, arm.n)) for _ in range(3))
    for k in range(1, 6):
        w, (a, b) = 2 * np.pi * 0.1 * k, rng.normal(size=(2, arm.n)) * 0.4 / np.sqrt(k)
        q += a * np.sin(w * t) - b * np.cos(w * t)
        qd += w * (a * np.cos(w * t) + b * np.sin(w * t))
        qdd += w * w * (-a * np.sin(w * t) + b * np.cos(w * t))
    return t[:, 0], q, qd, qdd


def best(run: Callable[[], object], repeat: int = 5) -> float:
    run()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def end_to_end(arm: armdyn.Arm, samples: int) -> None:
    t, q, qd, qdd = motion(arm, samples)
    noise = np.random.default_rng(1).normal(size=(2, *q.shape))
    tau = armdyn.joint_torque(arm, q, qd, qdd) + 0.3 * np.sign(qd) + 0.3 * noise[0]
    log = Log(t, q + 1e-5 * noise[1], tau)
    print(f"identify, {samples} samples x {arm.n} joints, consistent: {best(lambda: armdyn.identify(arm, log)):.2f} s")


def least_squares(arm: armdyn.Arm, samples: int) -> None:
    import pinocchio as pin

    from armdyn.model.pinocchio_bridge import to_pinocchio

    _, q, qd, qdd = motion(arm, samples)
    tau = armdyn.inverse_dynamics(arm, q, qd, qdd)
    base = armdyn.base_parameters(arm)
    weights = np.full(arm.n, 2.0)

    def ours() -> None:
        sums = normal_equations(base, (q, qd, qdd, tau), weights)
        np.linalg.solve(sums.A, sums.b)

    model = to_pinocchio(arm)
    data, kept = model.createData(), list(base.kept)

    def theirs() -> None:
        Y = np.stack([pin.computeJointTorqueRegressor(model, data, *s) for s in zip(q, qd, qdd, strict=True)])
        rows = (Y[:, :, kept] * weights[:, None]).reshape(-1, len(kept))
        Q, R = np.linalg.qr(rows)
        np.linalg.solve(R, Q.T @ (tau * weights).ravel())

    a, b = best(ours), best(theirs, 3)
    print(f"weighted least squares, {samples} samples: {a * 1e3:.0f} ms, Pinocchio + QR {b * 1e3:.0f} ms: {a / b:.2f}")


def big(arm: armdyn.Arm, samples: int) -> None:
    """All of `identify` on a log of millions of samples, and the memory that the process took at most."""
    piece = 100_000
    t = np.arange(samples) / RATE
    q, tau = np.empty((2, samples, arm.n))
    for k in range(0, samples, piece):
        here = slice(k, k + piece)
        noise = np.random.default_rng(k).normal(size=(2, min(piece, samples - k), arm.n))
        _, q[here], qd, qdd = motion(arm, len(noise[0]), first=k)
        tau[here] = armdyn.joint_torque(arm, q[here], qd, qdd) + 0.3 * np.sign(qd) + 0.3 * noise[0]
        q[here] += 1e-5 * noise[1]
    log = Log(t, q, tau)
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    start = time.perf_counter()
    fit = armdyn.identify(arm, log)
    seconds, memory = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"identify, {samples} samples: {seconds:.0f} s, relative error {fit.rel_error:.2%}; "
        f"{memory:.2f} GB at most, {held:.2f} GB of them before it began"
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore", ArmdynWarning)
    panda = armdyn.arms.panda()
    end_to_end(panda, 10_000)
    least_squares(panda, 10_000)
    if "--big" in sys.argv:
        big(panda, int(next(iter(sys.argv[sys.argv.index("--big") + 1 :]), 10_000_000)))
