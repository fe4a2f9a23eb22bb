"""Times of this version over those of another one: `python -m benchmarks.against FOLDER`.

FOLDER is the source of the other version, such as that of a tag: `git archive v0.1.0 | tar -x -C FOLDER`. Processes of
the two take turns, one pair per round; a figure of a process is its best of several runs in thread time, in passes some
seconds apart (what shares the core's other half slows a whole pass of short calls), and the ratio that counts is the
median of the rounds. `ARMDYN_BENCHMARK=small` makes it quick, `--only regressor` measures what has that in its name.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SMALL = os.environ.get("ARMDYN_BENCHMARK") == "small"
LARGE, MEDIUM, ROLLOUTS = (200, 50, 4) if SMALL else (10_000, 100, 1000)
LONG, SHORT = (0.2, 0.1) if SMALL else (10.0, 0.2)  # [s] that one rollout and many last
ROUNDS, PASSES, REPEATS = (1, 1, 2) if SMALL else (5, 4, 15)
INPUTS = {"inverse_dynamics": 3, "mass_matrix": 1, "forward_dynamics": 3, "coriolis_matrix": 2, "regressor": 3}
INPUTS |= {"linearize": 3}


@dataclasses.dataclass(frozen=True)
class Figure:
    """What is measured: a call, how often it is made in a run, and the samples or steps that it computes."""

    call: Callable[[], Any]
    count: int = 1
    samples: float = 1

    def best(self) -> float:
        """The shortest thread time per sample [ns]."""
        self.call()
        found = float("inf")
        for _ in range(REPEATS):
            begin = time.thread_time_ns()
            for _ in range(self.count):
                self.call()
            found = min(found, time.thread_time_ns() - begin)
        return found / (self.count * self.samples)


def measured(only: str) -> dict[str, float]:
    """ns per sample, call or step of the version that is imported, where `only` is in the name."""
    import armdyn

    arm = armdyn.arms.panda()
    figures = {name: figure for name, figure in (calls(arm) | rollouts(arm)).items() if only in name}
    passes = [{name: figure.best() for name, figure in figures.items()} for _ in range(PASSES)]
    return {name: min(found[name] for found in passes) for name in figures}


def calls(arm: Any) -> dict[str, Figure]:
    """Every function on a large batch, on a small one and on one sample."""
    import numpy as np

    import armdyn

    rng = np.random.default_rng(1)
    found = {}
    for name, inputs in INPUTS.items():
        function = getattr(armdyn, name)
        args = list(rng.uniform(-1, 1, (inputs, LARGE, arm.n)))
        few, one = [x[:MEDIUM].copy() for x in args], [x[0].copy() for x in args]
        out, few_out = function(arm, *args), function(arm, *few)
        call = functools.partial(function, arm)
        found[f"{name}, {LARGE:,} with out="] = Figure(functools.partial(call, *args, out=out), samples=LARGE)
        found[f"{name}, {LARGE:,} fresh"] = Figure(functools.partial(call, *args), samples=LARGE)
        found[f"{name}, {MEDIUM} with out="] = Figure(functools.partial(call, *few, out=few_out), 20, MEDIUM)
        found[f"{name}, one call"] = Figure(functools.partial(call, *one), 20 if SMALL else 1000)
    return found


class Sine:
    """All joints swing by 0.3 rad at 0.5 Hz."""

    def __init__(self, n: int, duration: float) -> None:
        self.n, self.duration = n, duration

    def __call__(self, t: Any) -> tuple[Any, Any, Any]:
        import numpy as np

        angle = np.pi * np.asarray(t)[..., None] * np.ones(self.n)
        return 0.3 * np.sin(angle), 0.3 * np.pi * np.cos(angle), -0.3 * np.pi**2 * np.sin(angle)


def rollouts(full: Any) -> dict[str, Figure]:
    """Computed torque at 1 kHz without friction and rotors, one rollout and many."""
    import numpy as np

    import armdyn

    plain = {"drive": armdyn.Drive(), "friction": armdyn.Friction()}
    arm = full.with_joints(dataclasses.replace(joint, **plain) for joint in full.joints)
    law, rng, found = armdyn.ComputedTorque.from_bandwidth(arm, 2.0), np.random.default_rng(2), {}
    for count, seconds in ((1, LONG), (ROLLOUTS, SHORT)):
        q0 = 0.1 + 0.05 * rng.normal(size=(count, arm.n))
        run = functools.partial(
            armdyn.simulate, armdyn.Plant(arm), law, Sine(arm.n, seconds), q0=q0 if count > 1 else q0[0],
            qd0=np.zeros(arm.n), every=100, check=False,
        )  # fmt: skip
        found[f"{count:,} rollout{'s' * (count > 1)}, a step"] = Figure(run, samples=count * 1000 * seconds)
    return found


def process(source: Path, only: str) -> dict[str, float]:
    """What a process with the package from `source` measures."""
    environment = os.environ | {"PYTHONPATH": str(source), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--measure", "--only", only]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{source}: {done.stderr}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="source of the other version; default this one")
    parser.add_argument("--only", default="", help="measure only what has this in its name")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measured(options.only)))
        return
    own = Path(__file__).resolve().parents[1]
    folders = own, options.folder or own
    pairs = [[process(folder / "src", options.only) for folder in folders] for _ in range(ROUNDS)]
    print("| | ns | ratio | from | to |\n|---|---|---|---|---|")
    for name in pairs[0][0]:
        ratios = [ours[name] / theirs[name] for ours, theirs in pairs]
        ns = statistics.median(ours[name] for ours, _ in pairs)
        print(f"| {name} | {ns:.0f} | {statistics.median(ratios):.2f} | {min(ratios):.2f} | {max(ratios):.2f} |")


if __name__ == "__main__":
    main()
