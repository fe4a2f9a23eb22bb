"""Exciting motions of three arms: `python benchmarks/excitation.py [seconds a design] [URDF ...]`.

`ARMDYN_BENCHMARK=small` designs one arm for a few seconds, to see that it runs.

Ten seconds, five harmonics, |qdd| <= 8 rad/s², base, viscous and tanh(qd / 0.1) columns, 200 samples. Without
files it takes UR10, Panda and iiwa from the library, with velocity limits where the library has none. A second
table compares parameter errors after simulated experiments with those of random and hand-made motions, a third what
it costs to spare the robot: conditions by default against those of motions through floor and links.
"""

from __future__ import annotations

import os
import sys
import time

import numpy as np

import armdyn
from armdyn.trajectory.excitation.excite import Excitation
from armdyn.trajectory.excitation.options import ObjectiveOptions, SeriesOptions
from armdyn.trajectory.excitation.problem import ExcitationProblem
from armdyn.trajectory.excitation.regressor import excitation_regressor
from armdyn.trajectory.motion_limits import MotionLimits, violations
from armdyn.trajectory.protocol import Trajectory

SMALL = os.environ.get("ARMDYN_BENCHMARK") == "small"
RANDOM = 10 if SMALL else 300
SEEDS = 3 if SMALL else 10  # of the noise
# To the limits themselves, through floor and links: what random and hand-made motions are compared with.
FREE = {"floor": False, "self_collision": False, "max_torque": False, "margin": 0.0}


def random_series(problem: ExcitationProblem) -> float:
    """The best condition number of random series within the limits."""
    rng = np.random.default_rng(0)
    return min(float(problem.conditions(problem.random_start(rng))[0]) for _ in range(RANDOM))


def gradient_time() -> float:
    """One gradient, 6 joints, 500 samples, 66 coefficients [s]."""
    arm = armdyn.arms.ur10()
    limits = MotionLimits.of(arm, acceleration=8.0, velocity=3.0)
    series, objective = SeriesOptions(at_rest=False), ObjectiveOptions(samples=500)
    problem = ExcitationProblem.of(armdyn.base_parameters(arm), limits, 10.0, series, objective)
    x = problem.random_start(np.random.default_rng(0))
    times = []
    for _ in range(20):
        start = time.perf_counter()
        problem.value(x, problem.forms[:1], 20.0)
        times.append(time.perf_counter() - start)
    return min(times)


def swings(arm: armdyn.Arm, limits: MotionLimits, duration: float) -> Trajectory:
    """A motion by hand: one joint after the other there and back, as far as its share of the time allows."""
    parts, share = [], duration / arm.n / 4
    for i in range(arm.n):
        # A quintic over a length needs 15/8 of its mean velocity, and 10 / sqrt(3) of its mean acceleration.
        reach = min(limits.half_range[i], limits.velocity[i] * share * 8 / 15, limits.acceleration[i] * share**2 * 0.17)
        there = np.zeros(arm.n)
        there[i] = 0.99 * reach
        for one, two in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            parts.append(
                armdyn.point_to_point(limits.center + one * there, limits.center + two * there, duration=share)
            )
    return armdyn.concatenate(*parts)


def parameter_error(found: Excitation, motion: Trajectory, rng: np.random.Generator) -> float:
    """Parameter errors (rms) after least squares on a noisy experiment, over what the design promises of each."""
    rate, base = 100, found.base
    W = excitation_regressor(base, *motion(np.arange(0, motion.duration, 1 / rate))).reshape(-1, len(found.information))
    true = np.concatenate([base.theta, armdyn.joint_parameters(base.source, ("viscous", "coulomb"))])
    error = np.linalg.lstsq(W, W @ true + rng.normal(size=len(W)), rcond=None)[0] - true
    return float(np.sqrt(np.mean((error / armdyn.predict_quality(found, 1.0, rate=rate).std) ** 2)))


def error_row(name: str, found: Excitation) -> str:
    """Errors after the design, random series and swings within the same limits and time, over seeds of the noise."""
    rng, task = np.random.default_rng(0), found.problem
    by_hand = swings(found.base.source, found.limits, task.duration)
    assert not violations(by_hand, found.limits, rate=1000.0)
    random = [task.series(task.random_start(rng)) for _ in range(8)]
    best, hand = (np.mean([parameter_error(found, m, rng) for _ in range(SEEDS)]) for m in (found.trajectory, by_hand))
    drawn = [parameter_error(found, m, rng) for m in random for _ in range(SEEDS)]
    figures = " ".join(f"{error:>9.2f}" for error in (best, np.mean(drawn), np.min(drawn), hand))
    return f"{name:<12} {task.objective.criterion:<10} {figures}"


def row(name: str, kind: str, found: Excitation, random: float) -> str:
    broken = sum(violations(found.trajectory, found.limits).values())
    return (
        f"{name:<12} {kind:<10} {found.base.count:>3}+{2 * found.base.source.n:<3} {random:>8.1f} "
        f"{found.condition:>9.2f} {found.condition_worst:>9.2f} {found.condition_unit:>6.2f} {broken:>6} "
        f"{found.starts:>8} {found.seconds:>8.1f}"
    )


def protection_costs(arms: list[armdyn.Arm], seconds: float) -> None:
    """Conditions in the same time with all protections, and with none."""
    print("\nCondition by default (floor, links apart, torques, margins), and without: the cost of protection")
    for arm in arms:
        options = {"max_acceleration": 8.0, "max_velocity": 10.0, "time_budget": seconds}
        spared, free = (armdyn.excite(arm, 10.0, **options, **without).condition for without in ({}, FREE))
        print(f"{arm.name:<12} {spared:9.2f} {free:9.2f} {spared / free:9.2f}", flush=True)


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
            found = armdyn.excite(
                arm, 10.0, max_acceleration=8.0, max_velocity=10.0, time_budget=seconds, **FREE, **options
            )
            print(row(arm.name, kind, found, random_series(found.problem)), flush=True)
    print("\nDesigns at rest: parameter errors over those that the design promises (rms; noise of 1 N m)")
    print(f"{'arm':<12} {'criterion':<10} {'design':>9} {'random':>9} {'the best':>9} {'by hand':>9}")
    for arm in arms:
        for criterion in ("condition", "log-det"):
            found = armdyn.excite(
                arm, 10.0, max_acceleration=8.0, max_velocity=10.0, time_budget=seconds, criterion=criterion, **FREE
            )
            print(error_row(arm.name, found), flush=True)
    protection_costs(arms if SMALL else [*arms, armdyn.arms.puma560()], seconds)


if __name__ == "__main__":
    main()
