"""Regulators about a trajectory when the load changes in mid-motion. Run: python benchmarks/control_payload.py

The study is described in `armdyn.reproduce.eindhoven_study`; `armdyn reproduce eindhoven-1987` shows a part of it.
"""

from __future__ import annotations

import os

import numpy as np

import armdyn
from armdyn.reproduce.eindhoven_study import DURATION, failing_load, judged, regulators, seize
from armdyn.simulation.compare import Sway

SMALL = os.environ.get("ARMDYN_BENCHMARK") == "small"
RATES = (250.0,) if SMALL else (60.0, 250.0, 1000.0)


def table(arm: armdyn.Arm, bandwidth: float, loads: list[float], beyond: float) -> None:
    reference = Sway.within(arm, DURATION)
    print(f"\n{arm.name}: RMS error [mrad or mm] after the load, {bandwidth:g} Hz of bandwidth")
    print(f"| rate | law | {' | '.join(f'{load:g} kg' for load in loads)} | fails at |")
    print("|---" * (3 + len(loads)) + "|")
    for rate in RATES:
        for name, law in regulators(arm, reference, bandwidth, rate).items():
            found = [judged(seize(arm, law, reference, rate, load)) for load in loads]
            cells = [f"{1e3 * rms:.2f}" if stable else "fails" for rms, stable in found]
            at = failing_load(arm, law, reference, rate, beyond)
            where = f"{at:.1f} kg" if np.isfinite(at) else f"> {beyond:g} kg"
            print(f"| {rate:g} Hz | {name} | {' | '.join(cells)} | {where} |", flush=True)


def main() -> None:
    table(armdyn.arms.planar2(), 2.0, [0.0, 1.0, 2.5, 5.0], 200.0)
    if not SMALL:
        table(armdyn.arms.puma560(), 2.0, [0.0, 1.0, 2.5], 100.0)


if __name__ == "__main__":
    main()
