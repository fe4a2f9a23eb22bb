"""What control costs: exported C per step, gain tables. Run: python benchmarks/control.py

Needs a C compiler for the first table. `ARMDYN_BENCHMARK=small` takes two laws and short tables, to see that it runs.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import armdyn
from armdyn.control.compiled import step_time
from armdyn.control.protocol import Law

RATE = 1000.0
SMALL = os.environ.get("ARMDYN_BENCHMARK") == "small"
SAMPLES = 50 if SMALL else 2000


def c_step(law: Law) -> tuple[float, int]:
    """Nanoseconds of one step (the best of some batches, -O2), and multiplications and additions."""
    with tempfile.TemporaryDirectory() as folder:
        code = armdyn.law_code(law, folder, RATE, prefix="law")
        return 1e9 * step_time(code, law.arm.n), code.update.multiplications + code.update.additions


def laws(arm: armdyn.Arm) -> dict[str, Law]:
    payload = armdyn.adapt(armdyn.unknown_payload(arm))
    mass = armdyn.adapt(armdyn.unknown_mass(arm, (0, 0, 0)))
    everything = armdyn.adapt(armdyn.base_parameters(arm), ("viscous", "coulomb"))
    computed = armdyn.ComputedTorque.from_bandwidth(arm, 3.0)
    learning = armdyn.adapt(armdyn.unknown_mass(arm, (0, 0, 0)), ("viscous", "coulomb"))
    few: dict[str, Law] = {
        "computed torque": computed,
        "Slotine-Li, mass of the load": armdyn.SlotineLi(mass, 10.0, 10.0, 1.0),
    }
    if SMALL:
        return few
    return few | {
        "PD + gravity": armdyn.GravityPD(arm, 100.0, 10.0),
        "computed torque, disturbance observer": armdyn.DisturbanceObserver(computed, 5.0),
        "Slotine-Li, load (10 numbers)": armdyn.SlotineLi(payload, 10.0, 10.0, 1.0),
        "Slotine-Li, all base parameters, friction": armdyn.SlotineLi(everything, 10.0, 10.0, 1.0),
        "Craig, load (10 numbers)": armdyn.Craig(payload, 100.0, 20.0, 10.0, 1.0),
        "natural Slotine-Li, load (10 numbers)": armdyn.NaturalSlotineLi(payload, 10.0, 10.0, 1.0),
        "projected Slotine-Li, load (10 numbers)": armdyn.ProjectedSlotineLi(payload, 10.0, 10.0, 1.0),
        "composite Slotine-Li, load (10 numbers)": armdyn.CompositeSlotineLi(payload, 10.0, 10.0, 1.0),
        "concurrent Slotine-Li, mass and friction": armdyn.ConcurrentSlotineLi(learning, 10.0, 10.0, 1.0),
        "operational space": armdyn.OperationalSpace.from_bandwidth(arm, 3.0),
        "LQR about the measured state": armdyn.MeasuredLQR(arm, [0.02] * 6 + [0.5] * 6, [50.0] * 6, RATE),
        "guarded computed torque": armdyn.Guarded(computed),
    }


def seconds(call: Callable[[], Any], repeats: int = 5) -> float:
    """The best of some calls, after one that compiles."""
    call()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


def main() -> None:
    arm = armdyn.arms.puma560()
    print("One step in C (PUMA 560, cc -O2, one core)")
    for name, law in laws(arm).items():
        ns, operations = c_step(law)
        print(f"  {name:44s}{ns / 1000:8.2f} us{operations:8d} operations")
    motion = np.random.default_rng(0).normal(size=(3, SAMPLES, 6))
    lqr = armdyn.TrajectoryLQR(arm, [0.02] * 6 + [0.5] * 6, [50.0] * 6, 250.0)
    print(f"Gain tables of {SAMPLES} samples (PUMA 560)")
    for design in ("finite", "discrete", "continuous"):
        law = armdyn.TrajectoryLQR(arm, lqr.Q, lqr.R, 250.0, design)
        print(f"  {design:44s}{seconds(lambda law=law: law.gains(*motion), 2) * 1e3:8.0f} ms")
    again = armdyn.TrajectoryLQR(arm, lqr.Q, lqr.R, 60.0, "discrete").at_measured()
    ref = armdyn.Reference(*motion[:, 0])
    once = seconds(lambda: again(0.0, motion[0, 1], motion[1, 1], ref), 20)
    print(f"  one sample solved about the measured state, in Python{once * 1e3:6.2f} ms: {1 / once:.0f} Hz")


if __name__ == "__main__":
    main()
