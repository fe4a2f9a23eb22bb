"""Rollouts a second of a study: adaptive control of the PUMA 560, 2 s at 500 Hz, with one and two workers and on Dask.

    python benchmarks/study.py [--cases 100000]

Load, friction and the gain K vary from rollout to rollout; nine metrics of each are stored. A step is one sample of
Slotine and Li's law with 28 unknowns and one Runge-Kutta step of order four of an arm with dry friction that sticks.
Elapsed times include starting the workers; on a machine with other work, trust the processor time per rollout.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from pathlib import Path

import armdyn
from armdyn.study.run import keep_memory

STUDY = """
name = "adaptive"
arm = "puma560"
seed = 1
[run]
rate = 500.0
duration = 2.0
[[controllers]]
design = "Slotine-Li"
bandwidth = 3.0
[[references]]
kind = "sway"
[samples]
method = "sobol"
count = {cases}
[parameters]
payload = {{ low = 0.0, high = 2.5 }}
friction = {{ low = 0.5, high = 2.0 }}
"gain.k" = {{ low = 0.5, high = 2.0, distribution = "log-uniform" }}
"""


def processor_seconds() -> float:
    """Of this process and of those it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def measured(study, folder: Path, **where) -> tuple[float, float]:
    """Elapsed and processor seconds."""
    begin, used = time.perf_counter(), processor_seconds()
    armdyn.run_study(study, folder, **where)
    return time.perf_counter() - begin, processor_seconds() - used


def main() -> None:
    small = os.environ.get("ARMDYN_BENCHMARK") == "small"
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=256 if small else 100_000)
    parser.add_argument("--skip-dask", action="store_true", default=small)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "study.toml").write_text(STUDY.format(cases=options.cases))
        study = armdyn.read_study(folder / "study.toml")
        study.compute(range(study.lanes))  # compiles the kernel, which a second study finds in the cache
        print(f"{options.cases:,} rollouts of 1,000 steps in {len(study.parts)} parts; load {os.getloadavg()[0]:.1f}")
        print(f"{'':22s}{'elapsed [s]':>12s}{'processor [s]':>15s}{'ms per rollout':>14s}{'scaling':>9s}")
        keep_memory()  # as the command does
        alone = None
        for workers in (1, 2):
            elapsed, used = measured(study, folder / f"w{workers}", workers=workers)
            alone = alone or elapsed
            each = 1e3 * used / options.cases
            print(f"{workers} worker(s){'':11s}{elapsed:12.1f}{used:15.1f}{each:14.2f}{alone / elapsed:9.2f}")
        if not options.skip_dask:
            dask(study, folder, elapsed)


def dask(study, folder: Path, pool: float) -> None:
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1") as cluster:
        elapsed, _ = measured(study, folder / "dask", dask=cluster.scheduler_address)
    print(f"{'Dask, 2 processes':22s}{elapsed:12.1f}{'':15s}{'':14s}   {elapsed / pool:.2f} of the pool's time")


if __name__ == "__main__":
    main()
