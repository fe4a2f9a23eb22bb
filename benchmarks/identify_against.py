"""Seconds of `identify` beside those of another version: `python -m benchmarks.identify_against FOLDER`.

FOLDER is the source of the other version, as for `benchmarks.against`. Two processes, one of each version, identify
from a log in turns, REPEATS times after a call that warms up; the least time of each counts, on the clock and of the
processor (`identify` runs in one thread, so that on an idle machine both are the same). Logs are real ones of
`../shared/data`, where they exist, and a synthetic one of 10,000 samples of seven joints. First comes what the first
call in a process takes where nothing about the arm is on disk yet.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

SMALL = os.environ.get("ARMDYN_BENCHMARK") == "small"
REPEATS, SAMPLES = (1, 2000) if SMALL else (3, 10_000)
SHARED = Path(__file__).resolve().parents[2] / "shared"
REAL = {
    "xb4_1": ("data/xb4/xb4.json", "data/xb4/xb4_1.npz"),
    "panda_traj1": ("models/panda/panda_arm.urdf", "data/panda_gaz2019/panda_traj1.npz"),
    "xmate7_1": ("data/xmate7/xmate7.urdf", "data/xmate7/xmate7_1.npz"),
    "xmate7_3": ("data/xmate7/xmate7.urdf", "data/xmate7/xmate7_3.npz"),
}
SYNTHETIC = f"{SAMPLES:,} x 7 synthetic"


def synthetic() -> tuple[Any, Any]:
    """A Panda with friction on a motion of five harmonics, at 1 kHz, and its log."""
    import numpy as np

    import armdyn

    arm, t, rng = armdyn.arms.panda(), np.arange(SAMPLES) / 1000.0, np.random.default_rng(0)
    q, qd, qdd = np.zeros((3, SAMPLES, arm.n))
    for k in range(1, 6):
        w, (a, b) = 2 * np.pi * 0.1 * k, rng.normal(size=(2, arm.n)) * 0.4 / np.sqrt(k)
        s, c = np.sin(w * t)[:, None], np.cos(w * t)[:, None]
        q, qd, qdd = q + a * s - b * c, qd + w * (a * c + b * s), qdd + w * w * (b * c - a * s)
    tau = armdyn.joint_torque(arm, q, qd, qdd) + 0.3 * np.sign(qd) + 0.3 * rng.normal(size=q.shape)
    return arm, armdyn.Log(t, q + 1e-5 * rng.normal(size=q.shape), tau)


def real(model: str, path: str) -> tuple[Any, Any]:
    """An arm and its log."""
    import numpy as np

    import armdyn

    if model.endswith(".json"):
        rows = json.loads((SHARED / model).read_text())
        arm = armdyn.Arm.from_dh(rows["rows"], convention=rows["convention"], gravity=rows["gravity"])
    else:
        arm = armdyn.load(SHARED / model)
    with np.load(SHARED / path) as z:
        names = ("times", "positions", "torques", "velocities") if "times" in z else ("t", "q", "tau", "dq")
        t, q, tau = (z[name].astype(float) for name in names[:3])
        return arm, armdyn.Log(t, q, tau, qd=z[names[3]].astype(float) if names[3] in z else None)


def tasks() -> Iterator[tuple[str, Callable[[], tuple[Any, Any]]]]:
    """Names of logs, and what makes them."""
    for name, (model, path) in {} if SMALL else REAL.items():
        if (SHARED / path).exists():
            yield name, lambda model=model, path=path: real(model, path)  # type: ignore[misc]
    yield SYNTHETIC, synthetic


def work() -> None:
    """Identify from each log whose name is read, and print the seconds on the clock and of the processor."""
    import armdyn

    warnings.simplefilter("ignore")
    logs: dict[str, tuple[Any, Any]] = {}
    for line in sys.stdin:
        name = line.strip()
        logs[name] = logs.get(name) or dict(tasks())[name]()
        clock, processor = time.perf_counter(), time.process_time()
        armdyn.identify(*logs[name], force=True)
        print(json.dumps([time.perf_counter() - clock, time.process_time() - processor]), flush=True)


class Version:
    """A process with the package from a folder, which finds nothing of former ones on disk."""

    def __init__(self, folder: Path, cache: str) -> None:
        environment = os.environ | {"PYTHONPATH": str(folder / "src"), "ARMDYN_CACHE_DIR": cache}
        environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, __file__, "--work"]
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def seconds(self, name: str) -> list[float]:
        """On the clock and of the processor, of one call."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{name}\n")
        self.process.stdin.flush()
        return [float(x) for x in json.loads(self.process.stdout.readline())]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="source of the other version; default this one")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work()
        return
    own = Path(__file__).resolve().parents[1]
    print("| log | seconds | other version | ratio | of processor | other version | ratio |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        versions = Version(own, first), Version(options.folder or own, second)

        def row(text: str, name: str, repeats: int) -> None:
            calls = [[version.seconds(name) for version in versions] for _ in range(repeats)]
            (clock, processor), (other, of_other) = (
                map(min, zip(*times, strict=True)) for times in zip(*calls, strict=True)
            )
            print(f"| {text} | {clock:.2f} | {other:.2f} | {clock / other:.2f} "
                  f"| {processor:.2f} | {of_other:.2f} | {processor / of_other:.2f} |", flush=True)  # fmt: skip

        row("first call of a new arm", SYNTHETIC, 1)
        for name, _ in tasks():
            for version in versions:
                version.seconds(name)
            row(name, name, REPEATS)
        for version in versions:
            version.process.terminate()


if __name__ == "__main__":
    main()
