"""Identification, measured in one process: `python benchmarks/identification.py`.

10,000 samples of a Panda end to end with consistency; weighted least squares on ready data against a loop over
Pinocchio's regressor and a QR decomposition; and, with `--big`, ten million samples in bounded memory.
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


def motion(arm: armdyn.Arm, samples: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    rng, t = np.random.default_rng(seed), np.arange(samples)[:, None] / RATE
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
    pieces = 100
    base = armdyn.base_parameters(arm)

    def parts():
        for k in range(pieces):
            _, q, qd, qdd = motion(arm, samples // pieces, seed=k)
            yield q, qd, qdd, armdyn.inverse_dynamics(arm, q, qd, qdd)

    start = time.perf_counter()
    sums = normal_equations(base, parts())
    error = np.abs(np.linalg.solve(sums.A, sums.b) - base.theta).max()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{sums.samples} samples: {time.perf_counter() - start:.0f} s, {memory:.2f} GB at most, error {error:.1e}")


if __name__ == "__main__":
    warnings.simplefilter("ignore", ArmdynWarning)
    panda = armdyn.arms.panda()
    end_to_end(panda, 10_000)
    least_squares(panda, 10_000)
    if "--big" in sys.argv:
        big(panda, 10_000_000)
