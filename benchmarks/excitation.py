"""Exciting motions of three arms: `python benchmarks/excitation.py [seconds a design] [URDF ...]`.

`ARMDYN_BENCHMARK=small` designs one arm for a few seconds, to see that it runs.

Ten seconds, five harmonics, |qdd| <= 8 rad/s², base, viscous and tanh(qd / 0.1) columns, 200 samples. Without
files it takes UR10, Panda and iiwa from the library, with velocity limits where the library has none.
"""

from __future__ import annotations

import os
import sys
import time

import numpy as np

import armdyn
from armdyn.trajectory.excitation_problem import ExcitationProblem
from armdyn.trajectory.excite import Excitation
from armdyn.trajectory.motion_limits import MotionLimits, violations

SMALL = os.environ.get("ARMDYN_BENCHMARK") == "small"
RANDOM = 10 if SMALL else 300


def random_series(problem: ExcitationProblem) -> float:
    """The best condition number of random series within the limits."""
    rng = np.random.default_rng(0)
    return min(float(problem.conditions(problem.random_start(rng))[0]) for _ in range(RANDOM))


def gradient_time() -> float:
    """One gradient, 6 joints, 500 samples, 66 coefficients [s]."""
    arm = armdyn.arms.ur10()
    limits = MotionLimits.of(arm, acceleration=8.0, velocity=3.0)
    problem = ExcitationProblem(
        armdyn.base_parameters(arm), limits, 10.0, 5, 0.1, False, 500, np.ones(6), "condition", False, True, None
    )
    x = problem.random_start(np.random.default_rng(0))
    times = []
    for _ in range(20):
        start = time.perf_counter()
        problem.value(x, problem.forms[:1], 20.0)
        times.append(time.perf_counter() - start)
    return min(times)


def row(name: str, kind: str, found: Excitation, random: float) -> str:
    broken = sum(violations(found.trajectory, found.limits).values())
    return (
        f"{name:<12} {kind:<10} {found.base.count:>3}+{2 * found.base.source.n:<3} {random:>8.1f} "
        f"{found.condition:>9.2f} {found.condition_worst:>9.2f} {found.condition_unit:>6.2f} {broken:>6} "
        f"{found.starts:>8} {found.seconds:>8.1f}"
    )


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0 if SMALL else 60.0
    library = [armdyn.arms.ur10()] if SMALL else [armdyn.arms.ur10(), armdyn.arms.panda(), armdyn.arms.iiwa14()]
    arms = [armdyn.load(path) for path in sys.argv[2:]] or library
    print(f"one gradient, 6 joints, 500 samples, 66 coefficients: {1e3 * gradient_time():.1f} ms")
    print(
        f"{'arm':<12} {'ends':<10} {'columns':>7} {'random':>8} {'condition':>9} {'worst':>9} {'unit':>6} "
        f"{'broken':>6} {'searches':>8} {'seconds':>8}"
    )
    for arm in arms:
        for kind, options in (
            ("rest", {}),
            ("periodic", {"at_rest": False}),
            ("rest, unit", {"unit_columns": True}),
            ("per., unit", {"unit_columns": True, "at_rest": False}),
        ):
            found = armdyn.excite(arm, 10.0, max_acceleration=8.0, max_velocity=10.0, time_budget=seconds, **options)
            print(row(arm.name, kind, found, random_series(found.problem)), flush=True)


if __name__ == "__main__":
    main()
