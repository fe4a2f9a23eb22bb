"""Seconds of `identify` beside those of another version: `python -m benchmarks.identify_against FOLDER`.

FOLDER is the source of the other version, as for `benchmarks.against`. Processes of the two take turns, one pair per
round; a process identifies from every log once to warm up and then REPEATS times, of which the least processor time
counts (`identify` runs in one thread, so that on an idle machine it is the wall time); the ratio that counts is the
median of the rounds. Logs are real ones of `../shared/data`, where they exist, and a synthetic one of 10,000 samples of
seven joints. Last comes what the first call in a process costs more where nothing about the arm is on disk yet.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

SMALL = os.environ.get("ARMDYN_BENCHMARK") == "small"
ROUNDS, REPEATS, SAMPLES = (1, 1, 2000) if SMALL else (3, 3, 10_000)
SHARED = Path(__file__).resolve().parents[2] / "shared"
REAL = {
    "xb4_1": ("data/xb4/xb4.json", "data/xb4/xb4_1.npz"),
    "panda_traj1": ("models/panda/panda_arm.urdf", "data/panda_gaz2019/panda_traj1.npz"),
    "xmate7_1": ("data/xmate7/xmate7.urdf", "data/xmate7/xmate7_1.npz"),
    "xmate7_3": ("data/xmate7/xmate7.urdf", "data/xmate7/xmate7_3.npz"),
}
FIRST = "first call of a new arm, beyond a warm one"


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
    yield f"{SAMPLES:,} x 7 synthetic", synthetic


def measured() -> dict[str, float]:
    """Seconds of every log by the version that is imported; the first call is that of the synthetic arm."""
    import armdyn

    def seconds(arm: Any, log: Any) -> float:
        start = time.process_time()
        armdyn.identify(arm, log, force=True)
        return time.process_time() - start

    warnings.simplefilter("ignore")
    arm, log = synthetic()
    first, found = seconds(arm, log), {}
    for name, make in tasks():
        arm, log = make()
        seconds(arm, log)
        found[name] = min(seconds(arm, log) for _ in range(REPEATS))
    found[FIRST] = first - found[f"{SAMPLES:,} x 7 synthetic"]
    return found


def process(source: Path) -> dict[str, float]:
    """Seconds that a process with the package from `source` takes, which finds nothing of former ones on disk."""
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"PYTHONPATH": str(source), "ARMDYN_CACHE_DIR": cache}
        environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, __file__, "--measure"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{source}: {done.stderr}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="source of the other version; default this one")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measured()))
        return
    own = Path(__file__).resolve().parents[1]
    folders = own, options.folder or own
    pairs = [[process(folder / "src") for folder in folders] for _ in range(ROUNDS)]
    print("| log | seconds | other version | ratio | from | to |\n|---|---|---|---|---|---|")
    for name in pairs[0][0]:
        ratios = [ours[name] / theirs[name] for ours, theirs in pairs]
        both = [statistics.median(pair[k][name] for pair in pairs) for k in range(2)]
        least, median, most = min(ratios), statistics.median(ratios), max(ratios)
        print(f"| {name} | {both[0]:.2f} | {both[1]:.2f} | {median:.2f} | {least:.2f} | {most:.2f} |")


if __name__ == "__main__":
    main()
