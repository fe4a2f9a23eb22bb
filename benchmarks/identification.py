"""Identification, measured in one process: `python benchmarks/identification.py`.

10,000 samples of a Panda and a minute at 1 kHz end to end with consistency, in processor time; weighted least squares
on ready data against a loop over Pinocchio's regressor and a QR decomposition; or, with `--big [SAMPLES]`, ten million
samples from a file in bounded memory. Small size: no minute, but 300,000 samples from a file.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
import threading
import time
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import armdyn
from armdyn.dynamics.base.normal_equations import normal_equations
from armdyn.errors import ArmdynWarning
from armdyn.identification.logs.log import Log

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
    """Least processor time of several runs after the first [s]."""
    run()
    times = []
    for _ in range(repeat):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def end_to_end(arm: armdyn.Arm, samples: int) -> None:
    t, q, qd, qdd = motion(arm, samples)
    noise = np.random.default_rng(1).normal(size=(2, *q.shape))
    tau = armdyn.joint_torque(arm, q, qd, qdd) + 0.3 * np.sign(qd) + 0.3 * noise[0]
    log = Log(t, q + 1e-5 * noise[1], tau)
    seconds = best(lambda: armdyn.identify(arm, log), 5 if samples <= 10_000 else 2)
    print(f"identify, {samples} samples x {arm.n} joints, consistent: {seconds:.2f} s of processor time")


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
    data, kept = model.createData(), list(base.columns)

    def theirs() -> None:
        Y = np.stack([pin.computeJointTorqueRegressor(model, data, *s) for s in zip(q, qd, qdd, strict=True)])
        rows = (Y[:, :, kept] * weights[:, None]).reshape(-1, len(kept))
        Q, R = np.linalg.qr(rows)
        np.linalg.solve(R, Q.T @ (tau * weights).ravel())

    a, b = best(ours), best(theirs, 3)
    print(f"weighted least squares, {samples} samples: {a * 1e3:.0f} ms, Pinocchio + QR {b * 1e3:.0f} ms: {a / b:.2f}")


def write_log(path: Path, samples: int) -> None:
    """A log of a Panda as an archive that is not compressed, written piece by piece."""
    arm, piece = armdyn.arms.panda(), 100_000
    shapes = {"t": (samples,), "q": (samples, arm.n), "tau": (samples, arm.n)}
    names = {name: path.with_name(f"{name}.npy") for name in shapes}
    t, q, tau = (np.lib.format.open_memmap(names[name], "w+", float, shape) for name, shape in shapes.items())
    for k in range(0, samples, piece):
        here = slice(k, k + piece)
        noise = np.random.default_rng(k).normal(size=(2, min(piece, samples - k), arm.n))
        t[here], exact, qd, qdd = motion(arm, len(noise[0]), first=k)
        tau[here] = armdyn.joint_torque(arm, exact, qd, qdd) + 0.3 * np.sign(qd) + 0.3 * noise[0]
        q[here] = exact + 1e-5 * noise[1]
    for array in (t, q, tau):
        array.flush()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name in shapes:
            archive.write(names[name], f"{name}.npy")
            names[name].unlink()


class Memory:
    """The most memory [GB] that this process has while it is looked at: in all, and without mapped files."""

    def __init__(self) -> None:
        self.resident = self.anonymous = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Memory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(0.02):
            lines = Path("/proc/self/status").read_text().splitlines()
            found = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith(("VmHWM", "RssAnon"))}
            self.resident = int(found["VmHWM"]) / 1e6
            self.anonymous = max(self.anonymous, int(found["RssAnon"]) / 1e6)


def big(arm: armdyn.Arm, samples: int) -> None:
    """All of `identify` on a file of millions of samples, and the memory that the process took at most (Linux)."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.npz"
        writer = multiprocessing.get_context("spawn").Process(target=write_log, args=(path, samples))
        writer.start()
        writer.join()
        size = path.stat().st_size / 1e9
        start, work = time.perf_counter(), time.process_time()
        with Memory() as memory:
            fit = armdyn.identify(arm, path)
        seconds, work = time.perf_counter() - start, time.process_time() - work
    print(
        f"identify, {samples} samples: {seconds:.0f} s ({work:.0f} s of CPU), relative error {fit.rel_error:.2%}; "
        f"memory at most {memory.resident:.2f} GB, {memory.anonymous:.2f} GB without the mapped {size:.2f} GB file"
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore", ArmdynWarning)
    panda = armdyn.arms.panda()
    if "--big" in sys.argv:
        big(panda, int(next(iter(sys.argv[sys.argv.index("--big") + 1 :]), 10_000_000)))
    else:
        end_to_end(panda, 10_000)
        if os.environ.get("ARMDYN_BENCHMARK") == "small":
            big(panda, 300_000)
        else:
            end_to_end(panda, 60_000)
        least_squares(panda, 10_000)
