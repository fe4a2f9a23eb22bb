"""Ten million closed-loop steps, a thousand identifications and large results in one process: does memory grow?

    python benchmarks/soak.py [--only results] [--plot memory.png]

Prints the resident memory along the way, and exits with 1 if it grows after the first tenth by more than 5 % and 20 MB.
`ARMDYN_BENCHMARK=small` makes it quick.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

import armdyn
from armdyn.simulation.compare import Sway
from armdyn.trace.pool import pool

SMALL = os.environ.get("ARMDYN_BENCHMARK") == "small"
STEPS = 40_000 if SMALL else 10_000_000
FITS = 5 if SMALL else 1000
RESULTS = 20 if SMALL else 2000
PAGE = os.sysconf("SC_PAGE_SIZE")
GROWTH, SLACK = 1.05, 20e6


def resident() -> float:
    """Memory of this process that is in use [bytes]."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def closed_loop() -> tuple[Callable[[int], object], int]:
    """One run of adaptive control and how often it is needed."""
    arm = armdyn.arms.planar2()
    motion = Sway.within(arm, 10.0)
    unknowns = armdyn.adapt(armdyn.unknown_mass(arm, (0, 0, 0)))
    law = armdyn.SlotineLi(unknowns, lam=8.0, k=[60.0, 15.0], gain=[2.0])
    plant = arm.with_payload(1.0)
    return lambda k: armdyn.simulate(plant, law, motion, rate=1000, check=False), STEPS // 10_000


def identification() -> tuple[Callable[[int], object], int]:
    """One identification of a fresh log and how often it is needed."""
    arm = armdyn.arms.planar2()
    motion = Sway.within(arm, 10.0)
    t = np.arange(0.0, 10.0, 0.01)
    q, qd, qdd = motion(t)
    tau = armdyn.joint_torque(arm, q, qd, qdd)

    def one(k: int) -> object:
        rng = np.random.default_rng(k)
        noisy = tau + 0.05 * rng.normal(size=tau.shape)
        return armdyn.identify(arm, armdyn.Log(t, q + 1e-5 * rng.normal(size=q.shape), noisy))

    return one, FITS


def large_results() -> tuple[Callable[[int], object], int]:
    """One regressor of some 20 to 60 MB in one of four threads, two kept for a while, and how often it is needed."""
    arm, held = armdyn.arms.panda(), deque(maxlen=2)  # type: ignore[var-annotated]
    states = np.random.default_rng(0).uniform(-1, 1, (3, 15_000, arm.n))
    workers = ThreadPoolExecutor(4)

    def one(k: int) -> object:
        count = int(np.random.default_rng(k).integers(5_000, 15_000))
        Y = workers.submit(lambda: armdyn.regressor(arm, *(x[:count] for x in states))).result()
        held.append(Y[:, 0])  # a view keeps all of it
        assert pool().nbytes <= pool().cap
        return None

    return one, RESULTS


def watch(name: str, work: tuple[Callable[[int], object], int]) -> tuple[NDArray, float]:
    """Memory after every run [bytes], and seconds per run."""
    run, count = work
    begin, memory = time.perf_counter(), np.empty(count)
    for k in track(range(count), name):
        run(k)
        memory[k] = resident()
    return memory, (time.perf_counter() - begin) / count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", type=Path, help="draw the memory to this file")
    parser.add_argument("--only", default="", help="a word of the part to run")
    options = parser.parse_args()
    jobs = {f"{STEPS:,} closed-loop steps": closed_loop, f"{FITS} identifications": identification}
    jobs |= {f"{RESULTS:,} large results": large_results}
    found = {name: watch(name, job()) for name, job in jobs.items() if options.only in name}
    table = Table(title="resident memory [MB]")
    for heading in ("", "ms per run", "after a tenth", "at the end", "largest"):
        table.add_column(heading, justify="left" if not heading else "right")
    steady = True
    for name, (memory, seconds) in found.items():
        early = memory[: max(1, len(memory) // 10)].max()
        filling = pool().cap if name.endswith("large results") else 0.0  # the pool may fill up, once
        steady &= bool(memory[-1] <= max(GROWTH * early, early + SLACK + filling))
        table.add_row(name, f"{seconds * 1e3:.0f}", *(f"{x / 1e6:.0f}" for x in (early, memory[-1], memory.max())))
    Console(width=120).print(table)
    if options.plot:
        draw({name: memory for name, (memory, _) in found.items()}, options.plot)
    print("memory is steady" if steady else "MEMORY GROWS")
    return 0 if steady else 1


def draw(found: dict[str, NDArray], path: Path) -> None:
    """Memory against the share of the work done."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
    for name, memory in found.items():
        axes.plot(np.linspace(0, 100, len(memory)), memory / 1e6, label=name)
    axes.set(xlabel="work done [%]", ylabel="resident memory [MB]", ylim=(0, None))
    axes.legend()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    raise SystemExit(main())
